"""Declarations of symbols: a value that replaces a symbol must satisfy the symbol's declaration.

SymPy simplifies by the declarations while it builds an expression: |z| becomes z at once if z is declared positive. So
a value that replaces z later must be positive too, because the simplification cannot be undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.shapes import ShapeError

__all__ = ["PLACE", "admitted", "at_places", "demands", "facts_of", "is_size"]

PLACE: Mapping[str, bool] = Symbol("i", integer=True, nonnegative=True).assumptions0
_SIZE: Mapping[str, bool] = Symbol("n", integer=True, positive=True).assumptions0


def admitted(declared: Mapping[str, bool], facts: Mapping[str, bool]) -> bool:
    """Return whether the facts of a new value imply everything that was declared."""
    # a fact that is unknown (None) does not admit a value: SymPy may have used it
    return all(facts.get(name) is value for name, value in declared.items())


@lru_cache(maxsize=1 << 10)
def demands(symbol: Symbol) -> tuple[str, ...] | None:
    """Return the side conditions under which a real number may replace a symbol; None if no list of them suffices."""
    for demand in _DEMANDS:
        if admitted(symbol.assumptions0, Symbol("x", real=True, **dict.fromkeys(demand, True)).assumptions0):
            return demand
    return None


_SIGNS = ("nonzero", "nonnegative", "positive")
_DEMANDS = ((), *((sign,) for sign in _SIGNS), ("integer",), *(("integer", sign) for sign in _SIGNS))


def at_places(body: Any, places: Mapping[Symbol, Expr]) -> Any:
    """Return an expression with its index symbols replaced by index values.

    Raises `ShapeError` for an index whose declaration excludes some integers >= 0.
    """
    for index in places:
        if not admitted(index.assumptions0, PLACE):
            raise ShapeError(f"the index {index} counts from 0: declare it an integer and nothing more, as `index`")
    return replace_free(body, places)


def facts_of(value: AppliedUndef) -> dict[str, bool]:
    """Return the facts that were declared for the values of an unknown function."""
    facts = {name: getattr(value, f"is_{name}") for name in _SIZE}
    return {name: fact for name, fact in facts.items() if fact is not None}


def is_size(symbol: Symbol) -> bool:
    """Return whether a symbol was declared an integer >= 1."""
    return bool(symbol.is_integer and symbol.is_positive)
