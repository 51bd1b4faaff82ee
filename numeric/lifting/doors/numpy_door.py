"""NumPy's functions on symbolic arrays: a table with one rule for each function.

A function without a row is followed by NumPy's own code, where that is written in Python; else it is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from derivations.language.arrays.shapes import axis
from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_arguments import (
    Table,
    array_operand,
    axes_of,
    float_only,
    keeps,
    order_of,
    plain,
    shape_of,
    small_table,
)
from numeric.lifting.doors.numpy_factories import FACTORIES, like_another
from numeric.lifting.doors.numpy_references import own_code_followed
from numeric.lifting.doors.shared_functions import contracted, outer, repeated, swapped
from numeric.lifting.guards import Question
from numeric.lifting.numbers import as_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, unwritten

__all__ = ["FUNCTIONS", "function_called"]


def _reduction(rule: Callable[..., Any]) -> Callable[..., Any]:
    def called(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
        if out is not None or any(value is not np._NoValue for value in more.values()):
            raise refuse(f"a reduction with {', '.join(more) or 'out'}=")
        float_only("dtype", dtype)
        return rule(a, axes_of(axis), keeps(keepdims))

    return called


def _average(a: Any, axis: Any, weights: Any, more: dict[str, Any]) -> Any:
    if weights is not None or more:
        return own_code_followed(np.average, (a, axis, weights), more, FACTORIES)
    return op.mean(a, axes_of(axis))


def _windows(x: Tensor, widths: Any, axis: Any, more: Any) -> Tensor:
    if more.get("subok") or more.get("writeable"):
        raise refuse("windows that may be written into")
    widths = [widths] if isinstance(widths, int) else list(widths)
    named = axes_of(axis)
    axes = [*range(x.ndim)] if named is None else named
    if len(widths) != len(axes) or not all(type(each) is int for each in widths):
        raise refuse("windows whose widths are not numbers, one for each axis")
    return places.windows(x, widths, axes)


def _padded(a: Any, width: Any, mode: str, more: dict[str, Any]) -> Any:
    plain(more, "constant_values")
    widths = width if isinstance(width, tuple | list) else (width, width)
    pairs = list(widths) if isinstance(widths[0], tuple | list) else [tuple(widths)] * a.ndim
    for along, (before, behind) in enumerate(pairs):
        if mode == "constant":
            value = as_number(more.get("constant_values", 0))
            a = places.padded(a, along, as_number(before), as_number(behind), value)
        elif isinstance(before, int) and isinstance(behind, int):
            a = places.padded_by_own(a, along, before, behind, mode)
        else:
            raise refuse(f"padding by the mode {mode!r} and a symbolic number of places")
    return a


def _extreme(along: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule of the largest, or the smallest, entries along axes."""

    def extreme(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **more: Any) -> Any:
        if out is not None or any(value is not np._NoValue for value in more.values()):
            raise refuse("a largest or smallest entry with out=, initial= or where=")
        return along(a, axes_of(axis), keeps(keepdims))

    return extreme


def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if out is not None or (axis is None and a.ndim > 1):
        raise refuse("a running sum with out=, or over all axes")
    float_only("dtype", dtype)
    return places.running_sums(a, 0 if axis is None else axis)


def _var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, **more: Any
) -> Any:
    if out is not None:
        raise refuse("a variance with out=")
    correction = more.pop("correction", np._NoValue)
    if any(value is not np._NoValue for value in more.values()):
        raise refuse(f"a variance with {', '.join(more)}=")
    return op.variance(a, axes_of(axis), keeps(keepdims), as_number(ddof if correction is np._NoValue else correction))


def _std(*given: Any, **options: Any) -> Any:
    return op.UNARY["sqrt"](_var(*given, **options))


def _cumulative_sum(x: Any, /, *, axis: Any = None, include_initial: bool = False, **more: Any) -> Any:
    if include_initial:
        raise refuse("cumulative_sum with a 0 in front")
    return _cumsum(x, axis, **more)


