"""Quick numbers of a scalar formula as it is written: a filter before the judge, never a verdict.

Definition   letters have numbers that depend on their names alone, sizes whole ones; `q_j` under a sum over j is an
             entry, and has one number for each place
Result       `sampled(node, draw)`, None for what has no number here
Assumes      matrices are 1 x 1: what differs for them differs in general
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from typing import Any
from zlib import crc32

from derivations.documents.budget import spend
from derivations.documents.judge.scalar_letters import is_size
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
)

__all__ = ["is_counted", "sampled", "tops_of"]

_MOST_TERMS = 8
_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "exp": math.exp, "log": math.log, "ln": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos,
    "tanh": math.tanh, "relu": lambda x: max(x, 0.0), "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
}  # fmt: skip
_CONSTANTS = {"e": math.e, "π": math.pi, "pi": math.pi}
Bound = Mapping[str, int]


class _NoNumber(Exception):
    """What has no number here."""


def sampled(node: Node, draw: int) -> float | None:
    """Return the number of a formula in one draw of its letters."""
    try:
        return _value(node, {}, draw, tops_of(node))
    except (_NoNumber, ArithmeticError, ValueError, TypeError):
        return None


def tops_of(*sides: Node) -> frozenset[str]:
    """Return the letters that end sums: they are whole numbers."""
    ends = (part.upper for side in sides for part in side.walk() if isinstance(part, Aggregate))
    return frozenset(name.key for end in ends if end is not None for name in end.walk() if isinstance(name, Name))


def is_counted(subscript: Node, bound: Container[str]) -> bool:
    """Say whether a subscript is a number, or has an index of a sum, so that it tells which entry is meant."""
    return isinstance(subscript, Number) or any(isinstance(p, Name) and p.key in bound for p in subscript.walk())


@lru_cache(maxsize=4096)
def _drawn(key: tuple[Any, ...], draw: int, whole: bool) -> float:
    number = crc32(repr((key, draw)).encode())
    return 2 + number % 4 if whole else 0.4 + (number % 10_007) / 7_000


def _value(node: Node, bound: Bound, draw: int, tops: frozenset[str]) -> float:
    spend(1)
    match node:
        case Number(value=value, unit=""):
            return float(value)
        case Name():
            return _letter(node, bound, draw, tops)
        case Sum(terms=terms, signs=signs) if 0 not in signs:
            return sum(sign * _value(each, bound, draw, tops) for each, sign in zip(terms, signs, strict=True))
        case Product(factors=factors, operators=operators) if set(operators) <= {"", "dot", "times", "star"}:
            return math.prod(_value(each, bound, draw, tops) for each in factors)
        case Negative(operand=inside):
            return -_value(inside, bound, draw, tops)
        case Quotient(numerator=above, denominator=below):
            return _value(above, bound, draw, tops) / _value(below, bound, draw, tops)
        case Power(base=base, exponent=exponent):
            return _real(_value(base, bound, draw, tops) ** _value(exponent, bound, draw, tops))
        case Root(radicand=inside, degree=None):
            return math.sqrt(_value(inside, bound, draw, tops))
        case Fence(bracket="(" | "[" | "{" | "", inside=inside) | Annotated(of=inside):
            return _value(inside, bound, draw, tops)
        case Fence(bracket="|" | "||", inside=inside):
            return abs(_value(inside, bound, draw, tops))
        case Call(function=Name(base=word, subscripts=(), superscripts=()), arguments=(argument,)) if (
            word.lower() in _FUNCTIONS
        ):
            return _FUNCTIONS[word.lower()](_value(argument, bound, draw, tops))
        case Aggregate(kind="sum", index=(index,), lower=Node() as lower, upper=Node() as upper, over=None, body=body):
            first, last = (_value(each, bound, draw, tops) for each in (lower, upper))
            if first != int(first) or last != int(last) or last - first >= _MOST_TERMS:
                raise _NoNumber
            places = range(int(first), int(last) + 1)
            return sum(_value(body, {**bound, index.key: place}, draw, tops) for place in places)
    raise _NoNumber


def _letter(name: Name, bound: Bound, draw: int, tops: frozenset[str]) -> float:
    if name.key in bound:
        return bound[name.key]
    if name.key in _CONSTANTS:
        return _CONSTANTS[name.key]
    if not name.base:
        raise _NoNumber
    lower = tuple(_place(each, bound, draw, tops) for each in name.subscripts)
    key = (name.accent, name.base, lower, tuple(map(_key, name.superscripts)), name.primes)
    return _drawn(key, draw, name.key in tops or is_size(name))


def _place(subscript: Node, bound: Bound, draw: int, tops: frozenset[str]) -> float | str:
    """Return which entry a subscript says: a number under a sum, also of `(j - 1) b + l`, else its text."""
    return _value(subscript, bound, draw, tops) if is_counted(subscript, bound) else _key(subscript)


def _key(node: Node) -> str:
    return Name("", (node,)).key


def _real(value: Any) -> float:
    if isinstance(value, complex):
        raise _NoNumber
    return float(value)
