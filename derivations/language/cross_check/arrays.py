"""Values of array expressions under an assignment: nested lists, computed by loops over whole arrays.

A matrix is a list of rows, a vector a list of numbers, and an array without axes a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from operator import mul
from typing import Any

from sympy import Basic, Symbol

from derivations.language.arrays.arrangements import Concatenate, Explicit, SumOver, Tabulated
from derivations.language.arrays.expression import (
    ColumnBroadcast,
    Member,
    OnlyEntry,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.arrays.shapes import Axis, total
from derivations.language.cross_check.assignment import (
    Assignment,
    Hole,
    Meaning,
    Undefined,
    Unfit,
    held,
    meaning,
    rule,
    whole,
    whole_size,
)
from derivations.language.layers.layer import Equation, _Family

__all__ = ["bound_to", "deep", "places_of", "sizes_of"]


def sizes_of(shape: tuple[Axis, ...]) -> Callable[[Assignment], tuple[int, ...]]:
    """Return the sizes of the axes as a function of the assignment."""
    axes = [meaning(total(along)) for along in shape]

    def sizes(assignment: Assignment) -> tuple[int, ...]:
        found = tuple(whole_size(size(assignment)) for size in axes)
        if any(size < 1 for size in found):
            raise Unfit("a size below 1")
        return found

    return sizes


def deep(rank: int, function: Callable[..., Any], *arrays: Any) -> Any:
    """Apply a function to arrays of one shape, entry by entry."""
    if rank == 0:
        return held(function, *arrays)
    if len({len(a) for a in arrays}) > 1:
        raise Undefined(f"axes of {' and '.join(str(len(a)) for a in arrays)} places do not fit")
    return [deep(rank - 1, function, *members) for members in zip(*arrays, strict=True)]


def places_of(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the index tuples of an array of the given sizes."""
    return product(*map(range, sizes))


@contextmanager
def bound_to(assignment: Assignment, symbols: tuple[Symbol, ...]) -> Iterator[dict[Symbol, Any]]:
    """Yield the values of the assignment, in which the symbols may be set; their old values are restored afterwards."""
    values = assignment.values
    outer = {symbol: values[symbol] for symbol in symbols if symbol in values}
    try:
        yield values
    finally:
        for symbol in symbols:
            # an index must not survive its array: a later expression would silently read its last value
            values.pop(symbol, None)
        values.update(outer)


# --- names -----------------------------------------------------------------------------------------------------------


@rule.register
def _(node: Variable) -> Meaning:
    name, kind, rank = node.name, node.kind, len(node.shape)
    if rank == 0:
        label = meaning(OnlyEntry(name, real=True) if kind == "real" else node.base.label)

        def scalar(assignment: Assignment) -> Any:
            return (
                assignment.local[name]
                if assignment.local is not None and name in assignment.local
                else label(assignment)
            )

        return scalar
    sizes = sizes_of(node.shape)

    def value(assignment: Assignment) -> Any:
        whole_array = assignment.array(name, sizes, kind)
        if assignment.reads is not None and assignment.is_drawn(name):
            assignment.reads.update((name, places) for places in places_of(sizes(assignment)))
        return whole_array

    return value


@rule.register
def _(node: Equation) -> Meaning:
    inner = meaning(node.value)
    if node.over is None:
        return inner
    index, count = node.over
    return _family(inner, index, count)


def _family(inner: Meaning, index: Symbol, count: Axis) -> Meaning:
    size = meaning(total(count))

    def value(assignment: Assignment) -> Any:
        members = []
        with bound_to(assignment, (index,)) as values:
            for place in range(whole(size(assignment))):
                values[index] = place
                # a member that is undefined matters only where it is read: other members keep their values
                members.append(held(inner, assignment))
        return members

    return value


@rule.register
def _(node: _Family) -> Meaning:
    return _family(meaning(node.args[0]), *node.args[1:])


# --- linear algebra --------------------------------------------------------------------------------------------------


def _dot(row: list[Any], column: Any) -> Any:
    if len(row) != len(column):
        raise Undefined(f"{len(row)} columns meet {len(column)} rows")
    return sum(map(mul, row, column))


