"""Construction of contractions: a contraction becomes a node of linear algebra if one has the same entries.

Result       a contraction that is a product of matrices, a transpose, a repeated vector or a sum of rows is written as
             that node, a number stands in front, and a sum that a Kronecker delta reduces to one term is that term
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sympy import Expr, Integer, KroneckerDelta, Mul, Symbol, expand
from sympy import Tuple as Places

from derivations.language.arrays.contraction_node import Contraction, index_of, indices_of, operand_of
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Product,
    RowBroadcast,
    Scaled,
    Shape,
    Transpose,
)
from derivations.language.arrays.functions import Hadamard, RowSum
from derivations.language.arrays.shapes import Blocks, Sized, total

__all__ = ["Contraction", "contraction", "in_axes", "index_of", "indices_of", "operand_of"]


def contraction(indices: Any, shape: Sequence[Sized], sums: Any, factor: Any, *operands: Any) -> Array:
    """Return the node of linear algebra with the same entries if there is one, else the contraction."""
    return _built(tuple(indices), tuple(shape), tuple(map(tuple, sums)), factor, *operands)


# A function that is lifted is called several times, and builds the same arrays each time.
@lru_cache(maxsize=1 << 12, typed=True)
def _built(indices: Any, shape: Any, sums: Any, factor: Any, *operands: Any) -> Array:
    node = Contraction(indices, shape, sums, factor, [each[1:] for each in operands], *(each[0] for each in operands))
    return _usual(_without_deltas(node))


def in_axes(array: Array, shape: Shape) -> Array:
    """Return an array whose axes of blocks agree with those of a shape. Axes with other blocks become plain axes."""
    both = zip(array.shape, shape, strict=True)
    agree = [a == b or not (isinstance(a, Blocks) and isinstance(b, Blocks)) for a, b in both]
    if all(agree):
        return array
    read = indices_of(array.shape)
    plain = (Symbol(f"q_{number}", integer=True) for number in range(len(read)))
    places = [index if kept else place for index, kept, place in zip(read, agree, plain, strict=True)]
    sums: list[tuple[Symbol, Expr]] = []
    factor: Expr = Integer(1)
    for index, place, along in zip(read, places, array.shape, strict=True):
        if index != place:
            assert isinstance(index, Places) and isinstance(along, Blocks)
            sums += [(index[0], along.count), (index[1], along.size)]
            factor = factor * KroneckerDelta(place, index[0] * along.size + index[1])
    axes = [along if kept else total(along) for along, kept in zip(array.shape, agree, strict=True)]
    return contraction(places, axes, sums, factor, operand_of(array, read))


def _without_deltas(node: Contraction) -> Contraction:
    """Return the contraction without the sums that a Kronecker delta reduces to one term: sum_p [p = j + 1] A_p."""
    for delta in Mul.make_args(node.factor):
        for symbol, count in node.sums if isinstance(delta, KroneckerDelta) else ():
            left, right = delta.args if delta.args[0] == symbol else delta.args[::-1]
            if left != symbol or symbol in right.free_symbols:
                continue
            first, last = node.range_of(right)
            # sum_p delta_{p, v} f(p) = f(v) only if v is in range for all values of its indices
            if not (first.is_nonnegative and expand(total(count) - 1 - last).is_nonnegative):
                continue
            sums = [each for each in node.sums if each[0] != symbol]
            local = Places(node.factor / delta, node.args[4]).xreplace({symbol: right})
            return _without_deltas(Contraction(node.indices, node.shape, sums, *local, *node.args[5:]))
    return node


def _usual(node: Contraction) -> Array:
    """Return a node of vectors and matrices with the same entries; if there is none, return the contraction."""
    if node.factor.free_symbols & node.counts.keys() or not node.operands:
        return node
    read = node.operands
    plain = all(isinstance(place, Symbol | Places) for _, places in read for place in places)
    plain = plain and all(_whole(node, array, places) for array, places in read)
    # more operands have no node of their own: the order in which to multiply them is a choice
    found = None if not plain or len(read) > 2 else _moved(node) if len(read) == 1 else _multiplied(node)
    if node.factor == 1:
        return found or node
    return Scaled(node.factor, found or node.func(*node.args[:3], 1, *node.args[4:]))


def _whole(node: Contraction, array: Array, places: Sequence[Any]) -> bool:
    """Return whether each index runs over the whole axis that it reads: a slice reads a part of it."""
    for place, along in zip(places, array.shape, strict=True):
        blocks = isinstance(place, Places) and isinstance(along, Blocks)
        pairs = zip(place, (along.count, along.size), strict=True) if blocks else [(place, total(along))]
        for part, size in pairs:
            counted = node.counts.get(part)
            if counted is not None and expand(counted - size) != 0:
                return False
    return True


def _moved(node: Contraction) -> Array | None:
    """Return the only operand unchanged, transposed, repeated or summed along one axis, else None."""
    (array, places), indices, sums = node.operands[0], node.indices, node.sums
    if not sums:
        if places == indices:
            return array if array.shape == node.shape else None
        if len(indices) != 2:
            return None
        if places == indices[::-1]:
            return Transpose(array)
        if places == indices[1:]:
            return RowBroadcast(array, node.shape[0])
        return ColumnBroadcast(array, node.shape[1]) if places == indices[:1] else None
    if len(sums) == 1 and len(places) == len(indices) + 1:
        summed = sums[0][0]
        if places == (*indices, summed):
            return RowSum(array)
        if len(places) == 2 and places == (summed, *indices):
            return RowSum(Transpose(array))
    return None


def _multiplied(node: Contraction) -> Array | None:
    """Return the product of two vectors or matrices, each transposed where that is needed."""
    if not node.sums:
        return _entrywise(node)
    if len(node.sums) != 1 or len(node.shape) > 2:
        return None
    if any(isinstance(place, Places) for _, places in node.operands for place in places):
        return None
    summed = node.sums[0][0]
    (left, at), (right, by) = node.operands
    for (one, p), (other, q) in (((left, at), (right, by)), ((right, by), (left, at))):
        first = [place for place in p if place != summed]
        second = [place for place in q if place != summed]
        # each operand is read once along the sum, and the other indices are those of the result, in order
        if len(p) - len(first) != 1 or len(q) - len(second) != 1 or tuple(first + second) != node.indices:
            continue
        one = one if p[-1] == summed else Transpose(one)
        other = other if q[0] == summed else Transpose(other)
        return Product(one, other)
    return None


def _entrywise(node: Contraction) -> Array | None:
    """Return the product of two arrays entry by entry, or the outer product of two vectors."""
    (left, at), (right, by) = node.operands
    if at == by == node.indices:
        return Hadamard(left, right)
    if len(node.indices) == 2 and at + by == node.indices:
        return Hadamard(ColumnBroadcast(left, node.shape[1]), RowBroadcast(right, node.shape[0]))
    if len(node.indices) == 2 and by + at == node.indices:
        return Hadamard(ColumnBroadcast(right, node.shape[1]), RowBroadcast(left, node.shape[0]))
    return None
