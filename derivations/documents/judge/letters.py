"""What the letters of a formula stand for in numbers, and what printed numbers stood for before they were rounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from itertools import chain
from typing import Any, Protocol, runtime_checkable

from sympy import Expr, Rational

from derivations.documents.judge.printed import printed
from derivations.documents.judge.values import Letters
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Fence, Name, Node, Number, Power, Product, Quotient

__all__ = ["Around", "Known", "Worded", "ambiguous", "letters_of", "rebuilt", "sources_of"]

_DEPTH = 6


@runtime_checkable
class Known(Protocol):
    """A scope that knows what letters were set to."""

    def value(self, name: Name) -> Expr | None:
        """Return what a letter was set to."""


@runtime_checkable
class Around(Protocol):
    """A scope that knows what stands before a statement in its section."""

    def earlier(self, statement: Statement) -> Sequence[Statement]:
        """Return the statements before this one, nearest first."""


@runtime_checkable
class Worded(Protocol):
    """A scope that knows the prose around a statement."""

    def words(self, statement: Statement) -> str:
        """Return the prose around a statement: a line for its block, one for the block before, the headings."""


def letters_of(scope: object) -> Letters:
    """Return the numbers that letters were set to in a scope, letters in their values replaced in turn."""

    def number(name: Name, depth: int = 0) -> Fraction | None:
        value = scope.value(name) if isinstance(scope, Known) and depth < _DEPTH else None
        if value is None:
            return None
        known = {}
        for symbol in value.free_symbols:
            found = number(Name(str(symbol)), depth + 1)
            if found is None:
                return None
            known[symbol] = Rational(found.numerator, found.denominator)
        result = value.xreplace(known)
        return Fraction(result.p, result.q) if isinstance(result, Rational) else None

    return number


def sources_of(statement: Statement, node: Node, scope: object) -> Iterator[Node]:
    """Yield the node with rounded numbers replaced by what the section says that they round: 7.39 by e^2."""
    if not isinstance(scope, Around):
        return
    rounded = {part.text for part in node.walk() if isinstance(part, Number)}
    sources: dict[str, Node] = {}
    for earlier in scope.earlier(statement):
        sides = earlier.chain.sides
        for number, (side, relation) in enumerate(zip(sides[1:], earlier.chain.relations, strict=True)):
            shown = printed(side)
            first = next((each for each in sides[: number + 1] if not isinstance(each, Name)), None)
            if shown is None or first is None or relation not in ("=", "≈") or printed(first) is not None:
                continue
            if shown.number.text in rounded:
                sources.setdefault(shown.number.text, first)
    for text, source in sources.items():
        yield _replaced(node, {text: source})
    if len(sources) > 1:
        yield _replaced(node, sources)


def _replaced(node: Any, sources: dict[str, Node]) -> Any:
    if isinstance(node, Number):
        return sources.get(node.text, node)
    return rebuilt(node, lambda each: _replaced(each, sources))


def ambiguous(*nodes: Node) -> bool:
    r"""Say whether a formula can be read in two ways.

    A slash beside factors without a sign may divide by one or by all (1/2 n); the power of a bracket behind the name
    of a function may be that of the argument or of the value (`\log (n + 1)^2`).
    """
    for part in chain.from_iterable(node.walk() for node in nodes):
        if isinstance(part, Quotient) and part.slashed and _side_by_side(part.denominator):
            return True
        if isinstance(part, Call) and any(_powered_bracket(each) and each.end == part.end for each in part.arguments):
            return True
        if _side_by_side(part) and any(isinstance(each, Quotient) and each.slashed for each in part.children):
            return True
    return False


def _powered_bracket(node: Node) -> bool:
    return isinstance(node, Power) and isinstance(node.base, Fence)


def _side_by_side(node: Node) -> bool:
    return isinstance(node, Product) and "" in node.operators


def rebuilt(node: Any, of: Any) -> Any:
    """Return a node with a function applied to its parts."""
    if isinstance(node, tuple):
        return tuple(of(each) for each in node)
    if isinstance(node, Node):
        return type(node)(**{each.name: of(getattr(node, each.name)) for each in fields(node)})
    return node
