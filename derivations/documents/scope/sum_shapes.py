r"""Shapes of sums and of entrywise products: both sides have one shape, or one is repeated along the other.

Assumes      a vector is added to every row of a matrix, a scalar to everything
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import label_of
from derivations.documents.scope.shape import UNKNOWN, ClashKind, Shape
from derivations.documents.syntax import Fence, List, Node

__all__ = ["shape_alike", "shape_of_sum"]


def shape_of_sum(reading: Inference, node: Node, terms: Sequence[Node]) -> Shape:
    """Return the shape of a sum, which is that of its terms, or UNKNOWN for lists, which it may concatenate."""
    written = [isinstance(each, List) or (isinstance(each, Fence) and each.bracket == "[") for each in terms]
    if all(written) and any(isinstance(each, List) for each in terms):
        return UNKNOWN
    total, left = reading.shape(terms[0]), terms[0]
    for right in terms[1:]:
        total = shape_alike(reading, node, left, right, total, reading.shape(right), "sum")
        left = right if reading.shape(left).is_scalar else left
    return total


def shape_alike(reading: Inference, node: Node, left: Node, right: Node, a: Shape, b: Shape, kind: ClashKind) -> Shape:
    """Return the shape of a sum; a vector is added to every row of a matrix, a scalar to everything."""
    if a.is_scalar or b.is_scalar:
        return b if a.is_scalar else a
    longer, shorter = (a, b) if len(a.sizes) >= len(b.sizes) else (b, a)
    if not a.open and not b.open and len(a.sizes) != len(b.sizes):
        return _broadcast(reading, node, left, right, a, b, kind)
    sizes: list[Expr | None] = list(longer.sizes)
    for back in range(1, len(shorter.sizes) + 1):
        first, second = a.sizes[-back], b.sizes[-back]
        if first == 1 or second == 1:
            sizes[-back] = second if first == 1 else first
            continue
        if back > 1 and _counts_differently(reading, first, second):
            continue
        if not reading.sizes.same(kind, node, left, right, a, b, first, second):
            return UNKNOWN
        sizes[-back] = first if first is not None else second
    return Shape(tuple(sizes), open=longer.open)


def _counts_differently(reading: Inference, first: Expr | None, second: Expr | None) -> bool:
    """Return whether two different sizes count rows, and record them as a condition.

    A table of positions has more rows than the array that it is added to.
    """
    if first is None or second is None or not (first.free_symbols and second.free_symbols):
        return False
    if any(map(reading.sizes.is_new, (first, second))):
        return False
    if reading.scope.compare(first, second).relation != "different" or any(
        map(reading.scope.document.distinctions.is_width, (first, second))
    ):
        return False
    reading.sizes.conditions[first, second] = None
    return True


def _broadcast(reading: Inference, node: Node, left: Node, right: Node, a: Shape, b: Shape, kind: ClashKind) -> Shape:
    longer, shorter = (a, b) if len(a.sizes) > len(b.sizes) else (b, a)
    small, large = (right, left) if shorter is b else (left, right)
    pairs = list(zip(reversed(longer.sizes), reversed(shorter.sizes), strict=False))
    relations = [
        reading.scope.compare(x, y).relation for x, y in pairs if x is not None and y is not None and 1 not in (x, y)
    ]
    if "different" in relations:
        heights = (longer.sizes[0], shorter.sizes[0])
        if len(shorter.sizes) == 1 and len(longer.sizes) == 2 and reading.sizes.is_same(*heights):
            reading.notes[f"{label_of(small)} is added to every column of {label_of(large)}"] = None
            return longer
        inner = longer.sizes[1:-1]
        if len(shorter.sizes) == 1 and any(reading.sizes.is_same(size, shorter.last) for size in inner):
            reading.notes[f"{label_of(small)} has an entry for each channel of {label_of(large)}"] = None
            return longer
        for x, y in pairs:
            first, second = (x, y) if longer is a else (y, x)
            if 1 not in (x, y) and not reading.sizes.same(kind, node, left, right, a, b, first, second):
                break
        return UNKNOWN
    for x, y in pairs:
        if 1 not in (x, y):
            reading.sizes.same(kind, node, left, right, a, b, x, y)
    if len(shorter.sizes) == 1:
        reading.notes[f"{label_of(small)} is added to every row of {label_of(large)}"] = None
    else:
        reading.notes[f"{label_of(small)} is added along the axes in front of {label_of(large)}"] = None
    return longer
