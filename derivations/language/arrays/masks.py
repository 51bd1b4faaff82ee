"""Masks of positions: which keys a query sees, decided by the two positions alone.

Definition   a band: of `rows` queries and `columns` keys, query i sees key j where lower <= j - i <= upper; a missing
             bound is -oo or oo
Result       the causal mask, the sliding window, both for the last rows of a longer text, and windows to both sides
             are bands; so is the intersection of two bands
Source       Golub and Van Loan (2013), section 1.2.1, for matrices with entries in a band of diagonals;
             Beltagy, Peters and Cohan (2020), section 3.1, for windows of attention
"""

from __future__ import annotations

from typing import Any

from sympy import Expr, Ge, Gt, Integer, Le, Lt, Max, Min, Symbol, expand, floor, oo, sympify
from sympy.logic.boolalg import Boolean
from sympy.printing.str import StrPrinter

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, Shape, require
from derivations.language.arrays.scalars import Iverson, brackets
from derivations.language.arrays.shapes import Axis, Place, Sized, axis, flat, same_size, total

__all__ = ["BandMask", "CausalMask", "WindowMask", "as_band", "band_mask", "chunks_of", "intersection"]


class BandMask(Array):
    """The mask that lets query i see the keys j with lower <= j - i <= upper."""

    def __new__(cls, rows: Sized, columns: Sized, lower: Any, upper: Any) -> Array:
        """Build the mask of `rows` queries and `columns` keys; a missing bound is -oo or oo."""
        lower, upper = (sympify(bound, strict=True) for bound in (lower, upper))
        return super().__new__(cls, axis(rows), axis(columns), lower, upper)

    @property
    def sides(self) -> tuple[Axis, Axis]:
        """The numbers of queries and of keys."""
        return self.args[0], self.args[1]

    @property
    def lower(self) -> Expr:
        """The least difference j - i between a key and a query that sees it; -oo without a bound."""
        return self.args[2]

    @property
    def upper(self) -> Expr:
        """The largest difference j - i between a key and a query that sees it; oo without a bound."""
        return self.args[3]

    @property
    def kind(self) -> str:
        """The kind of the entries: "boolean"."""
        return "boolean"

    @property
    def pairs(self) -> Expr:
        """The number of pairs of a query and a visible key.

        Definition   the pairs with j - i <= upper, less those with j - i < lower
        Assumes      lower <= upper + 1
        """
        rows, columns = map(total, self.sides)
        seen = rows * columns if self.upper == oo else _pairs_up_to(self.upper, rows, columns)
        return seen if self.lower == -oo else seen - _pairs_up_to(self.lower - 1, rows, columns)

    @property
    def looks_back(self) -> bool:
        """Whether it is certain that no query sees a later key (one with a larger number than its own)."""
        # upper <= 0 for an integer bound; "extended" also covers upper = -oo.
        return bool((1 - self.upper).is_extended_positive)

    @property
    def shows_itself(self) -> bool:
        """Whether it is certain that every query sees the key with its own number."""
        # lower <= 0 <= upper for integer bounds, or without them
        within = (1 - self.lower).is_extended_positive and (1 + self.upper).is_extended_positive
        return bool(within) and same_size(*self.sides)

    def _infer(self) -> Shape:
        _require_bound("lower", self.lower, -oo)
        _require_bound("upper", self.upper, oo)
        # upper = lower - 1 is allowed: it is the empty band, for which the formula of `pairs` still holds
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
    """The mask of a sliding window: position i sees those of the positions i - width + 1, ..., i that are >= 0.

    Source       Beltagy, Peters and Cohan (2020), section 3.1, looking back only
    """

    def __new__(cls, size: Sized, width: Sized) -> Array:
        """Build the mask of `size` positions, each of which sees the last `width` positions up to itself."""
        return Array.__new__(cls, axis(size), axis(width))

    sides = property(lambda self: (self.args[0], self.args[0]))
    lower = property(lambda self: 1 - total(self.args[1]))
    upper = Integer(0)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"window({self.args[0]}, {self.args[1]})"


