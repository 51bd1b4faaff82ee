"""Column concatenation and column ranges: X [A B] gives X A and X B in one product.

`ColumnConcatenation` puts matrices (or vectors) side by side. `ColumnRange` reads some columns of the result as a new
axis, such as h blocks of d_k: (X [A B])[:, a:a + b] is X B, where A has a columns and B has b.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from sympy import Add, Expr, Integer, KroneckerDelta, Symbol, expand, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Shape, avoiding, require
from derivations.language.arrays.shapes import (
    Blocks,
    Pair,
    Place,
    Sized,
    axis,
    flat,
    same_size,
    shape_text,
    sum_along,
    total,
)

__all__ = ["ColumnConcatenation", "ColumnRange"]


def _require_as_many_rows(first: Array, other: Array) -> None:
    fits = len(other.shape) == len(first.shape) and all(map(same_size, first.shape[:-1], other.shape[:-1]))
    require(
        fits,
        lambda: (
            f"{first} {shape_text(first.shape)} beside {other} {shape_text(other.shape)}: "
            "arrays of as many rows are needed"
        ),
    )


class ColumnConcatenation(Array):
    """Matrices with equal numbers of rows side by side, [A B ...], or vectors one after the other."""

    def _infer(self) -> Shape:
        first, *others = self.args
        require(
            len(first.shape) in (1, 2),
            lambda: f"{first} {shape_text(first.shape)} beside others: a matrix or a vector is needed",
        )
        for other in others:
            _require_as_many_rows(first, other)
        return (*first.shape[:-1], expand(Add(*(total(part.shape[-1]) for part in self.args))))

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"ColumnConcat({', '.join(map(str, self.args))})"

    def _entry(self, *places: Place) -> Expr:
        column = flat(places[-1])
        ends = list(accumulate((total(part.shape[-1]) for part in self.args), initial=Integer(0)))
        starts = ends[:-1]
        if not column.is_Symbol:  # a + k d + j shows its part; a plain index may be in any, and takes the sum below
            number = _block_of(column, starts)
            if number is not None:
                part, rest = self.args[number], expand(column - starts[number])
                # a plain index does not say in which block it is
                if not (isinstance(part.shape[-1], Blocks) and rest.is_Symbol):
                    return part.entry(*places[:-1], rest)
        avoid = avoiding(self, places)

        def chosen(part: Array, start: Expr) -> Expr:
            # [A B]_j = sum_p delta_{j, p} A_p + sum_p delta_{j, a + p} B_p: at most one delta is 1
            def term(p: Place) -> Expr:
                return KroneckerDelta(start + flat(p), column) * part.entry(*places[:-1], p)

            return sum_along(part.shape[-1], term, avoid)

        return Add(*map(chosen, self.args, starts))


def _block_of(column: Expr, starts: list[Expr]) -> int | None:
    """Guess the part with a column such as a + k d + j: the last one for which column - start has no negative term.

    The guess may be wrong: the caller must check that the rest is a column of that part.
    """
    for number in reversed(range(len(starts))):
        rest = expand(column - starts[number])
        # Sizes and indices are >= 0, so a rest without minus signs is >= 0.
        if not any(term.could_extract_minus_sign() for term in Add.make_args(rest)):
            return number
    return None


class ColumnRange(Array):
    """The columns start, start + 1, ... of a matrix, with the column axis `along`: entry (i, j) is X[i, start + j].

    Assumes      X has all of these columns
    """

    def __new__(cls, matrix: Array, start: Any, along: Sized) -> Array:
        """Build the matrix with one column for each index of the axis `along`."""
        return super().__new__(cls, matrix, sympify(start, strict=True), axis(along))

    def _infer(self) -> Shape:
        matrix, start, along = self.args
        what = f"columns of {matrix}"
        require(len(matrix.shape) in (1, 2), lambda: f"{what}: a matrix is needed, not {shape_text(matrix.shape)}")
        # `None` means unknown: only what is certainly wrong is refused
        require(start.is_negative is not True, lambda: f"{what}: columns count from 0, there is no column {start}")
        outside = expand(start + total(along) - total(matrix.shape[-1])).is_positive
        require(
            outside is not True,
            lambda: (
                f"{what}: there is no column {expand(start + total(along) - 1)} in {total(matrix.shape[-1])} columns, "
                "which count from 0"
            ),
        )
        return (*matrix.shape[:-1], along)

    @property
    def kind(self) -> str:
        """The kind of the entries, which is that of the operand."""
        return self.args[0].kind

    def _sympystr(self, printer: StrPrinter) -> str:
        start, along = self.args[1:]
        rows = ":, " if len(self.shape) == 2 else ""
        return f"{self._text(0, 3)}[{rows}{start}:{expand(start + total(along))}]"

    def _entry(self, *places: Place) -> Expr:
        matrix, start, _ = self.args
        column, along = start + flat(places[-1]), matrix.shape[-1]
        if isinstance(along, Blocks) and along.count == 1:
            return matrix.entry(*places[:-1], Pair(Integer(0), column, along.size))
        if not isinstance(along, Blocks) or not isinstance(column, Symbol):
            return matrix.entry(*places[:-1], column)

        def chosen(p: Place) -> Expr:
            # a plain index does not say in which block it is: at most one delta is 1
            return KroneckerDelta(flat(p), column) * matrix.entry(*places[:-1], p)

        return sum_along(along, chosen, avoiding(self, places))
