"""What the form of a name tells: weights, and the places of an entry.

Assumes      W and U are weights, if nothing is declared
"""

from __future__ import annotations

from collections.abc import Sequence

from derivations.documents.syntax import (
    Fence,
    List,
    Name,
    Node,
    Product,
    Transpose,
)

__all__ = ["flat", "is_weight"]


def flat(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return i and j of the subscripts `ij`, `i,j` and `(i, j)`."""
    found: list[Node] = []
    for node in nodes:
        match node:
            case Product(factors=factors, operators=operators) if not any(operators):
                found.extend(factors)
            case List(items=items):
                found.extend(items)
            case Fence(inside=inside):
                found.extend(flat((inside,)))
            case _:
                found.append(node)
    return tuple(found)


def is_weight(node: Node) -> bool:
    """Say whether a node is a matrix of weights by its letter."""
    inner = node.operand if isinstance(node, Transpose) else node
    return isinstance(inner, Name) and inner.base.rstrip("0123456789") in ("W", "w", "U", "weight", "weights")
