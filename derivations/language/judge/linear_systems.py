"""Linear systems of equations and inequalities over the rationals: whether one has no solution.

method       equations are solved for one variable each; inequalities are combined pairwise until no variable is left
             (Fourier and Motzkin), where 0 > 0, 0 >= 1 or the like says that there is no solution
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Row", "infeasible"]

_MOST_ROWS = 300
Key = Hashable


class Row(NamedTuple):
    """sum_v c_v v + constant >= 0, > 0 where strict, or = 0 where an equation."""

    terms: tuple[tuple[Key, Fraction], ...]
    constant: Fraction
    kind: str  # "=", ">=" or ">"


def infeasible(rows: Iterable[Row]) -> bool:
    """Say whether no numbers satisfy all rows; False also where the system grows too large to tell."""
    left = {_scaled(row) for row in rows}
    while True:
        if any(_false(row) for row in left):
            return True
        left = {row for row in left if row.terms}
        if not left or len(left) > _MOST_ROWS:
            return False
        equation = min((row for row in left if row.kind == "="), key=_order, default=None)
        left = _solved(left, equation) if equation is not None else _eliminated(left)


def _order(row: Row) -> tuple[int, str]:
    return len(row.terms), str(row)


def _false(row: Row) -> bool:
    value = row.constant
    wrong = {"=": value != 0, ">=": value < 0, ">": value <= 0}
    return not row.terms and wrong[row.kind]


def _scaled(row: Row) -> Row:
    """Return a row whose first coefficient is 1 or -1, so that equal rows are equal."""
    terms = tuple(sorted(((key, c) for key, c in row.terms if c), key=lambda term: str(term[0])))
    if not terms:
        return Row((), row.constant, row.kind)
    size = terms[0][1] if row.kind == "=" else abs(terms[0][1])
    return Row(tuple((key, c / size) for key, c in terms), row.constant / size, row.kind)


def _combined(first: Row, factor: Fraction, second: Row, other: Fraction, kind: str) -> Row:
    terms: dict[Key, Fraction] = {}
    for row, times in ((first, factor), (second, other)):
        for key, c in row.terms:
            terms[key] = terms.get(key, Fraction(0)) + times * c
    return _scaled(Row(tuple(terms.items()), factor * first.constant + other * second.constant, kind))


def _solved(rows: set[Row], equation: Row) -> set[Row]:
    """Put the first variable of an equation into the other rows."""
    key, own = equation.terms[0]
    others = ((row, dict(row.terms).get(key, Fraction(0))) for row in rows if row != equation)
    return {_combined(row, Fraction(1), equation, -c / own, row.kind) if c else row for row, c in others}


def _eliminated(rows: set[Row]) -> set[Row]:
    """Combine every lower bound of a variable with every upper bound: the one that makes the fewest rows."""
    keys = {key for row in rows for key, _ in row.terms}
    signs = {key: ([], [], []) for key in keys}  # type: dict[Key, tuple[list[Row], list[Row], list[Row]]]
    for row in rows:
        terms = dict(row.terms)
        for key in keys:
            c = terms.get(key, Fraction(0))
            signs[key][0 if c > 0 else 1 if c < 0 else 2].append(row)
    key = min(keys, key=lambda each: (len(signs[each][0]) * len(signs[each][1]), str(each)))
    above, below, free = signs[key]
    made = set(free)
    for row in above:
        for other in below:
            kind = ">" if ">" in (row.kind, other.kind) else ">="
            made.add(_combined(row, -dict(other.terms)[key], other, dict(row.terms)[key], kind))
    return made
