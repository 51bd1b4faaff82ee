r"""Numbers of means and variances, in several draws of the moments of independent random variables.

Definition   letters are independent random variables, the entries of one letter alike, with moments of which nothing is
             known; sizes, and letters that are Greek, are numbers. A reading may know more: that some variables are 0
             or 1, so that x^2 is x, or that all entries of a letter are one variable
Result       `differ(first, second, reading)`: whether two formulas differ; None where one has no number
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from derivations.documents.budget import spend
from derivations.documents.judge.algebra.sampled import drawn, is_counted, tops_of
from derivations.documents.judge.algebra.scalar_letters import EXPECTATIONS, VARIANCES, is_size
from derivations.documents.syntax import (
    Aggregate,
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

__all__ = ["ALIKE", "ANY", "CENTRED", "Reading", "differ", "values"]

Monomial = tuple[tuple[str, int], ...]  # variables with their powers, in order
Polynomial = Mapping[Monomial, float]
DRAWS = (1, 2, 3)
CLOSE = 1e-9
MOST_POWER = 8
SQUARE = 2
MOST_TERMS = 400
ENTRY = "·"  # behind the name of a variable, before the entry that it is


class _NoMoment(Exception):
    """What is no polynomial in random variables."""


def _number(key: object, draw: int) -> float:
    return 0.3 + (drawn(key, draw) % 10_007) / 9_000


@dataclass(frozen=True)
class Reading:
    """What the random variables are: some 0 or 1, so that nobody need write x^2 for x; all entries of a letter one.

    Entries that are no `twins` have moments of their own, those of a letter else the same ones.
    `centred` variables have the mean 0, and the standard deviation `spread`, 1 or the letter sigma, where it is told;
    letters that are `fixed` are numbers. What is `told` of a letter and a power is its moment.
    `signs` are -1, 0 or 1: x^3 is x.
    """

    zero_or_one: frozenset[str] = frozenset()
    alike: bool = False
    twins: bool = True
    centred: bool = False
    spread: Literal["", "1", "sigma"] = ""
    fixed: frozenset[str] = frozenset()
    told: Mapping[tuple[str, int], Node] = field(default_factory=dict)
    signs: bool = False

    def moment(self, variable: str, power: int, draw: int) -> float:
        """Return the mean of a power of a variable."""
        if self.centred and power == 1:
            return 0.0
        if self.spread and power == SQUARE:
            return 1.0 if self.spread == "1" else _number(self.spread, draw) ** 2
        letter = variable.partition(ENTRY)[0]
        if not self.twins:
            return _number((variable, power), draw)
        return _number((letter, 1 if letter in self.zero_or_one else power), draw)


ANY, ALIKE, CENTRED = Reading(), Reading(alike=True), Reading(centred=True)


def differ(first: Node, second: Node, reading: Reading) -> bool | None:
    """Say whether two sides differ; None where one has no number."""
    pairs = values(first, second, reading)
    if pairs is None:
        return None
    return any(abs(one - other) > CLOSE * max(abs(one), abs(other)) for one, other in pairs)


def values(first: Node, second: Node, reading: Reading) -> tuple[tuple[float, float], ...] | None:
    """Return the numbers of two sides in every draw; None where one has none."""
    tops = tops_of(first, second)
    try:
        draws = [_Numbers(draw, reading, tops) for draw in DRAWS]
        return tuple((draw.number(first), draw.number(second)) for draw in draws)
    except (_NoMoment, ArithmeticError, ValueError):
        return None


@dataclass(frozen=True)
class _Numbers:
    """Numbers of a formula in one draw of its sizes and moments."""

    draw: int
    reading: Reading
    tops: frozenset[str]
    bound: Mapping[str, int] = field(default_factory=dict)

    def number(self, node: Node) -> float:
        """Return the number of what has no random variables outside of means and variances."""
        found = self.polynomial(node)
        if found.keys() - {()}:
            raise _NoMoment
        return found.get((), 0.0)

    def polynomial(self, node: Node) -> Polynomial:
        """Return a formula as a polynomial in random variables."""
        spend(1)
        match node:
            case Number(value=value, unit=""):
                return {(): float(value)}
            case Name():
                return self._letter(node)
            case Sum(terms=terms, signs=signs) if 0 not in signs:
                return _added(_scaled(self.polynomial(each), sign) for each, sign in zip(terms, signs, strict=True))
            case Product(factors=factors, operators=operators) if set(operators) <= {"", "dot", "times", "star"}:
                return _multiplied(self.polynomial(each) for each in factors)
            case Negative(operand=inside):
                return _scaled(self.polynomial(inside), -1)
            case Quotient(numerator=above, denominator=below):
                return _scaled(self.polynomial(above), 1 / self.number(below))
            case Power(base=base, exponent=Number(value=value)) if value.denominator == 1 and 0 < value <= MOST_POWER:
                factor = self.polynomial(base)
                return _multiplied(factor for _ in range(int(value)))
            case Root(radicand=inside, degree=None):
                return {(): math.sqrt(self.number(inside))}
            case Fence(bracket="(" | "[" | "{" | "", inside=inside):
                return self.polynomial(inside)
            case Call(function=Name(base=word, subscripts=(), superscripts=()), arguments=(argument,)):
                return {(): self._mean_or_variance(word, self.polynomial(argument))}
            case Aggregate(kind="sum", index=(index,), lower=Node() as lower, upper=Node() as upper, over=None):
                first, last = self.number(lower), self.number(upper)
                if first != int(first) or last != int(last) or last - first >= MOST_POWER:
                    raise _NoMoment
                inner = (replace(self, bound={**self.bound, index.key: at}) for at in range(int(first), int(last) + 1))
                return _added(each.polynomial(node.body) for each in inner)
        raise _NoMoment

    def _letter(self, name: Name) -> Polynomial:
        if name.key in self.bound:
            return {(): float(self.bound[name.key])}
        if not name.base or name.superscripts or name.accent or name.primes:
            raise _NoMoment  # a mean of others, or another variable
        if name.key in self.tops or (is_size(name) and name.base not in self.reading.zero_or_one):
            return {(): 2.0 + drawn(name.key, self.draw) % 3}
        if name.key in self.reading.fixed and name.base in self.reading.zero_or_one:
            return {(): 1.0}
        if len(name.base) > 1 or not name.base.isascii() or name.key in self.reading.fixed:
            return {(): _number(name.key, self.draw)}  # sigma, mu
        entry = "" if self.reading.alike else ",".join(map(self._place, name.subscripts))
        return {((f"{name.base}{ENTRY}{entry}", 1),): 1.0}

    def _place(self, subscript: Node) -> str:
        """Return which entry a subscript says: a number under a sum, also of `j + 1`, else its text."""
        return str(self.number(subscript)) if is_counted(subscript, self.bound) else Name("", (subscript,)).key

    def _mean_or_variance(self, word: str, inside: Polynomial) -> float:
        if word in EXPECTATIONS:
            return self._mean(inside)
        if word in VARIANCES:
            return self._mean(_multiplied((inside, inside))) - self._mean(inside) ** 2
        raise _NoMoment

    def _mean(self, polynomial: Polynomial) -> float:
        return sum(
            factor * math.prod(self._moment(variable, power) for variable, power in monomial)
            for monomial, factor in polynomial.items()
        )

    def _moment(self, variable: str, power: int) -> float:
        power = SQUARE - power % SQUARE if self.reading.signs else power
        told = self.reading.told.get((variable.partition(ENTRY)[0], power))
        return self.number(told) if told is not None else self.reading.moment(variable, power, self.draw)


def _added(some: Iterator[Polynomial]) -> Polynomial:
    found: dict[Monomial, float] = {}
    for each in some:
        for monomial, factor in each.items():
            found[monomial] = found.get(monomial, 0.0) + factor
    return found


def _scaled(polynomial: Polynomial, by: float) -> Polynomial:
    return {monomial: by * factor for monomial, factor in polynomial.items()}


def _multiplied(some: Iterator[Polynomial] | tuple[Polynomial, ...]) -> Polynomial:
    product: dict[Monomial, float] = {(): 1.0}
    for each in some:
        if len(product) * len(each) > MOST_TERMS:
            raise _NoMoment
        spend(len(product) * len(each))
        found: dict[Monomial, float] = {}
        for first, one in product.items():
            for second, other in each.items():
                powers = dict(first)
                for variable, power in second:
                    powers[variable] = powers.get(variable, 0) + power
                monomial = tuple(sorted(powers.items()))
                found[monomial] = found.get(monomial, 0.0) + one * other
        product = found
    return product
