"""More about the weights: broken statements are refused; central differences and counting agree with the rest."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, exp, log, sqrt

from derivations.attention.attention import A, K, O, Q, S, V, attention, c, over_keys
from derivations.attention.weights import (
    free_energy,
    key_jacobian,
    one_key,
    order_of_weights,
    query_jacobian,
    score_jacobian,
    temperature,
    uniform_weights,
    weight_ratio,
)
from derivations.language.arrays.expression import RowBroadcast, array
from derivations.language.arrays.functions import RowSum
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_k, d_v, i, j, k, l, m, n, scalar
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name in RESULTS if RESULTS[name].__module__ == "derivations.attention.weights")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


tau, B = scalar("tau", positive=True), array("B", n, m)
WRONG = [
    ("the ratio turned round", weight_ratio, 0, 1, exp(S[i, l] - S[i, j])),
    ("the root dropped", weight_ratio, 0, 2, exp((Q @ K.T)[i, j] / d_k - (Q @ K.T)[i, l] / d_k)),
    ("times the temperature", temperature, 0, 1, exp((S[i, j] - S[i, l]) * tau)),
    ("the other order", order_of_weights, 0, 0, A[i, 0]),
    ("the weights of n keys", uniform_weights, 0, 0, 1 / n),
    ("a sum for a mean", uniform_weights, 1, 0, over_keys(V[j, c], j)),
    ("the sum of the values", uniform_weights, 2, 0, RowSum(V.T)),
    ("twice the value", one_key, 0, 0, RowBroadcast(2 * array("V", 1, d_v)[0], n)),
    ("the entropy left out", free_energy, 0, 0, over_keys(A[i, j] * S[i, j], j)),
    ("the mean in place of the sum", free_energy, 0, 0, log(over_keys(exp(S[i, l])) / m)),
    ("no relative entropy", free_energy, 1, 0, log(over_keys(exp(S[i, l])))),
    ("the output not taken off", score_jacobian, 0, 2, A[i, j] * V[j, c]),
    ("the wrong sign", score_jacobian, 0, 2, A[i, j] * (O[i, c] - V[j, c])),
    ("another query", query_jacobian, 0, 0, over_keys(A[i, j] * (V[j, c] - O[i, c]) * K[j, k], j) / sqrt(d_k)),
    ("no covariance", query_jacobian, 0, 0, KroneckerDelta(i, l) * over_keys(A[i, j] * V[j, c] * K[j, k], j)),
    ("the scale lost", key_jacobian, 0, 0, A[i, j] * (V[j, c] - O[i, c]) * Q[i, k]),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_a_higher_weight_needs_a_higher_score() -> None:
    assert judge(replace(order_of_weights(), assumptions=())).failures


def test_equal_weights_need_equal_scores() -> None:
    right = uniform_weights()
    bare = replace(right, claims=(replace(right.claims[0], given=()),))
    assert is_refused(judge(bare).claims[0][0])


def test_other_weights_must_sum_to_1() -> None:
    right = free_energy()
    bare = replace(right, claims=(replace(right.claims[1], given=right.claims[1].given[:1]),))
    assert is_refused(judge(bare).claims[0][0])


RANDOM = np.random.default_rng(7)
QUERIES, KEYS, VALUES = RANDOM.normal(size=(2, 5)), RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(3, 7))
ATTEND = compile_layer(attention)


def weights() -> np.ndarray:
    powers = np.exp(QUERIES @ KEYS.T / np.sqrt(5))
    return powers / powers.sum(axis=1, keepdims=True)


def nudged(array: np.ndarray, row: int, column: int, by: float) -> np.ndarray:
    moved = array.copy()
    moved[row, column] += by
    return moved


def test_the_derivatives_are_central_differences() -> None:
    step, shares, outputs = 1e-5, weights(), ATTEND(QUERIES, KEYS, VALUES)
    for column in range(5):
        above, below = (ATTEND(nudged(QUERIES, 1, column, by), KEYS, VALUES) for by in (step, -step))
        covariance = sum(shares[1, key] * (VALUES[key] - outputs[1]) * KEYS[key, column] for key in range(3))
        np.testing.assert_allclose((above - below)[1] / (2 * step), covariance / np.sqrt(5), rtol=1e-7, atol=1e-9)
        assert np.array_equal(above[0], below[0])
        above, below = (ATTEND(QUERIES, nudged(KEYS, 2, column, by), VALUES) for by in (step, -step))
        for row in range(2):
            expected = shares[row, 2] * (VALUES[2] - outputs[row]) * QUERIES[row, column] / np.sqrt(5)
            np.testing.assert_allclose((above - below)[row] / (2 * step), expected, rtol=1e-7, atol=1e-9)


def test_other_weights_have_less_score_and_entropy() -> None:
    scores, shares = QUERIES @ KEYS.T / np.sqrt(5), weights()
    others = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    highest = np.log(np.exp(scores).sum(axis=1))
    own, other = ((p * scores - p * np.log(p)).sum(axis=1) for p in (shares, others))
    np.testing.assert_allclose(own, highest, rtol=1e-12)
    relative = (others * np.log(others / shares)).sum(axis=1)
    np.testing.assert_allclose(other, highest - relative, rtol=1e-12)
    assert (relative > 0).all()
