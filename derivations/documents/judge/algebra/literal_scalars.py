r"""Scalars built without simplification, so that the judge sees every division, root and logarithm as written.

Definition   SymPy makes 1 of x / x and x of exp(log x) when it builds them, and forgets where they are defined; here
             nothing is cancelled or collected, and every condition under which a part is defined is kept
Result       `literal(left, right, scope)`: both sides with their conditions, or None for what is no scalar
Assumes      a letter is a whole number of at least 1 where it bounds a sum, or where the document makes it a size: in a
             shape, or in words; the spelling alone is no reason, unless `guessed` says that it is one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

import sympy
from sympy import Expr, Symbol

from derivations.documents.judge.algebra.scalar_letters import POSITIVE, in_one_order, is_size, symbol
from derivations.documents.judge.algebra.scalars import MOST_NODES, NoScalar, Reading, sizes_in
from derivations.documents.scope import Scope
from derivations.documents.scope.lexicon import LENGTHS, WIDTHS
from derivations.documents.syntax import Aggregate, Call, Name, Node, Power, Quotient, Root
from derivations.symbols import scalar, size

__all__ = ["Condition", "Kind", "Literally", "literal"]

Kind = Literal["nonzero", "positive", "nonnegative"]


@dataclass(frozen=True)
class Condition:
    """A condition under which a formula is defined, on its part `node` with the expression `value`."""

    kind: Kind
    node: Node
    value: Expr


@dataclass(frozen=True)
class Literally:
    """Two sides without simplification, their conditions, and the letters taken for sizes because of their spelling."""

    left: Expr
    right: Expr
    conditions: tuple[Condition, ...]
    sizes: tuple[str, ...]


@dataclass
class _Literal(Reading):
    guess: bool = False
    values: Mapping[str, Expr] = field(default_factory=dict)  # of letters that the section sets
    conditions: dict[Condition, None] = field(default_factory=dict)
    guessed: dict[str, None] = field(default_factory=dict)

    def built(self, operation: Callable[..., Expr], *parts: Expr) -> Expr:
        if operation is sympy.Pow and parts[0] == sympy.E:
            operation, parts = sympy.exp, parts[1:]
        if len(parts) == 1 and operation in (sympy.Add, sympy.Mul):
            return parts[0]
        return operation(*parts, evaluate=False)

    def letter(self, name: Name) -> Expr:
        value = self.values.get(name.key)
        if value is not None:
            return value.xreplace({each: self.of_its_kind(Name(str(each))) for each in value.free_symbols})
        return self.of_its_kind(name)

    def of_its_kind(self, name: Name) -> Symbol:
        """Return the symbol of a letter: a size, a positive number, or a real number."""
        if name.font == POSITIVE:
            return symbol(name)
        if name.key in self.sizes or _is_said(name, self.scope):
            return size(name.key)
        if self.guess and is_size(name):
            self.guessed[name.key] = None
            return size(name.key)
        return scalar(name.key)

    def quotient(self, node: Quotient, bound: Any) -> Expr:
        self.keep("nonzero", node.denominator, bound)
        return super().quotient(node, bound)

    def power(self, node: Power, bound: Any) -> Expr:
        exponent = self.plainly(node.exponent, bound)
        if not exponent.free_symbols:
            if not exponent.is_Rational or exponent == 0:
                raise NoScalar  # x^0 is 1 by convention at x = 0, and no algebra tells
            base = self.expression(node.base, bound)
            if base == 0:
                raise NoScalar
            if not exponent.is_Integer:  # of any root: what that of a negative number is, is a matter of convention
                self.keep("nonnegative" if exponent > 0 else "positive", node.base, bound)
            elif exponent < 0:
                self.keep("nonzero", node.base, bound)
            return self.built(sympy.Pow, base, exponent)
        if not (isinstance(node.base, Name) and node.base.key == "e"):
            self.keep("positive", node.base, bound)
        return super().power(node, bound)

    def root(self, node: Root, bound: Any) -> Expr:
        self.keep("nonnegative", node.radicand, bound)
        return super().root(node, bound)

    def call(self, node: Call, bound: Any) -> Expr:
        if node.function.base in ("log", "ln") and len(node.arguments) == 1:
            self.keep("positive", node.arguments[0], bound)
        if node.function.base == "sqrt" and len(node.arguments) == 1:
            self.keep("nonnegative", node.arguments[0], bound)
        return super().call(node, bound)

    def range(self, node: Aggregate, bound: Any) -> tuple[Expr, Expr]:
        """Return the first index of a sum and its number of terms, simplified, so that an empty sum is refused."""
        plain = Reading(self.scope, self.sizes, self.lengths)
        return plain.range(node, bound)

    def plainly(self, node: Node, bound: Any) -> Expr:
        """Return a part as SymPy builds it, with simplification."""
        return Reading(self.scope, self.sizes, self.lengths).expression(node, bound)

    def keep(self, kind: Kind, node: Node, bound: Any) -> None:
        self.conditions[Condition(kind, node, self.expression(node, bound))] = None


def literal(
    left: Node, right: Node, scope: Scope, values: Mapping[str, Expr] | None = None, *, guessed: bool = False
) -> Literally | None:
    """Return two sides without simplification, or None. Letters are replaced by their `values`."""
    parts = [part for side in (left, right) for part in islice(side.walk(), MOST_NODES + 1)]
    if len(parts) > MOST_NODES or not in_one_order(left, right, scope=scope):
        return None
    reading = _Literal(scope, sizes_in(parts), guess=guessed, values=values or {})
    try:
        first, second = (reading.expression(side, {}) for side in (left, right))
    except (NoScalar, ArithmeticError, ValueError, TypeError, RecursionError):
        return None
    return Literally(first, second, tuple(reading.conditions), tuple(reading.guessed))


def _is_said(name: Name, scope: Scope | None) -> bool:
    """Return whether the document makes a letter a size: by a shape in scope, or by the words about it."""
    if scope is None or name.accent or name.primes or name.superscripts:
        return False
    called = set(scope.document.distinctions.meanings.get(name.key, ()))
    return scope.is_declared_size(name.key) or not called.isdisjoint(LENGTHS | WIDTHS)