def _transpose(a: Any, axes: Any = None) -> Any:
    return op.permute(a, list(range(a.ndim))[::-1] if axes is None else list(axes))


def _moveaxis(a: Any, source: int, destination: int) -> Any:
    order = [number for number in range(a.ndim) if number != source % a.ndim]
    order.insert(destination % a.ndim, source % a.ndim)
    return op.permute(a, order)


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None:
        raise refuse("where() without two values")
    return op.where(array_operand(condition), small_table(x), small_table(y))


def _split(a: Any, parts: Any, axis: int = 0) -> list[Any]:
    number = op.axis_number(axis, a.ndim)
    if isinstance(parts, list | tuple | np.ndarray):
        bounds = [0, *parts, a.shape[number]]
    else:
        count = int(parts)
        if a.shape[number] % count:
            raise refuse(f"{count} parts of unequal sizes")
        size = a.shape[number] // count
        bounds = [size * place for place in range(count)] + [a.shape[number]]
    return [places.item(a, (*[slice(None)] * number, slice(start, stop))) for start, stop in pairwise(bounds)]


def _tri(lower: bool) -> Callable[..., Any]:
    return lambda m, k=0: places.triangle(m, k, lower)


def _pair_product(a: Any, b: Any) -> Any:
    if a.ndim <= 2 and b.ndim <= 2:
        return op.matmul(a, b)
    raise refuse("numpy.dot of arrays with more than two axes")


def _reshaped(a: Any, shape: tuple[Any, ...], order: Any = "C", **options: Any) -> Any:
    if order != "C":
        raise refuse(f"a reshape in the order {order!r}")
    plain(options, "copy")
    return places.reshape(a, shape_of(shape))


def _einsum(text: Any, arrays: Any, more: dict[str, Any]) -> Any:
    plain(more, "optimize")
    return op.einsum(text, *map(array_operand, arrays))


def _take(a: Any, indices: Any, axis: Any, more: dict[str, Any]) -> Any:
    plain(more)
    if axis is None:
        raise refuse("take without an axis")
    return places.gathered(array_operand(a), array_operand(indices), int(axis))


def _joined(rule: Callable[..., Any], arrays: Any, axis: Any, more: dict[str, Any]) -> Any:
    plain(more)
    return rule([array_operand(a) for a in arrays], axis)


def _argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    if order is not None or not (kind == "stable" or stable) or axis is None:
        raise refuse("argsort of more than the rows, or without a rule for equal entries: kind='stable' has one")
    if a.ndim != 2 or op.axis_number(axis, 2) != 1:
        raise refuse("argsort of an array that is no matrix, or along its columns")
    return places.sorted_places(a)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is not None and not ((axis is None and x.ndim == 1) or isinstance(axis, int)):
        raise refuse(f"a norm of order {ord} of a matrix")
    return op.norm(x, order_of(2 if ord is None else ord), axes_of(axis), keepdims)


def _clip(a: Any, low: Any = None, high: Any = None, **more: Any) -> Any:
    plain(more)
    a = a if low is None else op.extremum(a, low, True)
    return a if high is None else op.extremum(a, high, False)


