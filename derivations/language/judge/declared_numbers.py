"""Declarations: a number that is tried for a symbol, an entry or a function must have every declared property."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from sympy import Rational, Symbol
from sympy.core.function import AppliedUndef

__all__ = ["declared_range", "first_fitting", "fits"]


@lru_cache(maxsize=1 << 14)
def fits(value: Fraction, symbol: Symbol) -> bool:
    """Return whether a number has every property that the declaration of a symbol states or implies."""
    number = Rational(value.numerator, value.denominator)
    return all(getattr(number, f"is_{name}", None) is known for name, known in symbol.assumptions0.items())


def first_fitting(values: Iterable[Fraction], symbol: Symbol) -> Fraction | None:
    """Return the first number, among the given ones and their negatives, that a declaration admits, if any."""
    for value in values:
        for signed in (value, -value):
            if fits(signed, symbol):
                return signed
    return None


def declared_range(applied: AppliedUndef) -> str | None:
    """Return the declared sign of the values of an unknown function, if its declaration states only a sign."""
    names = {*Symbol("x", positive=True, integer=True).assumptions0, *_OTHER_PROPERTIES}
    known = {name: value for name in names if (value := getattr(applied, f"is_{name}", None)) is not None}
    return next((sign for sign, declared in _SIGNS if _agree(known, declared, names)), None)


def _agree(known: dict[str, bool], declared: Symbol, names: set[str]) -> bool:
    # equal in every property: a function declared even as well is not one of known range
    return known == {name: value for name, value in declared.assumptions0.items() if name in names}


_OTHER_PROPERTIES = ("negative", "nonpositive", "zero", "irrational", "even", "odd", "prime")
_SIGNS = (
    ("any", Symbol("f", real=True)),
    ("any", Symbol("f", complex=True)),
    ("any", Symbol("f")),
    ("positive", Symbol("f", positive=True)),
    ("nonnegative", Symbol("f", nonnegative=True)),
    ("negative", Symbol("f", negative=True)),
    ("nonpositive", Symbol("f", nonpositive=True)),
)
