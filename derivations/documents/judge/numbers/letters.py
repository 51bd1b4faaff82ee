"""The numerical values of letters, and the expressions that printed numbers were rounded from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

from sympy import Rational

from derivations.documents.judge.numbers.printed import printed
from derivations.documents.judge.numbers.values import Letters
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
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
    rebuilt,
)

__all__ = ["ambiguous", "bare", "letters_of", "put", "sources_of"]

_DEPTH = 6
_MOST_NAMES = 8


def letters_of(scope: Scope, given: Mapping[str, Number] | None = None) -> Letters:
    """Return a function that gives the number a letter is set to, with letters in its value replaced in turn.

    A letter that is `given` a number stands for it; one for which the section prints different numbers has none.
    """
    chosen = given or {}

    def number(name: Name, depth: int = 0) -> Fraction | None:
        if name.key in chosen:
            return chosen[name.key].value
        value = scope.value(name) if depth < _DEPTH else None
        if value is None:
            return None
        if value.is_Rational and any(each.value != value for each in scope.numbers_in_reach(name.key, far=True)):
            return None
        known = {}
        for symbol in value.free_symbols:
            found = number(Name(str(symbol)), depth + 1)
            if found is None:
                return None
            known[symbol] = Rational(found.numerator, found.denominator)
        result = value.xreplace(known)
        return Fraction(result.p, result.q) if isinstance(result, Rational) else None

    return lambda name: chosen[name.key] if name.key in chosen else number(name)


def sources_of(statement: Statement, node: Node, scope: Scope) -> Iterator[Node]:
    """Yield the node with rounded numbers replaced by the expressions they were rounded from: 7.39 by e^2."""
    rounded = {part.text for part in node.walk() if isinstance(part, Number)}
    sources: dict[str, Node] = {}
    for earlier in (statement, *scope.earlier(statement)):
        sides, begin = earlier.chain.sides, 0
        for number, (side, relation) in enumerate(zip(sides[1:], earlier.chain.relations, strict=True)):
            if relation not in ("=", "≈"):
                begin = number + 1  # `a = 5 → f(a) ≈ 0.17` begins anew
                continue
            shown = printed(side)
            first = next((each for each in sides[begin : number + 1] if not isinstance(each, Name)), None)
            if shown is None or first is None or printed(first) is not None:
                continue
            if shown.number.text in rounded:
                whole = Number(str(shown.scale), shown.scale)  # the digits of `1.97 \times 10^6` are those of a million
                sources.setdefault(shown.number.text, first if shown.scale == 1 else Quotient(first, whole))
    for text, source in sources.items():
        yield _replaced(node, {text: source})
    if len(sources) > 1:
        yield _replaced(node, sources)
    yield from _sides_before(statement, node, scope)


def _sides_before(statement: Statement, node: Node, scope: Scope) -> Iterator[Node]:
    """Yield the earlier sides of the chain, with their letters replaced by the numbers that define them."""
    sides, relations = statement.chain.sides, statement.chain.relations
    here = next((place for place, side in enumerate(sides) if side is node), 0)
    for place in range(here - 1, -1, -1):
        if relations[place] not in ("=", "≈"):
            return
        if _is_named(sides[place]):
            continue
        names = [part for part in sides[place].walk() if isinstance(part, Name)]
        defined = {name.key: scope.definition(name) for name in names[:_MOST_NAMES]}
        values = {key: each for key, each in defined.items() if each is not None and _is_of_numbers(each)}
        if values:
            yield put(sides[place], values)


def _is_named(node: Node) -> bool:
    """Return whether a side is only a name or a power of a name."""
    return isinstance(node, Name) or (isinstance(node, Power) and isinstance(node.base, Name))


def _is_of_numbers(node: Node) -> bool:
    return not any(isinstance(part, Name) for part in node.walk())


def _replaced(node: Any, sources: dict[str, Node]) -> Any:
    if isinstance(node, Number):
        return sources.get(node.text, node)
    return rebuilt(node, lambda each: _replaced(each, sources))


def ambiguous(*nodes: Node) -> bool:
    r"""Return whether a formula can be read in two ways.

    A slash beside factors without a sign may divide by one or by all (1/2 n); the power of a bracket after the name
    of a function may be that of the argument or of the value (`\log (n + 1)^2`). A number after a letter may be its
    index (`Y 1 + Y 2`).
    """
    for part in chain.from_iterable(node.walk() for node in nodes):
        if isinstance(part, Quotient) and part.slashed and _side_by_side(part.denominator):
            return True
        if isinstance(part, Call) and any(_powered_bracket(each) and each.end == part.end for each in part.arguments):
            return True
        if _side_by_side(part) and any(isinstance(each, Quotient) and each.slashed for each in part.children):
            return True
        if isinstance(part, Product) and (_is_numbered(part) or _may_be_applied(part)):
            return True
    return False


def _is_numbered(product: Product) -> bool:
    """Return whether a number stands after a letter, without a sign between them."""
    pairs = zip(product.factors, product.operators, product.factors[1:], strict=False)
    return any(isinstance(a, Name) and sign == "" and isinstance(b, Number) for a, sign, b in pairs)


def _may_be_applied(product: Product) -> bool:
    """Return whether a number or a signed letter in brackets follows what may be a function: P(1), f(-m)."""
    pairs = zip(product.factors, product.operators, product.factors[1:], strict=False)
    return any(
        isinstance(a, Name) and sign == "" and isinstance(b, Fence) and _is_argument(b.inside) for a, sign, b in pairs
    )


def _is_argument(node: Node) -> bool:
    return isinstance(node, Number) or (isinstance(node, Negative) and isinstance(node.operand, Name | Number))


def _powered_bracket(node: Node) -> bool:
    return isinstance(node, Power) and isinstance(node.base, Fence)


def _side_by_side(node: Node) -> bool:
    return isinstance(node, Product) and "" in node.operators


def bare(node: Any) -> Any:
    """Return a node without grouping brackets and notes, which do not change its meaning."""
    while isinstance(node, Annotated) or (isinstance(node, Fence) and node.bracket in ("(", "[", "{", "")):
        node = node.of if isinstance(node, Annotated) else node.inside
    return rebuilt(node, bare)


def put(node: Any, values: Mapping[str, Node]) -> Any:
    """Return a formula with letters replaced by values, which are looked up by key. Subscripts and functions stay."""
    if isinstance(node, Name):
        return values.get(node.key, node)
    if isinstance(node, Call):
        return replace(node, arguments=put(node.arguments, values))
    return rebuilt(node, lambda each: put(each, values))
