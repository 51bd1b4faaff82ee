"""What the declaration of a symbol admits: a bound symbol stands for nothing that its declaration excludes.

SymPy simplifies under a declaration while an expression is built: |z| is z at once for a z declared positive. So what
is put in for z later must be positive, too; nothing that is done later can undo the simplification.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sympy import Symbol
from sympy.core.function import AppliedUndef

__all__ = ["PLACE", "REAL", "admits", "admitted", "facts_of", "is_size"]

REAL: Mapping[str, bool] = Symbol("x", real=True).assumptions0
PLACE: Mapping[str, bool] = Symbol("i", integer=True, nonnegative=True).assumptions0
_SIZE: Mapping[str, bool] = Symbol("n", integer=True, positive=True).assumptions0


def admitted(declared: Mapping[str, bool], facts: Mapping[str, bool]) -> bool:
    """Say whether everything that was declared follows from the facts of what is put in."""
    return all(facts.get(name) is value for name, value in declared.items())


@lru_cache(maxsize=1 << 10)
def admits(symbol: Symbol, kind: str) -> bool:
    """Say whether a symbol may stand for every real number ("real"), or for every place of an axis ("place")."""
    return admitted(symbol.assumptions0, {"real": REAL, "place": PLACE}[kind])


def facts_of(value: AppliedUndef) -> dict[str, bool]:
    """Return what was declared of an unknown function: of its values."""
    facts = {name: getattr(value, f"is_{name}") for name in _SIZE}
    return {name: fact for name, fact in facts.items() if fact is not None}


def is_size(symbol: Symbol) -> bool:
    """Say whether a symbol was declared an integer >= 1."""
    return bool(symbol.is_integer and symbol.is_positive)
