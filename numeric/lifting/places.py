"""Operations that read entries at other places: slices, reshapes, joined and repeated arrays, masks of positions.

A reshape is a common refinement: both shapes are written over the same units, sizes that follow one another, so that
no floor and no remainder appears. A size that is not a product of known units is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Eq, Expr, Integer, KroneckerDelta, Lambda, Symbol, expand, oo

from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.contraction import operand_of
from derivations.language.arrays.expression import Array, Plus
from derivations.language.arrays.functions import Lookup
from derivations.language.arrays.masks import BandMask, CausalMask
from derivations.language.arrays.routing import TopK
from derivations.language.arrays.selection import Chosen, Pick
from numeric.lifting.axes import Along, Factors, Index, Stepped, fine, is_one, numbered, same_length, size_of_axis
from numeric.lifting.numbers import Size, as_number, is_number, whole_quotient
from numeric.lifting.operations import (
    axis_number,
    broadcast_to,
    built,
    certain,
    compare,
    constant,
    contract,
    finite,
    inserted,
    logical_and,
    moved,
    multiply,
    negate,
    permute,
    real,
    removed,
    source_of,
    summation,
    unequal,
    viewed,
    where,
)
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, empty, tensor
from numeric.lifting.trace import current

__all__ = [
    "band",
    "concatenate",
    "flipped",
    "gathered",
    "item",
    "padded",
    "picked",
    "positions",
    "reshape",
    "rolled",
    "running_sums",
    "sorted_places",
    "stack",
    "tiled",
    "written",
]


# --- slices ---------------------------------------------------------------------------------------------------------


def item(array: Tensor, key: Any) -> Tensor:
    """Return the entries that an index expression names: integers, slices, `...`, `None`, or one array of numbers."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(each, list | range) for each in keys):
        raise refuse("an index by a list of places")
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


def flipped(array: Tensor, axes: Sequence[int]) -> Tensor:
    """Return an array whose entries stand in the opposite order along axes."""
    turned = {axis_number(axis, array.ndim) for axis in axes}
    target = [size_of_axis(along) if number in turned else along for number, along in enumerate(array.axes)]
    indices = numbered(target)
    read = [
        expand(size_of_axis(along) - 1 - index.flat) if number in turned else index
        for number, (index, along) in enumerate(zip(indices, target, strict=True))
    ]
    return viewed(array, target, lambda node: moved(indices, target, (node, array.axes, read)))


def _place_of(given: Any, along: Along) -> Expr:
    """Return the number of a place, which must certainly exist."""
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
    if length != 0:  # what is empty at all sizes, such as the columns behind the last one, is followed
        _demand_entries(length, "a slice")
    return start, length, step


def _demand_entries(length: Expr, what: str) -> None:
    """Refuse an axis without entries; where sizes decide that there are some, that is an assumption."""
    if not Size(length) >= 1:
        raise refuse(f"{what} without entries")


def _bound(given: Any, size: Expr, default: Expr) -> Expr:
    """Return a bound of a slice, counted from the start and cut at the size."""
    if given is None:
        return default
    if isinstance(given, bool) or not is_number(given) or isinstance(given, float):
        raise refuse(f"a slice up to {given!r}")
    bound = as_number(given)
    if not Size(bound) >= 0:
        bound = expand(size + bound)
        if not Size(bound) >= 0:
            bound = Integer(0)
    return bound if Size(expand(size - bound)) >= 0 else size  # a slice that ends behind the axis ends at the axis


def written(array: Tensor, key: Any, value: Any) -> None:
    """Write into an array in place, everywhere or at a slice of one axis; other writes are refused."""
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
    array.overwrite(_with_slice(array, keys, value))


