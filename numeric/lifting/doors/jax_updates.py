"""JAX's updates of a part of an array: `x.at[1:3].set(y)`, `.add`, `.multiply`, `.min`, `.max`, and update slices.

Definition   along each axis the part is start, start + step, ..., count places; outside of it nothing changes
Result       the entries before the part, the changed part and those after it, side by side; with a step, the axis is
             read as blocks of step places, of which one is changed
Assumes      the part lies inside the array for all sizes, and each of its places is written once
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sympy import Expr, Integer, expand

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.axes import same_length, size_of_axis
from numeric.lifting.doors.jax_gather import Columns, column_of
from numeric.lifting.doors.jax_sizes import Dimensions
from numeric.lifting.doors.jax_tables import PLACES, Table, array_of, number_of
from numeric.lifting.numbers import at_least
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["UPDATES"]

Rule = Callable[..., Any]


class Part(NamedTuple):
    """The `count` indices start, start + step, ... of an axis."""

    start: Expr
    count: Expr
    step: Expr


def _changed(array: Tensor, parts: Sequence[Part], new: Tensor, combine: Rule) -> Tensor:
    """Return an array in which a part, given axis by axis, is combined with new values."""
    for axis, (start, count, step) in enumerate(parts):
        along = size_of_axis(array.axes[axis])
        if start == 0 and step == 1 and same_length(along, count):
            continue
        whole = [*parts[:axis], Part(Integer(0), count, Integer(1)), *parts[axis + 1 :]]
        if step == 1:
            stop = expand(start + count)
            inner = _changed(_slice(array, axis, start, stop), whole, new, combine)
            around = (
                [] if start == 0 else [_slice(array, axis, Integer(0), start)],
                [] if same_length(stop, along) else [_slice(array, axis, stop, along)],
            )
            return places.concatenate([*around[0], inner, *around[1]], axis)
        if not (step.is_Integer and start.is_Integer and start < step and same_length(expand(step * count), along)):
            raise refuse(f"a write at every {step}-th place of {along}: declare the size as a multiple of {step}")
        sizes = [size_of_axis(each) for each in array.axes]
        blocks = places.reshape(array, [*sizes[:axis], count, step, *sizes[axis + 1 :]])
        columns = [places.item(blocks, (*[slice(None)] * (axis + 1), number)) for number in range(int(step))]
        columns[int(start)] = _changed(columns[int(start)], whole, new, combine)
        side_by_side = places.concatenate([op.inserted(column, [axis + 1]) for column in columns], axis + 1)
        return places.reshape(side_by_side, sizes)
    changed: Tensor = combine(array, new)
    return changed


def _slice(array: Tensor, axis: int, start: Expr, stop: Expr) -> Tensor:
    return places.item(array, (*[slice(None)] * axis, slice(start, stop)))


def _inside(part: Part, along: Any) -> Part:
    """Return a part that lies inside its axis for all sizes; others are refused: JAX would drop or move them."""
    last = expand(size_of_axis(along) - 1 - part.start - part.step * (part.count - 1))
    if not (at_least(part.start, 0) and at_least(last, 0)):
        raise refuse(f"a write at {part.start} and {part.count} places of an axis of the size {size_of_axis(along)}")
    return part


def _scattered(combine: Rule) -> Rule:
    def applied(equation: Any, dims: Dimensions, array: Any, numbers: Any, new: Any) -> Tensor:
        how = equation.params["dimension_numbers"]
        if how.operand_batching_dims:
            raise refuse("a write at places that differ from row to row")
        array, new = array_of(array), array_of(new)
        columns = dict(
            zip(how.scatter_dims_to_operand_dims, _columns(numbers, len(how.scatter_dims_to_operand_dims)), strict=True)
        )
        windows = iter(how.update_window_dims)
        batch = [axis for axis in range(new.ndim) if axis not in how.update_window_dims]
        parts: list[Part] = []
        order: list[int | None] = []
        for axis, along in enumerate(array.axes):
            start, step, place = _steps(columns.get(axis))
            window = None if axis in how.inserted_window_dims else next(windows)
            if place is not None and window is not None:
                raise refuse("a write of several rows at each of several places")
            read = window if place is None else batch[place]
            count = Integer(1) if read is None else size_of_axis(new.axes[read])
            parts.append(_inside(Part(start, count, step), along))
            order.append(read)
        taken = [read for read in order if read is not None]
        if sorted(taken) != list(range(new.ndim)):
            raise refuse("a write that meets a place more than once")
        moved = op.permute(new, taken) if taken != list(range(new.ndim)) else new
        gone = [axis for axis, read in enumerate(order) if read is None]
        return _changed(array, parts, op.inserted(moved, gone) if gone else moved, combine)

    return applied


def _columns(numbers: Any, count: int) -> list[Any]:
    """Return the indices that are written along each axis, as formulas."""
    if isinstance(numbers, Columns):
        found = list(numbers)
    elif count == 1:
        found = [column_of(numbers)]
    elif isinstance(numbers, Table):
        rank = len(numbers.axes) - 1
        found = [numbers.read_at([*PLACES[:rank], Integer(k)], numbers.axes[:-1]) for k in range(count)]
    else:
        found = [numbers]
    if not all(isinstance(each, Table) for each in found):
        raise refuse("a write at places that entries choose")
    return found


def _steps(column: Table | None) -> tuple[Expr, Expr, int | None]:
    """Return the first index, the step, and the axis of the index array that counts the steps, or None without one."""
    if column is None:
        return Integer(0), Integer(1), None
    formula = expand(column.formula)
    read = [number for number, place in enumerate(PLACES) if place in formula.free_symbols]
    if not read:
        return formula, Integer(1), None
    step = formula.coeff(PLACES[read[0]], 1)
    start = expand(formula - step * PLACES[read[0]])
    if len(read) > 1 or not (step.is_Integer and step >= 1) or start.free_symbols & set(PLACES):
        raise refuse(f"a write at the places {formula}")
    return start, step, read[0]


def _update_slice(equation: Any, dims: Dimensions, array: Any, new: Any, *starts: Any) -> Tensor:
    array, new = array_of(array), array_of(new)
    if not all(isinstance(start, Table) for start in starts):
        raise refuse("an update of a part that starts at a place that depends on entries")
    sizes = map(size_of_axis, new.axes)
    parts = [
        _inside(Part(number_of(start), size, Integer(1)), along)
        for start, size, along in zip(starts, sizes, array.axes, strict=True)
    ]
    return _changed(array, parts, new, _put)


def _put(old: Tensor, new: Tensor) -> Tensor:
    return new


UPDATES: dict[str, Rule] = {
    "scatter": _scattered(_put),
    "scatter-add": _scattered(op.add),
    "scatter_add": _scattered(op.add),
    "scatter-mul": _scattered(op.multiply),
    "scatter_mul": _scattered(op.multiply),
    "scatter-max": _scattered(lambda old, new: op.extremum(old, new, True)),
    "scatter_max": _scattered(lambda old, new: op.extremum(old, new, True)),
    "scatter-min": _scattered(lambda old, new: op.extremum(old, new, False)),
    "scatter_min": _scattered(lambda old, new: op.extremum(old, new, False)),
    "dynamic_update_slice": _update_slice,
}
