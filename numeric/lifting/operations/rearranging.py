"""Operations that permute, insert and remove axes; no entry changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import (
    Integer,
)

from numeric.lifting.axes import (
    is_one,
    numbered,
)
from numeric.lifting.operations.broadcasting import moved, viewed
from numeric.lifting.tensor import Tensor, again

__all__ = ["axis_number", "inserted", "permute", "removed"]


def axis_number(number: Any, rank: int) -> int:
    """Return the number of an axis, counted from the first."""
    found = int(number)
    if not -rank <= found < rank:
        raise IndexError(f"axis {found} of an array of {rank} axes")
    return found % rank


def permute(array: Tensor, order: Sequence[int]) -> Tensor:
    """Return an array with its axes in another order."""
    order = [axis_number(each, array.ndim) for each in order]
    if sorted(order) != list(range(array.ndim)):
        raise ValueError(f"{order} does not name each of {array.ndim} axes once")
    if order == list(range(array.ndim)):
        return again(array).view_of(array)
    target = [array.axes[number] for number in order]
    indices = numbered(target)
    places = [indices[order.index(number)] for number in range(len(order))]
    return viewed(array, target, lambda node: moved(indices, target, (node, array.axes, places)))


def inserted(array: Tensor, places: Sequence[int]) -> Tensor:
    """Return an array with axes of length 1 at the given axis numbers of the result."""
    rank = array.ndim + len(places)
    new = {axis_number(place, rank) for place in places}
    old = iter(array.axes)
    target = [Integer(1) if number in new else next(old) for number in range(rank)]
    indices = numbered(target)
    read = [index for number, index in enumerate(indices) if number not in new]
    return viewed(array, target, lambda node: moved(indices, target, (node, array.axes, read)))


def removed(array: Tensor, places: Sequence[int]) -> Tensor:
    """Return an array without some axes of length 1."""
    gone = {axis_number(place, array.ndim) for place in places}
    for place in gone:
        if not is_one(array.axes[place]):
            raise ValueError(f"axis {place} has the size {array.sizes[place]}, not 1")
    target = [along for number, along in enumerate(array.axes) if number not in gone]
    indices = numbered(target)
    left = iter(indices)
    read = [Integer(0) if number in gone else next(left) for number in range(array.ndim)]
    return viewed(array, target, lambda node: moved(indices, target, (node, array.axes, read)))
