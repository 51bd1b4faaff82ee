"""Formulas are evaluated as they are read."""

import numpy as np
import pytest
from sympy import (
    Derivative,
    Eq,
    Function,
    Indexed,
    IndexedBase,
    KroneckerDelta,
    Le,
    Max,
    Sum,
    Symbol,
    erf,
    exp,
    pi,
    sqrt,
)

from derivations.language.arrays.expression import array
from derivations.language.arrays.scalars import Expectation, Iverson
from derivations.symbols import i, j, n
from numeric.verification.agreement.formula import number

x = IndexedBase("x")
A = IndexedBase("A")
ARRAYS = {"x": np.array([2.0, 3.0, 5.0]), "A": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (x[0] + 2 * x[2], 12),
        (A[1, 0] / x[0], 2),
        (Sum(x[j], (j, 0, n - 1)), 10),
        (Sum(A[i, j], (j, 0, 2), (i, 0, 1)), 21),
        (Sum(Sum(A[i, j] * x[j], (j, 0, 2)) * (i + 1), (i, 0, 1)), 23 + 2 * 53),
        (Sum(x[j] * KroneckerDelta(j, 1), (j, 0, 2)), 3),
        (Sum(x[j] * Iverson(Le(j, 1, evaluate=False)), (j, 0, 2)), 5),
        (Sum(x[j], (j, 2, 1)), 0),
        (Max(0, -x[0]), 0),
        (sqrt(x[0] + 2) + pi - pi, 2),
        (exp(x[0] - 2) + erf(x[0] - 2), 1),
        (array("x", n)[1], 3),
        (x[n - 1], 5),
    ],
)
def test_a_formula_has_its_value(formula, expected):
    assert number(formula, ARRAYS, {n: 3}) == pytest.approx(expected, rel=1e-14)


def test_a_place_below_0_is_not_read_from_the_other_end():
    with pytest.raises(IndexError, match="counts from 0"):
        number(Indexed(x, i - 1), ARRAYS, {i: 0})


@pytest.mark.parametrize("formula", [Derivative(exp(x[0]), x[0]), Expectation(x[0]), Function("f")(x[0])])
def test_what_is_not_in_closed_form_has_no_number(formula):
    with pytest.raises(TypeError, match="has no number"):
        number(formula, ARRAYS, {})


def test_a_symbol_without_a_value_is_refused():
    with pytest.raises(KeyError, match="no value is given for t"):
        number(Symbol("t") + 1, ARRAYS, {})
    with pytest.raises(KeyError):
        number(IndexedBase("z")[0], ARRAYS, {})
    assert number(Iverson(Eq(i, 1, evaluate=False)), ARRAYS, {i: 1}) == 1
