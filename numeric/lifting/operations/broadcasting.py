"""Shapes of symbolic arrays: broadcasting, constant tables, and reads traced back to the array with the entries.

Axes are broadcast from the last one on, as every library of arrays does; an axis of several factors is stretched by its
factors. A contraction reads through arrays whose entries are only moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import (
    Expr,
    Ge,
    Integer,
    Lambda,
    Symbol,
    expand,
)
from sympy import Tuple as Places

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.contraction import Contraction, contraction, operand_of
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, Transpose
from derivations.language.arrays.scalars import Iverson
from numeric.lifting.axes import (
    Along,
    Factors,
    Index,
    Stepped,
    digits,
    fine,
    is_one,
    numbered,
    same_length,
    size_of_axis,
)
from numeric.lifting.numbers import at_least
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor
from numeric.lifting.trace import current

__all__ = [
    "ALWAYS",
    "Operand",
    "broadcast_shape",
    "broadcast_to",
    "built",
    "constant",
    "contracted",
    "defined_by",
    "finer",
    "full",
    "moved",
    "source_of",
    "stretched",
    "table",
    "together",
    "unequal",
    "viewed",
]

Operand = Any  # a Tensor, or a number
ALWAYS = Ge(Symbol("i_0", integer=True), 0, evaluate=False)  # of the first place of a table


def broadcast_shape(*shapes: Sequence[Along]) -> tuple[Along, ...]:
    """Return the axes to which arrays broadcast, aligned at their last axes."""
    rank = max(map(len, shapes))
    result: list[Along] = []
    for place in range(rank):
        found: Along = Integer(1)
        for shape in shapes:
            number = place - rank + len(shape)
            if number >= 0 and not is_one(shape[number]):
                found = (
                    shape[number] if is_one(found) else finer(found, shape[number], "arrays that meet entry by entry")
                )
        result.append(found)
    return tuple(result)


def finer(one: Along, other: Along, what: str) -> Along:
    """Return the axis that shows its parts, of two axes of the same size."""
    if not same_length(one, other):
        raise unequal(one, other, what)
    if isinstance(one, Factors) and isinstance(other, Factors) and one != other:
        raise refuse(f"an axis of the parts {one.sizes} meets one of the parts {other.sizes}")
    return other if isinstance(other, Factors) else one


def stretched(node: Array, axes: Sequence[Along], target: Sequence[Along]) -> Array:
    """Return an array broadcast to other axes, aligned at the last axes."""
    if list(node.shape) == fine(target):
        return node
    indices = numbered(target)
    first = len(target) - len(axes)
    places = [
        Integer(0) if is_one(along) and not is_one(target[first + number]) else indices[first + number]
        for number, along in enumerate(axes)
    ]
    return moved(indices, target, (node, axes, places))


def moved(indices: Sequence[Index], target: Sequence[Along], *read: Any) -> Array:
    """Return the array whose entries are read from another array at the given indices."""
    return built(indices, target, (), 1, *read)


def built(indices: Sequence[Index], target: Sequence[Along], sums: Any, factor: Any, *reads: Any) -> Array:
    """Return a contraction; each of `reads` is an array, its axes, and an index or a formula for each axis."""
    operands = [operand_of(node, _fine_places(axes, places)) for node, axes, places in reads]
    symbols = [symbol for index in indices for symbol in index.symbols]
    return contracted(symbols, fine(target), sums, factor, *operands)


def _fine_places(axes: Sequence[Along], places: Sequence[Index | Expr]) -> list[Expr]:
    """Return the indices on the axes of the node, one for each part of an axis."""
    found: list[Expr] = []
    for along, place in zip(axes, places, strict=True):
        if not isinstance(along, Factors):
            found.append(place.flat if isinstance(place, Index) else place)
        elif isinstance(place, Index) and not isinstance(place, Stepped) and place.sizes == along.sizes:
            found += place.symbols
        else:
            found += _on_parts(place.flat if isinstance(place, Index) else place, along, place)
    return found


def _on_parts(flat: Expr, along: Factors, index: Index | Expr) -> list[Expr]:
    """Split the index of a merged axis into one index for each part, or refuse it if its terms show no such split."""
    if flat == 0:
        return [Integer(0)] * len(along.sizes)
    own = dict(zip(index.symbols, index.sizes, strict=True)) if isinstance(index, Index) else {}
    found = digits(flat, along.sizes)
    for part, size in zip(found or (), along.sizes, strict=False):
        last = expand(part.xreplace({symbol: count - 1 for symbol, count in own.items()}))
        inside = part.free_symbols <= size.free_symbols | own.keys() and at_least(size - 1 - last, 0)
        if not inside:
            break
    else:
        if found:
            return found
    raise refuse(f"the place {flat} on an axis of the parts {along.sizes}")


def unequal(one: Along, other: Along, what: str) -> BaseException:
    """Return the error for different sizes: a ValueError if they differ for all sizes, else a refusal."""
    gap = expand(size_of_axis(one) - size_of_axis(other))
    text = f"{what} have the sizes {size_of_axis(one)} and {size_of_axis(other)}"
    return ValueError(text) if gap.is_number else refuse(text)


def contracted(indices: Any, shape: Sequence[Expr], sums: Any, factor: Any, *operands: Any) -> Array:
    """Return a contraction that skips arrays which only move entries, and reads the arrays that they move."""
    return contraction(indices, shape, sums, factor, *map(source_of, operands))


def source_of(operand: Any) -> Any:
    """Return the array from which an operand moves its entries, with the indices at which they are read."""
    while True:
        array, places = operand[0], operand[1:]
        value = defined_by(array)
        if isinstance(value, Transpose):
            operand = operand_of(value.args[0], places[::-1])
        elif isinstance(value, RowBroadcast):
            operand = operand_of(value.args[0], places[1:])
        elif isinstance(value, ColumnBroadcast):
            operand = operand_of(value.args[0], places[:1])
        elif isinstance(value, Contraction) and value.is_move and not any(isinstance(i, Places) for i in value.indices):
            inner, read = value.operands[0]
            put = dict(zip(value.indices, places, strict=True))
            if any(isinstance(place, Places) for place in read):
                return operand
            operand = operand_of(inner, [expand(place.xreplace(put)) for place in read])
        else:
            return operand


def broadcast_to(array: Tensor, shape: Sequence[Along]) -> Tensor:
    """Return an array repeated to a shape."""
    first = len(shape) - array.ndim
    if first < 0:
        raise ValueError(f"an array of {array.ndim} axes is no array of {len(shape)} axes")
    for own, along in zip(array.axes, shape[first:], strict=True):
        if not is_one(own) and not same_length(own, along):
            raise unequal(own, along, "an array and the shape that it is repeated to")
    target = [
        array.axes[number - first] if number >= first and same_length(array.axes[number - first], along) else along
        for number, along in enumerate(shape)
    ]
    return viewed(array, target, lambda node: stretched(node, array.axes, target))


def constant(value: Expr, shape: Sequence[Along], kind: str = "") -> Tensor:
    """Return an array whose entries are all one number; a mask that is set everywhere, or nowhere."""
    if kind == "boolean":
        return tensor(table(Iverson(ALWAYS if value != 0 else ~ALWAYS), shape), axes=shape)
    return tensor(table(value, shape), kind=kind, axes=shape)


def table(value: Expr, shape: Sequence[Along]) -> Array:
    """Return a table with the same number everywhere."""
    sizes = fine(shape)
    return Tabulated(Lambda(tuple(Symbol(f"i_{k}", integer=True) for k in range(len(sizes))), value), *sizes)


def together(*arrays: Tensor) -> tuple[tuple[Along, ...], list[Array]]:
    """Return the common axes of arrays and their nodes stretched to them; a scalar array is left as it is."""
    shape = broadcast_shape(*(a.axes for a in arrays))
    return shape, [a.node if not a.axes else current().define(stretched(a.node, a.axes, shape)) for a in arrays]


def full(node: Array, shape: Sequence[Along]) -> Array:
    """Return an array from `together` in its full shape, also if it has no axes."""
    return node if node.shape or not shape else current().define(stretched(node, (), shape))


def defined_by(node: Array) -> Array:
    """Return the right-hand side of the equation of a variable."""
    found: Array = current().equations.get(node, node)
    return found


def viewed(array: Tensor, axes: Sequence[Along], move: Callable[[Array], Array]) -> Tensor:
    """Return an array whose entries are moved, with its mask moved in the same way."""
    alive = None if array.alive is None else move(array.alive)
    return tensor(move(array.node), alive, array.kind, axes).view_of(array)
