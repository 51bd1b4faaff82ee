"""Routing of rows to matrices of a family: the k largest entries of each row, and the products by routed matrices.

`TopK` gives the columns of the largest entries, `TopKMask` shows them to attention. `RoutedProduct` multiplies every
row by the one matrix that its number selects, so that each row needs k of the E matrices. `RoutedOuter` is the gradient
of that product with respect to the matrices; its gradient with respect to the rows uses a `BatchTranspose`.
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Ge, Gt, KroneckerDelta, Lt, Sum
from sympy.printing.str import StrPrinter

from derivations.language.arrays.binding import fresh_index
from derivations.language.arrays.expression import Array, Shape, avoiding, require
from derivations.language.arrays.scalars import Iverson, Within
from derivations.language.arrays.shapes import Place, Sized, axis, flat, same_size, shape_text, sum_along, total

__all__ = ["BatchTranspose", "RoutedOuter", "RoutedProduct", "TopK", "TopKMask"]


class TopK(Array):
    """The column numbers of the k largest entries of each row: entry (s, i) is the column with rank s in row i.

    Definition   the largest entry has rank 0; of equal entries the one in the smaller column comes first
    Shapes       scores (n, m), result (k, n), integers: k vectors of one column number for each row
    Assumes      k <= m
    """

    def __new__(cls, scores: Array, count: Sized) -> Array:
        """Build the array of the column numbers of the `count` largest entries of each row."""
        return super().__new__(cls, scores, axis(count))

    def _infer(self) -> Shape:
        scores, count = self.args
        require(
            len(scores.shape) == 2 and scores.kind == "real",
            lambda: (
                f"largest entries of {scores}: a matrix of reals is needed, not {shape_text(scores.shape)} "
                f"of kind {scores.kind}"
            ),
        )
        rows, columns = scores.shape
        require(
            not (total(columns) - total(count)).is_negative,
            lambda: f"the {total(count)} largest entries of {scores}: a row has {total(columns)}",
        )
        return (count, rows)

    @property
    def kind(self) -> str:
        """The kind of the entries: "integer"."""
        return "integer"

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"top({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        scores, (number, row) = self.args[0], map(flat, places)
        avoid = avoiding(self, places)
        columns = total(scores.shape[1])
        here = fresh_index(avoid)
        other = fresh_index({*avoid, here})
        # The rank of a place is the number of entries ahead of it; exactly one place has each rank.
        rank = Sum(_ahead(scores, row, here, other), (other, 0, columns - 1))
        return Sum(here * KroneckerDelta(rank, number), (here, 0, columns - 1))


def _ahead(scores: Array, row: Expr, of: Expr, before: Expr) -> Expr:
    """Return 1 if the entry in column `before` of a row ranks before the entry in column `of`, else 0."""
    larger, no_less = (
        Iverson(relation(scores.entry(row, before), scores.entry(row, of), evaluate=False)) for relation in (Gt, Ge)
    )
    return Iverson(Lt(before, of, evaluate=False)) * no_less + Iverson(Lt(of, before, evaluate=False)) * larger


class TopKMask(Array):
    """The mask of the k largest visible entries of each row, or of all visible entries if there are at most k.

    Definition   entry (i, j) is 1 if column j is visible in row i, and fewer than k visible entries of the row are
                 larger, or equal and in a smaller column
    Shapes       scores (n, m), mask (n, m), result (n, m), boolean
    """

    def __new__(cls, scores: Array, visible: Array, count: Sized) -> Array:
        """Build the mask of the `count` largest entries of each row among the visible ones."""
        return super().__new__(cls, scores, visible, axis(count))

    def _infer(self) -> Shape:
        scores, visible, _ = self.args
        require(
            scores.kind == "real" and visible.kind == "boolean",
            lambda: f"mask of the largest entries of {scores}: reals and a boolean mask are needed, not {visible}",
        )
        require(
            len(scores.shape) == 2 and len(visible.shape) == 2 and all(map(same_size, scores.shape, visible.shape)),
            lambda: (
                f"mask of the largest entries of {scores}: a matrix is needed and a mask of its shape, not "
                f"{shape_text(scores.shape)} and {shape_text(visible.shape)}"
            ),
        )
        return scores.shape

    @property
    def kind(self) -> str:
        """The kind of the entries: "boolean"."""
        return "boolean"

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"topmask({', '.join(map(str, self.args))})"

    def _entry(self, *places: Place) -> Expr:
        scores, visible, count = self.args
        row, column = map(flat, places)
        other = fresh_index(avoiding(self, places))
        seen = visible.entry(row, other) * _ahead(scores, row, column, other)
        rank = Sum(seen, (other, 0, total(scores.shape[1]) - 1))
        return visible.entry(row, column) * Iverson(Lt(rank, total(count), evaluate=False))


class BatchTranspose(Array):
    """Every matrix of a family transposed: member e is the transpose of member e."""

    def _infer(self) -> Shape:
        shape = self.args[0].shape
        require(
            len(shape) == 3,
            lambda: f"transposes of {self.args[0]}: a family of matrices is needed, not {shape_text(shape)}",
        )
        return (shape[0], shape[2], shape[1])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}.T"

    def _entry(self, *places: Place) -> Expr:
        member, row, column = places
        return self.args[0].entry(member, column, row)


def _require_numbers(what: str, rows: Array, numbers: Array) -> None:
    require(numbers.kind == "integer", lambda: f"{what}: {numbers} must hold integers")
    require(
        len(rows.shape) == 2 and len(numbers.shape) == 1 and same_size(rows.shape[0], numbers.shape[0]),
        lambda: (
            f"{what}: {rows} {shape_text(rows.shape)} needs one number for each row, {numbers} has shape "
            f"{shape_text(numbers.shape)}"
        ),
    )


class RoutedProduct(Array):
    """Every row times the matrix that its number selects: row i is X[i] @ W[numbers[i]].

    Shapes       X (n, a), W (E, a, b), numbers (n,), result (n, b)
    Assumes      0 <= numbers[i] < E
    """

    binding = 2

    def _infer(self) -> Shape:
        rows, matrices, numbers = self.args
        what = f"rows of {rows} sent to {matrices}"
        _require_numbers(what, rows, numbers)
        require(
            len(matrices.shape) == 3 and same_size(rows.shape[1], matrices.shape[1]),
            lambda: f"{what}: rows {shape_text(rows.shape)} and matrices {shape_text(matrices.shape)} do not fit",
        )
        return (rows.shape[0], matrices.shape[2])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)} @ {self._text(1, 3)}[{self.args[2]}]"

    def _entry(self, *places: Place) -> Expr:
        rows, matrices, numbers = self.args
        number = numbers.entry(places[0])
        value = sum_along(
            matrices.shape[1],
            lambda p: rows.entry(places[0], p) * matrices.entry(number, p, places[1]),
            avoiding(self, places),
        )
        # a sum over no terms would hide that the matrix does not exist
        return Within(value, number, total(matrices.shape[0]))


class RoutedOuter(Array):
    """Outer products of rows summed by number: member e is the sum of X[i]^T G[i] over the i with numbers[i] = e.

    Shapes       X (n, a), G (n, b), numbers (n,), result (E, a, b)
    """

    binding = 2

    def __new__(cls, left: Array, right: Array, numbers: Array, count: Sized) -> Array:
        """Build the family of `count` matrices."""
        return super().__new__(cls, left, right, numbers, axis(count))

    def _infer(self) -> Shape:
        left, right, numbers, count = self.args
        for rows in (left, right):
            _require_numbers(f"products of the rows of {left} and {right}", rows, numbers)
        return (count, left.shape[1], right.shape[1])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"outer({self.args[0]}, {self.args[1]}, {self.args[2]})"

    def _entry(self, *places: Any) -> Expr:
        left, right, numbers, _ = self.args
        member, row, column = places

        def term(p: Place) -> Expr:
            return KroneckerDelta(numbers.entry(p), flat(member)) * left.entry(p, row) * right.entry(p, column)

        return sum_along(left.shape[0], term, avoiding(self, places))