def _with_slice(array: Tensor, keys: tuple[Any, ...], value: Any) -> Tensor:
    """Return an array with other entries at a slice of one axis: the parts beside the slice are joined to it."""
    dots = [number for number, each in enumerate(keys) if each is Ellipsis]
    if not all(each is Ellipsis or isinstance(each, slice) for each in keys) or len(dots) > 1:
        raise refuse("a write into a part of an array")
    if dots:
        missing = array.ndim - len(keys) + 1
        keys = (*keys[: dots[0]], *[slice(None)] * missing, *keys[dots[0] + 1 :])
    (number, *more) = [number for number, each in enumerate(keys) if each != slice(None)]
    if more:
        raise refuse("a write into slices of several axes")
    start, length, step = _range(keys[number], array.axes[number])
    shape = [length if place == number else along for place, along in enumerate(array.axes)]
    new = broadcast_to(value, shape) if isinstance(value, Tensor) else constant(as_number(value), shape)

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
    """Return the parts of an array along one axis that numbers choose; the other axes are read whole."""
    axis = next(number for number, each in enumerate(keys) if isinstance(each, Tensor))
    others = [*keys[:axis], *keys[axis + 1 :]]
    if keys[axis].node.kind == "integer" and all(isinstance(each, slice) and each == slice(None) for each in others):
        return gathered(array, keys[axis], axis)
    raise refuse("an index by several arrays, or by a mask")


