"""Rows of a matrix: ranges with a step, rows placed among rows of zeros, one matrix above another.

`RowRange` reads the first n rows of a table of positions, or every second row of the result of a convolution.
`PlacedRows` is its adjoint, and also pads a sequence with zeros. `Stacked` puts a class token above the rows of an
image, or old keys above new ones. With `Windows` they give the convolution with stride and padding: `strided_windows`.
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Integer, KroneckerDelta, expand, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Shape, avoiding, require
from derivations.language.arrays.scalars import Within
from derivations.language.arrays.selection import Windows
from derivations.language.arrays.shapes import Place, Sized, axis, flat, same_size, shape_text, sum_along, total

__all__ = ["PlacedRows", "RowRange", "Stacked", "strided_windows"]


def _require_rows(what: str, start: Expr, last: Expr, rows: Expr, step: Expr) -> None:
    """Raise `ShapeError` if a matrix of `rows` rows certainly lacks one of the rows start, start + step, ..., last."""
    require(bool(step.is_integer and step.is_positive), lambda: f"{what}: the step must be an integer >= 1, not {step}")
    require(start.is_integer is not False, lambda: f"{what}: the first row must be an integer, not {start}")
    require(start.is_negative is not True, lambda: f"{what}: rows count from 0, there is no row {start}")
    outside = expand(last - rows + 1).is_positive
    require(outside is not True, lambda: f"{what}: there is no row {last} in {rows} rows, which count from 0")


class RowRange(Array):
    """The rows start, start + step, ... of a matrix, `count` of them: entry (i, j) is X[start + step i, j].

    Assumes      X has all of these rows
    """

    def __new__(cls, matrix: Array, start: Any, count: Sized, step: Any = 1) -> Array:
        """Build the matrix of `count` rows."""
        return super().__new__(cls, matrix, sympify(start, strict=True), axis(count), sympify(step, strict=True))

    def _infer(self) -> Shape:
        matrix, start, count, step = self.args
        what = f"rows of {matrix}"
        require(len(matrix.shape) == 2, lambda: f"{what}: a matrix is needed, not {shape_text(matrix.shape)}")
        _require_rows(what, start, start + step * (total(count) - 1), total(matrix.shape[0]), step)
        return (count, matrix.shape[1])

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the operand."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        start, count, step = self.args[1:]
        by = "" if step == 1 else f":{step}"
        return f"{self._text(0, 3)}[{start}:{start + step * total(count)}{by}]"

    def _entry(self, *places: Place) -> Expr:
        matrix, start, _, step = self.args
        return matrix.entry(start + step * flat(places[0]), places[1])


class PlacedRows(Array):
    """A matrix of `rows` rows: Y in the rows start, start + step, ..., zeros elsewhere; the adjoint of `RowRange`.

    Assumes      the rows start, start + step, ... are among the `rows` rows
    """

    def __new__(cls, body: Array, start: Any, rows: Sized, step: Any = 1) -> Array:
        """Build the matrix of `rows` rows."""
        return super().__new__(cls, body, sympify(start, strict=True), axis(rows), sympify(step, strict=True))

    def _infer(self) -> Shape:
        body, start, rows, step = self.args
        what = f"{body} among rows of zeros"
        require(len(body.shape) == 2, lambda: f"{what}: a matrix is needed, not {shape_text(body.shape)}")
        _require_rows(what, start, self._last, total(rows), step)
        return (rows, body.shape[1])

    @property
    def _last(self) -> Expr:
        body, start, _, step = self.args
        return start + step * (total(body.shape[0]) - 1)

    def _sympystr(self, printer: StrPrinter) -> str:
        body, start, _, step = self.args
        return f"placed({body}, {start}{'' if step == 1 else f', {step}'})"

    def _entry(self, *places: Place) -> Expr:
        body, start, rows, step = self.args
        value = sum_along(
            body.shape[0],
            lambda p: KroneckerDelta(start + step * flat(p), flat(places[0])) * body.entry(p, places[1]),
            avoiding(self, places),
        )
        # The step is positive, so all rows are inside if the first and the last row are.
        return Within(Within(value, start, total(rows)), self._last, total(rows))


class Stacked(Array):
    """The rows of A above those of B, [A; B]: entry (i, j) is A[i, j] for i < a and B[i - a, j] from row a on."""

    def _infer(self) -> Shape:
        above, below = self.args
        require(
            len(above.shape) == len(below.shape) == 2 and same_size(above.shape[1], below.shape[1]),
            lambda: (
                f"{above} {shape_text(above.shape)} above {below} {shape_text(below.shape)}: "
                "two matrices of as many columns are needed"
            ),
        )
        require(
            above.kind == below.kind,
            lambda: f"{above} above {below}: the first is {above.kind}, the second {below.kind}",
        )
        return (total(above.shape[0]) + total(below.shape[0]), above.shape[1])

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the operand."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"stacked({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        above, below = self.args
        row, first = flat(places[0]), total(above.shape[0])
        avoid = avoiding(self, places)
        # deltas in place of a case distinction on the row: the normal form sums them away
        upper = sum_along(above.shape[0], lambda p: KroneckerDelta(flat(p), row) * above.entry(p, places[1]), avoid)
        lower = sum_along(
            below.shape[0], lambda p: KroneckerDelta(first + flat(p), row) * below.entry(p, places[1]), avoid
        )
        return upper + lower


def strided_windows(rows: Array, width: Sized, *, stride: int = 1, padding: int = 0) -> Array:
    """Return the windows of `width` rows that a convolution with stride and padding reads, each window as one row.

    Definition   row i holds the rows stride i, ..., stride i + width - 1 of [0; X; 0], `padding` rows of zeros on
                 either side; there are floor((n + 2 padding - width)/stride) + 1 of them
    Shapes       rows (n, d), result (floor((n + 2 padding - width)/stride) + 1, width d)
    Assumes      the stride divides every size symbol in n (so that the number of windows is a polynomial)
    Source       Goodfellow, Bengio and Courville (2016), section 9.5
    """
    n, size = total(rows.shape[0]), total(axis(width))
    padded = PlacedRows(rows, padding, n + 2 * padding) if padding else rows
    every = Windows(padded, width)
    if stride == 1:
        return every
    # The stride divides the symbolic terms, so the floor acts on the constant alone.
    constant, symbolic = expand(n + 2 * padding - size).as_coeff_Add()
    count = symbolic / stride + Integer(constant) // stride + 1
    return RowRange(every, 0, count, stride)
