r"""Conversion of a scalar formula of a document into a SymPy expression for the judge.

Definition   letters become symbols named by `Name.key`: sizes (whole, >= 1) where they bound a sum or are written as
             sizes are (`d_k`, n, h, `batch_size`), else real; `q_i` under a sum over i is an entry of an array q; an
             index counts from 0 here, so that i of `\sum_{i=1}^n` is i + 1
Result       `scalar(node, scope)` is the SymPy expression, or None for what is no scalar or is not understood
Assumes      a letter is a scalar if the scope says so, or says nothing and it is no capital; unknown capitals are taken
             where every product has them in one order, so that it does not matter whether they commute
Raises       nothing; what is over the budget (nodes, powers) is not understood
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy import Expr, Integer, Rational, Symbol

from derivations.documents.judge.algebra.scalar_growth import LARGEST_POWER, MOST_CIRCLES, bits_of, circles, grows
from derivations.documents.judge.algebra.scalar_letters import (
    EXPECTATIONS,
    VARIANCES,
    in_one_order,
    is_of_differences,
    is_size,
    symbol,
)
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
from derivations.language.arrays.expression import array
from derivations.language.arrays.scalars import Expectation, Variance
from derivations.symbols import index, size

__all__ = [
    "EXPECTATIONS",
    "MOST_NODES",
    "VARIANCES",
    "NoScalar",
    "Range",
    "Reading",
    "as_written",
    "in_one_order",
    "is_size",
    "scalar",
    "sizes_in",
    "symbol",
]

MOST_NODES = 400
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
Range = tuple[Symbol, Expr, Expr]  # of a bound index: its symbol, its least value and how many it has
_PLACE = Words("·")  # where an index stands that is no longer part of the name: a_{ij} and a_{ji} are two arrays


class NoScalar(Exception):
    """Raised for a formula that is not a scalar, or is not understood."""


def scalar(node: Node, scope: Scope | None = None) -> Expr | None:
    """Return the scalar expression of a node, or None. It is small enough to be multiplied out."""
    found = as_written(node, scope)
    return found if found is not None and not grows(found) else None


def as_written(node: Node, scope: Scope | None = None) -> Expr | None:
    """Return the scalar expression of a node, or None. It may be too large to be multiplied out."""
    try:
        parts = [part for _, part in zip(range(MOST_NODES + 1), node.walk(), strict=False)]
        if len(parts) > MOST_NODES or not in_one_order(node, scope=scope):
            return None
        found = Reading(scope, sizes_in(parts)).expression(node, {})
        return found if circles(found) <= MOST_CIRCLES else None
    except (NoScalar, ArithmeticError, ValueError, TypeError, RecursionError):
        return None


def sizes_in(parts: Iterable[Node]) -> frozenset[str]:
    """Return the letters in the upper bounds of sums."""
    bounds = [part.upper for part in parts if isinstance(part, Aggregate) and part.upper is not None]
    return frozenset(each.key for bound in bounds for each in bound.walk() if isinstance(each, Name))


@dataclass
class Reading:
    """Converts syntax nodes to expressions, which SymPy simplifies as it builds them."""

    scope: Scope | None
    sizes: frozenset[str]
    lengths: dict[str, Expr] = field(default_factory=dict)  # of the arrays whose entries were read

    def expression(self, node: Node, bound: Mapping[str, Range]) -> Expr:
        """Return the expression of a node. `bound` gives the symbol, the first value and the count of each index."""
        if type(node) not in _RULES:
            raise NoScalar
        found: Expr = getattr(self, _RULES[type(node)])(node, bound)
        return found

    def number(self, node: Number, bound: Any) -> Expr:
        """Return a rational number without a unit."""
        if node.unit or node.value.numerator.bit_length() + node.value.denominator.bit_length() > _BITS:
            raise NoScalar
        return Rational(node.value.numerator, node.value.denominator)

    def name(self, node: Name, bound: Mapping[str, Range]) -> Expr:
        """Return a bound index, an entry, a constant or a letter."""
        if node.key in bound:
            place, least, _ = bound[node.key]
            return place + least
        if not node.base or node.base.lower() in _NO_NUMBERS:
            raise NoScalar
        used = [each for each in node.subscripts if isinstance(each, Name) and each.key in bound]
        if used:
            return self.entry(node, used, bound)
        if any(isinstance(part, Name) and part.key in bound for each in node.subscripts for part in each.walk()):
            raise NoScalar  # x_{i+1}: an entry at another place
        shape = self.scope.shape(node) if self.scope is not None else None
        if shape:
            raise NoScalar
        if node.key == "e":
            return sympy.E
        if node.key in ("π", "pi"):
            return sympy.pi
        return self.letter(node)

    def letter(self, name: Name) -> Expr:
        """Return a letter that is neither a constant nor an entry."""
        return symbol(name, sized=name.key in self.sizes)

    def entry(self, node: Name, used: list[Name], bound: Mapping[str, Range]) -> Expr:
        """Return an array entry at the indices of enclosing sums; other subscripts are part of the name."""
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
            raise NoScalar  # one array, two lengths
        found: Any = array(family, *counts)
        return found[tuple(place for place, _, _ in places)] if len(places) > 1 else found[places[0][0]]

    def sum(self, node: Sum, bound: Any) -> Expr:
        """Return a sum. Raises NoScalar for a plus-or-minus sign."""
        if 0 in node.signs:
            raise NoScalar
        pairs = zip(node.terms, node.signs, strict=True)
        return self.built(sympy.Add, *(self.signed(sign, self.expression(term, bound)) for term, sign in pairs))

    def product(self, node: Product, bound: Any) -> Expr:
        """Return a product of numbers."""
        if not set(node.operators) <= {"", "dot", "times", "star"}:
            raise NoScalar
        for function, operator, argument in zip(node.factors, node.operators, node.factors[1:], strict=False):
            called = isinstance(function, Call) and function.function.base != "exp"
            if called and not operator and not isinstance(argument, Call):
                raise NoScalar  # cos(m - n) t may mean the cosine of the product
        return self.built(sympy.Mul, *(self.expression(each, bound) for each in node.factors))

    def negative(self, node: Negative, bound: Any) -> Expr:
        """Return the negative of an operand."""
        return self.signed(-1, self.expression(node.operand, bound))

    def signed(self, sign: int, value: Expr) -> Expr:
        """Return a value, or its negative for a sign of -1."""
        return value if sign == 1 else self.built(sympy.Mul, Integer(sign), value)

    def built(self, operation: Callable[..., Expr], *parts: Expr) -> Expr:
        """Apply an operation of SymPy to its operands."""
        return operation(*parts)

    def quotient(self, node: Quotient, bound: Any) -> Expr:
        """Return a quotient."""
        denominator = self.expression(node.denominator, bound)
        if denominator == 0 or is_of_differences(node):
            raise NoScalar
        return self.built(
            sympy.Mul, self.expression(node.numerator, bound), self.built(sympy.Pow, denominator, Integer(-1))
        )

    def power(self, node: Power, bound: Any) -> Expr:
        """Return a power. Raises NoScalar if it exceeds the budget."""
        base, exponent = self.expression(node.base, bound), self.expression(node.exponent, bound)
        if base.is_number and base != sympy.E:
            budget = exponent.is_Rational and abs(exponent.p) * bits_of(base) <= _BITS
        else:
            budget = not exponent.is_number or abs(exponent) <= LARGEST_POWER
        if not budget or base == 0:
            raise NoScalar
        return self.built(sympy.Pow, base, exponent)

    def root(self, node: Root, bound: Any) -> Expr:
        """Return a root of a small degree."""
        degree = self.expression(node.degree, bound) if node.degree is not None else Integer(2)
        if not (degree.is_Integer and 1 < degree <= LARGEST_POWER):
            raise NoScalar
        return self.built(sympy.Pow, self.expression(node.radicand, bound), 1 / degree)

    def fence(self, node: Fence, bound: Any) -> Expr:
        """Return the content of brackets."""
        if node.bracket not in ("(", "[", "{", ""):
            raise NoScalar
        return self.expression(node.inside, bound)

    def annotated(self, node: Annotated, bound: Any) -> Expr:
        """Return a node without its note."""
        return self.expression(node.of, bound)

    def call(self, node: Call, bound: Any) -> Expr:
        """Return a function of one number, or a moment."""
        name = node.function
        if len(node.arguments) != 1 or name.subscripts or name.superscripts or name.primes:
            raise NoScalar
        (argument,) = node.arguments
        if name.base in VARIANCES:
            return Variance(self.expression(argument, bound))
        if name.base in EXPECTATIONS:
            return Expectation(self.expression(argument, bound))
        function = _FUNCTIONS.get(name.base)
        if function is None:
            raise NoScalar
        inside = self.expression(argument, bound)
        if inside.is_number and not inside.is_Rational:
            raise NoScalar  # towers of functions of numbers are left to enclosures
        return self.built(function, inside)

    def aggregate(self, node: Aggregate, bound: Mapping[str, Range]) -> Expr:
        """Return a sum over an index, or a moment."""
        if node.kind.lower() in ("var", "e") and not node.index:
            return (Variance if node.kind.lower() == "var" else Expectation)(self.expression(node.body, bound))
        if node.kind != "sum" or len(node.index) != 1 or node.over is not None:
            raise NoScalar
        key = node.index[0].key
        least, count = self.range(node, bound)
        if key in bound or not (count.is_Symbol or (count.is_Integer and count >= 1)):
            raise NoScalar  # an empty range, or one of which nothing is known
        place = index(key)
        body = self.expression(node.body, {**bound, key: (place, least, count)})
        if place not in body.free_symbols:
            return self.built(sympy.Mul, count, body)
        if count.is_Integer and count > _MOST_TERMS:
            raise NoScalar
        return sympy.Sum(body, (place, 0, count - 1))

    def range(self, node: Aggregate, bound: Any) -> tuple[Expr, Expr]:
        """Return the first index of a sum and its number of terms. A sum without bounds runs over a whole axis."""
        if node.lower is not None and node.upper is not None:
            least, most = self.expression(node.lower, bound), self.expression(node.upper, bound)
            if not (least.is_Integer and (most.is_integer or most.is_Integer)):
                raise NoScalar
            return least, sympy.expand(most - least + 1)
        names = [part for part in node.body.walk() if isinstance(part, Name) and node.index[0] in part.subscripts]
        if node.lower is not None or node.upper is not None or not names:
            raise NoScalar
        return Integer(1), size(min(f"{each.base}:{each.subscripts.index(node.index[0])}" for each in names))


_RULES: Mapping[type[Node], str] = {
    Number: "number",
    Name: "name",
    Sum: "sum",
    Product: "product",
    Negative: "negative",
    Quotient: "quotient",
    Power: "power",
    Root: "root",
    Fence: "fence",
    Annotated: "annotated",
    Call: "call",
    Aggregate: "aggregate",
}
