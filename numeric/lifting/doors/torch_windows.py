"""PyTorch's convolutions, pooling, padding and resizing of images, as windows that move along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.torch_operands import Table
from numeric.lifting.numbers import as_number, whole_quotient
from numeric.lifting.refusals import refuse

__all__ = ["WINDOWS"]

_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}  # PyTorch's words, and NumPy's


class _WithoutPlaces(tuple[Any, ...]):
    """The pair (values, indices) of largest entries; only the values are followed."""

    def __getitem__(self, number: Any) -> Any:
        if number != 0:
            raise refuse("the places of the largest entries of windows")
        return super().__getitem__(number)

    def __iter__(self) -> Any:
        raise refuse("the places of the largest entries of windows")


def _several(given: Any, rank: int, usual: int = 1) -> tuple[Any, ...]:
    """Return one number for each axis; PyTorch also takes a single number for all axes."""
    if given is None or (isinstance(given, tuple | list) and not given):
        return (usual,) * rank
    if isinstance(given, tuple | list):
        return tuple(given) if len(given) == rank else tuple(given) * rank
    return (given,) * rank


def _whole(given: tuple[Any, ...], what: str) -> tuple[int, ...]:
    if not all(isinstance(each, int) for each in given):
        raise refuse(f"{what} of a symbolic size")
    return given


def _convolution(rank: int) -> Callable[..., Any]:
    def convolved(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1
    ) -> Any:
        strides = _whole(_several(stride, rank), "steps")
        dilations = _whole(_several(dilation, rank), "gaps")
        if padding == "same":
            spare = [gap * (width - 1) for gap, width in zip(dilations, weight.shape[2:], strict=True)]
            around = [(each // 2, each - each // 2) for each in _whole(tuple(spare), "padding")]
        else:
            around = [(each, each) for each in _several(0 if padding == "valid" else padding, rank)]
        return places.convolved(x, weight, bias, strides, around, dilations, groups)

    return convolved


def _transposed(rank: int) -> Callable[..., Any]:
    def convolved(
        x: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: Any = 1,
        dilation: Any = 1,
    ) -> Any:
        strides, around, more, gaps = (
            _whole(_several(each, rank, usual), "steps")
            for each, usual in ((stride, 1), (padding, 0), (output_padding, 0), (dilation, 1))
        )
        return places.convolved_transposed(x, weight, bias, strides, around, more, groups, gaps)

    return convolved


def _pooling(rank: int, of_largest: bool) -> Callable[..., Any]:
    def pooled(
        x: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        *more: Any,
        dilation: Any = 1,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        if of_largest and more:
            dilation, *more_left = more
            more = (*more_left,)
        flags = ("ceil_mode",) if of_largest else ("ceil_mode", "count_include_pad", "divisor_override")
        told = dict(zip(flags, more, strict=False))
        widths = _whole(_several(kernel_size, rank), "windows")
        strides = _whole(_several(stride, rank), "steps") if stride not in (None, [], ()) else widths
        paddings = _whole(_several(padding, rank), "padding")
        counted = told.get("count_include_pad", count_include_pad) or not any(paddings)
        if told.get("ceil_mode", ceil_mode) or not counted or set(_several(dilation, rank)) != {1}:
            raise refuse("pooling with padding that does not count, with gaps, or with windows cut off")
        if told.get("divisor_override", divisor_override) is not None:
            raise refuse("pooling with another divisor")
        return places.pooled(x, widths, strides, paddings, of_largest)

    return pooled


def _adaptive(rank: int, of_largest: bool) -> Callable[..., Any]:
    return lambda x, output_size: places.pooled_to(x, _several(output_size, rank), of_largest)


def _with_places(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given, **options: _WithoutPlaces((rule(*given, **options), None))


def _padded(x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Return an array padded along its last axes; `pad` begins with the last axis."""
    widths = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    for along, (before, behind) in enumerate(widths, start=x.ndim - len(widths)):
        if mode == "constant":
            x = _cut(x, along, before, behind)
            before, behind = (max(each, 0) if isinstance(each, int) else each for each in (before, behind))
            x = places.padded(x, along, as_number(before), as_number(behind), as_number(value or 0))
        else:
            first, last = _whole((before, behind), "padding")
            x = places.padded_by_own(x, along, first, last, _MODES.get(mode, mode))
    return x


def _cut(x: Any, along: int, before: Any, behind: Any) -> Any:
    """Return an array without the entries that negative padding removes."""
    first, last = (-each if isinstance(each, int) and each < 0 else 0 for each in (before, behind))
    return places.item(x, (*[slice(None)] * along, slice(first or None, -last or None))) if first or last else x


