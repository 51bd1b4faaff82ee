"""Indexing: reads and writes by an index expression, flips, rolls, and padding with entries of the array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from sympy import Expr, Integer, expand

from numeric.lifting.axes import Along, Stepped, numbered, same_length, size_of_axis
from numeric.lifting.numbers import Scalar, Size, as_number, is_number, whole_quotient
from numeric.lifting.operations import (
    axis_number,
    broadcast_to,
    certain,
    constant,
    inserted,
    logical_and,
    logical_or,
    moved,
    viewed,
    where,
)
from numeric.lifting.places.choosing import entries_by_numbers, gathered
from numeric.lifting.places.joining import LARGEST_TABLE, concatenate, demand_entries, stack
from numeric.lifting.places.reshaping import reshape
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, empty, made

__all__ = ["flipped", "item", "padded_by_own", "rolled", "set_along", "written"]


def item(array: Tensor, key: Any) -> Tensor:
    """Return the entries that an index expression selects: integers, slices, `...`, `None`, or integer arrays."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(map(_are_places, keys)):
        return _at_places(array, keys)
    if any(isinstance(each, Tensor) for each in keys):
        return _by_numbers(array, keys)
    named = sum(each is not None and each is not Ellipsis for each in keys)
    if named > array.ndim:
        raise IndexError(f"{named} indices for an array of {array.ndim} axes")
    if Ellipsis in [each for each in keys if each is Ellipsis]:
        at = next(number for number, each in enumerate(keys) if each is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (array.ndim - named)
    else:
        keys += [slice(None)] * (array.ndim - named)
    turned = [number for number, each in enumerate(k for k in keys if k is not None) if each == slice(None, None, -1)]
    if turned:
        array, keys = flipped(array, turned), [slice(None) if each == slice(None, None, -1) else each for each in keys]
    steps = iter(array.axes)
    shape: list[Along] = []
    reading: list[Any] = []  # for each axis of the array, what is read there
    for each in keys:
        if each is None:
            shape.append(Integer(1))
            continue
        along = next(steps)
        if isinstance(each, slice):
            start, length, step = _range(each, along)
            whole = start == 0 and step == 1 and same_length(length, along)
            shape.append(along if whole else length)
            reading.append((len(shape) - 1, start, step, whole))
        else:
            reading.append(_place_of(each, along))

    if any(size_of_axis(along) == 0 for along in shape):
        return empty(array, shape)
    indices = numbered(shape)
    read: list[Any] = []
    for what in reading:
        if isinstance(what, tuple):
            number, start, step, whole = what
            index = indices[number]
            read.append(index if whole else Stepped(index.symbols, index.sizes, start, step))
        else:
            read.append(what)
    return viewed(array, shape, lambda node: moved(indices, shape, (node, array.axes, read)))


def _are_places(key: Any) -> bool:
    """Return whether an index is a list, a range or an array of known numbers, and not a symbolic array."""
    return isinstance(key, list | range) or (
        hasattr(key, "__array__") and not isinstance(key, Tensor | Scalar) and bool(getattr(key, "ndim", 0))
    )


def _at_places(array: Tensor, keys: list[Any]) -> Tensor:
    """Return the parts of an array at known integer indices, stacked along one axis.

    Definition   one array of numbers, whose axes stand where the axis stood; or several of one shape next to each other
    """
    if Ellipsis in [each for each in keys if each is Ellipsis]:
        at = next(number for number, each in enumerate(keys) if each is Ellipsis)
        named = sum(each is not None and each is not Ellipsis for each in keys)
        keys[at : at + 1] = [slice(None)] * (array.ndim - named)
    chosen = [number for number, each in enumerate(keys) if _are_places(each)]
    rest = [each for each in keys if not _are_places(each)]
    first, last = chosen[0], chosen[-1]
    if last - first != len(chosen) - 1 or not all(each is None or isinstance(each, slice) for each in rest):
        raise refuse("an index by lists of places, and by others beside them")
    lists = [np.asarray(each) for each in keys[first : last + 1]]
    shape = lists[0].shape
    whole = all(each.dtype.kind == "i" and each.shape == shape for each in lists)  # bytes are a mask in PyTorch
    if not whole or not 0 < lists[0].size <= LARGEST_TABLE or array.kind != "real":
        raise refuse("an index by a list of places")
    places = zip(*(each.ravel().tolist() for each in lists), strict=True)
    joined = stack([item(array, (*keys[:first], *each, *keys[last + 1 :])) for each in places], first)
    if len(shape) == 1:
        return joined
    return again(reshape(joined, [*joined.shape[:first], *shape, *joined.shape[first + 1 :]]))


def flipped(array: Tensor, axes: Sequence[int]) -> Tensor:
    """Return an array with the order of its entries reversed along axes."""
    turned = {axis_number(axis, array.ndim) for axis in axes}
    target = [size_of_axis(along) if number in turned else along for number, along in enumerate(array.axes)]
    indices = numbered(target)
    read = [
        expand(size_of_axis(along) - 1 - index.flat) if number in turned else index
        for number, (index, along) in enumerate(zip(indices, target, strict=True))
    ]
    return viewed(array, target, lambda node: moved(indices, target, (node, array.axes, read)))


def _place_of(given: Any, along: Along) -> Expr:
    """Return an index counted from the start of its axis. Raise `IndexError` where it is out of bounds."""
    if isinstance(given, bool) or not is_number(given) or isinstance(given, float):
        raise refuse(f"an index {given!r}")
    place, size = as_number(given), size_of_axis(along)
    if not Size(place) >= 0:
        place = expand(size + place)
    _require(Size(place) >= 0, given, size)
    _require(Size(expand(size - 1 - place)) >= 0, given, size)
    return place


def _require(holds: Any, place: Any, size: Expr) -> None:
    if not holds:
        raise IndexError(f"index {place!r} is out of bounds for an axis of the size {size}")


def _range(part: slice, along: Along) -> tuple[Expr, Expr, int]:
    """Return start, length and step of a slice."""
    size = size_of_axis(along)
    step = 1 if part.step is None else part.step
    if not isinstance(step, int):
        raise refuse(f"a slice with the step {step!r}")
    if step < 0:
        raise refuse("a slice with a negative step")
    start = _bound(part.start, size, Integer(0))
    stop = _bound(part.stop, size, size)
    span = expand(stop - start)
    if step == 1:
        length = span
    elif span.is_Integer:
        length = Integer(-(-int(span) // step))
    else:
        rounded_up = (whole_quotient(expand(span + missing), Integer(step)) for missing in range(step))
        found = next((each for each in rounded_up if each is not None), None)
        if found is None:
            raise refuse(f"every {step}. entry of {span}: declare the size as a multiple of {step}")
        length = found
    if length != 0:  # what is empty at all sizes, such as the columns after the last one, is followed
        demand_entries(length, "a slice")
    return start, length, step


def _bound(given: Any, size: Expr, default: Expr) -> Expr:
    """Return a bound of a slice, counted from the start of the axis and clipped to its size."""
    if given is None:
        return default
    if isinstance(given, bool) or not is_number(given) or isinstance(given, float):
        raise refuse(f"a slice up to {given!r}")
    bound = as_number(given)
    if not Size(bound) >= 0:
        bound = expand(size + bound)
        if not Size(bound) >= 0:
            bound = Integer(0)
    return bound if Size(expand(size - bound)) >= 0 else size  # a slice that ends after the axis ends at the axis


def written(array: Tensor, key: Any, value: Any) -> None:
    """Write into an array in place: everywhere, at integers and slices, or at a mask. Other writes are refused."""
    keys = key if isinstance(key, tuple) else (key,)
    if all(each is Ellipsis or (isinstance(each, slice) and each == slice(None)) for each in keys):
        new = broadcast_to(value, array.axes) if isinstance(value, Tensor) else constant(as_number(value), array.axes)
        array.overwrite(new)
        return
    if len(keys) == 1 and isinstance(keys[0], Tensor) and certain(keys[0]) is False:
        return
    if len(keys) == 1 and isinstance(keys[0], Tensor) and keys[0].kind == "boolean" and not isinstance(value, Tensor):
        array.overwrite(where(keys[0], value, again(array)))
        return
    keys, value = _as_slices(array, keys, value)
    if not array.is_unwritten:
        array.overwrite(_with_slice(array, keys, value))
        return
    filled = made(array._node, None, array.kind, array.axes)  # zeros: none is read before all places are written
    done = [*array.filled, *_places_of(array, keys)]
    array.overwrite(_with_slice(filled, keys, value))
    array.filled, array.is_unwritten = done, not _covers(done, array)


_Places = tuple[int, Expr, Expr, int]  # an axis, and the start, the number and the step of places along it


def _as_slices(array: Tensor, keys: tuple[Any, ...], value: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the keys as one slice for each axis, and the value in their shape. An integer is a slice of length 1."""
    dots = [number for number, each in enumerate(keys) if each is Ellipsis]
    known = (slice, int, Scalar)
    if len(dots) > 1 or not all(each is Ellipsis or (isinstance(each, known) and each is not True) for each in keys):
        raise refuse("a write into a part of an array")
    at = dots[0] if dots else len(keys)
    missing = array.ndim - len(keys) + len(dots)
    if missing < 0:
        raise IndexError(f"{len(keys)} indices for an array of {array.ndim} axes")
    keys = (*keys[:at], *[slice(None)] * missing, *keys[at + len(dots) :])
    numbers = [axis for axis, each in enumerate(keys) if not isinstance(each, slice)]
    starts = {axis: _place_of(keys[axis], array.axes[axis]) for axis in numbers}
    slices = tuple(
        slice(_known(starts[axis]), _known(starts[axis] + 1)) if axis in starts else each
        for axis, each in enumerate(keys)
    )
    if numbers and isinstance(value, Tensor):
        left = array.ndim - len(numbers)
        wide = inserted(value, list(range(left - value.ndim))) if value.ndim < left else value
        value = inserted(wide, numbers)
    return slices, value


def _known(place: Expr) -> Any:
    return int(place) if place.is_Integer else Size(place)


def _places_of(array: Tensor, keys: Sequence[slice]) -> list[_Places]:
    """Return the range that a write covers along its axis, or an empty list if it slices several axes."""
    reached = [(axis, *_range(key, array.axes[axis])) for axis, key in enumerate(keys) if key != slice(None)]
    return reached if len(reached) == 1 else []


def _covers(done: Sequence[_Places], array: Tensor) -> bool:
    """Return whether the ranges written so far cover a whole axis, interleaved by a step or one after another."""
    for axis in {axis for axis, *_ in done}:
        size = size_of_axis(array.axes[axis])
        own = [each[1:] for each in done if each[0] == axis]
        for by in {step for _, _, step in own if step > 1}:
            starts = {start for start, count, step in own if step == by and expand(count * by - size) == 0}
            if starts >= set(map(Integer, range(by))):
                return True
        end: Expr = Integer(0)
        for _ in own:  # the one that begins where the last one ended
            end = next((expand(start + count) for start, count, step in own if step == 1 and start == end), end)
        if expand(end - size) == 0:
            return True
    return False


def _with_slice(array: Tensor, keys: tuple[Any, ...], value: Any) -> Tensor:
    """Return an array with new entries in slices of its axes. The new slice is joined with the parts around it."""
    (number, *more) = [number for number, each in enumerate(keys) if each != slice(None)]
    start, length, step = _range(keys[number], array.axes[number])
    shape = [length if place == number else along for place, along in enumerate(array.axes)]
    if more:
        front = (slice(None),) * number
        inside = again(item(array, (*front, keys[number])))
        new = _with_slice(inside, (*front, slice(None), *keys[number + 1 :]), value)
    elif isinstance(value, Tensor):
        new = broadcast_to(value, shape)
    else:
        new = constant(as_number(value), shape)

    def part(first: Any, last: Any, by: int = 1) -> Tensor:
        return item(array, (*[slice(None)] * number, slice(first, last, by)))

    size = size_of_axis(array.axes[number])
    if step > 1:
        if not start.is_Integer or not start < step or expand(length * step - size) != 0:
            raise refuse("a write into every few entries of a part of an array")
        rows = [new if place == start else part(place, None, step) for place in range(step)]
        return reshape(stack(rows, number + 1), list(array.shape))
    end = expand(start + length)
    before = [] if start == 0 else [part(None, Size(start))]
    after = [] if expand(size - end) == 0 else [part(Size(end), None)]
    return concatenate([*before, new, *after], number)


def _by_numbers(array: Tensor, keys: list[Any]) -> Tensor:
    """Return an array indexed by symbolic integer arrays: one along some axis, or one for each of the first axes."""
    axis = next(number for number, each in enumerate(keys) if isinstance(each, Tensor))
    others = [*keys[:axis], *keys[axis + 1 :]]
    if keys[axis].node.kind == "integer" and all(isinstance(each, slice) and each == slice(None) for each in others):
        return gathered(array, keys[axis], axis)
    if all(isinstance(each, Tensor) and each.node.kind == "integer" for each in keys) and len(keys) > 1:
        return entries_by_numbers(array, keys)
    raise refuse("an index by several arrays and slices, or by a mask")


def set_along(mask: Tensor, axis: int, of_all: bool, keepdims: bool = False) -> Tensor:
    """Return whether all entries along an axis of known size are true, or, without `of_all`, whether any is."""
    number = axis_number(axis, mask.ndim)
    count = mask.shape[number]
    if not isinstance(count, int):
        raise refuse(f"any() or all() along an axis of the symbolic size {count}")
    rows = [item(mask, (*[slice(None)] * number, place)) for place in range(count)]
    found = reduce(logical_and if of_all else logical_or, rows)
    return inserted(found, [number]) if keepdims else found


def padded_by_own(array: Tensor, axis: int, before: int, behind: int, mode: str) -> Tensor:
    """Return an array padded along an axis with copies of its own entries.

    `mode` tells which, in the words of NumPy: "edge" (the last one), "reflect" (mirrored at it), "symmetric" (mirrored
    with it), "wrap" (from the other end).
    """
    front = (slice(None),) * axis
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise refuse(f"padding by the mode {mode!r}")

    def part(first: Any, last: Any) -> Tensor:
        return item(array, (*front, slice(first, last)))

    def beside(count: int, at_start: bool) -> Tensor:
        if mode == "wrap":
            return part(-count, None) if at_start else part(None, count)
        if mode == "edge":
            edge = part(0, 1) if at_start else part(-1, None)
            shape = [Integer(count) if number == axis else along for number, along in enumerate(array.axes)]
            return broadcast_to(edge, shape)
        skipped = 1 if mode == "reflect" else 0
        mirrored = part(skipped, count + skipped) if at_start else part(-count - skipped, -skipped or None)
        return flipped(mirrored, [axis])

    parts = [array]
    if before:
        parts.insert(0, beside(before, True))
    if behind:
        parts.append(beside(behind, False))
    return concatenate(parts, axis) if len(parts) > 1 else array


def rolled(array: Tensor, shifts: Any, axes: Any) -> Tensor:
    """Return an array with its entries shifted cyclically along axes, as `numpy.roll` does."""
    for shift, axis in zip(
        *(each if isinstance(each, tuple | list) else (each,) for each in (shifts, axes)), strict=True
    ):
        if not isinstance(shift, int) or axis is None:
            raise refuse("a roll by a symbolic number of places, or of all entries")
        front = (slice(None),) * axis_number(axis, array.ndim)
        if shift:
            parts = [item(array, (*front, slice(-shift, None))), item(array, (*front, slice(None, -shift)))]
            array = concatenate(parts, axis)
    return array
