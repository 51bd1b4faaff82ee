"""Rules for primitives of JAX that move, repeat, add up or multiply entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import Expr, Integer, expand

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.axes import Along, numbered, same_length, size_of_axis
from numeric.lifting.doors.jax_control import stacked
from numeric.lifting.doors.jax_gather import Columns, are_whole, column_of, gathered
from numeric.lifting.doors.jax_sizes import Dimensions
from numeric.lifting.doors.jax_tables import PLACES, Table, array_of, entries_at, number_of
from numeric.lifting.doors.jax_updates import UPDATES
from numeric.lifting.numbers import at_least
from numeric.lifting.refusals import refuse

__all__ = ["STRUCTURAL"]

Rule = Callable[..., Any]


def _plain(axes: Sequence[Along]) -> tuple[Expr, ...]:
    return tuple(map(size_of_axis, axes))


# --- repeated, turned and reshaped ----------------------------------------------------------------------------------


def _broadcast(equation: Any, dims: Dimensions, one: Any, *more: Any) -> Any:
    shape = dims.sizes(equation.params["shape"])
    onto = equation.params["broadcast_dimensions"]
    if isinstance(one, Columns):
        raise refuse("columns of numbers repeated")
    if isinstance(one, Table):
        read = [Integer(0) if along == 1 else PLACES[place] for along, place in zip(one.axes, onto, strict=True)]
        return one.read_at(read, shape)
    new = [number for number in range(len(shape)) if number not in onto]
    wide = op.inserted(one, new) if new else one
    if all(map(same_length, wide.axes, shape)):
        return wide
    target = [own if same_length(own, size) else size for own, size in zip(wide.axes, shape, strict=True)]
    return op.broadcast_to(wide, target)


def _transposed(equation: Any, dims: Dimensions, one: Any) -> Any:
    order = equation.params["permutation"]
    if isinstance(one, Table):
        return one.read_at([PLACES[order.index(number)] for number in range(len(order))], [one.axes[n] for n in order])
    return op.permute(one, order)


def _reshaped(equation: Any, dims: Dimensions, one: Any, *more: Any) -> Any:
    if equation.params["dimensions"] is not None:
        raise refuse("a reshape in another order")
    shape = dims.sizes(equation.params["new_sizes"])
    if isinstance(one, Table) and one.constant:
        return Table(one.formula, shape, one.kind)
    if isinstance(one, Table):
        kept = [number for number, along in enumerate(one.axes) if along != 1]
        new = [number for number, along in enumerate(shape) if along != 1]
        if [one.axes[n] for n in kept] != [shape[n] for n in new]:
            return places.reshape(array_of(one), shape)
        read = {old: PLACES[number] for old, number in zip(kept, new, strict=True)}
        return one.read_at([read.get(number, Integer(0)) for number in range(len(one.axes))], shape)
    return places.reshape(one, shape)


def _squeezed(equation: Any, dims: Dimensions, one: Any) -> Any:
    gone = equation.params["dimensions"]
    if isinstance(one, Table):
        left = iter(PLACES)
        read = [Integer(0) if number in gone else next(left) for number in range(len(one.axes))]
        return one.read_at(read, [along for number, along in enumerate(one.axes) if number not in gone])
    return op.removed(one, gone)


def _reversed(equation: Any, dims: Dimensions, one: Any) -> Any:
    turned = equation.params["dimensions"]

    if isinstance(one, Table):
        read = [_mirrored(PLACES[n], along) if n in turned else PLACES[n] for n, along in enumerate(one.axes)]
        return one.read_at(read, one.axes)
    target = [size_of_axis(along) if number in turned else along for number, along in enumerate(one.axes)]
    indices = numbered(target)
    at = [
        _mirrored(index.flat, along) if n in turned else index
        for n, (index, along) in enumerate(zip(indices, target, strict=True))
    ]
    return entries_at(one, target, indices, at)


def _mirrored(place: Expr, along: Expr) -> Expr:
    return expand(along - 1 - place)


# --- sums, extrema, products ----------------------------------------------------------------------------------------


def _summed(equation: Any, dims: Dimensions, one: Any) -> Any:
    axes = equation.params["axes"]
    if isinstance(one, Table) and one.constant and one.kind != "boolean":
        value: Expr = number_of(one)
        for number in axes:
            value = value * one.axes[number]
        left = tuple(along for number, along in enumerate(one.axes) if number not in axes)
        return Table(expand(value), left, one.kind)
    return op.summed(array_of(one), axes)


def _largest(equation: Any, dims: Dimensions, one: Any) -> Any:
    return op.maximum_along(array_of(one), equation.params["axes"])


def _smallest(equation: Any, dims: Dimensions, one: Any) -> Any:
    return op.minimum_along(array_of(one), equation.params["axes"])


def _set(of_all: bool) -> Rule:
    def applied(equation: Any, dims: Dimensions, one: Any) -> Any:
        found = array_of(one)
        for axis in sorted(equation.params["axes"], reverse=True):
            found = places.set_along(found, axis, of_all)
        return found

    return applied


def _running(equation: Any, dims: Dimensions, one: Any) -> Any:
    return places.running_sums(array_of(one), equation.params["axis"], equation.params["reverse"])


def _product(equation: Any, dims: Dimensions, one: Any, other: Any) -> Any:
    (left_sums, right_sums), (left_batch, right_batch) = equation.params["dimension_numbers"]
    one, other = array_of(one), array_of(other)
    left = [f"l{number}" for number in range(one.ndim)]
    right = [f"r{number}" for number in range(other.ndim)]
    for number, partner in [*zip(left_sums, right_sums, strict=True), *zip(left_batch, right_batch, strict=True)]:
        right[partner] = left[number]
    summed = {left[number] for number in left_sums}
    batch = [left[number] for number in left_batch]
    wanted = [*batch, *(x for x in left if x not in summed and x not in batch)]
    return op.contract([*wanted, *(x for x in right if x not in left)], (one, left), (other, right))


def _convolved(equation: Any, dims: Dimensions, one: Any, kernel: Any) -> Any:
    """Return a convolution along the axes that JAX names; dilation of the input inserts zeros between its entries."""
    told = equation.params
    if told["batch_group_count"] != 1:
        raise refuse("a convolution in groups of the batch")
    of_input, of_kernel, of_result = told["dimension_numbers"]
    array, weights = op.permute(array_of(one), of_input), op.permute(array_of(kernel), of_kernel)
    for axis, stride in enumerate(told["lhs_dilation"], start=2):
        array = places.spread(array, axis, stride)
    around = [(dims.size(low), dims.size(high)) for low, high in told["padding"]]
    if not all(at_least(each, 0) for pair in around for each in pair):
        raise refuse("a convolution with negative padding")
    found = places.convolved(
        array, weights, None, told["window_strides"], around, told["rhs_dilation"], told["feature_group_count"]
    )
    order = list(of_result)
    return op.permute(found, [order.index(number) for number in range(len(order))])


# --- parts ----------------------------------------------------------------------------------------------------------


def _sliced(equation: Any, dims: Dimensions, one: Any) -> Any:
    starts = dims.sizes(equation.params["start_indices"])
    stops = dims.sizes(equation.params["limit_indices"])
    steps = equation.params["strides"] or (1,) * len(starts)
    if isinstance(one, Table):
        shape = dims.sizes(equation.outvars[0].aval.shape)
        return one.read_at([start + step * i for start, step, i in zip(starts, steps, PLACES, strict=False)], shape)
    return places.item(one, tuple(slice(a, b, c) for a, b, c in zip(starts, stops, steps, strict=True)))


def _part_at(equation: Any, dims: Dimensions, one: Any, *starts: Any) -> Any:
    sizes = dims.sizes(equation.params["slice_sizes"])
    numbers = [_start(start, size, along) for start, size, along in zip(starts, sizes, _plain(one.axes), strict=True)]
    if isinstance(one, Table):
        return one.read_at([start + i for start, i in zip(numbers, PLACES, strict=False)], sizes)
    return places.item(
        one, tuple(slice(start, expand(start + size)) for start, size in zip(numbers, sizes, strict=True))
    )


def _start(start: Any, size: Expr, along: Expr) -> Expr:
    """Return the start of a slice that fits for all sizes; others are refused, because JAX would move the slice."""
    if not isinstance(start, Table):
        raise refuse("a part of an array that starts at a place that depends on entries")
    place = number_of(start)
    if not (at_least(place, 0) and at_least(expand(along - size - place), 0)):
        raise refuse(f"a part that starts at {place} and has the size {size}, of an axis of the size {along}")
    return place


def _divided(equation: Any, dims: Dimensions, one: Any) -> list[Any]:
    along, first = equation.params["axis"], Integer(0)
    parts: list[Any] = []
    for size in dims.sizes(equation.params["sizes"]):
        stop = expand(first + size)
        if isinstance(one, Table):
            read = [
                first + i if number == along else i for number, i in zip(range(len(one.axes)), PLACES, strict=False)
            ]
            shape = [size if number == along else own for number, own in enumerate(one.axes)]
            parts.append(one.read_at(read, shape))
        else:
            parts.append(places.item(one, (*[slice(None)] * along, slice(first, stop))))
        first = stop
    return parts


def _joined(equation: Any, dims: Dimensions, *given: Any) -> Any:
    along = equation.params["dimension"]
    columns = along == len(given[0].axes) - 1 and all(size_of_axis(each.axes[-1]) == 1 for each in given)
    if columns and all(are_whole(each) for each in given):
        return Columns(column_of(each) for each in given)
    return places.concatenate([array_of(each) for each in given], along)


def _stacked(equation: Any, dims: Dimensions, *given: Any) -> Any:
    return stacked(given, equation.params["axis"])


def _padded(equation: Any, dims: Dimensions, one: Any, filler: Any) -> Any:
    array, value = array_of(one), number_of(filler)
    for along, (low, high, inside) in enumerate(equation.params["padding_config"]):
        first, last = dims.size(low), dims.size(high)
        if dims.size(inside) != 0 or not (at_least(first, 0) and at_least(last, 0)):
            raise refuse("padding between entries, or by a negative number")
        array = places.padded(array, along, first, last, value)
    return array


def _numbered(equation: Any, dims: Dimensions, *more: Any) -> Table:
    shape = dims.sizes(equation.params["shape"])
    kind = "real" if equation.params["dtype"].kind == "f" else "integer"
    return Table(PLACES[equation.params["dimension"]], shape, kind)


def _as_value(equation: Any, dims: Dimensions) -> Table:
    return Table(dims.size(equation.params["dim"]), (), "integer")


STRUCTURAL: dict[str, Rule] = {
    "broadcast_in_dim": _broadcast,
    "transpose": _transposed,
    "reshape": _reshaped,
    "squeeze": _squeezed,
    "rev": _reversed,
    "tile": lambda equation, dims, one: places.tiled(array_of(one), equation.params["reps"]),
    "reduce_sum": _summed,
    "reduce_max": _largest,
    "reduce_min": _smallest,
    "reduce_and": _set(True),
    "reduce_or": _set(False),
    "reduce_prod": lambda equation, dims, one: places.product_along(array_of(one), equation.params["axes"]),
    "cumsum": _running,
    "cumprod": lambda equation, dims, one: places.running_products(
        array_of(one), equation.params["axis"], equation.params["reverse"]
    ),
    "dot_general": _product,
    "conv_general_dilated": _convolved,
    "slice": _sliced,
    "dynamic_slice": _part_at,
    "split": _divided,
    "concatenate": _joined,
    "stack": _stacked,
    "pad": _padded,
    "iota": _numbered,
    "dim_as_value": _as_value,
    "gather": gathered,
    **UPDATES,
}
