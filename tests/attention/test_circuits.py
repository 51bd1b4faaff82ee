"""The circuits of a head: broken statements are refused, and matrices of numbers have the ranks that are claimed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, sqrt

from derivations.attention.attention import W_K, W_Q, W_V, K, Q, V, X, Y, attention
from derivations.attention.circuits import (
    W_O,
    A,
    b_K,
    b_Q,
    biased_scores,
    change_of_basis,
    query_key_circuit,
    scale_folds_into_queries,
    scores_rank,
    value_output_circuit,
)
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import row_softmax
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_k, d_v
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name in RESULTS if RESULTS[name].__module__ == "derivations.attention.circuits")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


R, T = array("R", d_k, d_k), array("T", d_v, d_v)
KEYS = Y @ W_K + b_K
WRONG = [
    ("the scale dropped", scores_rank, 0, 0, Q @ K.T),
    ("a rank of d_k - 1", scores_rank, 1, 0, d_k - 1),
    ("the scale folded in twice", scale_folds_into_queries, 0, 0, (X @ W_Q + b_Q) @ KEYS.T / d_k),
    ("the bias not scaled", scale_folds_into_queries, 0, 1, (X @ (W_Q / sqrt(d_k)) + b_Q) @ KEYS.T),
    ("no scale at all", scale_folds_into_queries, 1, 0, row_softmax((X @ W_Q + b_Q) @ KEYS.T) @ V),
    ("W_K W_Q^T", query_key_circuit, 0, 1, X @ (W_K @ W_Q.T) @ Y.T / sqrt(d_k)),
    ("a rank of 1", query_key_circuit, 1, 0, 1),
    ("the weights after the output", value_output_circuit, 0, 0, (A @ Y) @ W_V @ W_O * 2),
    ("projections exchanged", value_output_circuit, 1, 0, attention.result(X @ W_K, Y @ W_Q, Y) @ (W_V @ W_O)),
    ("a rank of d_v - 1", value_output_circuit, 2, 0, d_v - 1),
    ("R^T for R", change_of_basis, 0, 0, W_Q @ (R.T @ array("R_inverse", d_k, d_k)) @ W_K.T),
    ("the other order", change_of_basis, 2, 0, W_V @ (array("T_inverse", d_v, d_v) @ T) @ W_O),
    ("no basis but W_Q W_Q^T", change_of_basis, 1, 0, W_Q @ W_Q.T),
    ("the bias of the queries without effect", biased_scores, 1, 0, row_softmax(X @ (W_Q @ W_K.T) @ Y.T / sqrt(d_k))),
    ("two terms of four", biased_scores, 0, 0, X @ (W_Q @ W_K.T) @ Y.T + (Y @ W_K) @ b_Q),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("number", [1, 3])
def test_a_change_of_basis_needs_an_inverse(number: int) -> None:
    right = change_of_basis()
    bare = replace(right, claims=(replace(right.claims[number], given=()),))
    assert is_refused(judge(bare).claims[0][0])


def test_the_circuits_in_numbers() -> None:
    """One head with a change of basis gives the same scores and the same output, of the ranks that are claimed."""
    random = np.random.default_rng(17)
    x, y = random.normal(size=(7, 11)), random.normal(size=(13, 11))
    of_queries, of_keys, of_values, of_output = (
        random.normal(size=size) for size in ((11, 3), (11, 3), (11, 2), (2, 11))
    )
    basis, other = random.normal(size=(3, 3)), random.normal(size=(2, 2))
    scores = (x @ of_queries) @ (y @ of_keys).T
    changed = (x @ of_queries @ basis) @ (y @ of_keys @ np.linalg.inv(basis).T).T
    np.testing.assert_allclose(changed, scores, rtol=1e-9, atol=1e-9)
    assert np.linalg.matrix_rank(scores) == 3
    output = of_values @ of_output
    np.testing.assert_allclose((of_values @ other) @ (np.linalg.inv(other) @ of_output), output, rtol=1e-9, atol=1e-9)
    assert np.linalg.matrix_rank(output) == 2
