"""Attention in another order: broken statements are refused, and both orders give the same numbers."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Integer, exp

from derivations.attention.attention import A, M, S, V, c, over_keys
from derivations.attention.rewrites import E_M, E, T, deferred_normalisation, powers_of_two
from derivations.language.arrays.functions import RowSum
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import i, j, l
from numeric.runtime.primitives import (
    masked_row_exponentials,
    masked_row_softmax,
    normalised,
    row_exponentials,
    row_softmax,
)
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name in RESULTS if RESULTS[name].__module__ == "derivations.attention.rewrites")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


WRONG = [
    ("the sum of the scores", deferred_normalisation, 0, 1, over_keys(E[i, l] * V[l, c]) / over_keys(S[i, l])),
    ("no division", deferred_normalisation, 0, 1, over_keys(E[i, l] * V[l, c])),
    ("a sum of quotients", deferred_normalisation, 0, 1, over_keys(E[i, l] * V[l, c] / E[i, l])),
    ("the transposed exponentials", deferred_normalisation, 0, 2, (E @ V)[i, c] / RowSum(E.T)[j]),
    ("hidden keys in the sum", deferred_normalisation, 1, 0, (E_M @ V)[i, c] / RowSum(E)[i]),
    ("hidden keys in the product", deferred_normalisation, 1, 0, (E @ V)[i, c] / RowSum(E_M)[i]),
    ("the scores as they are", powers_of_two, 0, 0, Integer(2) ** S[i, j]),
    ("another base", powers_of_two, 1, 0, Integer(3) ** T[i, j] / over_keys(Integer(3) ** T[i, l])),
    ("exponentials of the scaled scores", powers_of_two, 1, 0, exp(T[i, j]) / over_keys(exp(T[i, l]))),
    ("hidden keys", powers_of_two, 2, 0, M[i, j] * A[i, j]),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("base", [np.e, 2, 10])
def test_both_orders_give_the_same_numbers(base: float) -> None:
    rng = np.random.default_rng(37)
    scores, values, seen = rng.normal(size=(5, 7)) * 9, rng.normal(size=(7, 3)), rng.random((5, 7)) < 0.5
    seen[2] = False
    powers = row_exponentials(scores / np.log(base), base)
    assert np.allclose(
        normalised(powers @ values, powers.sum(-1)), row_softmax(scores) @ values, rtol=1e-13, atol=1e-14
    )
    powers = masked_row_exponentials(scores / np.log(base), seen, base)
    late = normalised(powers @ values, powers.sum(-1))
    assert np.allclose(late, masked_row_softmax(scores, seen) @ values, rtol=1e-13, atol=1e-14)
    assert not late[2].any()
