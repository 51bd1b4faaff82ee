"""Entrywise products and functions print as a textbook has them; what is a matrix product is told apart."""

import pytest
from sympy import Derivative, KroneckerDelta, Lambda, Rational, Symbol, erf, exp, pi, sqrt, symbols, tanh

from derivations.activations.sigmoid import sigmoid, silu
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, Transpose, array
from derivations.language.arrays.functions import Hadamard, RowSum, exponential, named
from derivations.language.differentiation.adjoints import ones
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equations, Layer
from derivations.language.printing.latex import latex_of
from derivations.language.printing.text import TextPrinter
from derivations.language.printing.views import latex, markdown, text
from derivations.symbols import d, epsilon, m, n

t, b = Symbol("t", real=True), Symbol("b", real=True)
X, Y, W = array("X", n, m), array("Y", n, m), array("W", m, d)
u, v, w = array("u", m), array("v", n), array("w")
by_rows, by_columns = ColumnBroadcast(v, m), RowBroadcast(u, n)
inverse_root = named("scale", 1 / sqrt(t + epsilon), t)
double, slope = named("double", 2 * t, t), named("slope", -t / (b**2 + 1), t, b)
gate, both = named("gate", t * (1 - t), t), named("both", t * b * exp(-(t**2) / 2) / (sqrt(2) * sqrt(pi)), t, b)

CASES = [  # the array, its text, and its LaTeX with column vectors
    (Hadamard(X, by_rows), "diag(v) X", r"X \, \mathrm{diag}(v)"),
    (Hadamard(by_rows, X), "diag(v) X", r"X \, \mathrm{diag}(v)"),
    (Hadamard(by_columns, X), "u o X", r"u \odot X"),
    (Hadamard(by_rows, by_columns), "v u^T", r"u v^{\top}"),
    (Hadamard(X, by_rows) @ W, "(diag(v) X) W", None),
    (Hadamard(Hadamard(X, by_rows), Y), "(diag(v) X) o Y", None),
    (Hadamard(by_rows, double(X)), "2 diag(v) X", None),
    (Hadamard(Y, double(X)), "2 Y o X", None),
    (Hadamard(ColumnBroadcast(Hadamard(w, ones(n)), m), X), "w X", None),
    (Hadamard(X, inverse_root(by_rows)), "X / sqrt(v + epsilon)", r"\frac{X}{\sqrt{v + \epsilon}}"),
    (Hadamard(X, slope(Y, by_columns)), "-X o Y / (u o u + 1)", None),
    (X - Hadamard(X, slope(Y, Y)), "X - (-X o Y / (Y o Y + 1))", None),
    (Hadamard(X, gate(Y)), "X o Y o (1 - Y)", None),
    (gate(X) @ W, "(X o (1 - X)) W", r"W (X \odot (1 - X))"),
    (both(X, Y), "X o Y o e^(-(X o X) / 2) / sqrt(2 pi)", None),
    (both(X, w), "w X o e^(-(X o X) / 2) / sqrt(2 pi)", None),  # a number needs no sign of its own
    (RowSum(Transpose(X)), "1^T X", r"X \mathbf{1}"),
    (RowSum(Transpose(X @ W)), "1^T (X W)", None),
    (RowSum(X), "rowsum(X)", r"\mathrm{rowsum}(X)"),
    # a vector alone does not show how often it is repeated, nor whether as rows or as columns
    (by_rows, "v 1^T", r"\mathbf{1} v^{\top}"),
    (by_columns, "1 u^T", r"u \mathbf{1}^{\top}"),
    (by_rows / m, "v 1^T / m", r"\frac{\mathbf{1} v^{\top}}{m}"),
    (2 * by_columns, "1 (2 u)^T", None),
    (by_rows.T, "1 v^T", r"v \mathbf{1}^{\top}"),
    (exponential(by_columns), "1 (e^u)^T", None),
    (Hadamard(by_rows, by_rows), "(v o v) 1^T", None),
    (by_columns + by_columns, "1 (u + u)^T", None),
    (X @ Transpose(by_columns), "X (u 1^T)", None),
    (X + by_rows, "X + v 1^T", None),
    (X + by_columns, "X + u", None),
    (X + (by_columns - 2 * by_columns), "X + (u - 2 u)", None),
    (both(by_rows, by_columns), "(1 u^T) o (v 1^T) o exp(-((v 1^T) o (v 1^T)) / 2) / sqrt(2 pi)", None),
    (Hadamard(X, gate(by_rows)), "diag(v o (1 - v)) X", None),
    (both(X, by_columns), "X o u o e^(-(X o X) / 2) / sqrt(2 pi)", None),
]


