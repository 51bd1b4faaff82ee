"""Numerical values of a scalar formula as it is written, in several random draws of its letters.

Definition   letters have numbers that depend on their names alone, sizes whole ones; `q_j` under a sum over j is an
             entry, and has one number for each place. The draws of `POSITIVE` have positive letters, the others not.
             Sums without bounds are over the same places, if all are such.
             Beside Kronecker's delta a free index is a place as well, the same as another in some draws only
Result       `Sampler(formulas).number(node, draw)`: nan outside of what is real (log(-1), 1/0), None for what has no
             number here; `sampled(node, draw)` is that of one formula
Assumes      matrices are 1 x 1: what differs for them differs in general
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.judge.algebra.scalar_letters import is_size
from derivations.documents.judge.numbers.float_functions import CONSTANTS, FUNCTIONS
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Call,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    rebuilt,
)

__all__ = [
    "DELTAS",
    "DRAWS",
    "POSITIVE",
    "Bound",
    "Sampler",
    "drawn",
    "is_counted",
    "is_known_function",
    "reaching",
    "sampled",
    "tops_of",
]

POSITIVE = (1, 2, 3, 4)
DRAWS = (*POSITIVE, 5, 6)  # all letters are negative in one, some in the other
DELTAS = ("δ", "delta")
_SIGNS: Mapping[int, Callable[[int], int]] = {5: lambda number: -1, 6: lambda number: 1 - 2 * (number >> 16 & 1)}
_PLACES = ((0, 1, 0, 1, 0, 1), (0, 0, 1, 1, 0, 0), (0, 1, 1, 0, 1, 0), (1, 0, 0, 0, 1, 1))  # each two alike at times
_SHORT = 4  # the draw in which the second place is the last one
_MOST_TERMS = 64
_WHOLE = (1, 2, 3)  # the places of sums without bounds, where no sum has any
Bound = Mapping[str, int]


class _NoNumber(Exception):
    """Raised for a part that cannot be evaluated."""


def sampled(node: Node, draw: int) -> float | None:
    """Return the value of a formula in one draw of its letters, or None."""
    return Sampler(node).number(node, draw)


class Sampler:
    """Computes the values of formulas with the same letters. Parts that the formulas share are computed once."""

    def __init__(self, *formulas: Node) -> None:
        """Take the formulas to evaluate. A letter that bounds a sum in one of them is a whole number in all."""
        self.parts = {id(part): part for formula in formulas for part in formula.walk()}
        self.tops = tops_of(*formulas)
        self.indices = _free_places(*formulas)
        self.is_whole = not any(isinstance(part, Aggregate) and part.upper for part in self.parts.values())
        self.known: dict[tuple[int, int, tuple[tuple[str, int], ...]], float] = {}
        self.draw = 0

    def number(self, node: Node, draw: int, bound: Bound | None = None) -> float | None:
        """Return the value of a formula, or of an edit of one, in one draw. `bound` gives the values of indices."""
        self.draw = draw
        try:
            return self._value(node, bound or {})
        except (_NoNumber, ArithmeticError, ValueError, TypeError):
            return None

    def _value(self, node: Node, bound: Bound) -> float:
        if id(node) not in self.parts:
            return self._computed(node, bound)
        key = self.draw, id(node), tuple(bound.items())
        if key not in self.known:
            self.known[key] = self._computed(node, bound)
        return self.known[key]

    def _computed(self, node: Node, bound: Bound) -> float:
        spend(1)
        match node:
            case Number(value=value, unit=""):
                return float(value)
            case Name():
                return self._letter(node, bound)
            case Sum(terms=terms, signs=signs) if 0 not in signs:
                return sum(sign * self._value(each, bound) for each, sign in zip(terms, signs, strict=True))
            case Product(factors=factors, operators=operators) if set(operators) <= {"", "dot", "times", "star"}:
                return math.prod(self._value(each, bound) for each in factors)
            case Negative(operand=inside):
                return -self._value(inside, bound)
            case Quotient(numerator=above, denominator=below):
                divisor = self._value(below, bound)
                return self._value(above, bound) / divisor if divisor else math.nan
            case Power(base=base, exponent=exponent):
                return _power(self._value(base, bound), self._value(exponent, bound))
            case Root(radicand=inside, degree=None):
                return _power(self._value(inside, bound), 0.5)
            case Fence(bracket="(" | "[" | "{" | "", inside=inside) | Annotated(of=inside):
                return self._value(inside, bound)
            case Fence(bracket="|" | "||", inside=inside):
                return abs(self._value(inside, bound))
            case Call(function=Name(base=word, subscripts=(), superscripts=()), arguments=(argument,)) if (
                word.lower() in FUNCTIONS
            ):
                return _function(word.lower(), self._value(argument, bound))
            case Aggregate(
                kind="sum", index=(Name() as index,), lower=Node() as lower, upper=Node() as upper, over=None
            ):
                first, last = (self._value(each, bound) for each in (lower, upper))
                if first != int(first) or last != int(last) or last - first >= _MOST_TERMS:
                    raise _NoNumber
                places = range(int(first), int(last) + 1)
                return sum(self._value(node.body, {**bound, index.key: place}) for place in places)
            case Aggregate(kind="sum", index=(Name() as index,), lower=None, upper=None, over=None) if self.is_whole:
                return sum(self._value(node.body, {**bound, index.key: place}) for place in _WHOLE)
        raise _NoNumber

    def _letter(self, name: Name, bound: Bound) -> float:
        if name.key in bound:
            return bound[name.key]
        if name.key in self.indices:
            return self.indices[name.key][self.draw - 1]
        if name.key in CONSTANTS:
            return CONSTANTS[name.key]
        if not name.base:
            raise _NoNumber
        lower = tuple(self._place(each, bound) for each in name.subscripts)
        if name.base in DELTAS:
            return self._delta(name, lower)
        key = (name.accent, name.base, lower, tuple(map(_key, name.superscripts)), name.primes)
        number = drawn(key, self.draw)
        if name.key in self.tops:
            return 2 if self.indices and self.draw == _SHORT else 2 + number % 4
        return 2 + number % 50 if is_size(name) else _real(number, self.draw)

    def _delta(self, name: Name, places: tuple[float | str, ...]) -> float:
        if len(places) != 2 or name.superscripts or name.primes or name.accent:
            raise _NoNumber
        return float(places[0] == places[1])

    def _place(self, subscript: Node, bound: Bound) -> float | str:
        """Return the entry that a subscript selects: a number under a sum, also for `(j - 1) b + l`, else its text."""
        if is_counted(subscript, bound) or is_counted(subscript, self.indices):
            return float(self._value(subscript, bound))  # x_1 is the first of the x_i
        return _key(subscript)


def is_known_function(name: Name) -> bool:
    """Return whether a name is that of a function that can be evaluated here."""
    return name.base.lower() in FUNCTIONS and not name.subscripts


def tops_of(*sides: Node) -> frozenset[str]:
    """Return the letters in the upper bounds of sums, which are whole numbers."""
    ends = (part.upper for side in sides for part in side.walk() if isinstance(part, Aggregate))
    return frozenset(name.key for end in ends if end is not None for name in end.walk() if isinstance(name, Name))


def reaching(node: Any, place: Name, lower: Node | None, upper: Node | None) -> Any:
    """Return a formula with the given bounds in all of its sums over the index `place`."""
    if isinstance(node, Aggregate) and node.index == (place,):
        return replace(node, lower=lower, upper=upper)
    return rebuilt(node, lambda each: reaching(each, place, lower, upper))


def is_counted(subscript: Node, bound: Container[str]) -> bool:
    """Return whether a subscript selects an entry: it is a number, or contains a bound index."""
    return isinstance(subscript, Number) or any(isinstance(p, Name) and p.key in bound for p in subscript.walk())


def _free_places(*formulas: Node) -> Mapping[str, tuple[int, ...]]:
    """Return the values that the free indices of Kronecker deltas have in each draw."""
    parts = [part for formula in formulas for part in formula.walk()]
    sums = [part for part in parts if isinstance(part, Aggregate)]
    asked = [each for part in parts if isinstance(part, Name) and part.base in DELTAS for each in part.subscripts]
    bound = {index.key for part in sums for index in part.index if isinstance(index, Name)}
    free = sorted({each.key for each in asked if isinstance(each, Name)} - bound)
    if len(free) > len(_PLACES):
        return {}
    first = 0 if any(isinstance(part.lower, Number) and part.lower.value == 0 for part in sums) else 1
    return {key: tuple(first + at for at in places) for key, places in zip(free, _PLACES, strict=False)}


@lru_cache(maxsize=4096)
def drawn(key: object, draw: int) -> int:
    """Return a number of 32 bits that depends on a key and a draw alone."""
    return int.from_bytes(blake2b(repr((key, draw)).encode(), digest_size=4).digest())


def _real(number: int, draw: int) -> float:
    return (0.4 + (number % 10_007) / 7_000) * (_SIGNS[draw](number) if draw in _SIGNS else 1)


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        return math.nan
    found = base**exponent
    return math.nan if isinstance(found, complex) else float(found)


def _function(word: str, argument: float) -> float:
    try:
        return FUNCTIONS[word](argument)
    except ValueError:
        return math.nan


def _key(node: Node) -> str:
    return Name("", (node,)).key
