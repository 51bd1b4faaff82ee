"""Windows that move along axes: convolutions and pooling.

Definition   window t of an axis holds the entries at stride t + dilation a, a = 0, ..., k - 1; there are
             floor((size - dilation (k - 1) - 1)/stride) + 1 windows, size counting what is padded
Result       a convolution is one sum of products over the places in a window, a mean one sum; of the largest entries
             one maximum for each place in a window
Raises       NotFollowed for a number of windows that is no polynomial in the sizes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from sympy import Expr, Integer, expand

from numeric.lifting.axes import Along, Index, numbered, size_of_axis
from numeric.lifting.numbers import whole_quotient
from numeric.lifting.operations import (
    add,
    axis_number,
    built,
    extremum,
    finite,
    inserted,
    maximum_along,
    mean,
    multiply,
    real,
    removed,
    summation,
)
from numeric.lifting.places.joining import concatenate, demand_entries, padded, stack
from numeric.lifting.places.reshaping import reshape
from numeric.lifting.places.slices import item, padded_by_own
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor

__all__ = ["convolved", "pooled", "pooled_to", "window_count", "window_entries", "windows"]


def window_count(size: Expr, kernel: Expr, stride: int, dilation: int) -> Expr:
    """Return the number of windows along an axis."""
    room = expand(size - dilation * (kernel - 1) - 1)
    quotients = (whole_quotient(expand(room - missing), Integer(stride)) for missing in range(stride))
    found = next((each for each in quotients if each is not None), None)
    if found is None:
        raise refuse(f"windows that move by {stride} along an axis of the size {size}: declare it as a multiple")
    count = expand(found + 1)
    demand_entries(count, "windows")
    return count


def convolved(
    array: Tensor,
    kernel: Tensor,
    bias: Tensor | None = None,
    strides: Sequence[int] = (),
    paddings: Sequence[tuple[Any, Any]] = (),
    dilations: Sequence[int] = (),
    groups: Any = 1,
) -> Tensor:
    """Return a convolution as deep learning libraries define it, a cross-correlation: the kernel is not flipped.

    Shapes       array (n, groups c, sizes), kernel (out, c, widths), bias (out,), result (n, out, numbers of windows)
    """
    finite("a convolution", array, kernel)
    rank = kernel.ndim - 2
    if array.ndim == rank + 1:
        whole = convolved(inserted(array, [0]), kernel, bias, strides, paddings, dilations, groups)
        return removed(whole, [0])
    strides, dilations = tuple(strides) or (1,) * rank, tuple(dilations) or (1,) * rank
    for axis, (before, behind) in enumerate(paddings, start=2):
        array = padded(array, axis, Integer(before), Integer(behind), Integer(0))
    if groups != 1:
        sizes, widths = list(array.shape), list(kernel.shape)
        array = reshape(array, [sizes[0], groups, sizes[1] // groups, *sizes[2:]])
        kernel = reshape(kernel, [groups, widths[0] // groups, *widths[1:]])
    first = array.ndim - rank
    counts = [
        window_count(size, width, stride, dilation)
        for size, width, stride, dilation in zip(
            array.sizes[first:], kernel.sizes[first:], strides, dilations, strict=True
        )
    ]
    target: list[Along] = [array.axes[0], *kernel.axes[: first - 1], *counts]
    indices = numbered(target)
    channel, sums = summation(kernel.axes[first - 1], 0)
    places: list[Index] = []
    for along in kernel.axes[first:]:
        place, more = summation(along, len(sums))
        places.append(place)
        sums += more
    windows = indices[len(indices) - rank :]
    read = [
        expand(stride * window.flat + dilation * place.flat)
        for window, place, stride, dilation in zip(windows, places, strides, dilations, strict=True)
    ]
    group = indices[1:2] if groups != 1 else []
    result = tensor(
        built(
            indices,
            target,
            sums,
            1,
            (real(array).node, array.axes, [indices[0], *group, channel, *read]),
            (real(kernel).node, kernel.axes, [*indices[1 : len(indices) - rank], channel, *places]),
        ),
        axes=target,
    )
    if groups != 1:
        sizes = list(result.shape)
        result = reshape(result, [sizes[0], sizes[1] * sizes[2], *sizes[3:]])
    return result if bias is None else add(result, inserted(bias, list(range(1, rank + 1))))


def pooled(
    array: Tensor, widths: Sequence[int], strides: Sequence[int], paddings: Sequence[int], of_largest: bool
) -> Tensor:
    """Return the largest entry, or the mean, of each window over the last axes. A mean counts the padding as zeros."""
    finite("pooling", array)
    for axis, (width, stride, padding) in enumerate(
        zip(widths, strides, paddings, strict=True), start=array.ndim - len(widths)
    ):
        if padding:  # a window that holds what is padded holds the entry at the edge
            if of_largest:
                array = padded_by_own(array, axis, padding, padding, "edge")
            else:
                array = padded(array, axis, Integer(padding), Integer(padding), Integer(0))
        if width == 1 and stride == 1:
            continue
        parts = _along(array, axis, width, stride, 1)
        if of_largest:
            array = reduce(lambda one, other: extremum(one, other, True), parts)
        else:
            array = multiply(reduce(add, parts), Integer(1) / width)
    return array


def _along(array: Tensor, axis: int, width: int, stride: int, dilation: int) -> list[Tensor]:
    """Return, for each offset in a window, the entries of all windows of an axis at that offset."""
    count = window_count(array.sizes[axis], Integer(width), stride, dilation)
    front = (slice(None),) * axis
    starts = (dilation * place for place in range(width))
    return [item(array, (*front, slice(start, expand(start + stride * (count - 1) + 1), stride))) for start in starts]


def window_entries(
    array: Tensor, widths: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[Tensor]:
    """Return, for each offset in a window over the last axes, in row-major order, the entries of all windows."""
    parts = [array]
    for axis, (width, stride, dilation) in enumerate(
        zip(widths, strides, dilations, strict=True), start=array.ndim - len(widths)
    ):
        parts = [part for each in parts for part in _along(each, axis, width, stride, dilation)]
    return parts


def windows(array: Tensor, widths: Sequence[int], axes: Sequence[int]) -> Tensor:
    """Return the windows along the given axes. Each of these axes adds a last axis, the offset in the window."""
    for width, axis in zip(widths, axes, strict=True):
        array = stack(_along(array, axis_number(axis, array.ndim), width, 1, 1), -1)
    return array


def pooled_to(array: Tensor, sizes: Sequence[Any], of_largest: bool) -> Tensor:
    """Return the largest entry, or the mean, of each of a given number of parts of the last axes (adaptive pooling).

    Definition   part i of an axis of N places begins at floor(i N/count) and ends before ceil((i + 1) N/count)
    """
    for axis, wanted in enumerate(sizes, start=array.ndim - len(sizes)):
        array = _parted(array, axis_number(axis, array.ndim), wanted, maximum_along if of_largest else mean)
    return array


def _parted(array: Tensor, axis: int, wanted: Any, of_part: Callable[..., Tensor]) -> Tensor:
    size = array.shape[axis]
    if wanted is None or wanted == size:
        return array
    if wanted == 1:
        return of_part(array, [axis], True)
    width = whole_quotient(size_of_axis(array.axes[axis]), Integer(wanted))
    if width is not None:
        shape = list(array.shape)
        return of_part(reshape(array, [*shape[:axis], wanted, width, *shape[axis + 1 :]]), [axis + 1], False)
    if not isinstance(size, int):
        raise refuse(f"{wanted} parts of an axis of the size {size}: declare it as a multiple")
    bounds = [(number * size // wanted, -(-(number + 1) * size // wanted)) for number in range(wanted)]
    front = (slice(None),) * axis
    return concatenate([of_part(item(array, (*front, slice(*each))), [axis], True) for each in bounds], axis)
