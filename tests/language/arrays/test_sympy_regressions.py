"""Where SymPy 1.14 is silently wrong about matrices, and that the same statement comes out right here.

The first assertion of a test fails on the day SymPy is mended; the others are what we claim instead.
"""

import pytest
from sympy import (
    Derivative,
    Identity,
    Integer,
    KroneckerDelta,
    MatMul,
    MatrixSymbol,
    OneMatrix,
    Sum,
    Symbol,
    Trace,
    ZeroMatrix,
    exp,
    latex,
    sqrt,
)

from derivations.language.arrays.expression import Product, Transpose, array
from derivations.language.arrays.shapes import ShapeError
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import claim, derivation, step
from derivations.softmax.softmax import softmax
from derivations.symbols import i, j, k, m, n

x, A = array("x", n), array("A", n, n)
column, ones = MatrixSymbol("x", 3, 1), OneMatrix(3, 1)


def level(left: object, right: object, rule: str = "derivative", **setting: object) -> str:
    """Return what the judge says of an equality."""
    return judge(derivation("", claim(left, step(rule, right)), **setting)).level


def total(of: object, over: Symbol = j) -> Sum:
    """Return the sum over all places."""
    return Sum(of, (over, 0, n - 1))


def test_softmax_written_with_matrices_loses_the_product_of_its_outputs() -> None:
    powers = column.applyfunc(exp)
    quotient = powers / (ones.T * powers)[0, 0]
    theirs = quotient.diff(column).subs(column, ZeroMatrix(3, 1)).doit()
    assert theirs[0, 1] == 0  # it is -1/9: every output is 1/3
    place = {"ranges": {i: n, k: n}, "about": softmax()}
    y = array("y", n)
    assert level(Derivative(y[i], x[k]), y[i] * (KroneckerDelta(i, k) - y[k]), **place) == "proved"
    assert level(Derivative(y[i], x[k]), y[i] * KroneckerDelta(i, k), **place) == "refuted"


def test_the_derivative_of_a_trace_plus_a_number_is_lost() -> None:
    matrix = MatrixSymbol("A", 3, 3)
    assert Trace(matrix).diff(matrix) == Identity(3)
    assert (Trace(matrix) + 1).diff(matrix) == ZeroMatrix(3, 3)  # the 1 changes nothing: it is the identity
    trace = total(A[j, j]) + 1
    assert level(Derivative(trace, A[i, k]), KroneckerDelta(i, k), ranges={i: n, k: n}) == "proved"
    assert level(Derivative(trace, A[i, k]), 0, ranges={i: n, k: n}) == "refuted"


def test_the_derivative_of_a_sum_of_squared_entries_is_lost() -> None:
    vector = MatrixSymbol("x", n, 1)
    assert Sum(vector[i, 0] ** 2, (i, 0, n - 1)).diff(vector) == ZeroMatrix(n, 1)  # it is 2 x
    assert level(Derivative(total(x[j] ** 2), x[i]), 2 * x[i], ranges={i: n}) == "proved"
    assert level(Derivative(total(x[j] ** 2), x[i]), 0, ranges={i: n}) == "refuted"


def test_the_derivative_of_a_sum_of_entries_is_lost() -> None:
    assert (ones.T * column)[0, 0].diff(column) == ZeroMatrix(3, 1)  # it is the vector of ones
    assert level(Derivative(total(x[j]), x[i]), 1, ranges={i: n}) == "proved"


def test_subtracting_the_mean_loses_the_mean() -> None:
    mean = (ones.T * column)[0, 0] / 3
    assert (column - mean * ones).diff(column) == Identity(3)  # it is I - 1/3
    centred = x[i] - total(x[j]) / n
    place = {"ranges": {i: n, k: n}}
    assert level(Derivative(centred, x[k]), KroneckerDelta(i, k) - 1 / n, **place) == "proved"
    assert level(Derivative(centred, x[k]), KroneckerDelta(i, k), **place) == "refuted"


def test_dividing_by_the_norm_loses_the_second_term_of_layer_norm() -> None:
    norm = sqrt((column.T * column)[0, 0])
    theirs = (column / norm).diff(column)
    assert theirs.args[-1] == Identity(3)  # I / norm: the term - x x^T / norm^3 is lost
    r = sqrt(total(x[j] ** 2) + 1)
    place = {"ranges": {i: n, k: n}}
    assert (
        level(Derivative(x[i] / r, x[k]), KroneckerDelta(i, k) / r - x[i] * x[k] / r**3, "quotient rule", **place)
        == "proved"
    )
    assert level(Derivative(x[i] / r, x[k]), KroneckerDelta(i, k) / r, "quotient rule", **place) == "refuted"


def test_products_are_flattened_and_transposes_distributed() -> None:
    X, Q, K = MatrixSymbol("X", 2, 3), MatrixSymbol("Q", 3, 5), MatrixSymbol("K", 3, 5)
    assert MatMul(X, Q, K.T, X.T) == (X * Q) * (X * K).T  # the order in which it is computed is gone
    x_, q, k_ = array("X", 2, 3), array("Q", 3, 5), array("K", 3, 5)
    scores = (x_ @ q) @ (x_ @ k_).T
    assert scores == Product(Product(x_, q), Transpose(Product(x_, k_)))
    assert scores != x_ @ q @ k_.T @ x_.T
    assert level(scores, x_ @ q @ k_.T @ x_.T, "transpose of a product") == "proved"


def test_a_product_with_itself_becomes_a_power() -> None:
    matrix = MatrixSymbol("A", 3, 3)
    assert matrix * matrix == matrix**2
    assert (A @ A).args == (A, A)


def test_sizes_that_may_differ_are_multiplied_and_added_in_silence() -> None:
    left, right = MatrixSymbol("P", n, m), MatrixSymbol("R", n, m)
    assert (left * right).shape == (n, m)  # m need not be n
    assert (left + MatrixSymbol("S", m, m)).shape == (n, m)
    with pytest.raises(ShapeError):
        array("P", n, m) @ array("R", n, m)
    with pytest.raises(ShapeError):
        array("P", n, m) + array("S", m, m)
    with pytest.raises(ShapeError):
        (array("P", 2, n) @ array("R", n, 5)).xreplace({n: Integer(7)}) + array("S", 3, 5)


def test_the_empty_sum_is_not_empty() -> None:
    weight = Symbol("a", real=True)
    assert Sum(weight, (i, 3, 1)).doit() == -weight
    assert level(Sum(weight, (i, 3, 1)), -weight, "algebra") == "refuted"


def test_a_matrix_of_ones_prints_as_a_number() -> None:
    assert str(OneMatrix(2, 3)) == "1"
    assert latex(OneMatrix(2, 3)) in ("1", "\\mathbb{1}")
    assert str(softmax().equations[0]) == "y = softmax(x)"
