"""What the rules that read formulas as arrays share: the interface of the reader, and names with indices.

Definition   an index is a letter that is known as one, or an expression in such letters alone
Raises       NotRead where a formula has something that is no array and no number
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from sympy import Expr, Symbol

from derivations.documents import syntax
from derivations.documents.syntax import Name, Node
from derivations.language.arrays.expression import Array

__all__ = ["NotRead", "Reading", "Value", "function_word", "indices_of", "rank"]

Value: TypeAlias = Expr | Array


class NotRead(Exception):
    """Raised for a formula, or a part of it, that cannot be read as an array or a number."""


class Reading(Protocol):
    """The interface of the reader for rules: the meaning of letters, the bound indices, and the values of parts."""

    meaning: Mapping[str, Value]
    columns: bool
    bound: dict[str, Symbol]

    def value(self, node: Node) -> Value:
        """Return the value of a part."""

    def scalar(self, node: Node) -> Expr:
        """Return the value of a part, which must be a number."""


def rank(value: Value) -> int:
    """Return the number of axes: 0 for a number."""
    return len(value.shape) if isinstance(value, Array) else 0


def function_word(name: Name) -> str:
    """Return the name of a function in lower case, without spaces and hyphens."""
    if name.base == "Phi":  # a distribution, where phi is a density or any function
        return name.base
    return "".join(letter for letter in name.base.lower() if letter.isalnum())


def indices_of(name: Name, indices: frozenset[str]) -> tuple[Name, tuple[Node, ...]]:
    """Return a name without the indices at the end of its subscripts, and those indices.

    An index is a letter of `indices`, or an expression in such letters alone.
    """
    places: list[Node] = []
    rest = [part for each in name.subscripts for part in _parts(each)]
    while rest and _is_place(rest[-1], indices):
        places.insert(0, rest.pop())
    return Name(name.base, tuple(rest), name.superscripts, name.primes, name.accent), tuple(places)


def _parts(subscript: Node) -> tuple[Node, ...]:
    match subscript:
        case syntax.List(items=items) | syntax.Fence(inside=syntax.List(items=items)):
            return items
        case syntax.Product(factors=factors) if all(isinstance(f, Name) and len(f.base) == 1 for f in factors):
            return factors
    return (subscript,)


def _is_place(node: Node, indices: frozenset[str]) -> bool:
    letters = [each.key for each in node.walk() if isinstance(each, Name)]
    return bool(letters) and all(letter in indices for letter in letters)
