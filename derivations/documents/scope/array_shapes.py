r"""Shapes of arrays that are written out, `(x_1, \dots, x_d)` or a matrix, and of formulas with a shape as a note."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Integer

from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import last_index
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Shape
from derivations.documents.scope.sizes import written_shape
from derivations.documents.syntax import Dots, List, Name, Node

__all__ = ["is_of_parts", "shape_of_list", "shape_of_matrix", "shape_of_noted"]


def shape_of_list(reading: Inference, items: Sequence[Node]) -> Shape:
    """Return the shape of a list in brackets: a vector if its entries are numbers, else UNKNOWN."""
    if items and all(_number(reading, each).is_scalar for each in items if not isinstance(each, Dots)):
        if not any(isinstance(each, Dots) for each in items):
            return Shape((Integer(len(items)),))
        return Shape((last_index(items[-1]),))
    return UNKNOWN


def is_of_parts(node: Node) -> bool:
    """Return whether a list has letters, which may be vectors or heads as well as numbers: `[h_1. H_2] W`."""
    return isinstance(node, List) and any(isinstance(item, Name) for item in node.items)


def shape_of_matrix(reading: Inference, rows: Sequence[Sequence[Node]]) -> Shape:
    """Return the shape of a matrix of numbers, or of the vectors that are its rows."""
    entries = [entry for row in rows for entry in row]
    if not entries:
        return UNKNOWN
    if any(isinstance(entry, Dots) for entry in entries):
        count = last_index(rows[-1][0]) if all(len(row) == 1 for row in rows) else None
        return UNKNOWN if count is None else Shape((count, None))
    shapes = [_number(reading, entry) for entry in entries]
    if all(shape.is_scalar for shape in shapes):
        return Shape((Integer(len(rows)), Integer(len(rows[0]))))
    if all(len(row) == 1 for row in rows) and all(shape.rank == 1 for shape in shapes):
        return Shape((Integer(len(rows)), shapes[0].last))
    return UNKNOWN


def _number(reading: Inference, entry: Node) -> Shape:
    """Return the shape of an entry of an array. A small letter with a subscript is a number if its shape is unknown."""
    shape = reading.shape(entry)
    letter = entry.base if isinstance(entry, Name) and entry.subscripts else ""
    if shape == UNKNOWN and len(letter) == 1 and letter.islower():
        reading.notes["the letters in brackets are numbers"] = None
        return SCALAR
    return shape


def shape_of_noted(reading: Inference, node: Node, shape: Shape, note: Node) -> Shape:
    """Return the shape of a formula with a note, and compare the two if the note is a shape."""
    sizes = written_shape(note, bare=True)
    if sizes is None or len(sizes) < 2:
        return shape
    said = Shape(sizes)
    complete = shape.complete
    if complete is not None and len(complete) == len(sizes):
        for first, second in zip(complete, sizes, strict=True):
            if not (first.is_number and second.free_symbols):  # an example may be smaller than what it stands for
                reading.sizes.same("note", node, node, note, shape, said, first, second)
    return said if complete is None or len(complete) == len(sizes) else shape