@rule.register
def _(node: Product) -> Meaning:
    left, right = map(meaning, node.args)
    left_rank, right_rank = (len(a.shape) for a in node.args)

    def value(assignment: Assignment) -> Any:
        first, second = left(assignment), right(assignment)
        rows = first if left_rank == 2 else [first]
        columns = list(zip(*second, strict=True)) if right_rank == 2 else [second]
        # Checked before `held`, which would turn matrices that do not fit into an array of undefined entries.
        if right_rank == 2 and rows and len(rows[0]) != len(second):
            raise Undefined(f"{len(rows[0])} columns meet {len(second)} rows")
        found = [[held(_dot, row, column) for column in columns] for row in rows]
        if right_rank == 1:
            found = [row[0] for row in found]
        return found if left_rank == 2 else found[0]

    return value


@rule.register
def _(node: Plus) -> Meaning:
    left, right = map(meaning, node.args)
    rank = len(node.shape)
    return lambda assignment: deep(rank, lambda a, b: a + b, left(assignment), right(assignment))


@rule.register
def _(node: Scaled) -> Meaning:
    factor, inner = map(meaning, node.args)
    rank = len(node.shape)

    def value(assignment: Assignment) -> Any:
        scale = factor(assignment)
        return deep(rank, lambda a: scale * a, inner(assignment))

    return value


@rule.register
def _(node: Transpose) -> Meaning:
    inner = meaning(node.args[0])
    return lambda assignment: [list(row) for row in zip(*inner(assignment), strict=True)]


@rule.register
def _(node: RowBroadcast) -> Meaning:
    inner, size = meaning(node.args[0]), meaning(total(node.args[1]))
    return lambda assignment: [inner(assignment)] * whole(size(assignment))


@rule.register
def _(node: ColumnBroadcast) -> Meaning:
    inner, size = meaning(node.args[0]), meaning(total(node.args[1]))
    return lambda assignment: [[entry] * whole(size(assignment)) for entry in inner(assignment)]


@rule.register
def _(node: Member) -> Meaning:
    inner, place = meaning(node.args[0]), meaning(node.args[1])

    def value(assignment: Assignment) -> Any:
        array, at = inner(assignment), whole(place(assignment))
        if not 0 <= at < len(array):
            raise Undefined(f"there is no member {at} of {len(array)}")
        return array[at]

    return value


def _spread_holes(members: list[Any]) -> list[Any]:
    """Replace every member without a value by an array of undefined entries, with the shape of the other members."""
    whole_ones = [member for member in members if not isinstance(member, Hole)]
    return [_all_holes(whole_ones[0], m) if isinstance(m, Hole) and whole_ones else m for m in members]


def _all_holes(like: Any, hole: Hole) -> Any:
    return [_all_holes(inner, hole) for inner in like] if isinstance(like, list) else hole


@rule.register
def _(node: Concatenate) -> Meaning:
    members, rank = _family(meaning(node.args[0]), *node.args[1:]), len(node.shape)

    def value(assignment: Assignment) -> Any:
        # an undefined member still takes its columns, so that later blocks stay in place
        blocks = _spread_holes(members(assignment))
        if rank == 1:
            return [entry for block in blocks for entry in block]
        return [[entry for row in rows for entry in row] for rows in zip(*blocks, strict=True)]

    return value


@rule.register
def _(node: SumOver) -> Meaning:
    members, rank = _family(meaning(node.args[0]), *node.args[1:]), len(node.shape)
    return lambda assignment: deep(rank, lambda *entries: sum(entries), *members(assignment))


@rule.register
def _(node: Tabulated) -> Meaning:
    return _table(node.args[0].expr, tuple(node.args[0].variables), sizes_of(node.shape))


def _table(formula: Basic, symbols: tuple[Symbol, ...], sizes: Callable[[Assignment], tuple[int, ...]]) -> Meaning:
    inner = meaning(formula)

    def filled(assignment: Assignment, lengths: tuple[int, ...], symbols: tuple[Symbol, ...]) -> Any:
        if not symbols:
            return held(inner, assignment)
        members = []
        for place in range(lengths[0]):
            assignment.values[symbols[0]] = place
            members.append(filled(assignment, lengths[1:], symbols[1:]))
        return members

    def value(assignment: Assignment) -> Any:
        lengths = sizes(assignment)
        with bound_to(assignment, symbols):
            return filled(assignment, lengths, symbols)

    return value


@rule.register
def _(node: Explicit) -> Meaning:
    rows = [[meaning(entry) for entry in row] for row in node.args[0].tolist()]
    return lambda assignment: [[entry(assignment) for entry in row] for row in rows]
