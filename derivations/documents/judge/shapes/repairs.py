"""Small changes of a formula that does not fit: factors in the other order, a transpose added, moved or left out.

Result       `repairs` yields changed sides, the likeliest first; whether one of them fits is for others to say
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace

from derivations.documents.scope.letters import is_ones
from derivations.documents.scope.shape import Clash
from derivations.documents.syntax import Chain, Name, Node, Number, Product, Quotient, Space, Transpose

__all__ = ["changed_where", "ones_exchanged", "repairs", "reversed_products"]


def repairs(sides: Sequence[Node], clashes: Sequence[Clash]) -> Iterator[tuple[Node, ...]]:
    """Yield small changes: a fraction inverted, factors of one or all products swapped, a factor transposed."""
    for clash in clashes[:2]:
        if isinstance(clash.node, Quotient) and not isinstance(clash.left, Number):
            yield _replaced(sides, clash.node, replace(clash.node, numerator=clash.right, denominator=clash.left))
        if clash.kind != "product" or not isinstance(clash.node, Product):
            continue
        yield from _moved_transposes(sides, clash)
        factors = clash.node.factors
        places = [n for n in range(len(factors) - 1) if factors[n] is clash.left and factors[n + 1] is clash.right]
        for place in places[:1]:
            swapped = (*factors[:place], factors[place + 1], factors[place], *factors[place + 2 :])
            yield _replaced(sides, clash.node, replace(clash.node, factors=swapped))
            yield tuple(map(reversed_products, sides))
            for turn in (place + 1, place):
                turned = (*factors[:turn], _transposed(factors[turn]), *factors[turn + 1 :])
                yield _replaced(sides, clash.node, replace(clash.node, factors=turned))


def ones_exchanged(sides: Sequence[Node], clashes: Sequence[Clash]) -> Iterator[tuple[Node, ...]]:
    r"""Yield `x \mathbf{1}^T` for `\mathbf{1} x^T` in a summand that does not fit, and the other way round."""
    for clash in clashes:
        for part in (clash.left, clash.right) if clash.kind == "sum" else ():
            match part:
                case Product(factors=(left, Transpose(operand=right))) if is_ones(left) or is_ones(right):
                    yield _replaced(sides, part, replace(part, factors=(right, Transpose(left))))


def _moved_transposes(sides: Sequence[Node], clash: Clash) -> Iterator[tuple[Node, ...]]:
    """Yield A B^T for A^T B, also inside the factors that clash."""
    for part in clash.node.walk():
        if isinstance(part, Product) and len(part.factors) == 2:
            left, right = part.factors
            if isinstance(left, Transpose) and not isinstance(right, Transpose):
                yield _replaced(sides, part, replace(part, factors=(left.operand, Transpose(right))))


def _transposed(node: Node) -> Node:
    return node.operand if isinstance(node, Transpose) else Transpose(node)


def _replaced(sides: Sequence[Node], old: Node, new: Node) -> tuple[Node, ...]:
    return tuple(changed_where(side, lambda node: new if node is old else None) for side in sides)


def reversed_products(node: Node) -> Node:
    """Return a formula with the arrays of every product in the other order."""

    def turn(part: Node) -> Node | None:
        if isinstance(part, Product) and not any(isinstance(factor, Number) for factor in part.factors):
            factors = tuple(reversed_products(factor) for factor in reversed(part.factors))
            return replace(part, factors=factors, operators=tuple(reversed(part.operators)))
        return None

    return changed_where(node, turn)


def changed_where(node: Node, change: Callable[[Node], Node | None], depth: int = 0) -> Node:
    """Return a tree in which `change` replaced every node for which it gives another. Subscripts stay."""
    new = change(node)
    if new is not None:
        return new
    if depth > 90 or isinstance(node, Name | Space | Chain):
        return node
    changed: dict[str, object] = {}
    for each in fields(node):
        value = getattr(node, each.name)
        if isinstance(value, Node):
            inner: object = changed_where(value, change, depth + 1)
        elif isinstance(value, tuple) and value and all(isinstance(part, Node) for part in value):
            inner = tuple(changed_where(part, change, depth + 1) for part in value)
        else:
            continue
        if inner != value:
            changed[each.name] = inner
    return replace(node, **changed) if changed else node  # type: ignore[arg-type]