@pytest.mark.parametrize(("value", "said", "columns"), CASES, ids=[case[1] for case in CASES])
def test_entrywise_operations_print_as_a_textbook_has_them(value: Array, said: str, columns: str | None):
    assert TextPrinter().doprint(value) == said
    if columns is not None:
        assert latex_of(value, "columns") == columns


def layer(function, *arrays: Array) -> Layer:
    let = Equations()
    return Layer("layer", arrays, (), let, let("Y")(function(*arrays)))


def test_a_slope_of_the_value_alone_is_written_by_the_value():
    assert "dX = dY o Y o (1 - Y)" in text(gradient(layer(sigmoid, X)))
    assert "dX = dY o (1 - Y o Y)" in text(gradient(layer(named("tanh", tanh(t), t), X)))
    assert "dX = dY o Y\n" in text(gradient(layer(exponential, X)))


def test_a_formula_that_recurs_is_written_by_its_name_which_is_explained():
    said = text(gradient(layer(silu, X)))
    assert "dX = dY o (X o sigma(X) o (1 - sigma(X)) + sigma(X))" in said
    assert "sigma(t) = 1 / (1 + e^(-t))." in said
    assert TextPrinter().doprint(named("swish", t / (1 + exp(-t)), t)(X)) == "X / (1 + e^(-X))"


def test_a_table_is_taken_for_a_product_of_vectors_only_where_it_is_one():
    i, j = Symbol("i", integer=True), Symbol("j", integer=True)
    x, y = array("x", n), array("y", n)

    def printed(entry) -> str:
        return TextPrinter().doprint(Tabulated(Lambda((i, j), entry), n, n))

    assert printed(KroneckerDelta(i, j) * x[j]) == "diag(x)"
    assert printed(x[i] * y[j]) == "x y^T" and printed(x[j] * y[i]) == "y x^T"
    for entry in (x[i] * y[i], 2 * x[i] * y[j], x[i] + y[j], x[0] * y[j], KroneckerDelta(i, 0) * x[j], x[i] ** 2):
        assert printed(entry).startswith("[")


def test_roots_of_numbers_are_one_root():
    assert TextPrinter().doprint(t / (sqrt(2) * sqrt(pi))) == "t / sqrt(2 pi)"
    assert TextPrinter().doprint(erf(t) * sqrt(2) * sqrt(pi)) == "erf(t) sqrt(2 pi)"
    assert TextPrinter().doprint(sqrt(2) * t * Rational(1, 2)) == "t / sqrt(2)"


def test_tables_of_a_textbook_have_their_signs():
    """The identity and the table of ones; a table that is not square, or whose entries differ, stays a table."""
    i, j = symbols("i j", integer=True)
    delta = Lambda((i, j), KroneckerDelta(i, j))
    assert latex(Tabulated(delta, n, n) - Tabulated(Lambda((i, j), 1 / n), n, n)) == (
        r"I - \frac{\mathbf{1} \mathbf{1}^{\top}}{n}"
    )
    assert latex(Tabulated(delta, n, m)) == r"[\delta_{ij}]_{i,j}"
    slope = Derivative(X[i, j] ** 2, X[i, j])  # free_symbols of a derivative leaves its places out
    assert latex(Tabulated(Lambda((i, j), slope), n, m)).endswith("]_{i,j}")


def test_the_gradient_of_a_sum_of_rows_has_the_shape_of_its_input():
    """dX = dy would say that a matrix is a vector."""
    backward = gradient(layer(RowSum, X))
    for view, said in ((latex, r"\mathrm{d}Y \mathbf{1}^{\top}"), (text, "dY 1^T"), (markdown, r"\mathbf{1}^{\top}")):
        assert said in view(backward)
