"""Indexing by integer arrays: rows of a table, one entry of each row, and the largest entries."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Eq, Expr, Symbol, expand

from derivations.language.arrays.contraction import operand_of
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import Lookup
from derivations.language.arrays.routing import TopK
from derivations.language.arrays.selection import Chosen, Pick
from derivations.language.arrays.shapes import total
from numeric.lifting.axes import is_one, same_length, size_of_axis
from numeric.lifting.numbers import Size
from numeric.lifting.operations import (
    axis_number,
    broadcast_shape,
    broadcast_to,
    compare,
    contract,
    defined_by,
    finite,
    inserted,
    integer_table,
    negate,
    permute,
    real,
    removed,
    source_of,
)
from numeric.lifting.places.positions import positions
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor
from numeric.lifting.trace import current

__all__ = ["entries_by_numbers", "gathered", "largest", "picked", "sorted_places"]


def gathered(table: Tensor, numbers: Tensor, axis: int = 0) -> Tensor:
    """Return slices of an array at integer indices along an axis. The axes of the index array replace that axis.

    Definition   the nodes of the language for the rows of a matrix; else the sum over all places p of [p is chosen]
                 times part p
    """
    axis = axis_number(axis, table.ndim)
    _note_choice(table, numbers, axis)
    if axis == 0 and len(table.node.shape) == 2 and len(numbers.node.shape) == numbers.ndim == 1:
        return tensor(Lookup(table.node, numbers.node))
    if axis == 0 and len(table.node.shape) == 2 and len(numbers.node.shape) == numbers.ndim == 2:
        return permute(tensor(Chosen(table.node, numbers.node)), [1, 2, 0])
    own, theirs = _letters("t", table.ndim), _letters("n", numbers.ndim)
    wanted = [*own[:axis], *theirs, *own[axis + 1 :]]
    return _chosen_along(table, numbers, axis, wanted, theirs)


def picked(table: Tensor, numbers: Tensor, axis: int) -> Tensor:
    """Return the entries of an array at integer indices along an axis. Both arrays agree in all other axes."""
    axis = axis_number(axis, table.ndim)
    if numbers.ndim != table.ndim:
        raise ValueError(f"numbers with {numbers.ndim} axes choose entries of an array with {table.ndim}")
    _note_choice(table, numbers, axis)
    if axis == 1 and len(table.node.shape) == len(numbers.node.shape) == 2 and is_one(numbers.axes[1]):
        return inserted(tensor(Pick(table.node, removed(numbers, [1]).node)), [1])
    own = _letters("t", table.ndim)
    theirs = [*own[:axis], "n", *own[axis + 1 :]]
    return _chosen_along(table, numbers, axis, theirs, theirs)


def entries_by_numbers(table: Tensor, numbers: Sequence[Tensor]) -> Tensor:
    """Return an array indexed by integer arrays, one for each of its first axes, after they broadcast to one shape.

    Definition   where the numbers along an axis are an index of the result, the axis is read there; along the others
                 the sum over all places p of [p is chosen]
    """
    axes = broadcast_shape(*(each.axes for each in numbers))
    numbers = [broadcast_to(each, axes) for each in numbers]
    theirs, own = _letters("n", len(axes)), _letters("t", table.ndim)
    factors = []
    for axis, each in enumerate(numbers):
        place = _own_index(each, table.sizes[axis])
        if place is not None and theirs[place] not in own:
            own[axis] = theirs[place]
            continue
        _note_choice(table, each, axis)
        here = compare(inserted(each, [each.ndim]), positions(0, table.sizes[axis]), Eq)
        factors.append((real(here), [*theirs, own[axis]]))
    if len(axes) == 1 and table.ndim == len(table.node.shape) == 2 and own[0] == theirs[0] and len(numbers) == 2:
        return tensor(Pick(table.node, numbers[1].node))
    return contract([*theirs, *own[len(numbers) :]], (real(table), own), *factors)


def _own_index(numbers: Tensor, size: Expr) -> int | None:
    """Return the axis along which the entries of an index array are 0, 1, ..., size - 1, or None."""
    formula = integer_table(numbers.node)
    if formula is None or len(numbers.node.shape) != numbers.ndim:
        return None
    places = formula.variables
    found = next((axis for axis, place in enumerate(places) if formula.expr == place), None)
    return found if found is not None and same_length(numbers.axes[found], size) else None


def sorted_places(array: Tensor) -> Tensor:
    """Return the indices that sort each row of a matrix in rising order. Equal entries keep their order."""
    finite("an order", array)
    falling = negate(real(array))
    return permute(tensor(TopK(falling.node, size_of_axis(falling.axes[1]))), [1, 0])


def largest(array: Tensor, count: Expr, axis: int = -1) -> tuple[Tensor, Tensor]:
    """Return the largest entries along an axis in falling order, and their indices. Of equal entries the first wins.

    Definition   the nodes of the language for the rows of a matrix; a vector is one row
    """
    finite("the largest entries", array)
    along = axis_number(axis, array.ndim)
    if not Size(expand(array.sizes[along] - count)) >= 0:
        raise IndexError(f"the {count} largest entries of {array.sizes[along]}")
    if array.ndim == 1:
        values, numbers = largest(inserted(array, [0]), count, 1)
        return _only_row(values), _only_row(numbers)
    if array.ndim == 2 and along == 0:
        values, numbers = largest(permute(array, [1, 0]), count, 1)
        return permute(values, [1, 0]), permute(numbers, [1, 0])
    if array.ndim != 2 or len(array.node.shape) != 2:
        raise refuse("the largest entries of an array that is no matrix")
    numbers = permute(tensor(TopK(real(array).node, count)), [1, 0])
    return picked(array, numbers, 1), numbers


def _only_row(array: Tensor) -> Tensor:
    """Return the only row of a matrix."""
    return removed(array, [0])


def _letters(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(count)]


def _chosen_along(table: Tensor, numbers: Tensor, axis: int, wanted: Sequence[str], theirs: Sequence[str]) -> Tensor:
    """Return the sum over the indices of an axis of [the index is chosen] times the entry at that index."""
    own = _letters("t", table.ndim)
    here = compare(inserted(numbers, [numbers.ndim]), positions(0, table.sizes[axis]), Eq)
    return contract(wanted, (real(here), [*theirs, own[axis]]), (real(table), own))


def _note_choice(table: Tensor, numbers: Tensor, axis: int) -> None:
    """Record the condition that the entries of an integer array are valid indices along an axis."""
    finite("a look-up", table)
    if numbers.node.kind != "integer":
        raise refuse("a look-up by numbers that are not whole")
    if table.kind != "real":
        raise refuse("a look-up in truth values or whole numbers")
    counted = _unmoved(numbers.node)
    if not _are_places(counted, table.sizes[axis]):
        current().chosen[current().define(counted), table.sizes[axis]] = None


def _are_places(numbers: Array, size: Expr) -> bool:
    """Return whether the numbers are valid indices by definition, as the top-k indices of an axis of this size."""
    value = defined_by(numbers)
    return isinstance(value, TopK) and bool(total(value.args[0].shape[1]) == size)


def _unmoved(node: Array) -> Array:
    """Return the array that a node transposes or repeats, or the node itself if it does neither."""
    source, *read = source_of(
        operand_of(node, [Symbol(f"at_{number}", integer=True) for number in range(len(node.shape))])
    )
    return source if all(isinstance(place, Symbol) for place in read) and len(set(read)) == len(read) else node