FUNCTIONS: Table = {
    np.result_type: lambda *given: np.dtype(np.float64),
    np.sum: _reduction(op.summed),
    np.mean: _reduction(op.mean),
    **dict.fromkeys((np.max, np.amax), _extreme(op.maximum_along)),
    **dict.fromkeys((np.min, np.amin), _extreme(op.minimum_along)),
    np.prod: _reduction(places.product_along),
    np.cumsum: _cumsum,
    **({np.cumulative_sum: _cumulative_sum} if hasattr(np, "cumulative_sum") else {}),
    np.cumprod: lambda a, axis=None, **more: _running_products(a, axis, more),
    np.var: _var,
    np.std: _std,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.matrix_transpose: lambda x: swapped(x, -1, -2),
    np.swapaxes: swapped,
    np.moveaxis: _moveaxis,
    np.expand_dims: lambda a, axis: op.inserted(a, axes_of(axis) or []),
    np.squeeze: lambda a, axis=None: _squeeze(a, axis),
    np.reshape: lambda a, shape=None, order="C", newshape=None, **options: _reshaped(
        a, (shape if shape is not None else newshape,), order=order, **options
    ),
    np.ravel: lambda a, order="C": _reshaped(a, (-1,), order=order),
    np.broadcast_to: lambda a, shape, subok=False: op.broadcast_to(a, [axis(as_number(s)) for s in shape]),
    np.concatenate: lambda arrays, axis=0, **more: _joined(places.concatenate, arrays, axis, more),
    np.stack: lambda arrays, axis=0, **more: _joined(places.stack, arrays, axis, more),
    np.hstack: lambda arrays, **more: _joined(places.concatenate, arrays, 0 if arrays[0].ndim == 1 else 1, more),
    np.vstack: lambda arrays, **more: _joined(
        places.stack if array_operand(arrays[0]).ndim == 1 else places.concatenate, arrays, 0, more
    ),
    np.split: _split,
    np.array_split: _split,
    np.where: _where,
    np.tril: _tri(True),
    np.triu: _tri(False),
    np.empty_like: lambda a, *given, **more: unwritten(like_another(0)(a, *given, **more)),
    np.zeros_like: like_another(0),
    np.ones_like: like_another(1),
    np.full_like: like_another(None),
    np.dot: _pair_product,
    np.inner: lambda a, b: contracted(a, b, ((-1,), (-1,))),
    np.outer: outer,
    np.kron: lambda a, b: _kronecker(array_operand(a), array_operand(b)),
    np.tensordot: contracted,
    np.einsum: lambda text, *arrays, **more: _einsum(text, arrays, more),
    np.trace: lambda a, offset=0, axis1=0, axis2=1, **more: op.summed(op.diagonal(a, offset, axis1, axis2), [-1]),
    np.average: lambda a, axis=None, weights=None, **more: _average(a, axis, weights, more),
    np.pad: lambda a, width, mode="constant", **more: _padded(a, width, mode, more),
    np.nanvar: _var,
    np.tile: lambda a, reps: again(places.tiled(a, reps if isinstance(reps, tuple | list) else (reps,))),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: op.diagonal(a, offset, axis1, axis2),
    np.vdot: lambda a, b: op.summed(op.multiply(a, b)),
    # without the entries that are not numbers: real numbers are
    np.nansum: _reduction(op.summed),
    np.nanmean: _reduction(op.mean),
    np.nanmax: _reduction(op.maximum_along),
    np.nanmin: _reduction(op.minimum_along),
    np.linalg.norm: _norm,
    np.linalg.det: places.determinant,
    np.linalg.inv: places.inverse,
    np.linalg.slogdet: places.log_determinant,
    np.linalg.solve: lambda a, b: places.solved(array_operand(a), array_operand(b)),
    np.lib.stride_tricks.sliding_window_view: lambda x, window_shape, axis=None, **more: _windows(
        x, window_shape, axis, more
    ),
    np.convolve: lambda a, v, mode="full": places.with_kernel(a, array_operand(v), mode, True),
    np.correlate: lambda a, v, mode="valid": places.with_kernel(a, array_operand(v), mode, False),
    np.broadcast_arrays: lambda *arrays, subok=False: _same_shape(arrays),
    np.diag: lambda v, k=0: _diagonal(v, k),
    np.diagflat: lambda v, k=0: _diagonal(places.reshape(v, [-1]), k),
    np.copyto: lambda dst, src, casting="same_kind", where=True: _put(dst, src, where),
    **dict.fromkeys((np.round, np.around), lambda a, decimals=0, out=None: _rounded(a, decimals, out)),
    np.clip: _clip,
    np.repeat: repeated,
    np.take: lambda a, indices, axis=None, **more: _take(a, indices, axis, more),
    np.argsort: _argsort,
    np.take_along_axis: lambda arr, indices, axis: places.picked(array_operand(arr), array_operand(indices), int(axis)),
    np.any: lambda a, axis=None, **more: _question(a, axis, more, False),
    np.all: lambda a, axis=None, **more: _question(a, axis, more, True),
    np.linalg.multi_dot: lambda arrays, **more: _chained(arrays, more),
    np.roll: lambda a, shift, axis=None: places.rolled(a, shift, axis),
    np.nan_to_num: lambda a, copy=True, **more: _real_numbers(a),
    np.copy: lambda a, **more: again(a),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.linalg.matmul: op.matmul,
    np.linalg.vecdot if hasattr(np.linalg, "vecdot") else "vecdot": lambda a, b: op.einsum("...i,...i->...", a, b),
}


