"""Disentangled attention: broken statements are refused, and rows that say nothing leave plain attention."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Sum, sqrt

from derivations.attention.disentangled import (
    K_R,
    Q_R,
    K,
    N,
    Q,
    c,
    d_k,
    disentangled_attention,
    disentangled_costs,
    disentangled_scores,
    p,
    q,
)
from derivations.attention.multi_head import multi_head_attention
from derivations.language.arrays.shapes import ShapeError
from derivations.language.cross_check import cross_check
from derivations.language.differentiation.claims import local_claims
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from numeric import compile_layer
from numeric.verification.agreement.cases import SIZES, case
from tests.broken import broken_steps, is_refused, with_step

OVER, ROOT = (c, 0, d_k - 1), sqrt(3 * d_k)
QUERY, KEY = Q[p, c], K[q, c]


@pytest.mark.parametrize("result", [disentangled_scores, disentangled_costs])
def test_every_result_is_proved_and_the_cross_check_agrees(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert (evidence.level, cross_check(result()).outcome) == ("proved", "agrees")


def test_the_gradient_of_every_equation_is_proved() -> None:
    assert judge(local_claims(disentangled_attention(biases=True, shared=True))).level == "proved"


def scored(by_key: Basic, by_query: Basic, root: Basic = ROOT) -> Basic:
    return Sum(QUERY * KEY + QUERY * by_key + KEY * by_query, OVER) / root


NEAR_KEY, NEAR_QUERY = K_R[N[p, q], c], Q_R[N[p, q], c]
WRONG = [
    ("the distance the other way", disentangled_scores, 0, 0, scored(NEAR_KEY, Q_R[N[q, p], c])),
    ("rows of one table twice", disentangled_scores, 0, 0, scored(NEAR_KEY, NEAR_KEY)),
    ("divided as two terms are", disentangled_scores, 0, 0, scored(NEAR_KEY, NEAR_QUERY, sqrt(2 * d_k))),
    ("distance with distance", disentangled_scores, 0, 1, Sum((QUERY + NEAR_QUERY) * (KEY + NEAR_KEY), OVER) / ROOT),
    ("as many parameters where they are shared", disentangled_costs, 1, 0, disentangled_costs().claims[0].rhs),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_rows_of_zeros_leave_attention_with_smaller_scores() -> None:
    """Without content in the table only the divisor is another one: sqrt(3 d_k), as if keys were divided by sqrt(3)."""
    given = dict(case("disentangled_attention", SIZES[0], np.dtype(float)).arguments)
    given["R"] = np.zeros_like(given["R"])
    X, weights = given["X"], {name: given[name] for name in ("W_Q", "W_V", "W_O")}
    plain = compile_layer(multi_head_attention())(X, X, X, W_K=given["W_K"] / np.sqrt(3), **weights)
    np.testing.assert_allclose(compile_layer(disentangled_attention())(**given), plain, rtol=1e-12)


def test_attention_without_a_term_of_distances_is_refused() -> None:
    with pytest.raises(ShapeError, match="a term of distances is needed"):
        disentangled_attention(by_keys=False, by_queries=False)
