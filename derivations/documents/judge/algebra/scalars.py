r"""A scalar formula of a document in the alphabet of the judge.

Definition   letters become symbols named by `Name.key`: sizes (whole, >= 1) where they bound a sum or are written as
             sizes are (`d_k`, n, h, `batch_size`), else real; `q_i` under a sum over i is an entry of an array q; an
             index counts from 0 here, so that i of `\sum_{i=1}^n` is i + 1
Result       `scalar(node, scope)` is the SymPy expression, or None for what is no scalar or is not understood
Assumes      a letter is a scalar if the scope says so, or says nothing and it is no capital; unknown capitals are taken
             where every product has them in one order, so that it does not matter whether they commute
Raises       nothing; what is over the budget (nodes, powers) is not understood
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy import Expr, Integer, Rational, Symbol

from derivations.documents.judge.algebra.scalar_growth import LARGEST_POWER, MOST_CIRCLES, bits_of, circles, grows
from derivations.documents.judge.algebra.scalar_letters import EXPECTATIONS, VARIANCES, in_one_order, is_size, symbol
from derivations.documents.scope import Scope
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
    Words,
)
from derivations.language.expression import array
from derivations.language.scalars import Expectation, Variance
from derivations.symbols import index, size

__all__ = ["EXPECTATIONS", "VARIANCES", "as_written", "in_one_order", "is_size", "scalar", "symbol"]

_MOST_NODES = 400
_MOST_TERMS = 64  # of a sum with numbers for bounds
_BITS = 4_000
_NO_NUMBERS = frozenset({"infty", "∞", "inf", "infinity", "nan"})  # algebra does not hold for them
_FUNCTIONS: Mapping[str, Callable[[Expr], Expr]] = {
    "exp": sympy.exp,
    "log": sympy.log,
    "ln": sympy.log,
    "sqrt": sympy.sqrt,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tanh": sympy.tanh,
}
_PLACE = Words("·")  # where an index stands that is no longer part of the name: a_{ij} and a_{ji} are two arrays


class _NoScalar(Exception):
    """What is no scalar, or is not understood."""


def scalar(node: Node, scope: Scope | None = None) -> Expr | None:
    """Return the scalar that a node means, or None."""
    found = as_written(node, scope)
    return found if found is not None and not grows(found) else None


def as_written(node: Node, scope: Scope | None = None) -> Expr | None:
    """Return the scalar that a node means, to be looked at and not multiplied out: it may be too large for that."""
    try:
        parts = [part for _, part in zip(range(_MOST_NODES + 1), node.walk(), strict=False)]
        if len(parts) > _MOST_NODES or not in_one_order(node, scope=scope):
            return None
        found = _Reading(scope, _sizes(parts)).expression(node, {})
        return found if circles(found) <= MOST_CIRCLES else None
    except (_NoScalar, ArithmeticError, ValueError, TypeError, RecursionError):
        return None


def _sizes(parts: list[Node]) -> frozenset[str]:
    """Return the letters that bound sums."""
    bounds = [part.upper for part in parts if isinstance(part, Aggregate) and part.upper is not None]
    return frozenset(each.key for bound in bounds for each in bound.walk() if isinstance(each, Name))


@dataclass
class _Reading:
    scope: Scope | None
    sizes: frozenset[str]
    lengths: dict[str, Expr] = field(default_factory=dict)  # of the arrays whose entries were read

    def expression(self, node: Node, bound: Mapping[str, tuple[Symbol, Expr, Expr]]) -> Expr:
        """Return a node; `bound` gives for an index its symbol, its least value and how many it has."""
        if type(node) not in _RULES:
            raise _NoScalar
        return _RULES[type(node)](self, node, bound)

    def number(self, node: Number, bound: Any) -> Expr:
        if node.unit or node.value.numerator.bit_length() + node.value.denominator.bit_length() > _BITS:
            raise _NoScalar
        return Rational(node.value.numerator, node.value.denominator)

    def name(self, node: Name, bound: Mapping[str, tuple[Symbol, Expr, Expr]]) -> Expr:
        if node.key in bound:
            place, least, _ = bound[node.key]
            return place + least
        if not node.base or node.base.lower() in _NO_NUMBERS:
            raise _NoScalar
        used = [each for each in node.subscripts if isinstance(each, Name) and each.key in bound]
        if used:
            return self.entry(node, used, bound)
        if any(isinstance(part, Name) and part.key in bound for each in node.subscripts for part in each.walk()):
            raise _NoScalar  # x_{i+1}: an entry at another place
        shape = self.scope.shape(node) if self.scope is not None else None
        if shape:
            raise _NoScalar
        if node.key == "e":
            return sympy.E
        if node.key in ("π", "pi"):
            return sympy.pi
        return symbol(node, sized=node.key in self.sizes)

    def entry(self, node: Name, used: list[Name], bound: Mapping[str, tuple[Symbol, Expr, Expr]]) -> Expr:
        """Return the entry of an array at indices of sums around it; what else stands below is part of its name."""
        free = [each for each in node.subscripts if each not in used]
        last = node.subscripts[len(free) :]
        rest = (
            tuple(free) if list(last) == used else tuple(_PLACE if each in used else each for each in node.subscripts)
        )
        family = Name(node.base, rest, node.superscripts, node.primes, node.accent).key
        places = [bound[each.key] for each in used]
        key = f"{family}:{len(used)}"
        counts = tuple(count for _, _, count in places)
        if self.lengths.setdefault(key, sympy.Tuple(*counts)) != sympy.Tuple(*counts):
            raise _NoScalar  # one array, two lengths
        found: Any = array(family, *counts)
        return found[tuple(place for place, _, _ in places)] if len(places) > 1 else found[places[0][0]]

    def sum(self, node: Sum, bound: Any) -> Expr:
        if 0 in node.signs:
            raise _NoScalar
        pairs = zip(node.terms, node.signs, strict=True)
        return sympy.Add(*(sign * self.expression(term, bound) for term, sign in pairs))

    def product(self, node: Product, bound: Any) -> Expr:
        if not set(node.operators) <= {"", "dot", "times", "star"}:
            raise _NoScalar
        for function, operator, argument in zip(node.factors, node.operators, node.factors[1:], strict=False):
            called = isinstance(function, Call) and function.function.base != "exp"
            if called and not operator and not isinstance(argument, Call):
                raise _NoScalar  # cos(m - n) t may mean the cosine of the product
        return sympy.Mul(*(self.expression(each, bound) for each in node.factors))

    def negative(self, node: Negative, bound: Any) -> Expr:
        return -self.expression(node.operand, bound)

    def quotient(self, node: Quotient, bound: Any) -> Expr:
        denominator = self.expression(node.denominator, bound)
        if denominator == 0:
            raise _NoScalar
        return self.expression(node.numerator, bound) / denominator

    def power(self, node: Power, bound: Any) -> Expr:
        base, exponent = self.expression(node.base, bound), self.expression(node.exponent, bound)
        if base.is_number and base != sympy.E:
            budget = exponent.is_Rational and abs(exponent.p) * bits_of(base) <= _BITS
        else:
            budget = not exponent.is_number or abs(exponent) <= LARGEST_POWER
        if not budget or base == 0:
            raise _NoScalar
        return base**exponent

    def root(self, node: Root, bound: Any) -> Expr:
        degree = self.expression(node.degree, bound) if node.degree is not None else Integer(2)
        if not (degree.is_Integer and 1 < degree <= LARGEST_POWER):
            raise _NoScalar
        return self.expression(node.radicand, bound) ** (1 / degree)

    def fence(self, node: Fence, bound: Any) -> Expr:
        if node.bracket not in ("(", "[", "{", ""):
            raise _NoScalar
        return self.expression(node.inside, bound)

    def annotated(self, node: Annotated, bound: Any) -> Expr:
        return self.expression(node.of, bound)

    def call(self, node: Call, bound: Any) -> Expr:
        name = node.function
        if len(node.arguments) != 1 or name.subscripts or name.superscripts or name.primes:
            raise _NoScalar
        (argument,) = node.arguments
        if name.base in VARIANCES:
            return Variance(self.expression(argument, bound))
        if name.base in EXPECTATIONS:
            return Expectation(self.expression(argument, bound))
        function = _FUNCTIONS.get(name.base)
        if function is None:
            raise _NoScalar
        inside = self.expression(argument, bound)
        if inside.is_number and not inside.is_Rational:
            raise _NoScalar  # towers of functions of numbers are left to enclosures
        return function(inside)

    def aggregate(self, node: Aggregate, bound: Mapping[str, tuple[Symbol, Expr, Expr]]) -> Expr:
        if node.kind.lower() in ("var", "e") and not node.index:
            return (Variance if node.kind.lower() == "var" else Expectation)(self.expression(node.body, bound))
        if node.kind != "sum" or len(node.index) != 1 or node.over is not None:
            raise _NoScalar
        key = node.index[0].key
        least, count = self.range(node, bound)
        if key in bound or not (count.is_Symbol or (count.is_Integer and count >= 1)):
            raise _NoScalar  # an empty range, or one of which nothing is known
        place = index(key)
        body = self.expression(node.body, {**bound, key: (place, least, count)})
        if place not in body.free_symbols:
            return count * body
        if count.is_Integer and count > _MOST_TERMS:
            raise _NoScalar
        return sympy.Sum(body, (place, 0, count - 1))

    def range(self, node: Aggregate, bound: Any) -> tuple[Expr, Expr]:
        """Return the first place of a sum, and how many it has: without bounds, all of an array in it."""
        if node.lower is not None and node.upper is not None:
            least, most = self.expression(node.lower, bound), self.expression(node.upper, bound)
            if not (least.is_Integer and (most.is_integer or most.is_Integer)):
                raise _NoScalar
            return least, sympy.expand(most - least + 1)
        names = [part for part in node.body.walk() if isinstance(part, Name) and node.index[0] in part.subscripts]
        if node.lower is not None or node.upper is not None or not names:
            raise _NoScalar
        return Integer(1), size(min(f"{each.base}:{each.subscripts.index(node.index[0])}" for each in names))


_RULES: Mapping[type[Node], Callable[[_Reading, Any, Any], Expr]] = {
    Number: _Reading.number,
    Name: _Reading.name,
    Sum: _Reading.sum,
    Product: _Reading.product,
    Negative: _Reading.negative,
    Quotient: _Reading.quotient,
    Power: _Reading.power,
    Root: _Reading.root,
    Fence: _Reading.fence,
    Annotated: _Reading.annotated,
    Call: _Reading.call,
    Aggregate: _Reading.aggregate,
}
