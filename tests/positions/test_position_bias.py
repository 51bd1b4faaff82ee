"""The results about positions inside the scores are proved; broken ones are not; the layers are the loops."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Lambda, exp

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.functions import row_softmax
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.positions.position_bias import (
    VISIBLE,
    A,
    S,
    absolute_scores_split,
    alibi,
    alibi_attention,
    alibi_ratio,
    distance_bias,
    learned_absolute,
    learned_positions,
    relative_bias,
    slope,
)
from derivations.symbols import i, j, k, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

CASES = (alibi, alibi_ratio, absolute_scores_split, learned_absolute, relative_bias)


@pytest.mark.parametrize("result", CASES)
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    """Each result of the module holds for all sizes."""
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


by_query = Tabulated(Lambda((i, j), slope * i), n, n)
backwards = Tabulated(Lambda((i, j), -slope * j), n, n)
ratio = alibi_ratio().claims[0].rhs
terms = absolute_scores_split().claims[0].rhs


@broken_steps(
    [
        ("a bias that sees where it is", alibi, 0, 0, slope * j),
        ("a bias that knows the query", alibi, 1, 0, slope * i),
        ("a bias by the query alone", alibi, 2, 0, row_softmax(S + by_query, VISIBLE)[i, k]),
        ("later keys punished", alibi, 2, 0, row_softmax(S + backwards, VISIBLE)[i, k]),
        ("no mask", alibi, 2, 0, row_softmax(S + distance_bias())[i, k]),
        ("no distance", alibi_ratio, 0, 0, VISIBLE[i, j] * VISIBLE[i, k] * A[i, k] * exp(S[i, j] - S[i, k])),
        ("the far key favoured", alibi_ratio, 0, 0, ratio * exp(2 * slope * (k - j))),
        ("content by content alone", absolute_scores_split, 0, 1, terms.args[0].args[0].args[0]),
        ("one term counted twice", absolute_scores_split, 0, 1, terms + terms.args[1]),
        ("one row for all positions", learned_absolute, 0, 0, n),
        ("a learned slope", learned_absolute, 3, 0, 1),
        ("another offset", relative_bias, 1, 0, relative_bias().claims[1].rhs + 1),
        ("a constant that is seen", relative_bias, 2, 0, row_softmax(S)[i, k]),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def attended(queries: np.ndarray, keys: np.ndarray, values: np.ndarray, fall: float) -> np.ndarray:
    """Causal attention with linear biases by loops over queries and keys."""
    result = np.zeros((len(queries), values.shape[1]))
    for position, query in enumerate(queries):
        scores = [
            query @ keys[other] / np.sqrt(len(query)) - fall * (position - other) for other in range(position + 1)
        ]
        weights = np.exp(scores - np.max(scores))
        for weight, value in zip(weights / weights.sum(), values[: position + 1], strict=True):
            result[position] += weight * value
    return result


def test_the_compiled_attention_is_the_loop() -> None:
    """Prime sizes, a slope that is felt, batch axes in front."""
    random = np.random.default_rng(6)
    queries, keys, values = (random.normal(size=(2, 7, width)) for width in (5, 5, 3))
    layer = compile_layer(alibi_attention())
    result = layer(queries, keys, values, slope=0.25)
    for item in range(2):
        expected = attended(queries[item], keys[item], values[item], 0.25)
        np.testing.assert_allclose(result[item], expected, rtol=1e-12)
    assert np.abs(result - layer(queries, keys, values, slope=0.5)).max() > 1e-2


def test_the_key_position_will_do_for_the_distance() -> None:
    """The same weights with m j in place of -m (i - j), and a ratio exp(-m) for one step."""
    scores, fall, places = np.random.default_rng(7).normal(size=(5, 5)), 0.5, np.arange(5)
    visible = np.tri(5, dtype=bool)

    def weights(bias: np.ndarray) -> np.ndarray:
        masked = np.where(visible, np.exp(scores + bias), 0)
        return masked / masked.sum(axis=1, keepdims=True)

    by_distance = weights(fall * (places[None] - places[:, None]))
    np.testing.assert_allclose(by_distance, weights(fall * places[None]), rtol=1e-13)
    content = np.exp(scores[4, 1] - scores[4, 2])
    np.testing.assert_allclose(by_distance[4, 1] / by_distance[4, 2], content * np.exp(-fall), rtol=1e-13)


def test_learned_positions_are_added_row_by_row() -> None:
    """The layer is a sum."""
    random = np.random.default_rng(8)
    rows, table = random.normal(size=(3, 5, 2)), random.normal(size=(5, 2))
    np.testing.assert_array_equal(compile_layer(learned_positions())(rows, table), rows + table)
