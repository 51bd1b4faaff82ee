"""Columns side by side and stretches of columns: shapes, values, proofs, refusals."""

import numpy as np
import pytest
from sympy import Expr

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.shapes import Blocks, ShapeError, shape_text
from derivations.language.counting.costs import count_flops
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.language.printing.latex import LatexPrinter
from derivations.language.results.derivation import claim, derivation, step
from derivations.symbols import d, d_k, d_model, d_v, h, i, j, m, n
from numeric import compile_layer

X, A, B, C = array("X", n, d_model), array("A", d_model, d_k), array("B", d_model, d_v), array("C", d_model, d)
W_Q, W_V = array("W_Q", h, d_model, d_k), array("W_V", h, d_model, d_v)
WIDE = ColumnConcatenation(A, B, C)
BLOCKS = ColumnConcatenation(Concatenate(W_Q[i], i, h), Concatenate(W_V[i], i, h))
RANDOM = np.random.default_rng(31)


def says(left: Array | Expr, right: Array | Expr, **given: object) -> str:
    """What the judge says of an equality."""
    return judge(derivation("t", claim(left, step("block product", right)), **given)).level  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("node", "shape", "text", "latex"),
    [
        (WIDE, "(d_model, d + d_k + d_v)", "ColumnConcat(A, B, C)", r"\begin{bmatrix} A & B & C \end{bmatrix}"),
        (ColumnRange(X, 3, d), "(n, d)", "X[:, 3:d + 3]", "[X]_{:,4:d + 3}"),
        (ColumnRange(array("b", d), 2, 3), "(3,)", "b[2:5]", "[b]_{3:5}"),
    ],
)
def test_shapes_and_texts(node: Array, shape: str, text: str, latex: str) -> None:
    assert (shape_text(node.shape), str(node)) == (shape, text)
    assert LatexPrinter().doprint(node).replace("d_{model}", "d_model") == latex


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ColumnConcatenation(A, X), "arrays of as many rows are needed"),
        (lambda: ColumnConcatenation(A, array("b", d_model)), "arrays of as many rows are needed"),
        (lambda: ColumnConcatenation(W_Q), "a matrix or a vector is needed"),
        (lambda: ColumnRange(W_Q, 0, d_k), "a matrix is needed"),
        (lambda: ColumnRange(X, -1, d), "there is no column -1"),
        (lambda: ColumnRange(array("U", n, 7), 3, 5), "there is no column 7 in 7 columns"),
    ],
)
def test_what_does_not_fit_is_refused(build: object, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        build()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("start", "along", "part"),
    [(0, d_k, A), (d_k, d_v, B), (d_k + d_v, d, C)],
)
def test_columns_of_matrices_side_by_side_are_those_of_one_of_them(start: Expr, along: Expr, part: Array) -> None:
    assert says(ColumnRange(WIDE, start, along), part) == "proved"
    assert says(ColumnRange(X @ WIDE, start, along), X @ part) == "proved"


def test_blocks_of_columns_are_those_of_one_head() -> None:
    ranges = {i: h}
    queries = ColumnBlock(ColumnRange(X @ BLOCKS, 0, Blocks(h, d_k)), i)
    values = ColumnBlock(ColumnRange(X @ BLOCKS, h * d_k, Blocks(h, d_v)), i)
    assert says(queries, X @ W_Q[i], ranges=ranges) == "proved"
    assert says(values, X @ W_V[i], ranges=ranges) == "proved"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (ColumnRange(WIDE, d_v, d_k), A),  # not where A is
        (ColumnRange(WIDE, 0, d_v), B),
        (ColumnRange(ColumnConcatenation(A, A), 1, d_k), A),
    ],
)
def test_other_columns_are_not_proved_equal(left: Array, right: Array) -> None:
    assert says(left, right) in ("refuted", "unknown")


def test_columns_that_need_not_be_there_are_not_read() -> None:
    Y = array("Y", n, m)
    assert says(ColumnRange(Y, 0, d)[i, j], Y[i, j], ranges={i: n, j: d}) == "unknown"  # nobody said d <= m


def test_the_heads_of_one_order_are_not_those_of_another() -> None:
    W = array("W", d_model, Blocks(h, d_k))
    turned = Equation(W, Concatenate(W_Q[h - 1 - i], i, h))
    assert says(ColumnBlock(X @ W, i), X @ W_Q[i], about=[turned], ranges={i: h}) in ("refuted", "unknown")


def test_moving_columns_is_free_and_compiled_to_views() -> None:
    let = Equations()
    wide = let("P")(X @ WIDE)
    let("Y")(ColumnRange(wide, d_k, d_v))
    layer = Layer("columns", (X,), (A, B, C), let, array("Y", n, d_v))
    assert count_flops(layer).matmul == 2 * n * d_model * (d_k + d_v + d)
    compiled = compile_layer(layer)
    rows, parts = RANDOM.normal(size=(2, 3, 5)), [RANDOM.normal(size=(5, width)) for width in (2, 7, 11)]
    assert np.allclose(compiled(rows, *parts), rows @ parts[1], rtol=0, atol=1e-13)
    assert "Y = P[..., d_k:" in compiled.source


def test_a_range_has_the_kind_of_its_matrix() -> None:
    assert ColumnRange(mask_array("M", n, 7), 0, 3).kind == "boolean"
