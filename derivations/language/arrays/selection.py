"""Entries, rows and columns selected by numbers, and the adjoints of these selections.

`EveryOther` takes the even or the odd columns. `Pick` takes one entry of each row, or several; `OneHot` puts a 1 at the
one, and `AddedPicks` adds what the several give.
`ScatterRows` adds rows into the rows of a table that tokens select; it is the adjoint of a look-up. `Windows` are the
stretches of rows that a convolution reads, `AddedWindows` is their adjoint. `Chosen` reads a table at a matrix of
numbers, such as those of `buckets`; its adjoint `AddedEntries` sums entries by such numbers.
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Indexed, KroneckerDelta, sympify
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Member, Shape, Variable, avoiding, require
from derivations.language.arrays.shapes import (
    Blocks,
    Pair,
    Place,
    Sized,
    axis,
    flat,
    pair,
    same_size,
    shape_text,
    sum_along,
    total,
)

__all__ = [
    "AddedEntries",
    "AddedPicks",
    "AddedWindows",
    "Chosen",
    "EveryOther",
    "OneHot",
    "Pick",
    "ScatterRows",
    "Windows",
]


def _require_tokens(what: str, tokens: Array, rank: int = 1) -> None:
    require(tokens.kind == "integer", lambda: f"{what}: {tokens} must hold integers")
    require(
        len(tokens.shape) == rank,
        lambda: f"{what}: a vector of numbers is needed, {tokens} has shape {shape_text(tokens.shape)}",
    )


def _require_a_number_each(what: str, entries: Array, numbers: Array, rank: int) -> None:
    """Raise `ShapeError` unless `numbers` is an integer matrix with the shape of one matrix, or of each of several."""
    _require_tokens(what, numbers, 2)
    require(
        len(entries.shape) == rank and all(map(same_size, entries.shape[-2:], numbers.shape)),
        lambda: f"{what}: {shape_text(entries.shape)} needs one number each, not {shape_text(numbers.shape)}",
    )


class Pick(Array):
    """Entries of each row, chosen by numbers: entry i is X[i, tokens[i]], or entry (i, j) is X[i, numbers[i, j]].

    Shapes       X (n, v); tokens and result (n,), or numbers and result (n, m)
    Assumes      0 <= numbers[i, j] < v
    """

    def _infer(self) -> Shape:
        matrix, tokens = self.args
        what = f"picking from {matrix}"
        _require_tokens(what, tokens, 2 if len(tokens.shape) == 2 else 1)
        require(
            len(matrix.shape) == 2 and same_size(matrix.shape[0], tokens.shape[0]),
            lambda: (
                f"{what}: {matrix} {shape_text(matrix.shape)} needs numbers for each row, {tokens} has shape "
                f"{shape_text(tokens.shape)}"
            ),
        )
        return tokens.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"pick({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        matrix, tokens = self.args
        number = tokens.entry(*places)
        named, *member = matrix.args if isinstance(matrix, Member) else (matrix,)
        if isinstance(named, Variable):
            return Indexed(named.base, *member, flat(places[0]), number)
        return sum_along(
            matrix.shape[1],
            lambda p: KroneckerDelta(number, flat(p)) * matrix.entry(places[0], p),
            avoiding(self, places),
        )


class AddedPicks(Array):
    """Entries added up in the rows they came from: entry (i, v) is the sum of the G[i, j] with numbers[i, j] = v.

    Shapes       G and numbers (n, m), result (n, size)
    """

    def __new__(cls, picked: Array, numbers: Array, size: Sized) -> Array:
        """Build the matrix with `size` columns."""
        return super().__new__(cls, picked, numbers, axis(size))

    def _infer(self) -> Shape:
        picked, numbers, size = self.args
        what = f"entries of {picked} added in their rows"
        _require_a_number_each(what, picked, numbers, 2)
        return (picked.shape[0], size)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"added({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        picked, numbers, _ = self.args
        row, column = places
        return sum_along(
            numbers.shape[1],
            lambda p: KroneckerDelta(numbers.entry(row, p), flat(column)) * picked.entry(row, p),
            avoiding(self, places),
        )


class OneHot(Array):
    """The rows of an identity matrix of `size` columns chosen by numbers: a 1 in column tokens[i] of row i."""

    def __new__(cls, tokens: Array, size: Sized) -> Array:
        """Build the matrix with one row for each token and `size` columns."""
        return super().__new__(cls, tokens, axis(size))

    def _infer(self) -> Shape:
        _require_tokens("one-hot rows", self.args[0])
        return (*self.args[0].shape, self.args[1])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"onehot({self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        return KroneckerDelta(self.args[0].entry(places[0]), flat(places[1]))


class ScatterRows(Array):
    """A table of `size` rows, where row v is the sum of the given rows i with tokens[i] = v."""

    def __new__(cls, rows: Array, tokens: Array, size: Sized) -> Array:
        """Build the table with `size` rows."""
        return super().__new__(cls, rows, tokens, axis(size))

    def _infer(self) -> Shape:
        rows, tokens, size = self.args
        what = f"rows of {rows} added by number"
        _require_tokens(what, tokens)
        require(
            len(rows.shape) == 2 and same_size(rows.shape[0], tokens.shape[0]),
            lambda: f"{what}: {shape_text(rows.shape)} needs one number for each row, not {shape_text(tokens.shape)}",
        )
        return (size, rows.shape[1])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"scatter({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Any) -> Expr:
        rows, tokens, _ = self.args
        return sum_along(
            rows.shape[0],
            lambda p: KroneckerDelta(tokens.entry(p), flat(places[0])) * rows.entry(p, places[1]),
            avoiding(self, places),
        )


class EveryOther(Array):
    """Every other column of a matrix: the even columns if `place` is 0, the odd columns if it is 1."""

    def __new__(cls, wide: Array, place: int | Expr) -> Array:
        """Build the matrix of the columns `place`, `place` + 2, ..."""
        return super().__new__(cls, wide, sympify(place, strict=True))

    def _infer(self) -> Shape:
        wide, place = self.args
        require(
            len(wide.shape) == 2 and isinstance(wide.shape[1], Blocks) and wide.shape[1].size == 2,
            lambda: f"every other column of {wide}: columns in pairs are needed, not {shape_text(wide.shape)}",
        )
        require(place in (0, 1), lambda: f"every other column of {wide}: from column 0 or 1, not {place}")
        return (wide.shape[0], wide.shape[1].count)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}[:, {self.args[1]}::2]"

    def _entry(self, *places: Place) -> Expr:
        wide, place = self.args
        return wide.entry(places[0], Pair(flat(places[1]), place, wide.shape[1].size))


class Windows(Array):
    """All windows of `width` rows of a matrix: row i is the rows i, ..., i + width - 1 concatenated."""

    def __new__(cls, rows: Array, width: Sized) -> Array:
        """Build the matrix of all windows of `width` rows."""
        return super().__new__(cls, rows, axis(width))

    def _infer(self) -> Shape:
        rows, width = self.args
        require(len(rows.shape) == 2, lambda: f"windows of {rows}: a matrix is needed, not {shape_text(rows.shape)}")
        require(not isinstance(rows.shape[1], Blocks), lambda: f"windows of {rows}: its columns are blocks already")
        return (total(rows.shape[0]) - total(width) + 1, Blocks(width, rows.shape[1]))

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"windows({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        column = pair(places[1], self.shape[1])
        return self.args[0].entry(flat(places[0]) + column.block, column.place)


class AddedWindows(Array):
    """Windows added up at the rows they cover: row r is the sum of the copies of row r in all windows."""

    def __new__(cls, windows: Array, rows: Sized) -> Array:
        """Build the matrix of `rows` rows."""
        return super().__new__(cls, windows, axis(rows))

    def _infer(self) -> Shape:
        windows, rows = self.args
        require(
            len(windows.shape) == 2
            and isinstance(windows.shape[1], Blocks)
            and same_size(windows.shape[0], total(rows) - windows.shape[1].count + 1),
            lambda: f"stretches {windows} of shape {shape_text(windows.shape)} are not those of {total(rows)} rows",
        )
        return (rows, windows.shape[1].size)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"addwindows({self.args[0]})"

    def _entry(self, *places: Place) -> Expr:
        windows, _ = self.args
        starts, columns = windows.shape
        avoid = avoiding(self, places)

        def held(start: Place, offset: Place) -> Expr:
            here = KroneckerDelta(flat(start) + flat(offset), flat(places[0]))
            return here * windows.entry(start, Pair(flat(offset), flat(places[1]), columns.size))

        # window p holds row r at place q where p + q = r
        return sum_along(starts, lambda p: sum_along(columns.count, lambda q: held(p, q), avoid), avoid)


# --- rows of a table, chosen by a matrix of numbers -----------------------------------------------------------------


class Chosen(Array):
    """One matrix for each column of a table: entry (t, i, j) is table[numbers[i, j], t].

    Assumes      0 <= numbers[i, j] < number of rows of the table
    """

    def _infer(self) -> Shape:
        table, numbers = self.args
        what = f"entries of {table} by number"
        _require_tokens(what, numbers, 2)
        require(len(table.shape) == 2, lambda: f"{what}: a table of rank 2 is needed, not {shape_text(table.shape)}")
        return (table.shape[1], *numbers.shape)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self._text(0, 3)}[{self.args[1]}]"

    def _entry(self, *places: Place) -> Expr:
        table, numbers = self.args
        return table.entry(numbers.entry(*places[1:]), places[0])


class AddedEntries(Array):
    """A table with a column for each matrix: entry (v, t) is the sum of the G[t, i, j] with numbers[i, j] = v."""

    def __new__(cls, matrices: Array, numbers: Array, size: Sized) -> Array:
        """Build the table with `size` rows."""
        return super().__new__(cls, matrices, numbers, axis(size))

    def _infer(self) -> Shape:
        matrices, numbers, size = self.args
        what = f"entries of {matrices} added by number"
        _require_a_number_each(what, matrices, numbers, 3)
        return (size, matrices.shape[0])

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"added({self.args[0]}, {self.args[1]})"

    def _entry(self, *places: Place) -> Expr:
        matrices, numbers, _ = self.args
        avoid = avoiding(self, places)

        def held(row: Place, column: Place) -> Expr:
            return KroneckerDelta(numbers.entry(row, column), flat(places[0])) * matrices.entry(places[1], row, column)

        rows, columns = numbers.shape
        return sum_along(rows, lambda r: sum_along(columns, lambda c: held(r, c), avoid), avoid)
