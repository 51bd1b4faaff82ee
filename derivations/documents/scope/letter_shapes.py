"""The shape of a letter: as declared, as a part of what is declared, as defined, or as it is supposed to be.

Assumes      the nearest declaration counts; `x_i` is a row of X where X is declared and `x_i` is not
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from derivations.documents.scope.array_shapes import is_of_parts
from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import flat, is_bias, is_index, is_scalar_letter, is_weight
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Shape
from derivations.documents.syntax import Name, Node, Number

__all__ = ["shape_of_entry", "shape_of_name"]

_MOST_DEFINITIONS = 5


def shape_of_name(reading: Inference, name: Name) -> Shape:
    """Return the shape of a letter, as far as it is known."""
    if name.key in reading.choice:
        reading.met.setdefault(name.key, name)
        return reading.choice[name.key]
    candidates = reading.scope.shape_candidates(name)
    if candidates:
        reading.met.setdefault(name.key, name)
        sizes = candidates[0].declaration.sizes
        return UNKNOWN if sizes is None else Shape(sizes)
    family = reading.scope.family_candidates(name)
    if family and family[0].declaration.sizes is not None and not _is_set_apart(reading, name):
        return Shape(family[0].declaration.sizes)
    part = _part(reading, name)
    if part is not None and not (name.base.isupper() and reading.scope.near_definition(name) is not None):
        return part
    found = _defined(reading, name)
    if found == UNKNOWN and (reading.scope.document.distinctions.is_size(name.key) or reading.scope.is_index(name)):
        return SCALAR
    if found == UNKNOWN and reading.scope.is_vector(name):
        return Shape((reading.sizes.new() if reading.unknown_as is not None else None,))
    return _supposed(reading, name) if found == UNKNOWN and reading.unknown_as is not None else found


def _is_set_apart(reading: Inference, name: Name) -> bool:
    """Return whether a member with index 0 has a separate definition, as `H^{(0)} = X` before a stack of layers."""
    places = flat((*name.subscripts, *name.superscripts))
    is_first = any(isinstance(each, Number) and each.value == 0 for each in places)
    return is_first and reading.scope.near_definition(name) is not None


def _supposed(reading: Inference, name: Name) -> Shape:
    """Return the assumed shape of a letter without a declaration, which is the same in the whole formula."""
    if name.key not in reading.assumed:
        shape = UNKNOWN
        if is_weight(name) or (reading.unknown_as == "vectors" and name.base.isupper()):
            shape = Shape((reading.sizes.new(), reading.sizes.new()))
        elif is_bias(name) or (reading.unknown_as == "vectors" and not is_scalar_letter(name)):
            shape = Shape((reading.sizes.new(),))
        elif not is_scalar_letter(name):
            sizes = (reading.sizes.new(positions=True), reading.sizes.new())
            shape = Shape(sizes if reading.unknown_as == "rows" else sizes[::-1])
        reading.assumed[name.key] = shape
    return reading.assumed[name.key]


def _part(reading: Inference, name: Name) -> Shape | None:
    """Return the shape of x_i where x or X is declared: an entry or a row."""
    indices = flat(name.subscripts)
    if not indices or not all(map(is_index, indices)):
        return None
    whole = Name(name.base, (), name.superscripts, name.primes, name.accent)
    capital = Name(name.base.upper(), (), name.superscripts, name.primes, name.accent)
    found = [s for s in (_declared(reading, whole), _declared(reading, capital) if capital != whole else None) if s]
    if len(found) == 1 and name.base.isupper() and len(indices) == 1 and found[0].rank == 2:
        return UNKNOWN  # X_2 is as often another matrix as the second row of X
    if len(found) == 1 and not _declared(reading, whole):
        return _of_capital(reading, found[0], indices)
    return shape_of_entry(reading, found[0], indices) if len(found) == 1 else (UNKNOWN if found else None)


def _of_capital(reading: Inference, shape: Shape, indices: Sequence[Node]) -> Shape:
    """Return the shape of k_s where K is declared."""
    if len(indices) < len(shape.sizes) > 2:
        return UNKNOWN  # which of the axes of a batch of heads the index counts is not said
    if not _counts_lines(reading, shape, indices):
        return UNKNOWN  # an index to d means the entries of one row x of X
    told = reading.scope.convention == "rows" or _key(indices[0]) in reading.ranges
    if len(indices) == 1 and shape.rank == 2 and not told:
        return Shape((None,))  # a row or a column: in A x the rows of A are as usual as its columns
    return shape_of_entry(reading, shape, indices)


def _counts_lines(reading: Inference, shape: Shape, indices: Sequence[Node]) -> bool:
    """Return whether an index runs over all rows, or all columns where these are the vectors, or is not bound."""
    if len(indices) != 1 or _key(indices[0]) not in reading.ranges or len(shape.sizes) != 2:
        return True
    count = reading.ranges[_key(indices[0])]
    return count is None or count == shape.sizes[reading.scope.convention == "columns"]


def _declared(reading: Inference, name: Name) -> Shape | None:
    if name.key in reading.choice:
        return reading.choice[name.key]
    candidates = reading.scope.shape_candidates(name)
    sizes = candidates[0].declaration.sizes if candidates and not candidates[0].far else None
    return None if sizes is None else Shape(sizes)


def _defined(reading: Inference, name: Name) -> Shape:
    if name.key in reading.unfolding or len(reading.unfolding) >= _MOST_DEFINITIONS:
        return UNKNOWN
    right = reading.scope.near_definition(name)
    if right is None or is_of_parts(right):  # a list may be of vectors
        return UNKNOWN
    reading.unfolding.append(name.key)
    aside = reading.aside()
    found = aside.shape(right)
    reading.unfolding.pop()
    return UNKNOWN if aside.clashes else found


def shape_of_entry(reading: Inference, shape: Shape, indices: Sequence[Node]) -> Shape:
    """Return the shape of an entry, a row or a column of an array."""
    if shape.open or not all(map(is_index, indices)):
        return UNKNOWN
    if len(indices) == len(shape.sizes):
        return SCALAR
    if len(indices) == 1 and _key(indices[0]) in reading.ranges:
        return _along(shape, reading.ranges[_key(indices[0])])
    if len(indices) == 1 and len(shape.sizes) == 2:
        by_columns = reading.scope.convention == "columns"
        return Shape((shape.sizes[0] if by_columns else shape.sizes[1],))
    return Shape(shape.sizes[len(indices) :]) if len(indices) < len(shape.sizes) else UNKNOWN


def _key(node: Node) -> str:
    return node.key if isinstance(node, Name) else ""


def _along(shape: Shape, count: Expr | None) -> Shape:
    """Return the shape without the axis of size `count`, or UNKNOWN unless exactly one axis has that size."""
    places = [place for place, size in enumerate(shape.sizes) if size == count]
    left = shape.sizes[: places[0]] + shape.sizes[places[0] + 1 :] if places else ()
    return Shape(left) if len(places) == 1 else UNKNOWN
