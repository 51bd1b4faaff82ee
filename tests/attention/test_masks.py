"""Masks: broken statements are refused, and plain loops agree that lowering, hiding and leaving out are the same."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, exp, sqrt

from derivations.attention.attention import (
    A,
    K,
    M,
    O,
    Q,
    S,
    V,
    attention,
    c,
    keys,
    masked_attention,
    over_keys,
    queries,
    values,
    visible,
)
from derivations.attention.causal import causal_attention, causal_first_position, causal_prefix, sliding_window
from derivations.attention.masks import (
    additive_mask,
    first,
    mask_after_softmax,
    mask_is_restriction,
    score_bias,
    two_masks,
)
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import RowMean, row_softmax
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.symbols import d_k, d_v, i, j, l, m, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

MODULES = ("derivations.attention.masks", "derivations.attention.causal")
NAMES = sorted(name for name in RESULTS if RESULTS[name].__module__ in MODULES)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


B = array("B", n, m)
CACHED, CACHED_VALUES = array("K_cache", i + 1, d_k), array("V_cache", i + 1, d_v)
WRONG = [
    ("weights that stay as they were", additive_mask, 0, 0, exp(S[i, j]) / over_keys(exp(S[i, l]))),
    ("a mask that is lost below", additive_mask, 0, 0, M[i, j] * exp(S[i, j]) / over_keys(exp(S[i, l]))),
    ("another column of the output", additive_mask, 1, 0, O[i, 0]),
    ("values without weights", additive_mask, 1, 0, over_keys(M[i, l] * V[l, c])),
    ("the weight of another key", mask_is_restriction, 1, 0, A[i, 0]),
    ("a lowered key that keeps a weight", mask_is_restriction, 2, 0, 1),
    ("twice the output", mask_is_restriction, 3, 0, 2 * O[i, c]),
    ("no mask at all", mask_is_restriction, 0, 0, attention.result(Q, K, 2 * V)),
    ("the output of another row", causal_prefix, 0, 0, row_softmax(CACHED @ queries[0] / sqrt(d_k)) @ CACHED_VALUES),
    ("the root dropped", causal_prefix, 0, 0, row_softmax(CACHED @ queries[i] / d_k) @ CACHED_VALUES),
    ("a plain mean", causal_prefix, 0, 0, RowMean(CACHED_VALUES.T)),
    ("the second value", causal_first_position, 0, 0, values[1]),
    ("a window that sees itself alone", sliding_window, 0, 0, values[i]),
    ("the second mask alone", two_masks, 0, 0, row_softmax(S, mask_array("M_2", n, m)).entry(i, j)),
    ("not divided by what is left of both", two_masks, 0, 0, mask_array("M_2", n, m)[i, j] * A[i, j]),
    ("nothing left", mask_after_softmax, 0, 0, 0),
    ("not divided by what is left", mask_after_softmax, 1, 0, M[i, j] * A[i, j]),
    ("the bias added to the weight", score_bias, 0, 1, A[i, j] + B[i, j]),
    ("the sum left as it was", score_bias, 0, 1, exp(B[i, j]) * A[i, j]),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("result", [additive_mask, mask_after_softmax, two_masks])
def test_a_query_must_see_a_key(result: Callable[[], Derivation]) -> None:
    bare = replace(result(), assumptions=tuple(a for a in result().assumptions if a != visible(i, M)))
    assert len(bare.assumptions) < len(result().assumptions)
    assert judge(bare).failures


def test_a_cache_that_lacks_the_position_itself_is_refused() -> None:
    """Position i reads i + 1 keys, itself included: those before it alone give another output."""
    cached_keys, cached_values = array("K_cache", i, d_k), array("V_cache", i, d_v)
    past = row_softmax(cached_keys @ queries[i] / sqrt(d_k)) @ cached_values
    short = derivation(
        "",
        claim(array("O", n, d_v)[i], step("indicator", past)),
        about=[
            *causal_attention(),
            Equation(cached_keys, first(keys, i)),
            Equation(cached_values, first(values, i)),
        ],
        ranges={i: n},
    )
    assert is_refused(judge(short).claims[0][0])


def test_a_cache_grows_with_the_positions() -> None:
    random = np.random.default_rng(7)
    queries_here, keys_here, values_here = (
        random.normal(size=(5, 3)),
        random.normal(size=(5, 3)),
        random.normal(size=(5, 2)),
    )
    whole = compile_layer(masked_attention)(queries_here, keys_here, values_here, np.tri(5, dtype=bool))
    for position in range(5):
        scores = queries_here[position : position + 1] @ keys_here[: position + 1].T / np.sqrt(3)
        step_by_step = plain_weights(scores) @ values_here[: position + 1]
        np.testing.assert_allclose(step_by_step[0], whole[position], rtol=1e-12)


def plain_weights(scores: np.ndarray) -> np.ndarray:
    """The softmax of every row, in loops."""
    weights = np.zeros_like(scores)
    for row in range(scores.shape[0]):
        powers = [np.exp(score) for score in scores[row]]
        weights[row] = [power / sum(powers) for power in powers]
    return weights


def test_lowering_hiding_and_leaving_out_are_the_same() -> None:
    random = np.random.default_rng(3)
    queries, keys, values = random.normal(size=(2, 5)), random.normal(size=(7, 5)), random.normal(size=(7, 3))
    kept = np.array([True, False, True, True, False, True, False])
    scores = queries @ keys.T / np.sqrt(5)
    left_out = plain_weights(scores[:, kept]) @ values[kept]
    lowered = plain_weights(np.where(kept, scores, scores - 60.0)) @ values
    hidden = compile_layer(masked_attention)(queries, keys, values, np.broadcast_to(kept, (2, 7)))
    np.testing.assert_allclose(lowered, left_out, rtol=1e-12)
    np.testing.assert_allclose(hidden, left_out, rtol=1e-12)
    assert np.abs(plain_weights(scores) @ values - left_out).max() > 0.05


def test_a_mask_after_the_softmax_is_another_layer() -> None:
    random = np.random.default_rng(5)
    scores, shown = random.normal(size=(3, 5)), random.random(size=(3, 5)) < 0.6
    shown[:, 0] = True
    cut = plain_weights(scores) * shown
    before = np.array([np.where(shown[r], np.exp(scores[r]), 0) for r in range(3)])
    np.testing.assert_allclose(cut / cut.sum(axis=1, keepdims=True), before / before.sum(axis=1, keepdims=True))
    assert cut.sum(axis=1).max() < 1
