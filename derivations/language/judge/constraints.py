"""Relations between real unknowns, and checks that they hold at given numbers.

A relation is decided by exact arithmetic or by intervals. A relation that neither decides does not count as holding.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sympy import Expr, Symbol, expand, nan, zoo

from derivations.language.judge.declared_numbers import fits
from derivations.language.judge.evaluate import NotEvaluable, Sample, evaluate

__all__ = ["Constraint", "fitting", "holds", "holds_for", "sign", "unknowns"]


class Constraint(NamedTuple):
    """A relation: gap = 0, != 0, >= 0 or > 0, or that the gap has every declared property of the symbol `of`."""

    kind: str
    gap: Expr
    of: Symbol | None = None


def unknowns(constraints: Iterable[Constraint]) -> list[Symbol]:
    """Return the unknowns of some relations in a fixed order."""
    return sorted({symbol for c in constraints for symbol in c.gap.free_symbols}, key=str)


def fitting(value: Fraction, unknown: Symbol) -> bool:
    """Return whether a number has every declared property of an unknown."""
    return (unknown.is_real is True and len(unknown.assumptions0) == _REAL) or fits(value, unknown)


# a real symbol with no more properties than this one is plainly real, so any fraction fits
_REAL = len(Symbol("x", real=True).assumptions0)


def holds(constraint: Constraint, number: Expr) -> bool:
    """Return whether a relation whose gap is a number is proved to hold."""
    if constraint.of is not None and number.is_Rational:
        return fitting(Fraction(int(number.p), int(number.q)), constraint.of)
    return holds_for(constraint, sign(number))


def holds_for(constraint: Constraint, sign: int | None) -> bool:
    """Return whether a relation holds for every number of the given sign. None means an unknown sign.

    A declaration holds for all these numbers only if it restricts nothing but the sign.
    """
    if constraint.of is None:
        return {"=": sign == 0, "!=": sign in (1, -1), ">": sign == 1, ">=": sign in (0, 1)}[constraint.kind]
    stated = [signs for fact, signs in _SIGNS.items() if constraint.of.assumptions0.get(fact)]
    # the number is known by its sign only, and may be irrational
    free = constraint.of.is_rational is None and constraint.of.is_algebraic is None
    return sign is not None and free and all(sign in signs for signs in stated)


_SIGNS = {"positive": (1,), "negative": (-1,), "nonnegative": (0, 1), "nonpositive": (-1, 0), "nonzero": (-1, 1)}


@lru_cache(maxsize=1 << 12)
def sign(number: Expr) -> int | None:
    """Return the sign 1, 0 or -1 of a number, if exact arithmetic or an interval decides it."""
    if number.is_Rational:
        return (number.p > 0) - (number.p < 0)
    if number.has(zoo, nan) or number.free_symbols:
        return None
    try:
        interval = evaluate(number, Sample({}, closed=True))
    except (NotEvaluable, TypeError, ValueError, AttributeError, OverflowError):
        return 0 if expand(number) == 0 else None
    if interval > 0 or interval < 0:
        return 1 if interval > 0 else -1
    # An interval around 0 decides nothing; only exact arithmetic can show that a number is 0.
    return 0 if expand(number) == 0 else None
