"""Functions that several libraries have with the same arguments."""

from __future__ import annotations

from typing import Any

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.numbers import as_number
from numeric.lifting.refusals import refuse

__all__ = ["contracted", "outer", "repeated", "swapped"]


def swapped(a: Any, one: int, other: int) -> Any:
    """Return an array with two of its axes exchanged."""
    order = list(range(a.ndim))
    order[one], order[other] = order[other], order[one]
    return op.permute(a, order)


def outer(a: Any, b: Any) -> Any:
    """Return the products of the entries of two vectors."""
    return op.contract(["i", "j"], (a, ["i"]), (b, ["j"]))


def contracted(a: Any, b: Any, axes: Any = 2) -> Any:
    """Return the sum of products along pairs of axes, as `tensordot` does."""
    if isinstance(axes, int):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = ([x] if isinstance(x, int) else list(x) for x in axes)
    first = [f"a{number}" for number in range(a.ndim)]
    second = [f"b{number}" for number in range(b.ndim)]
    for one, other in zip(left, right, strict=True):
        second[other % b.ndim] = first[one % a.ndim]
    both = set(first) & set(second)
    return op.contract([x for x in (*first, *second) if x not in both], (a, first), (b, second))


def repeated(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Return an array with every entry along an axis repeated several times, as `repeat` does."""
    if axis is None:
        raise refuse("repeat without an axis")
    number = op.axis_number(axis, a.ndim)
    wide = op.inserted(a, [number + 1])
    times = list(wide.axes)
    times[number + 1] = as_number(repeats)
    spread = op.broadcast_to(wide, times)
    shape = list(a.shape)
    shape[number] = shape[number] * repeats
    return places.reshape(spread, shape)