def band_mask(rows: Sized, columns: Sized, *, left: Any = None, right: Any = None, offset: Any = 0) -> Array:
    """Return the mask of queries at the positions offset, offset + 1, ... among keys at the positions 0, 1, ...

    Definition   query i sees key j where i + offset - left <= j <= i + offset + right; None means no bound
    Result       causal attention of the last n of m positions: right = 0, offset = m - n
    """
    lower = -oo if left is None else sympify(offset, strict=True) - left
    upper = oo if right is None else sympify(offset, strict=True) + right
    return BandMask(rows, columns, lower, upper)


def intersection(one: BandMask, other: BandMask) -> BandMask | None:
    """Return the band of the pairs that both bands show; None if their numbers of queries or keys differ."""
    if not all(map(same_size, one.sides, other.sides)):
        return None
    if one == other:  # keeps a causal or window mask, which prints by its name
        return one
    # a pair that both show satisfies both lower and both upper bounds
    return BandMask(*one.sides, Max(one.lower, other.lower), Min(one.upper, other.upper))


def as_band(mask: Array) -> BandMask | None:
    """Return a mask as a band if it is one, or if its table's formula is one; else None."""
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


def chunks_of(mask: Array) -> Expr | None:
    """Return the chunk length c of a table by which query i sees the keys j >= c floor(i/c), else None."""
    if not isinstance(mask, Tabulated) or len(mask.shape) != 2:
        return None
    row, column = mask.args[0].variables
    for condition in (conditions := brackets(mask.args[0].expr)):
        starts = condition.rhs.atoms(floor) if isinstance(condition, Ge) and condition.lhs == column else set()
        if len(conditions) == len(starts) == 1:
            (start,) = starts
            length = row / start.args[0]
            if condition.rhs == length * start and not length.free_symbols & {row, column}:
                return length
    return None


def _require_bound(name: str, bound: Expr, absent: Expr) -> None:
    whole = bound == absent or bool(bound.is_integer)
    require(whole, lambda: f"band mask: the {name} bound must be an integer, or {absent} for none, not {bound}")


def _bounds(condition: Boolean, row: Symbol, column: Symbol) -> tuple[Expr, Expr] | None:
    """Return the integer bounds that a linear inequality sets for column - row; None for another condition."""
    if not isinstance(condition, Le | Lt | Ge | Gt):
        return None
    # For integers a > b means a - b - 1 >= 0, so every condition reads margin >= 0.
    margin = expand(condition.gts - condition.lts) - (1 if isinstance(condition, Lt | Gt) else 0)
    for sign in (1, -1):  # margin = sign (column - row) + rest
        rest = expand(margin - sign * (column - row))
        if not rest.free_symbols & {row, column} and rest.is_integer:
            return (-rest, oo) if sign == 1 else (-oo, rest)
    return None


def _pairs_up_to(bound: Expr, rows: Expr, columns: Expr) -> Expr:
    """Return the number of pairs (row i, column j) with j - i <= bound: sum_i clip(i + bound + 1, 0, columns).

    clip(x, 0, c) = x^+ - (x - c)^+, and sum_{i < n} (i + a + 1)^+ = T(n + a) - T(a), where T(x) = x (x + 1)/2 for
    x > 0 and T(x) = 0 otherwise.
    """
    return (
        _triangle(rows, bound)
        - _triangle(Integer(0), bound)
        - (_triangle(rows, bound - columns) - _triangle(Integer(0), bound - columns))
    )


def _triangle(base: Expr, more: Expr) -> Expr:
    """Return 1 + 2 + ... + (base + more), or 0 if base + more is not positive."""
    # max(base + more, 0) = base - min(base, -more)
    last = base - Min(base, -more)
    return last * (last + 1) / 2
