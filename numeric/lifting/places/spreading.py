"""Operations that enlarge arrays: sums of overlapping windows, transposed convolution, and upsampling.

Definition   adding windows is the adjoint of reading them: place stride t + dilation a of the result is the sum of the
             entries for place a of window t; a transposed convolution adds its products so. Enlarging by a whole number
             s repeats entries, or draws lines between them: place s t + r lies at t + (r + 1/2)/s - 1/2
Raises       NotFollowed for windows of a symbolic size
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import Any

from sympy import Integer, KroneckerDelta, Rational, expand

from numeric.lifting.axes import numbered
from numeric.lifting.operations import add, built, contract, finite, inserted, multiply, real, summation
from numeric.lifting.places.joining import padded, stack
from numeric.lifting.places.reshaping import reshape
from numeric.lifting.places.slices import item, padded_by_own
from numeric.lifting.places.windows import window_count
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor

__all__ = ["convolved_transposed", "enlarged", "spread", "windows_added"]


def windows_added(
    array: Tensor,
    sizes: Sequence[Any],
    widths: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> Tensor:
    """Return the images whose windows are given as columns. Where windows overlap, their entries are added.

    Shapes       array (n, c widths, windows), result (n, c, sizes)
    """
    counts = [
        window_count(size + 2 * padding, Integer(width), stride, dilation)
        for size, width, stride, padding, dilation in zip(sizes, widths, strides, paddings, dilations, strict=True)
    ]
    inside = 1
    for width in widths:
        inside *= width
    shape = list(array.shape)
    split = reshape(array, [shape[0], shape[1] // inside, *widths, *counts])
    every = slice(None)
    parts = [item(split, (every, every, *at)) for at in product(*map(range, widths))]
    return _overlapped(parts, widths, strides, paddings, dilations, (0,) * len(widths))


def convolved_transposed(
    array: Tensor,
    kernel: Tensor,
    bias: Tensor | None,
    strides: Sequence[int],
    paddings: Sequence[int],
    more: Sequence[int],
    groups: Any,
    dilations: Sequence[int],
) -> Tensor:
    """Return a transposed convolution, the adjoint of a convolution. `more` is the output padding of each axis.

    Shapes       array (n, groups c, sizes), kernel (groups c, out, widths), bias (groups out,)
    """
    finite("a transposed convolution", array, kernel)
    rank = kernel.ndim - 2
    if array.ndim == rank + 1:
        whole = inserted(array, [0])
        return item(convolved_transposed(whole, kernel, bias, strides, paddings, more, groups, dilations), 0)
    widths = kernel.shape[2:]
    if not all(isinstance(width, int) for width in widths):
        raise refuse("a transposed convolution with a kernel of a symbolic size")
    sizes, own = list(array.shape), list(kernel.shape)
    array = reshape(real(array), [sizes[0], groups, sizes[1] // groups, *sizes[2:]])
    kernel = reshape(real(kernel), [groups, own[0] // groups, *own[1:]])
    along = [f"s{axis}" for axis in range(rank)]
    every = slice(None)
    parts = []
    for at in product(*map(range, widths)):
        weights = item(kernel, (every, every, every, *at))
        found = contract(["n", "g", "o", *along], (array, ["n", "g", "c", *along]), (weights, ["g", "c", "o"]))
        parts.append(reshape(found, [sizes[0], groups * own[1], *sizes[2:]]))
    result = _overlapped(parts, widths, strides, paddings, dilations, more)
    return result if bias is None else add(result, inserted(bias, list(range(1, rank + 1))))


def _overlapped(
    parts: list[Tensor],
    widths: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
    more: Sequence[int],
) -> Tensor:
    """Return the sum of overlapping windows. There is one part for each offset in a window, in row-major order."""
    rank = len(widths)
    for number in reversed(range(rank)):
        width, stride, dilation = widths[number], strides[number], dilations[number]
        rows = [
            spread(part, 2 + number, stride, dilation * place, dilation * (width - 1 - place))
            for part, place in zip(parts, [*range(width)] * (len(parts) // width), strict=True)
        ]
        parts = [reduce(add, rows[start : start + width]) for start in range(0, len(rows), width)]
    (result,) = parts
    for axis, (padding, behind) in enumerate(zip(paddings, more, strict=True), start=2):
        cut = padding - behind  # what is added after is a part of what padding takes away
        result = padded(result, axis, Integer(0), Integer(max(-cut, 0)), Integer(0))
        result = item(result, (*[slice(None)] * axis, slice(padding, -cut if cut > 0 else None)))
    return result


def spread(array: Tensor, axis: int, stride: int, before: int = 0, behind: int = 0) -> Tensor:
    """Return an array with its entries `stride` apart along an axis, and zeros between and around them."""
    if stride == 1:
        return padded(array, axis, Integer(before), Integer(behind), Integer(0))
    length = expand(before + stride * (array.sizes[axis] - 1) + 1 + behind)
    shape = [length if number == axis else along for number, along in enumerate(array.axes)]
    indices = numbered(shape)
    place, sums = summation(array.axes[axis], 0)
    here = KroneckerDelta(expand(before + stride * place.flat), indices[axis].flat)
    read = [place if number == axis else index for number, index in enumerate(indices)]
    return tensor(built(indices, shape, sums, here, (real(array).node, array.axes, read)), axes=shape)


def enlarged(array: Tensor, factors: Sequence[int], linear: bool) -> Tensor:
    """Return an array upsampled along its last axes by integer factors, by repetition or by linear interpolation."""
    for axis, factor in enumerate(factors, start=array.ndim - len(factors)):
        if factor == 1:
            continue
        finite("an image of another size", array)
        shares = [_share(factor, place) if linear else Rational(0) for place in range(factor)]
        near = padded_by_own(array, axis, 1, 1, "edge") if linear else array
        front = (slice(None),) * axis
        before, behind = (item(near, (*front, part)) if linear else near for part in (slice(None, -2), slice(2, None)))
        parts = [_between(array, before if share < 0 else behind, abs(share)) for share in shares]
        sizes = list(array.shape)
        array = reshape(stack(parts, axis + 1), [*sizes[:axis], sizes[axis] * factor, *sizes[axis + 1 :]])
    return array


def _share(factor: int, place: int) -> Rational:
    """Return the offset of an entry of the enlarged array from its source entry, in units of the source."""
    return Rational(2 * place + 1, 2 * factor) - Rational(1, 2)


def _between(one: Tensor, other: Tensor, share: Rational) -> Tensor:
    return add(multiply(one, 1 - share), multiply(other, share)) if share != 0 else one
