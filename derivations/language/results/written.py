"""Conversion of user input for derivations to SymPy: sides, sizes, relations, ranges of indices.

A Python number becomes a SymPy number and a SymPy matrix becomes an explicit array. Other input is refused with one
sentence that says what to write; strings are never parsed as formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sympy import Basic, Expr, MatrixBase, Symbol, SympifyError, sympify
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanAtom

from derivations.language.arrays.arrangements import Explicit
from derivations.language.arrays.expression import Array
from derivations.language.arrays.shapes import Blocks, total
from derivations.language.results.statements import Conformable, NullSpace, Span

__all__ = ["Ranges", "as_relation", "as_side", "as_sides", "as_size", "as_value", "shown"]

_SIDES = (Expr, Array, Relational, BooleanAtom, Conformable, NullSpace, Span)


class Ranges(dict[Symbol, Expr]):
    """The number of values of each index; immutable, so that evidence for a derivation stays valid."""

    def __init__(self, table: Mapping[Any, Any] | None = None) -> None:
        if not isinstance(table, Mapping | None):
            raise TypeError(f"ranges map indices to their numbers of values, such as {{i: n}}, not {shown(table)}")
        super().__init__({_as_index(index): as_size(size) for index, size in (table or {}).items()})

    def _fixed(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("the ranges of a derivation are fixed: build another one with `dataclasses.replace`")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _fixed

    def __hash__(self) -> int:  # type: ignore[override] # a dict that does not change
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        # a dict subclass would be filled by `__setitem__`, which is fixed
        return Ranges, (dict(self),)


def as_side(value: Any, what: str = "a side of a step") -> Any:
    """Return a side of a step as a SymPy object or an array.

    Raises `TypeError` unless it is a number, an expression, an array, a matrix or a statement of `statements`.
    """
    if isinstance(value, MatrixBase):
        return Explicit(value)
    found = _sympified(value)
    # A Python bool is refused: it is usually the value of `a == b` where a relation was meant.
    if not isinstance(found, _SIDES) or (isinstance(found, BooleanAtom) and not isinstance(value, Basic)):
        raise TypeError(f"{what} is a number, an expression or an array, not {shown(value)}")
    return found


def as_sides(values: Any, what: str) -> tuple[Any, ...]:
    """Return several sides, such as the parts of a certificate, as a tuple."""
    if not isinstance(values, Iterable) or isinstance(values, str | Basic | MatrixBase):
        raise TypeError(f"{what} is a tuple of expressions, not {shown(values)}")
    return tuple(as_side(value, f"a part of {what}") for value in values)


def as_relation(value: Any) -> Basic:
    """Return a relation, or the truth value to which SymPy has evaluated it.

    Raises `TypeError` for any other value.
    """
    found = _sympified(value)
    if not isinstance(found, Relational | BooleanAtom):
        raise TypeError(f"an assumption is one relation, such as Ge(n, 2) or Eq(n, m), not {shown(value)}")
    return found


def as_size(value: Any) -> Expr:
    """Return the number of values of an index.

    Raises `TypeError` if it is not an expression.
    """
    found = total(value) if isinstance(value, Blocks) else _sympified(value)
    if not isinstance(found, Expr):
        raise TypeError(f"the number of values of an index is an integer expression, not {shown(value)}")
    return found


def as_value(value: Any, symbol: Symbol) -> Expr:
    """Return the SymPy value that replaces a symbol.

    Raises `ValueError` if the value contradicts the declaration of the symbol.
    """
    found = _sympified(value)
    facts = symbol.assumptions0
    if not isinstance(found, Expr) or any(getattr(found, f"is_{fact}") is (not facts[fact]) for fact in facts):
        raise ValueError(f"{symbol} cannot be {shown(value)}: it was declared {_declaration(symbol)}")
    return found


def _declaration(symbol: Symbol) -> str:
    signs = [
        fact for fact in ("positive", "nonnegative", "negative", "integer", "real") if symbol.assumptions0.get(fact)
    ]
    return " and ".join(signs[: 1 + symbol.is_integer]) if signs else "a commuting symbol"


def _as_index(value: Any) -> Symbol:
    if isinstance(value, str) and value:
        return Symbol(value, integer=True)
    if not isinstance(value, Symbol):
        raise TypeError(f"an index is a symbol such as index('i'), or its name, not {shown(value)}")
    return value


def _sympified(value: Any) -> Any:
    try:
        return None if value is None else sympify(value, strict=True)
    except (SympifyError, TypeError, ValueError, AttributeError):
        return None


def shown(value: Any) -> str:
    """Return an object as text for a message: its `repr` and its type, or its type only if the `repr` is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a foreign object whose repr fails
        text = ""
    return f"{text} of type {type(value).__name__}" if 0 < len(text) <= 60 else f"a {type(value).__name__}"
