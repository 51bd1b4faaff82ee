"""Attention as a smoother: broken statements are refused; loops agree with linear attention and with its cost."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Sum

from derivations.attention.attention import A, V, c, over_keys, values
from derivations.attention.kernels import (
    O,
    Phi_K,
    Phi_Q,
    causal_linear_attention,
    gaussian,
    gaussian_kernel,
    kernel,
    kernel_smoother,
    linear_attention,
    linear_attention_cost,
    linear_attention_is_exact,
    r,
)
from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_k, d_v, i, j, k, l, m, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name in RESULTS if RESULTS[name].__module__ == "derivations.attention.kernels")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


TERM = array("Phi_K", n + 1, r)[j, k] * array("V", n + 1, d_v)[j, c]
WRONG = [
    ("not divided", kernel_smoother, 0, 2, over_keys(kernel(j) * V[j, c], j)),
    ("divided by the number of keys", kernel_smoother, 0, 2, over_keys(kernel(j) * V[j, c], j) / m),
    ("a Gaussian for every norm", gaussian_kernel, 0, 1, gaussian(j) / over_keys(gaussian(l))),
    ("kernels of products", gaussian_kernel, 0, 2, kernel(j) * A[i, j]),
    ("twice the product", linear_attention_is_exact, 0, 0, 2 * (Phi_Q @ (Phi_K.T @ V))),
    ("not divided by the sum", linear_attention_is_exact, 1, 0, (Phi_Q @ (Phi_K.T @ V))[i, c]),
    ("twice the output", linear_attention_is_exact, 1, 0, 2 * O[i, c]),
    ("the whole sequence", causal_linear_attention, 0, 0, (Phi_Q @ (array("Phi_K", n, r).T @ values))[i, c]),
    ("the position itself left out", causal_linear_attention, 1, 0, Sum(TERM, (j, 0, n - 1))),
    ("a term in n m", linear_attention_cost, 0, 0, 2 * n * m * (r + d_v)),
    ("the normaliser not counted", linear_attention_cost, 0, 0, 2 * (n + m) * r * d_v),
    ("the scores alone", linear_attention_cost, 1, 0, 2 * n * m * d_k),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_kernels_must_not_sum_to_zero() -> None:
    assert judge(replace(linear_attention_is_exact(), assumptions=())).failures


def test_a_gaussian_kernel_needs_keys_of_one_norm() -> None:
    assert is_refused(judge(replace(gaussian_kernel(), assumptions=())).claims[0][2])


def test_linear_attention_is_the_smoother_in_loops() -> None:
    random = np.random.default_rng(29)
    queries, keys, values = random.random(size=(2, 5)), random.random(size=(3, 5)), random.normal(size=(3, 7))
    for query, output in zip(queries, compile_layer(linear_attention())(queries, keys, values), strict=True):
        kernels = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
        mixture = sum(share * value for share, value in zip(kernels, values, strict=True)) / sum(kernels)
        np.testing.assert_allclose(output, mixture, rtol=1e-12)


def test_keys_of_one_norm_are_weighted_by_distance() -> None:
    random = np.random.default_rng(31)
    query, keys = random.normal(size=5), random.normal(size=(3, 5))

    def shares(logarithms: np.ndarray) -> np.ndarray:
        return np.exp(logarithms) / np.exp(logarithms).sum()

    def of_distances(keys: np.ndarray) -> np.ndarray:
        return shares(-((query - keys) ** 2).sum(axis=1) / (2 * np.sqrt(5)))

    same = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    np.testing.assert_allclose(of_distances(same), shares(same @ query / np.sqrt(5)), rtol=1e-12)
    assert np.abs(of_distances(keys) - shares(keys @ query / np.sqrt(5))).max() > 1e-2


def test_causal_linear_attention_is_a_recurrence() -> None:
    random = np.random.default_rng(37)
    queries, keys, values_here = random.random(size=(5, 3)), random.random(size=(5, 3)), random.normal(size=(5, 2))
    kernels = np.tril(queries @ keys.T)
    state = np.zeros((3, 2))
    for position in range(5):
        state += np.outer(keys[position], values_here[position])
        np.testing.assert_allclose(queries[position] @ state, kernels[position] @ values_here, rtol=1e-12)


def test_the_state_adds_a_position_that_is_there() -> None:
    """Values of n positions have no row n + 1."""
    assert "n + 1" not in causal_linear_attention().text()
