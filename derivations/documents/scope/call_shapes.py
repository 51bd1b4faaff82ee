r"""Shapes of function values: attention, concatenation, and functions that keep the shape of their argument."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Integer

from derivations.documents.scope.functions import ATTENTION, CONCATENATION, KEEPS_SHAPE, OF_ROWS, SOFTMAX, folded
from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import last_index
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Shape, turned
from derivations.documents.syntax import Call, Chain, Dots, List, Node

__all__ = ["shape_of_call"]


def shape_of_call(reading: Inference, node: Call) -> Shape:
    """Return the shape of a function call, if the name of the function determines it, else UNKNOWN."""
    name = folded(node.function)
    arguments = tuple(each for each in node.arguments if not isinstance(each, Chain))
    shapes = [reading.shape(each) for each in arguments]
    if name in CONCATENATION:
        return _concatenated(reading, node, arguments)
    if name in ATTENTION and len(shapes) == 3:
        return _attention(reading, node, arguments, shapes)
    if name in ("max", "min", "maximum", "minimum", "where") and shapes:
        arrays = [shape for shape in shapes if not shape.is_scalar]
        return arrays[0] if len(arrays) == 1 and len(shapes) == 2 else (UNKNOWN if arrays or reading.code else SCALAR)
    if name in OF_ROWS and len(shapes) == 1 and shapes[0].rank == 2:
        return Shape(shapes[0].sizes[:1])
    if name in KEEPS_SHAPE and len(shapes) == 1:
        return UNKNOWN if name in SOFTMAX and shapes[0].is_scalar else shapes[0]
    return UNKNOWN


def _attention(reading: Inference, node: Call, arguments: Sequence[Node], shapes: Sequence[Shape]) -> Shape:
    if reading.scope.convention == "columns":
        columns = _attention_of(reading, node, arguments, [turned(each) if each.rank == 2 else each for each in shapes])
        return turned(columns) if columns.rank == 2 else columns
    return _attention_of(reading, node, arguments, shapes)


def _attention_of(reading: Inference, node: Call, arguments: Sequence[Node], shapes: Sequence[Shape]) -> Shape:
    q, k, v = shapes
    reading.sizes.same("keys", node, arguments[0], arguments[1], q, k, q.last, k.last)
    if len(k.sizes) >= 2 and len(v.sizes) >= 2:
        reading.sizes.same("values", node, arguments[1], arguments[2], k, v, k.sizes[-2], v.sizes[-2])
    if v.last is None:
        return UNKNOWN
    return Shape((*q.sizes[:-1], v.last), open=q.open or not q.sizes)


def _concatenated(reading: Inference, node: Call, arguments: Sequence[Node]) -> Shape:
    items = arguments
    if len(items) == 1 and isinstance(items[0], List):
        items = items[0].items
    if any(isinstance(each, Chain) for each in node.arguments) or not items:
        return UNKNOWN
    shapes = [reading.shape(each) for each in items if not isinstance(each, Dots)]
    columns = reading.scope.convention == "columns" and not reading.code and all(each.rank == 2 for each in shapes)
    if columns:
        shapes = list(map(turned, shapes))
    first = shapes[0]
    if first.last is None or any(shape.last is None for shape in shapes):
        return UNKNOWN
    if any(isinstance(each, Dots) for each in items):
        count = last_index(items[-1])
        width = None if count is None else first.last * count
        reading.sizes.counts |= set() if count is None or count.is_number else {count}
    else:
        width = sum((shape.last for shape in shapes if shape.last is not None), Integer(0))
    joined = UNKNOWN if width is None else Shape((*first.sizes[:-1], width), open=first.open)
    return turned(joined) if columns else joined
