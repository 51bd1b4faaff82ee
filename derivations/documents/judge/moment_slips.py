r"""Slips in equations between means and variances: `Var(x) = E[x^2] + E[x]^2`.

Definition   letters are independent random variables, the entries of one letter alike, with moments of which nothing is
             known; sizes, and letters that are Greek, are numbers
Result       `moment_slip(left, right)`: the side that is mended and the slip, where the two sides differ and one edit
             (a sign, an exponent, an index, a fraction) makes them equal whatever the moments are; else None
Assumes      sides are no mistake that are equal for variables which are 0 or 1, where x^2 is x, or where all entries
             are one variable: their variances do not add up
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from zlib import crc32

from derivations.documents.budget import spend
from derivations.documents.canon.edits import Edit
from derivations.documents.canon.letter_slips import ranges, signs
from derivations.documents.canon.places import places
from derivations.documents.judge.letters import bare
from derivations.documents.judge.sampled import is_counted, tops_of
from derivations.documents.judge.scalar_letters import EXPECTATIONS, VARIANCES, is_size
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

__all__ = ["moment_slip"]

Monomial = tuple[tuple[str, int], ...]  # variables with their powers, in order
Polynomial = Mapping[Monomial, float]
DRAWS = (1, 2, 3)
CLOSE = 1e-9
MOST_NODES = 100
MOST_POWER = 8
MOST_TERMS = 400
ENTRY = "·"  # behind the name of a variable, before the entry that it is


class _NoMoment(Exception):
    """What is no polynomial in random variables."""


def moment_slip(left: Node, right: Node) -> tuple[Node, str] | None:
    """Return the side that is mended, and the slip; None where the sides are equal, or no edit makes them so."""
    if sum(1 for side in (left, right) for _ in side.walk()) > MOST_NODES:
        return None
    if not all(_differ(left, right, reading) for reading in (_ANY, _ZERO_OR_ONE, _ALIKE)):
        return None
    for side, other, where in ((right, left, "right"), (left, right, "left")):
        for edit, slip in _edits(side):
            if bare(edit) != bare(other) and _differ(edit, other, _ANY) is False:
                return edit, f"{slip}, on the {where}"
    return None


def _edits(side: Node) -> Iterator[Edit]:
    bound = tuple({name: None for part in side.walk() if isinstance(part, Aggregate) for name in part.index})
    for node, put in places(side):
        if isinstance(node, Name) and len(node.subscripts) == 1:
            for index in bound:
                if (index,) != node.subscripts:
                    yield put(replace(node, subscripts=(index,))), f"the index of {node.base} must be {index.key}"
        for rule in (signs, ranges, _exponents):
            for new, slip in rule(node, ()):
                yield put(new), slip


def _exponents(node: Node, letters: object) -> Iterator[Edit]:
    """Exponents and roots that are lost or wrong, and fractions upside down."""
    two = Number("2", Fraction(2))
    match node:
        case Power(base=base, exponent=Number(value=value)):
            yield base, "the exponent must be 1"
            if value != 2:
                yield replace(node, exponent=two), "the exponent must be 2"
        case Name() | Call() | Number():
            yield Power(node, two), "the square is missing"
        case Root(radicand=inside):
            yield inside, "there must be no root"
        case Quotient(numerator=above, denominator=below):
            yield Quotient(below, above), "the fraction is upside down"
            yield Quotient(above, Root(below)), "the root is missing"
            yield Product((above, below), ("dot",)), "it must be multiplied, not divided"
            yield above, "there must be no division"


# --- numbers ---


def _number(key: object, draw: int) -> float:
    return 0.3 + (crc32(repr((key, draw)).encode()) % 10_007) / 9_000


@dataclass(frozen=True)
class _Reading:
    """What the random variables are: 0 or 1, so that nobody need write x^2 for x; all entries of a letter one."""

    zero_or_one: bool = False
    alike: bool = False

    def moment(self, variable: str, power: int, draw: int) -> float:
        """Return the mean of a power of a variable."""
        return _number((variable.partition(ENTRY)[0], 1 if self.zero_or_one and power == 2 else power), draw)


_ANY, _ZERO_OR_ONE, _ALIKE = _Reading(), _Reading(zero_or_one=True), _Reading(alike=True)


def _differ(first: Node, second: Node, reading: _Reading) -> bool | None:
    """Say whether two sides differ; None where one has no number."""
    try:
        for draw in DRAWS:
            values = [_Numbers(draw, reading, tops_of(first, second)).number(side) for side in (first, second)]
            if abs(values[0] - values[1]) > CLOSE * max(map(abs, values)):
                return True
    except (_NoMoment, ArithmeticError, ValueError):
        return None
    return False


@dataclass(frozen=True)
class _Numbers:
    """Numbers of a formula in one draw of its sizes and moments."""

    draw: int
    reading: _Reading
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
        if name.key in self.tops or is_size(name):
            return {(): 2.0 + crc32(repr((name.key, self.draw)).encode()) % 3}
        if len(name.base) > 1 or not name.base.isascii():
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
            factor * math.prod(self.reading.moment(variable, power, self.draw) for variable, power in monomial)
            for monomial, factor in polynomial.items()
        )


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