def _blocks(x: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Return the windows of images as columns: rows run over channels and window entries, columns over windows."""
    kernel, gaps, around, steps = (
        _whole(_several(each, 2), "windows") for each in (kernel_size, dilation, padding, stride)
    )
    for axis, each in enumerate(around, start=x.ndim - 2):
        x = places.padded(x, axis, as_number(each), as_number(each), as_number(0))
    parts = places.window_entries(x, kernel, steps, gaps)
    stacked = places.stack(parts, x.ndim - 2)
    sizes = list(stacked.shape)
    return places.reshape(stacked, [*sizes[:-4], sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]])


def _pixels(of_channels: bool) -> Callable[..., Any]:
    """Return the rule of `pixel_shuffle` if `of_channels` is set, else the rule of `pixel_unshuffle`."""

    def shuffled(x: Any, factor: int) -> Any:
        *batch, channels, rows, columns = x.shape
        first = x.ndim - 3
        front = list(range(first))
        if of_channels:
            split = places.reshape(x, [*batch, channels // factor**2, factor, factor, rows, columns])
            turned = op.permute(split, [*front, *(first + axis for axis in (0, 3, 1, 4, 2))])
            return places.reshape(turned, [*batch, channels // factor**2, rows * factor, columns * factor])
        split = places.reshape(x, [*batch, channels, rows // factor, factor, columns // factor, factor])
        turned = op.permute(split, [*front, *(first + axis for axis in (0, 2, 4, 1, 3))])
        return places.reshape(turned, [*batch, channels * factor**2, rows // factor, columns // factor])

    return shuffled


def _added(x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Return images put together from windows that are columns; where windows overlap, their entries are added."""
    kernel, gaps, around, steps = (
        _whole(_several(each, 2), "windows") for each in (kernel_size, dilation, padding, stride)
    )
    sizes = [as_number(each) for each in _several(output_size, 2)]
    if x.ndim == 2:
        whole = places.windows_added(op.inserted(x, [0]), sizes, kernel, steps, around, gaps)
        return places.item(whole, 0)
    return places.windows_added(x, sizes, kernel, steps, around, gaps)


def _enlarged(rank: int, linear: bool) -> Callable[..., Any]:
    def interpolated(x: Any, output_size: Any, *more: Any) -> Any:
        *corners, scales = more
        if any(corners):
            raise refuse("an image of another size whose corners are aligned")
        if scales is None:
            found = [_quotient(*each) for each in zip(_several(output_size, rank), x.shape[-rank:], strict=True)]
        else:
            found = list(_several(scales, rank))
        if not all(each is not None and each == int(each) and each >= 1 for each in found):
            raise refuse("an image that is enlarged by no whole number")
        return places.enlarged(x, [int(each) for each in found], linear)

    return interpolated


def _quotient(wanted: Any, size: Any) -> Any:
    found = whole_quotient(as_number(wanted), as_number(size))
    return None if found is None or not found.is_Integer else int(found)


_OF_NN = torch._C._nn
WINDOWS: Table = {
    torch.conv1d: _convolution(1),
    torch.conv2d: _convolution(2),
    torch.conv3d: _convolution(3),
    torch.avg_pool1d: _pooling(1, False),
    _OF_NN.avg_pool2d: _pooling(2, False),
    _OF_NN.avg_pool3d: _pooling(3, False),
    torch.max_pool1d: _pooling(1, True),
    torch.max_pool2d: _pooling(2, True),
    torch.max_pool3d: _pooling(3, True),
    torch.max_pool1d_with_indices: _with_places(_pooling(1, True)),
    _OF_NN.max_pool2d_with_indices: _with_places(_pooling(2, True)),
    _OF_NN.max_pool3d_with_indices: _with_places(_pooling(3, True)),
    torch.adaptive_avg_pool1d: _adaptive(1, False),
    _OF_NN.adaptive_avg_pool2d: _adaptive(2, False),
    _OF_NN.adaptive_avg_pool3d: _adaptive(3, False),
    torch.adaptive_max_pool1d: _with_places(_adaptive(1, True)),
    _OF_NN.adaptive_max_pool2d: _with_places(_adaptive(2, True)),
    _OF_NN.adaptive_max_pool3d: _with_places(_adaptive(3, True)),
    _OF_NN.pad: _padded,
    _OF_NN.im2col: _blocks,
    _OF_NN.col2im: _added,
    torch.pixel_shuffle: _pixels(True),
    torch.pixel_unshuffle: _pixels(False),
    torch.conv_transpose1d: _transposed(1),
    torch.conv_transpose2d: _transposed(2),
    torch.conv_transpose3d: _transposed(3),
    _OF_NN.upsample_nearest1d: _enlarged(1, False),
    _OF_NN.upsample_nearest2d: _enlarged(2, False),
    _OF_NN.upsample_nearest3d: _enlarged(3, False),
    _OF_NN.upsample_linear1d: _enlarged(1, True),
    _OF_NN.upsample_bilinear2d: _enlarged(2, True),
    _OF_NN.upsample_trilinear3d: _enlarged(3, True),
}
WINDOWS.setdefault(F.adaptive_avg_pool1d, _adaptive(1, False))
