"""Attention tile by tile: broken statements are refused, and a loop over tiles gives what all keys at once give."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, exp

from derivations.attention.attention import attention, c
from derivations.attention.tiles import (
    ADDED,
    SEEN,
    common,
    exponentials,
    l,
    merged_outputs,
    mixed,
    o,
    over_tiles,
    reference,
    t,
    tile_step,
    tiling_is_exact,
)
from derivations.language.arrays.functions import row_softmax
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import i, scalar
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name in RESULTS if RESULTS[name].__module__ == "derivations.attention.tiles")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


old, new = scalar("r"), scalar("r_new")
CARRIED = exp(reference[i, t] - common[i])
OUTPUTS = (row_softmax(SEEN[0]) @ SEEN[1])[i, c], (row_softmax(ADDED[0]) @ ADDED[1])[i, c]
WRONG = [
    ("sums that are not rescaled", tiling_is_exact, 0, 1, over_tiles(o[t, i, c]) / over_tiles(l[i, t])),
    ("rescaled above alone", tiling_is_exact, 0, 1, over_tiles(CARRIED * o[t, i, c]) / over_tiles(l[i, t])),
    ("rescaled the other way", tiling_is_exact, 0, 1, over_tiles(o[t, i, c] / CARRIED) / over_tiles(l[i, t] / CARRIED)),
    ("a mean of quotients", tiling_is_exact, 0, 1, over_tiles(o[t, i, c] / l[i, t])),
    ("the old reference", tile_step, 0, 0, exponentials(SEEN, old) + exponentials(ADDED, new)),
    ("the new tile forgotten", tile_step, 0, 0, exponentials(SEEN, new)),
    ("no common sum", tile_step, 1, 0, mixed(SEEN) / exponentials(SEEN) + mixed(ADDED) / exponentials(ADDED)),
    ("the plain mean", merged_outputs, 0, 0, (OUTPUTS[0] + OUTPUTS[1]) / 2),
    ("the first output alone", merged_outputs, 0, 0, OUTPUTS[0]),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def tile_by_tile(scores: np.ndarray, values: np.ndarray, width: int) -> np.ndarray:
    """Attention in one pass over tiles of keys: highest score so far, sum, and mixture, for one query after another."""
    outputs = []
    for row in scores:
        highest, whole, mixture = -np.inf, 0.0, np.zeros(values.shape[1])
        for start in range(0, len(row), width):
            tile, of_tile = row[start : start + width], values[start : start + width]
            higher = max(highest, tile.max())
            powers = np.exp(tile - higher)
            whole = np.exp(highest - higher) * whole + powers.sum()
            mixture = np.exp(highest - higher) * mixture + powers @ of_tile
            highest = higher
        outputs.append(mixture / whole)
    return np.array(outputs)


@pytest.mark.parametrize("width", [2, 3, 5, 11])
def test_a_loop_over_tiles_is_attention(width: int) -> None:
    random = np.random.default_rng(19)
    queries, keys, values = 9 * random.normal(size=(3, 5)), random.normal(size=(11, 5)), random.normal(size=(11, 7))
    whole = compile_layer(attention)(queries, keys, values)
    np.testing.assert_allclose(tile_by_tile(queries @ keys.T / np.sqrt(5), values, width), whole, rtol=1e-12)


def test_two_outputs_are_merged_by_their_log_sum_exps() -> None:
    random = np.random.default_rng(23)
    scores, values = random.normal(size=(2, 5)), random.normal(size=(5, 3))
    both = tile_by_tile(scores, values, 5)
    parts = [tile_by_tile(scores[:, cut], values[cut], 5) for cut in (slice(2), slice(2, None))]
    logs = [np.log(np.exp(scores[:, cut]).sum(axis=1)) for cut in (slice(2), slice(2, None))]
    share = (1 / (1 + np.exp(logs[1] - logs[0])))[:, None]
    np.testing.assert_allclose(share * parts[0] + (1 - share) * parts[1], both, rtol=1e-12)