def gathered(table: Tensor, numbers: Tensor, axis: int = 0) -> Tensor:
    """Return the parts of an array along an axis that whole numbers choose; their axes stand where the axis stood.

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
    """Return the entries of an array that whole numbers choose along an axis; both have the same other axes."""
    axis = axis_number(axis, table.ndim)
    if numbers.ndim != table.ndim:
        raise ValueError(f"numbers with {numbers.ndim} axes choose entries of an array with {table.ndim}")
    _note_choice(table, numbers, axis)
    if axis == 1 and len(table.node.shape) == len(numbers.node.shape) == 2 and is_one(numbers.axes[1]):
        return inserted(tensor(Pick(table.node, removed(numbers, [1]).node)), [1])
    own = _letters("t", table.ndim)
    theirs = [*own[:axis], "n", *own[axis + 1 :]]
    return _chosen_along(table, numbers, axis, theirs, theirs)


def sorted_places(array: Tensor) -> Tensor:
    """Return the places of the entries of every row of a matrix in rising order, of equal ones the first."""
    finite("an order", array)
    falling = negate(real(array))
    return permute(tensor(TopK(falling.node, size_of_axis(falling.axes[1]))), [1, 0])


def _letters(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(count)]


def _chosen_along(table: Tensor, numbers: Tensor, axis: int, wanted: Sequence[str], theirs: Sequence[str]) -> Tensor:
    """Return the sum over the places of an axis of [the place is chosen] times what stands there."""
    own = _letters("t", table.ndim)
    here = compare(inserted(numbers, [numbers.ndim]), positions(0, table.sizes[axis]), Eq)
    return contract(wanted, (real(here), [*theirs, own[axis]]), (real(table), own))


def _note_choice(table: Tensor, numbers: Tensor, axis: int) -> None:
    """Note that numbers count the places of an axis."""
    finite("a look-up", table)
    if numbers.node.kind != "integer":
        raise refuse("a look-up by numbers that are not whole")
    if table.kind != "real":
        raise refuse("a look-up in truth values or whole numbers")
    current().chosen[current().define(_unmoved(numbers.node)), table.sizes[axis]] = None


def _unmoved(node: Array) -> Array:
    """Return the array whose entries an array has in another order, each of them at least once."""
    source, *read = source_of(
        operand_of(node, [Symbol(f"at_{number}", integer=True) for number in range(len(node.shape))])
    )
    return source if all(isinstance(place, Symbol) for place in read) and len(set(read)) == len(read) else node


# --- reshapes -------------------------------------------------------------------------------------------------------


def reshape(array: Tensor, target: Sequence[Any]) -> Tensor:
    """Return the entries in row-major order in another shape."""
    wanted = _target(array, target)
    units, of_source, of_target = _refined(list(array.axes), wanted)
    axes = [_axis_of([units[u] for u in group], size) for group, size in zip(of_target, wanted, strict=True)]
    indices = numbered(axes)
    value: dict[int, Any] = {}
    for index, group in zip(indices, of_target, strict=True):
        value |= dict(zip(group, index.symbols, strict=False))
    read = [_joined([value[u] for u in group], [units[u] for u in group]) for group in of_source]
    return viewed(array, axes, lambda node: moved(indices, axes, (node, array.axes, read)))


def _target(array: Tensor, target: Sequence[Any]) -> list[Expr]:
    """Return the sizes of a shape, with the one that is left open."""
    sizes = [as_number(each) for each in target]
    open_ones = [number for number, size in enumerate(sizes) if size == -1]
    if len(open_ones) > 1:
        raise ValueError("can only specify one unknown dimension")
    whole: Expr = Integer(1)
    for size in array.sizes:
        whole = whole * size
    if open_ones:
        known: Expr = Integer(1)
        for size in sizes:
            known = known * (1 if size == -1 else size)
        found = whole_quotient(whole, known)
        if found is None:
            raise refuse(f"a reshape of {array.shape} with a part of the size {known}, which does not divide it")
        sizes[open_ones[0]] = found
    product: Expr = Integer(1)
    for size in sizes:
        product = product * size
    if expand(product - whole) != 0:
        raise unequal(whole, product, "an array and its new shape")
    return [expand(size) for size in sizes]


def _refined(source: list[Along], target: list[Expr]) -> tuple[list[Expr], list[list[int]], list[list[int]]]:
    """Return units with which both shapes are written, and the numbers of the units of each axis."""
    units: list[Expr] = []
    of_source: list[list[int]] = [[] for _ in source]
    of_target: list[list[int]] = [[] for _ in target]
    left: list[tuple[int, Expr]] = []
    for number, along in enumerate(source):
        left += [(number, expand(part)) for part in fine([along]) if part != 1]
    right = [(number, size) for number, size in enumerate(target) if size != 1]
    while left and right:
        (from_axis, a), (to_axis, b) = left[0], right[0]
        if expand(a - b) == 0:
            unit, rest = a, None
            left.pop(0), right.pop(0)
        elif (rest := whole_quotient(a, b)) is not None:
            unit = b
            left[0] = (from_axis, rest)
            right.pop(0)
        elif (rest := whole_quotient(b, a)) is not None:
            unit = a
            right[0] = (to_axis, rest)
            left.pop(0)
        else:
            raise refuse(f"a reshape that splits {a} and {b}: declare the sizes as products of the same parts")
        of_source[from_axis].append(len(units))
        of_target[to_axis].append(len(units))
        units.append(unit)
    return units, of_source, of_target


def _axis_of(units: list[Expr], size: Expr) -> Along:
    return size if len(units) <= 1 else Factors(tuple(units))


def _joined(parts: list[Symbol], sizes: list[Expr]) -> Index | Expr:
    """Return the place on an axis that is split into units."""
    return Index(tuple(parts), tuple(sizes)) if parts else Integer(0)


# --- joined arrays --------------------------------------------------------------------------------------------------


def concatenate(arrays: Sequence[Tensor], axis: int) -> Tensor:
    """Return arrays joined along an axis: the sum of the arrays, each placed among zeros."""
    finite("a join", *arrays)
    axis = axis_number(axis, arrays[0].ndim)
    length: Expr = Integer(0)
    for array in arrays:
        length = length + array.sizes[axis]
    if len({a.ndim for a in arrays}) != 1:
        raise ValueError("arrays that are joined have the same number of axes")
    for array in arrays[1:]:
        for number, (one, other) in enumerate(zip(arrays[0].axes, array.axes, strict=True)):
            if number != axis and not same_length(one, other):
                raise unequal(one, other, "arrays that are joined")
    arrays = [array for array in arrays if not array.is_empty] or arrays[:1]
    if len(arrays) == 1:
        return again(arrays[0])
    shape = [expand(length) if number == axis else along for number, along in enumerate(arrays[0].axes)]
    indices = numbered(shape)
    result, first = None, Integer(0)
    for array in arrays:
        node = real(array).node
        place, sums = summation(array.axes[axis], 0)
        read = [place if number == axis else index for number, index in enumerate(indices)]
        here = KroneckerDelta(expand(first + place.flat), indices[axis].flat)
        placed = current().define(built(indices, shape, sums, here, (node, array.axes, read)))
        first = first + array.sizes[axis]
        result = placed if result is None else current().define(Plus(result, placed))
    assert result is not None
    return tensor(result, axes=shape)


def stack(arrays: Sequence[Tensor], axis: int) -> Tensor:
    """Return arrays of one shape along a new axis."""
    number = axis_number(axis, arrays[0].ndim + 1)
    return concatenate([inserted(array, [number]) for array in arrays], number)


def padded(array: Tensor, axis: int, before: Expr, behind: Expr, value: Expr) -> Tensor:
    """Return an array with one number at places before and behind its own along an axis."""
    parts = [array]
    for size, front in ((before, True), (behind, False)):
        if size != 0:
            _demand_entries(size, "padding")
            shape = [size if number == axis else along for number, along in enumerate(array.axes)]
            parts.insert(0 if front else len(parts), constant(value, shape))
    return concatenate(parts, axis) if len(parts) > 1 else array


def rolled(array: Tensor, shifts: Any, axes: Any) -> Tensor:
    """Return an array whose entries are moved along axes by numbers of places; the last ones come first."""
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


def tiled(array: Tensor, times: Sequence[Any]) -> Tensor:
    """Return an array as a whole several times along each axis; new axes stand in front."""
    array = inserted(array, list(range(len(times) - array.ndim))) if len(times) > array.ndim else array
    for axis, count in enumerate(times, start=array.ndim - len(times)):
        if isinstance(count, int):
            array = concatenate([array] * count, axis) if count > 1 else array
            continue
        wide = inserted(array, [axis])
        spread = broadcast_to(wide, [*wide.axes[:axis], as_number(count), *wide.axes[axis + 1 :]])
        sizes = list(array.shape)
        array = reshape(spread, [*sizes[:axis], count * sizes[axis], *sizes[axis + 1 :]])
    return array


def running_sums(array: Tensor, axis: int, reverse: bool = False) -> Tensor:
    """Return the sums of the entries up to each place along an axis: a product with the causal mask."""
    finite("a running sum", array)
    along = axis_number(axis, array.ndim)
    size = size_of_axis(array.axes[along])
    mask = band(size, size, 0, not reverse)
    names = _letters("a", array.ndim)
    inner = [*names[:along], "p", *names[along + 1 :]]
    return contract(names, (mask, [names[along], "p"]), (real(array), inner))


# --- positions and masks --------------------------------------------------------------------------------------------


def positions(start: Any, stop: Any, step: Any = 1) -> Tensor:
    """Return the whole numbers start, start + step, ..., below stop."""
    first, end, by = as_number(start), as_number(stop), as_number(step)
    count = whole_quotient(expand(end - first), by)
    if not by.is_Integer or by <= 0 or count is None or not first.is_integer:
        raise refuse(f"positions from {first} to {end} in steps of {by}")
    place = Symbol("i", integer=True)
    _demand_entries(count, "positions")
    return tensor(Numbers(Lambda((place,), first + by * place), count))


def powers(base: Expr, count: Expr) -> Tensor:
    """Return the numbers base^(-i / count) for i = 0, 1, ..., count - 1: the frequencies of a rotary embedding."""
    place = Symbol("i", integer=True)
    row = Symbol("r", integer=True)
    return item(tensor(Tabulated(Lambda((row, place), base ** (-place / count)), Integer(1), count)), 0)


def band(rows: Along, columns: Along, diagonal: Any, lower: bool, kind: str = "boolean") -> Tensor:
    """Return the mask of the entries on and below a diagonal, or on and above it; `kind` is that of its numbers."""
    shift = as_number(diagonal)
    if lower and shift == 0 and same_length(rows, columns):
        return tensor(CausalMask(rows), kind=kind)
    return tensor(BandMask(rows, columns, -oo if lower else shift, shift if lower else oo), kind=kind)


def triangle(array: Tensor, diagonal: Any, lower: bool) -> Tensor:
    """Return a matrix with zeros above, or below, a diagonal; of a mask, the mask."""
    value = current().equations.get(array.node)
    if array.ndim == 2 and array.kind == "real" and isinstance(value, Tabulated) and value.args[0].expr == 1:
        rows, columns = array.axes
        return band(rows, columns, diagonal, lower, "real")  # of ones, as masks are made
    rows, columns = array.axes[-2:]
    mask = band(rows, columns, diagonal, lower)
    if array.kind == "boolean":
        return logical_and(array, mask)
    return multiply(array, mask)
