"""Joining arrays: concatenation, stacking, padding with a number, and tiling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, Integer, KroneckerDelta, expand

from derivations.language.arrays.expression import Plus
from numeric.lifting.axes import numbered, same_length
from numeric.lifting.numbers import Size, as_number
from numeric.lifting.operations import (
    axis_number,
    broadcast_to,
    built,
    constant,
    finite,
    inserted,
    real,
    summation,
    unequal,
)
from numeric.lifting.places.reshaping import reshape
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, tensor
from numeric.lifting.trace import current

__all__ = ["LARGEST_TABLE", "concatenate", "demand_entries", "padded", "stack", "tiled"]


LARGEST_TABLE = 64  # a table of more numbers is data, not a formula


def demand_entries(length: Expr, what: str) -> None:
    """Refuse an axis of length 0. Where a symbolic length decides this, the answer is recorded as an assumption."""
    if not Size(length) >= 1:
        raise refuse(f"{what} without entries")


def concatenate(arrays: Sequence[Tensor], axis: int) -> Tensor:
    """Return the concatenation of arrays along an axis, as the sum of the arrays padded with zeros."""
    finite("a join", *arrays)
    axis = axis_number(axis, arrays[0].ndim)
    length: Expr = Integer(0)
    for array in arrays:
        length = length + array.sizes[axis]
    if len({a.ndim for a in arrays}) != 1:
        raise ValueError("arrays that are joined have the same number of axes")
    for array in arrays[1:]:
        for number, (one, other) in enumerate(zip(arrays[0].axes, array.axes, strict=True)):
            if number != axis and not same_length(one, other):
                raise unequal(one, other, "arrays that are joined")
    arrays = [array for array in arrays if not array.is_empty] or arrays[:1]
    if len(arrays) == 1:
        return again(arrays[0])
    shape = [expand(length) if number == axis else along for number, along in enumerate(arrays[0].axes)]
    indices = numbered(shape)
    result, first = None, Integer(0)
    for array in arrays:
        node = real(array).node
        place, sums = summation(array.axes[axis], 0)
        read = [place if number == axis else index for number, index in enumerate(indices)]
        here = KroneckerDelta(expand(first + place.flat), indices[axis].flat)
        placed = current().define(built(indices, shape, sums, here, (node, array.axes, read)))
        first = first + array.sizes[axis]
        result = placed if result is None else current().define(Plus(result, placed))
    assert result is not None
    return tensor(result, axes=shape)


def stack(arrays: Sequence[Tensor], axis: int) -> Tensor:
    """Return arrays of one shape along a new axis."""
    number = axis_number(axis, arrays[0].ndim + 1)
    return concatenate([inserted(array, [number]) for array in arrays], number)


def padded(array: Tensor, axis: int, before: Expr, behind: Expr, value: Expr) -> Tensor:
    """Return an array padded with a number along an axis: `before` entries in front, and `behind` entries after it."""
    parts = [array]
    for size, front in ((before, True), (behind, False)):
        if size != 0:
            demand_entries(size, "padding")
            shape = [size if number == axis else along for number, along in enumerate(array.axes)]
            parts.insert(0 if front else len(parts), constant(value, shape))
    return concatenate(parts, axis) if len(parts) > 1 else array


def tiled(array: Tensor, times: Sequence[Any]) -> Tensor:
    """Return an array repeated along each axis, as `numpy.tile` does. New axes come first."""
    array = inserted(array, list(range(len(times) - array.ndim))) if len(times) > array.ndim else array
    for axis, count in enumerate(times, start=array.ndim - len(times)):
        if isinstance(count, int):
            array = concatenate([array] * count, axis) if count > 1 else array
            continue
        wide = inserted(array, [axis])
        spread = broadcast_to(wide, [*wide.axes[:axis], as_number(count), *wide.axes[axis + 1 :]])
        sizes = list(array.shape)
        array = reshape(spread, [*sizes[:axis], count * sizes[axis], *sizes[axis + 1 :]])
    return array
