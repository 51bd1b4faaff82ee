"""The operations that build the entries of a formula: SymPy expressions, or something lighter.

Definition   an algebra makes numbers, letters, entries and what is made of them; nothing is worked out in `SYMBOLIC`,
             so that nothing is cancelled
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sympy import Derivative, Integer, KroneckerDelta, Max, Min, Mul, Pow, Rational, Sum, pi

from derivations.documents.elaborate.functions import BY_ENTRY, EXPECTATION
from derivations.language.arrays.expression import array
from derivations.symbols import index, scalar, size

__all__ = ["SYMBOLIC", "Algebra"]


@dataclass(frozen=True)
class Algebra:
    """The operations of an algebra. Sums, products and negatives of two values use Python's operators."""

    number: Callable[[int, int], Any]  # by numerator and denominator
    scalar: Callable[[str], Any]
    index: Callable[[str], Any]
    size: Callable[[str], Any]
    entry: Callable[[str, tuple[Any, ...], tuple[Any, ...]], Any]  # by name, shape and places
    total: Callable[[Any, Any, Any, Any], Any]  # of terms, over a place, from one to another
    added: Callable[..., Any]
    times: Callable[..., Any]
    quotient: Callable[[Any, Any], Any]
    power: Callable[[Any, Any], Any]
    delta: Callable[[Any, Any], Any]
    derivative: Callable[[Any, Any], Any]
    largest: Callable[..., Any]
    least: Callable[..., Any]
    function: Callable[[str], Callable[[Any], Any]]
    expectation: Callable[[Any], Any]
    pi: Any
    places: Callable[[Any], set[Any]]  # the indices that nothing binds, and perhaps other letters


SYMBOLIC = Algebra(
    number=Rational,
    scalar=scalar,
    index=index,
    size=size,
    entry=lambda name, shape, places: array(name, *shape).entry(*places),
    total=lambda terms, place, first, last: Sum(terms, (place, first, last)),
    added=lambda *terms: sum(terms, Integer(0)),
    times=Mul,
    quotient=lambda above, below: Mul(above, Pow(below, -1, evaluate=False), evaluate=False),
    power=lambda base, exponent: Pow(base, exponent, evaluate=False),
    delta=KroneckerDelta,
    derivative=Derivative,
    largest=Max,
    least=Min,
    function=BY_ENTRY.__getitem__,
    expectation=EXPECTATION,
    pi=pi,
    places=lambda entry: entry.free_symbols,
)
