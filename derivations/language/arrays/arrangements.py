"""Arrays built from parts: concatenated families, column blocks, tables of formulas, explicit matrices."""

from __future__ import annotations

from typing import Any

from sympy import Expr, ImmutableDenseMatrix, Integer, KroneckerDelta, Lambda, Symbol, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.declarations import at_places
from derivations.language.arrays.expression import Array, Shape, avoiding, require
from derivations.language.arrays.scalars import Within, brackets, kind_of
from derivations.language.arrays.shapes import (
    Blocks,
    Pair,
    Place,
    ShapeError,
    Sized,
    axis,
    flat,
    pair,
    shape_text,
    sum_along,
)

__all__ = ["ColumnBlock", "Concatenate", "Explicit", "Numbers", "PlacedBlock", "SumOver", "Tabulated", "column_block"]


class _OfFamily(Array):
    """Base class of the nodes that combine a family: its members are `body` at `over` = 0, ..., size - 1."""

    def __new__(cls, body: Array, over: Symbol, size: Sized) -> Array:
        """Build the node from the general member, its index and the number of members."""
        return super().__new__(cls, body, over, axis(size))

    @property
    def bound_symbols(self) -> list[Symbol]:
        """The index of the family."""
        return [self.args[1]]


class Concatenate(_OfFamily):
    """The members of a family side by side: [B_1 ... B_h], whose columns are h blocks (head 1, head 2, ...)."""

    def _infer(self) -> Shape:
        body, _, size = self.args
        require(
            len(body.shape) in (1, 2), lambda: f"concatenation of {body}: shape {shape_text(body.shape)} has no columns"
        )
        require(
            not isinstance(body.shape[-1], Blocks), lambda: f"concatenation of {body}: its columns are blocks already"
        )
        return (*body.shape[:-1], Blocks(size, body.shape[-1]))

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"Concat({self.args[1]} < {self.args[2]}: {self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        body, over, _ = self.args
        column = pair(places[-1], self.shape[-1])
        return at_places(body, {over: column.block}).entry(*places[:-1], column.place)


class SumOver(_OfFamily):
    """The sum of the members of a family: B_1 + ... + B_h."""

    binding = 1

    def _infer(self) -> Shape:
        return self.args[0].shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"Sum({self.args[1]} < {self.args[2]}: {self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        body, over, size = self.args
        return sum_along(
            size, lambda p: at_places(body, {over: flat(p)}).entry(*places), avoiding(body, places) | {over}
        )


class Tabulated(Array):
    """An array given by a formula for its entries: `Tabulated(Lambda((i, j), f), n, m)` has f in row i, column j."""

    def __new__(cls, formula: Lambda, *shape: Sized) -> Array:
        """Build the array from the formula of its entries, which takes one argument for each axis."""
        require(
            isinstance(formula, Lambda), lambda: f"a table needs a formula, such as Lambda(i, i**2), not {formula!r}"
        )
        return super().__new__(cls, formula, *map(axis, shape))

    @property
    def kind(self) -> str:
        """The kind of the entries: "boolean" for a product of Iverson brackets, else "real"."""
        return "boolean" if brackets(self.args[0].expr) else "real"

    def _infer(self) -> Shape:
        count = len(self.args) - 1
        require(
            len(self.args[0].variables) == count, lambda: f"{self.args[0]} must take {count} places, one for each axis"
        )
        return self.args[1:]

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"[{self.args[0].expr}]"

    def _entry(self, *places: Place) -> Expr:
        formula = self.args[0]
        return at_places(formula.expr, dict(zip(formula.variables, map(flat, places), strict=True)))


class Numbers(Tabulated):
    """A table of integers, such as the position numbers 0, ..., m - 1: `Numbers(Lambda((j,), j), m)`."""

    @property
    def kind(self) -> str:
        """The kind of the entries: "integer"."""
        return "integer"

    def _infer(self) -> Shape:
        formula = self.args[0]
        kind = kind_of(formula.expr, formula.variables)
        require(kind == "integer", lambda: f"a table of integers: {formula.expr} is {kind}")
        return super()._infer()


class Explicit(Array):
    """An array given entry by entry: a SymPy matrix of numbers or expressions."""

    def __new__(cls, matrix: Any) -> Array:
        """Build the array from nested lists or a SymPy matrix."""
        try:
            entries = ImmutableDenseMatrix(matrix)
        except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
            raise ShapeError(f"an array is written out as a list of rows of expressions, not {matrix!r}") from error
        require(all(isinstance(entry, Expr) for entry in entries.flat()), lambda: f"{matrix!r} holds no expressions")
        return super().__new__(cls, entries)

    def _infer(self) -> Shape:
        return tuple(map(Integer, self.args[0].shape))

    def _sympystr(self, printer: StrPrinter) -> str:
        return str(self.args[0].tolist())

    def _entry(self, *places: Place) -> Expr:
        matrix, (row, column) = self.args[0], map(flat, places)
        # Row and column may be symbols, so the deltas select the entry: A_ij = sum_rc delta_ir delta_jc A_rc.
        return sum(
            KroneckerDelta(row, r) * KroneckerDelta(column, c) * matrix[r, c]
            for r in range(matrix.rows)
            for c in range(matrix.cols)
        )


def column_block(wide: Array, block: Expr) -> Array:
    """Return the columns of one block of a matrix whose column axis is an axis of blocks."""
    columns = wide.shape[-1]
    require(isinstance(columns, Blocks), lambda: f"{wide} has columns of size {columns}, not blocks")
    return ColumnBlock(wide, sympify(block, strict=True))


class ColumnBlock(Array):
    """The columns block * size, ..., block * size + size - 1 of a matrix: those of one block."""

    def _infer(self) -> Shape:
        return (*self.args[0].shape[:-1], self.args[0].shape[-1].size)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}[:, block {self.args[1]}]"

    def _entry(self, *places: Place) -> Expr:
        wide, block = self.args
        return wide.entry(*places[:-1], Pair(block, flat(places[-1]), wide.shape[-1].size))


class PlacedBlock(Array):
    """One block of columns among blocks of zeros: the adjoint of `ColumnBlock`."""

    def __new__(cls, body: Array, block: Any, count: Sized) -> Array:
        """Build the matrix with `count` blocks of columns, where block number `block` is `body`."""
        return super().__new__(cls, body, sympify(block, strict=True), axis(count))

    def _infer(self) -> Shape:
        body, _, count = self.args
        return (*body.shape[:-1], Blocks(count, body.shape[-1]))

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"block({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        body, block, count = self.args
        column = pair(places[-1], self.shape[-1])
        # without the condition, a block outside the matrix would silently give zeros
        return Within(KroneckerDelta(column.block, block) * body.entry(*places[:-1], column.place), block, count)
