"""JAX's `gather`: the entries of an array at given indices, as slices, rows of a table, or one entry per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, Integer, expand

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.axes import Along, numbered, same_length, size_of_axis
from numeric.lifting.doors.jax_sizes import Dimensions
from numeric.lifting.doors.jax_tables import PLACES, Table, array_of, bounds_of, entries_at
from numeric.lifting.numbers import at_least
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["Columns", "are_whole", "column_of", "gathered"]


class Columns(tuple[Any, ...]):
    """Columns of integer indices for `gather`; each column is an array without the last axis."""

    axes = property(lambda self: (*self[0].axes, Integer(len(self))))
    kind = "integer"


def are_whole(value: Any) -> bool:
    """Return whether the entries of a value are whole numbers."""
    return value.kind == "integer" or (isinstance(value, Tensor) and value.node.kind == "integer")


def column_of(value: Any) -> Any:
    """Return the one column of an array of whole numbers as an array without the last axis."""
    if isinstance(value, Table):
        return value.read_at([*PLACES[: len(value.axes) - 1], Integer(0)], value.axes[:-1])
    return op.removed(value, [value.ndim - 1])


def _is_matrix(array: Tensor) -> bool:
    return array.ndim == 2 and len(array.node.shape) == 2


def gathered(equation: Any, dims: Dimensions, array: Any, numbers: Any) -> Any:
    """Return the entries of an array at integer indices, along the axes that JAX's dimension numbers give."""
    how = equation.params["dimension_numbers"]
    sizes = dims.sizes(equation.params["slice_sizes"])
    array = array_of(array)
    columns = _columns_of(numbers, len(how.start_index_map))
    shape = dims.sizes(equation.outvars[0].aval.shape)
    batch = [number for number in range(len(shape)) if number not in how.offset_dims]
    if all(isinstance(column, Table) for column in columns):
        return _at_formulas(array, columns, how, sizes, shape, batch)
    if not how.operand_batching_dims and tuple(how.start_index_map) == tuple(range(len(columns))) == tuple(
        how.collapsed_slice_dims
    ):
        if len(columns) == 1 and _is_matrix(array) and columns[0].ndim == 1 and same_length(sizes[1], array.axes[1]):
            return places.gathered(array, columns[0])
        if len(columns) == 2 and _is_matrix(array) and _counts_rows(columns[0], array):
            return op.removed(places.picked(array, op.inserted(columns[1], [1]), 1), [1])
    along_rows = tuple(how.operand_batching_dims) == (0,) and tuple(how.start_index_map) == (1,)
    if (
        along_rows
        and _is_matrix(array)
        and len(shape) - len(how.offset_dims) == 2
        and size_of_axis(columns[0].axes[-1]) == 1
    ):
        return places.picked(array, columns[0], 1)
    raise refuse(
        "a look-up that is not in the rows of a matrix, or of one entry of each row, by a vector of whole numbers"
    )


def _counts_rows(column: Any, array: Tensor) -> bool:
    return isinstance(column, Table) and column.formula == PLACES[0] and same_length(column.axes[0], array.axes[0])


def _columns_of(numbers: Any, count: int) -> list[Any]:
    if isinstance(numbers, Columns):
        return list(numbers)
    if count == 1:
        return [column_of(numbers)]
    if isinstance(numbers, Table):
        rank = len(numbers.axes) - 1
        return [numbers.read_at([*PLACES[:rank], Integer(k)], numbers.axes[:-1]) for k in range(count)]
    raise refuse("a look-up by several columns of numbers")


def _at_formulas(
    array: Tensor,
    columns: Sequence[Table],
    how: Any,
    sizes: Sequence[Expr],
    shape: Sequence[Expr],
    batch: Sequence[int],
) -> Tensor:
    """Return the entries at indices that are formulas: slices, single rows, every second entry."""
    dropped = {*how.collapsed_slice_dims, *how.operand_batching_dims}
    for column, along in zip(columns, how.start_index_map, strict=True):
        first, last = bounds_of(column.formula, column.axes)
        if (
            first is None
            or last is None
            or not (at_least(first, 0) and at_least(expand(size_of_axis(array.axes[along]) - sizes[along] - last), 0))
        ):
            raise refuse(f"a look-up at the places {column.formula}, which may lie outside of the array")

    kept = [number for number in range(array.ndim) if number not in dropped]
    target: list[Along] = list(shape)
    for number, place in zip(kept, how.offset_dims, strict=True):  # an axis that is read as it is keeps its parts
        if number not in how.start_index_map and same_length(array.axes[number], shape[place]):
            target[place] = array.axes[number]
    indices = numbered(target)
    put = {place: indices[number].flat for place, number in zip(PLACES, batch, strict=False)}
    offsets = dict(zip(kept, how.offset_dims, strict=True))
    at: list[Any] = []
    for number in range(array.ndim):
        index: Any = indices[offsets[number]] if number in offsets else Integer(0)
        if number in how.operand_batching_dims:
            which = how.start_indices_batching_dims[how.operand_batching_dims.index(number)]
            index = indices[batch[which]]
        if number in how.start_index_map:
            start = columns[how.start_index_map.index(number)].formula.xreplace(put)
            index = expand(start + (index.flat if number in offsets else index))
        at.append(index)
    return entries_at(array, target, indices, at)