def _running_products(a: Any, axis: Any, more: dict[str, Any]) -> Any:
    plain(more)
    if axis is None and a.ndim != 1:
        raise refuse("running products of all entries")
    return places.running_products(a, axis or 0)


def _rounded(a: Any, decimals: int, out: Any) -> Any:
    plain({"out": out})
    return op.rounded(a, decimals)


def _diagonal(v: Any, k: int) -> Tensor:
    """Return the diagonal of a matrix, or a matrix with the entries of a vector on its diagonal."""
    if v.ndim == 2:
        return op.diagonal(v, k)
    if v.ndim != 1 or k != 0:
        raise refuse("a matrix with a vector beside its diagonal")
    return op.multiply(places.identity(v.sizes[0], v.sizes[0]), v)


def _same_shape(arrays: Any) -> tuple[Tensor, ...]:
    arrays = [array_operand(each) for each in arrays]
    axes = op.broadcast_shape(*(each.axes for each in arrays))
    return tuple(op.broadcast_to(each, axes) for each in arrays)


def _put(target: Any, source: Any, where: Any) -> None:
    """Write entries into an array, at a mask if there is one, as `np.copyto` does."""
    source = small_table(source)
    if where is True or not isinstance(source, Tensor):
        places.written(target, ... if where is True else where, source)
    else:
        target.overwrite(op.where(array_operand(where), source, again(target)))


def _kronecker(a: Any, b: Any) -> Any:
    if a.ndim != b.ndim:
        raise refuse("a Kronecker product of arrays with different numbers of axes")
    pairs = [(f"a{number}", f"b{number}") for number in range(a.ndim)]
    spread = op.contract(
        [each for pair in pairs for each in pair], (a, [one for one, _ in pairs]), (b, [other for _, other in pairs])
    )
    return places.reshape(spread, [one * other for one, other in zip(a.shape, b.shape, strict=True)])


def _real_numbers(a: Any) -> Any:
    op.finite("nan_to_num", a)
    return again(a)


def _refused(what: str) -> Any:
    raise refuse(what)


def _question(a: Any, axis: Any, more: dict[str, Any], of_all: bool) -> Question | Tensor:
    plain(more, "keepdims")
    if axis is not None:
        return places.set_along(op.truth(a), int(axis), of_all, keeps(more.get("keepdims", False)))
    return Question(op.truth(a), of_all)


def _chained(arrays: Any, more: dict[str, Any]) -> Any:
    """Return the product of several matrices; the order of the multiplications affects rounding only."""
    plain(more)
    return reduce(op.matmul, arrays)


def _squeeze(a: Tensor, axis: Any) -> Tensor:
    if axis is None:
        raise refuse("squeeze() without an axis: which axes it removes depends on the sizes")
    return op.removed(a, axes_of(axis) or [])


def function_called(function: Any, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a function of NumPy gives for symbolic arrays."""
    rule = FUNCTIONS.get(function)
    return own_code_followed(function, given, options, FACTORIES) if rule is None else rule(*given, **options)
