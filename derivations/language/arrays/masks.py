"""Masks of positions: which keys a query sees, told by the numbers of both alone.

Definition   a band: of `rows` queries and `columns` keys, query i sees key j where lower <= j - i <= upper; a bound
             that is not there is -oo or oo
Result       the causal mask, the sliding window, both for the last rows of a longer text, and windows to both sides
             are bands; so is what two bands both show
Source       Golub and Van Loan (2013), section 1.2.1, for matrices with entries in a band of diagonals;
             Beltagy, Peters and Cohan (2020), section 3.1, for windows of attention
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Ge, Gt, Integer, Le, Lt, Max, Min, Symbol, expand, oo, sympify
from sympy.logic.boolalg import Boolean
from sympy.printing.str import StrPrinter

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, Shape, require
from derivations.language.arrays.scalars import Iverson, brackets
from derivations.language.arrays.shapes import Axis, Place, Sized, axis, flat, same_size, total

__all__ = ["BandMask", "CausalMask", "WindowMask", "as_band", "band_mask", "intersection"]


class BandMask(Array):
    """The mask that lets query i see the keys j with lower <= j - i <= upper."""

    unchecked = True

    def __new__(cls, rows: Sized, columns: Sized, lower: Any, upper: Any) -> Array:
        """Build the mask of `rows` queries and `columns` keys; a bound that is not there is -oo or oo."""
        lower, upper = (sympify(bound, strict=True) for bound in (lower, upper))
        return super().__new__(cls, axis(rows), axis(columns), lower, upper)

    @property
    def sides(self) -> tuple[Axis, Axis]:
        """The queries and the keys."""
        return self.args[0], self.args[1]

    @property
    def lower(self) -> Expr:
        """The least difference j - i of a key and a query that sees it; -oo where there is no bound."""
        return self.args[2]

    @property
    def upper(self) -> Expr:
        """The largest difference j - i of a key and a query that sees it; oo where there is no bound."""
        return self.args[3]

    @property
    def kind(self) -> str:
        """What the entries are."""
        return "boolean"

    @property
    def pairs(self) -> Expr:
        """The number of pairs of a query and a key that it sees.

        Definition   the pairs with j - i <= upper, less those with j - i < lower
        Assumes      lower <= upper + 1
        """
        rows, columns = map(total, self.sides)
        seen = rows * columns if self.upper == oo else _pairs_up_to(self.upper, rows, columns)
        return seen if self.lower == -oo else seen - _pairs_up_to(self.lower - 1, rows, columns)

    @property
    def looks_back(self) -> bool:
        """Say whether it is certain that no query sees a key with a larger number than its own."""
        return bool((1 - self.upper).is_extended_positive)

    @property
    def shows_itself(self) -> bool:
        """Say whether it is certain that every query sees the key of its own number."""
        within = (1 - self.lower).is_extended_positive and (1 + self.upper).is_extended_positive
        return bool(within) and same_size(*self.sides)

    def _infer(self) -> Shape:
        _require_bound("lower", self.lower, -oo)
        _require_bound("upper", self.upper, oo)
        empty = self.lower != -oo and self.upper != oo and expand(self.upper - self.lower + 1).is_negative
        require(not empty, lambda: f"band mask: no key lies between {self.lower} and {self.upper}")
        return self.sides

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"band({', '.join(map(str, (*map(total, self.sides), self.lower, self.upper)))})"

    def _entry(self, *places: Place) -> Expr:
        row, column = map(flat, places)
        value = Integer(1)
        if self.lower != -oo:
            value *= Iverson(Le(row + self.lower, column, evaluate=False))
        if self.upper != oo:
            value *= Iverson(Le(column, row + self.upper, evaluate=False))
        return value


class CausalMask(BandMask):
    """The mask that lets position i see the positions j <= i."""

    def __new__(cls, size: Sized) -> Array:
        """Build the mask of `size` positions."""
        return Array.__new__(cls, axis(size))

    sides = property(lambda self: (self.args[0], self.args[0]))
    lower, upper = -oo, Integer(0)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"causal({self.args[0]})"


class WindowMask(BandMask):
    """The mask of a sliding window: position i sees the `width` positions i - width + 1, ..., i, as far as they exist.

    Source       Beltagy, Peters and Cohan (2020), section 3.1, looking back only
    """

    def __new__(cls, size: Sized, width: Sized) -> Array:
        """Build the mask of `size` positions that look back over `width` of them, their own included."""
        return Array.__new__(cls, axis(size), axis(width))

    sides = property(lambda self: (self.args[0], self.args[0]))
    lower = property(lambda self: 1 - total(self.args[1]))
    upper = Integer(0)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"window({self.args[0]}, {self.args[1]})"


def band_mask(rows: Sized, columns: Sized, *, left: Any = None, right: Any = None, offset: Any = 0) -> Array:
    """Return the mask of queries at the positions offset, offset + 1, ... among keys at the positions 0, 1, ...

    Definition   query i sees key j where i + offset - left <= j <= i + offset + right; None is no bound
    Result       causal attention of the last n of m positions: right = 0, offset = m - n
    """
    lower = -oo if left is None else sympify(offset, strict=True) - left
    upper = oo if right is None else sympify(offset, strict=True) + right
    return BandMask(rows, columns, lower, upper)


def intersection(one: BandMask, other: BandMask) -> BandMask | None:
    """Return the band of what two bands both show; None where they are about other queries or keys."""
    if not all(map(same_size, one.sides, other.sides)):
        return None
    if one == other:
        return one
    return BandMask(*one.sides, Max(one.lower, other.lower), Min(one.upper, other.upper))


def as_band(mask: Array) -> BandMask | None:
    """Return a mask of positions as a band, also where the formula of a table says so; None where it is none."""
    if isinstance(mask, BandMask):
        return mask
    if not isinstance(mask, Tabulated) or len(mask.shape) != 2:
        return None
    conditions = brackets(mask.args[0].expr)
    lower, upper = -oo, oo
    for condition in conditions:
        bounds = _bounds(condition, *mask.args[0].variables)
        if bounds is None:
            return None
        lower, upper = Max(lower, bounds[0]), Min(upper, bounds[1])
    return BandMask(*mask.shape, lower, upper) if conditions else None


def _require_bound(name: str, bound: Expr, absent: Expr) -> None:
    whole = bound == absent or bool(bound.is_integer)
    require(whole, lambda: f"band mask: the {name} bound must be an integer, or {absent} for none, not {bound}")


def _bounds(condition: Boolean, row: Symbol, column: Symbol) -> tuple[Expr, Expr] | None:
    """Return the bounds that a linear inequality sets to column - row, both of them integers."""
    if not isinstance(condition, Le | Lt | Ge | Gt):
        return None
    margin = expand(condition.gts - condition.lts) - (1 if isinstance(condition, Lt | Gt) else 0)
    for sign in (1, -1):
        rest = expand(margin - sign * (column - row))
        if not rest.free_symbols & {row, column} and rest.is_integer:
            return (-rest, oo) if sign == 1 else (-oo, rest)
    return None


def _pairs_up_to(bound: Expr, rows: Expr, columns: Expr) -> Expr:
    """Return the number of pairs of a row i and a column j with j - i <= bound: sum_i clip(i + bound + 1, 0, columns).

    clip(x, 0, c) = x^+ - (x - c)^+, and sum_{i < n} (i + a + 1)^+ = T(n + a) - T(a), where T(x) = x (x + 1)/2 for
    x > 0 and 0 else.
    """
    return (
        _triangle(rows, bound)
        - _triangle(Integer(0), bound)
        - (_triangle(rows, bound - columns) - _triangle(Integer(0), bound - columns))
    )


def _triangle(base: Expr, more: Expr) -> Expr:
    """Return 1 + 2 + ... + (base + more), 0 where that is not positive; the sum is base less the smaller of both."""
    last = base - Min(base, -more)
    return last * (last + 1) / 2
