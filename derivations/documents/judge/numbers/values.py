r"""The value of a numerical formula, enclosed between two fractions.

Definition   an enclosure is an interval of exact fractions; a number that was computed exactly is both its ends
Result       `enclose(node, letters)` for what is made of numbers, of letters with a value, of + - * / powers, roots,
             exp, log, sin, cos, tanh, sigmoid, max, min, and of sums and products with bounds; None for all else
Assumes      printed numbers are exactly what is printed; `log` and `\ln` have the base that is given
Raises       nothing: what is over the budget (a tower of exponents, a sum of 10^100 terms) has no number
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.judge.numbers.intervals import (
    IV,
    NoNumber,
    Value,
    added,
    divided,
    exponential,
    fraction,
    interval,
    multiplied,
    power,
    within_budget,
)  # fmt: skip
from derivations.documents.judge.numbers.number_functions import CONSTANTS, function_of_numbers
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

__all__ = ["MOST_BITS", "Enclosure", "Letters", "enclose"]

MOST_BITS = 1024  # precision beyond which two numbers are not told apart
_MOST_TERMS = 2_000
_MOST_NODES = 20_000
_CUT = Fraction(1, 10**6)  # digits behind it are cut off as often as rounded
_DEPTH = 120

Letters = Callable[[Name], Fraction | Node | None]


@dataclass(frozen=True)
class Enclosure:
    """Two fractions that enclose a number."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high

    @property
    def middle(self) -> Fraction:
        """The middle of the two ends."""
        return (self.low + self.high) / 2


def no_letters(name: Name) -> None:
    """Return None for every letter, as none has a value."""


def enclose(
    node: Node, letters: Letters = no_letters, *, bits: int = 64, base: int = 0, spread: bool = False
) -> Enclosure | None:
    """Return an enclosure of the number that a node means, or None.

    `base` is that of `log` (0: e); with `spread`, a printed number that is not exact stands for all that round to it.
    """
    IV.prec = bits
    try:
        value = _Evaluation(letters, base, spread).value(node, {}, 0)
        if isinstance(value, Fraction):
            return Enclosure(value, value)
        return Enclosure(fraction(value.a), fraction(value.b))
    except (NoNumber, ZeroDivisionError, ValueError, OverflowError, ArithmeticError):
        return None


