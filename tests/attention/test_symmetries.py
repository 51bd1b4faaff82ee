"""Offsets, repetitions and rotations that attention does not notice: broken statements are refused, numbers agree."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, exp

from derivations.attention.attention import W_K, W_Q, W_V, K, Q, S, V, X, Y, attention, over_keys
from derivations.attention.symmetries import (
    b_K,
    b_Q,
    b_V,
    key_bias_cancels,
    key_offset,
    query_offset,
    repeated_keys,
    rotation_invariance,
    value_offset,
)
from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.symbols import d_k, i, j, l, m, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step


@pytest.mark.parametrize(
    "name", [name for name in RESULTS if RESULTS[name].__module__ == "derivations.attention.symmetries"]
)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


R, t = array("R", d_k, d_k), array("t", n)
WRONG = [
    ("values lost", repeated_keys, 0, 0, attention.result(Q, K, 2 * V)),
    ("an offset that stays below", query_offset, 0, 1, exp(S[i, j]) / over_keys(exp(S[i, l] + t[i]))),
    ("an offset that depends on the key", query_offset, 0, 0, exp(S[i, j]) / over_keys(exp(S[i, l] - S[i, j]))),
    ("an offset of the queries too", key_offset, 0, 0, attention.result(Q + array("a", d_k), K, V)),
    ("the bias of the queries dropped", key_bias_cancels, 0, 0, attention.result(X @ W_Q, Y @ W_K, Y @ W_V + b_V)),
    ("the bias of the values dropped", key_bias_cancels, 0, 0, attention.result(X @ W_Q + b_Q, Y @ W_K, Y @ W_V)),
    ("the offset of the values lost", value_offset, 0, 0, attention.result(Q, K, V)),
    ("the offset of the values twice", value_offset, 0, 0, attention.result(Q, K, V) + 2 * b_V),
    ("R^T R for R R^T", rotation_invariance, 0, 0, Q @ (R.T @ R) @ K.T),
    ("the queries alone", rotation_invariance, 1, 0, Q @ R @ K.T),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_a_query_offset_matters() -> None:
    """What holds for keys does not hold for queries: one vector added to all of them changes the weights."""
    moved, here = attention.result(Q + array("a", d_k), K, V), attention.result(Q, K, V)
    assert is_refused(judge(derivation("", claim(moved, step("exponent", here)))).claims[0][0])


def test_two_offsets_of_keys_matter() -> None:
    """An offset that differs from key to key is seen."""
    moved, here = attention.result(Q, K + array("a", m, d_k), V), attention.result(Q, K, V)
    assert is_refused(judge(derivation("", claim(moved, step("exponent", here)))).claims[0][0])


def test_offsets_and_repetitions_in_numbers() -> None:
    random = np.random.default_rng(11)
    attend = compile_layer(attention)
    queries, keys, values = random.normal(size=(2, 5)), random.normal(size=(3, 5)), random.normal(size=(3, 7))
    a, b = random.normal(size=5), random.normal(size=7)
    here = attend(queries, keys, values)
    np.testing.assert_allclose(attend(queries, keys + a, values), here, rtol=1e-12)
    np.testing.assert_allclose(attend(queries, keys, values + b), here + b, rtol=1e-12)
    np.testing.assert_allclose(attend(queries, np.tile(keys, (2, 1)), np.tile(values, (2, 1))), here, rtol=1e-12)
    assert np.abs(attend(queries + a, keys, values) - here).max() > 1e-2


def test_a_rotation_in_numbers() -> None:
    random = np.random.default_rng(13)
    attend = compile_layer(attention)
    queries, keys, values = random.normal(size=(2, 5)), random.normal(size=(3, 5)), random.normal(size=(3, 7))
    rotation, _ = np.linalg.qr(random.normal(size=(5, 5)))
    here = attend(queries, keys, values)
    np.testing.assert_allclose(attend(queries @ rotation, keys @ rotation, values), here, rtol=1e-12)
    assert np.abs(attend(queries @ rotation, keys, values) - here).max() > 1e-2


def test_the_bias_of_the_keys_is_the_only_one_without_effect() -> None:
    biased = attention.result(X @ W_Q + b_Q, Y @ W_K + b_K, Y @ W_V + b_V)
    bare = attention.result(X @ W_Q, Y @ W_K, Y @ W_V)
    assert is_refused(judge(derivation("", claim(biased, step("exponent", bare)))).claims[0][0])