@dataclass
class _Evaluation:
    letters: Letters
    base: int
    spread: bool
    spent: int = 0
    open: set[str] = field(default_factory=set)  # letters whose definition is being evaluated

    def value(self, node: Node, bound: Mapping[str, Fraction], depth: int) -> Value:
        self.spent += 1
        spend()
        rule = _RULES.get(type(node))
        if rule is None or depth > _DEPTH or self.spent > _MOST_NODES:
            raise NoNumber
        return rule(self, node, bound, depth + 1)

    def number(self, node: Number, bound: Mapping[str, Fraction], depth: int) -> Value:
        if self.spread and not node.exact:
            off = node.half_unit * (2 if node.half_unit < _CUT else 1)
            low, high = node.value - off, node.value + off
            return IV.mpf([interval(low).a, interval(high).b])
        return within_budget(node.value)

    def name(self, node: Name, bound: Mapping[str, Fraction], depth: int) -> Value:
        if node.key in bound:
            return bound[node.key]
        known = self.letters(node)
        if isinstance(known, Fraction):
            return within_budget(known)
        if isinstance(known, Node) and node.key not in self.open:
            self.open.add(node.key)
            try:
                return self.value(known, {}, depth)
            finally:
                self.open.discard(node.key)
        plain = not (node.subscripts or node.superscripts or node.primes or node.accent)
        if plain and known is None and node.base in CONSTANTS:
            return CONSTANTS[node.base]()
        raise NoNumber

    def negative(self, node: Negative, bound: Mapping[str, Fraction], depth: int) -> Value:
        return -self.value(node.operand, bound, depth)

    def annotated(self, node: Annotated, bound: Mapping[str, Fraction], depth: int) -> Value:
        return self.value(node.of, bound, depth)

    def fence(self, node: Fence, bound: Mapping[str, Fraction], depth: int) -> Value:
        inside = self.value(node.inside, bound, depth)
        if node.bracket in ("(", "[", "{", ""):
            return inside
        if node.bracket == "|":
            return abs(inside)
        if node.bracket in ("⌊", "⌈") and isinstance(inside, Fraction):
            return Fraction(math.floor(inside) if node.bracket == "⌊" else math.ceil(inside))
        raise NoNumber

    def sum(self, node: Sum, bound: Mapping[str, Fraction], depth: int) -> Value:
        if 0 in node.signs:
            raise NoNumber
        total: Value = Fraction(0)
        for term, sign in zip(node.terms, node.signs, strict=True):
            total = added(total, sign * self.value(term, bound, depth))
        return total

    def product(self, node: Product, bound: Mapping[str, Fraction], depth: int) -> Value:
        if not set(node.operators) <= {"", "dot", "times", "star", "odot", "at"}:
            raise NoNumber
        for first, operator, second in zip(node.factors, node.operators, node.factors[1:], strict=False):
            if not operator and isinstance(first, Number) and isinstance(second, Number):
                raise NoNumber  # 7 % 4, 2 1/2: no product is meant for certain
        total: Value = Fraction(1)
        for factor in node.factors:
            total = multiplied(total, self.value(factor, bound, depth))
        return total

    def quotient(self, node: Quotient, bound: Mapping[str, Fraction], depth: int) -> Value:
        return divided(self.value(node.numerator, bound, depth), self.value(node.denominator, bound, depth))

    def power(self, node: Power, bound: Mapping[str, Fraction], depth: int) -> Value:
        exponent = self.value(node.exponent, bound, depth)
        if isinstance(node.base, Name) and node.base.key == "e" and "e" not in bound:
            if isinstance(node.exponent, Name) and node.exponent.key in bound:
                raise NoNumber  # the error of number i
            whole = isinstance(exponent, Fraction) and exponent.denominator == 1
            if whole and self.letters(node.base) is not None:
                raise NoNumber  # the square of a letter, or of Euler's number
            return exponential(exponent)
        base = self.value(node.base, bound, depth)
        if base == 0 and exponent == 0:
            raise NoNumber  # what 0^0 is, is a convention
        return power(base, exponent)

    def root(self, node: Root, bound: Mapping[str, Fraction], depth: int) -> Value:
        degree = self.value(node.degree, bound, depth) if node.degree is not None else Fraction(2)
        radicand = self.value(node.radicand, bound, depth)
        if not isinstance(degree, Fraction) or degree == 0:
            raise NoNumber
        return power(radicand, 1 / degree)

    def call(self, node: Call, bound: Mapping[str, Fraction], depth: int) -> Value:
        arguments = [self.value(each, bound, depth) for each in node.arguments]
        return function_of_numbers(node.function, arguments, self.base)

    def aggregate(self, node: Aggregate, bound: Mapping[str, Fraction], depth: int) -> Value:
        if node.kind not in ("sum", "product") or len(node.index) != 1 or node.lower is None or node.upper is None:
            raise NoNumber
        if node.over is not None:
            raise NoNumber
        low, high = self.value(node.lower, bound, depth), self.value(node.upper, bound, depth)
        if not (isinstance(low, Fraction) and isinstance(high, Fraction) and low.denominator == high.denominator == 1):
            raise NoNumber
        key, adding = node.index[0].key, node.kind == "sum"
        if adding and high >= low and not any(isinstance(each, Name) and each.key == key for each in node.body.walk()):
            return multiplied(high - low + 1, self.value(node.body, bound, depth))
        if high - low >= _MOST_TERMS:
            raise NoNumber
        total: Value = Fraction(0 if adding else 1)
        for place in range(int(low), int(high) + 1):
            term = self.value(node.body, {**bound, key: Fraction(place)}, depth)
            total = added(total, term) if adding else multiplied(total, term)
        return total


_RULES: Mapping[type[Node], Callable[[_Evaluation, Any, Mapping[str, Fraction], int], Value]] = {
    Number: _Evaluation.number,
    Name: _Evaluation.name,
    Negative: _Evaluation.negative,
    Annotated: _Evaluation.annotated,
    Fence: _Evaluation.fence,
    Sum: _Evaluation.sum,
    Product: _Evaluation.product,
    Quotient: _Evaluation.quotient,
    Power: _Evaluation.power,
    Root: _Evaluation.root,
    Call: _Evaluation.call,
    Aggregate: _Evaluation.aggregate,
}
