"""What functions of arrays are worth in a world: entry by entry, along rows, and by numbers that choose."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from operator import mul
from typing import Any

from sympy import oo

from derivations.language.arrays.arrangements import ColumnBlock, PlacedBlock
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import (
    BandMask,
    Both,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    RowLogSumExp,
    RowMean,
    RowSoftmax,
    RowSum,
)
from derivations.language.arrays.routing import EachTransposed, RoutedOuter, RoutedProduct, TopK
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.selection import (
    AddedEntries,
    AddedWindows,
    Chosen,
    EveryOther,
    OneHot,
    Pick,
    ScatterRows,
    Windows,
)
from derivations.language.arrays.shapes import total
from derivations.language.cross_check.arrays import bound_to, deep, sizes_of
from derivations.language.cross_check.choices import sign_of
from derivations.language.cross_check.real_functions import number
from derivations.language.cross_check.world import CONTEXT, Meaning, Undefined, World, meaning, rule, whole

__all__: list[str] = []


# --- functions -------------------------------------------------------------------------------------------------------


@rule.register
def _(node: Elementwise) -> Meaning:
    function, *arrays = node.args
    inner, symbols, rank = meaning(function.formula.expr), tuple(function.formula.variables), len(node.shape)
    scalar = [len(a.shape) == 0 for a in arrays]
    parts = list(map(meaning, arrays))

    def value(world: World) -> Any:
        operands = [part(world) for part in parts]

        def entry(*entries: Any) -> Any:
            given = iter(entries)
            for symbol, operand, is_scalar in zip(symbols, operands, scalar, strict=True):
                world.values[symbol] = operand if is_scalar else next(given)
            return inner(world)

        with bound_to(world, symbols):
            full = [operand for operand, is_scalar in zip(operands, scalar, strict=True) if not is_scalar]
            return deep(rank, entry, *full)

    return value


@rule.register(Hadamard)
@rule.register(Both)
def _(node: Array) -> Meaning:
    left, right = map(meaning, node.args)
    left_rank, right_rank = (len(a.shape) for a in node.args)

    def value(world: World) -> Any:
        first, second = left(world), right(world)
        if left_rank == right_rank:
            return deep(left_rank, mul, first, second)
        if left_rank == 0:
            return deep(right_rank, lambda b: first * b, second)
        return deep(left_rank, lambda a: a * second, first)

    return value


@rule.register
def _(node: BandMask) -> Meaning:
    rows, columns = (meaning(total(along)) for along in node.sides)
    lower, upper = (None if abs(bound) == oo else meaning(bound) for bound in (node.lower, node.upper))

    def value(world: World) -> Any:
        keys = range(whole(columns(world)))
        seen = [[lower is None or j - i >= whole(lower(world)) for j in keys] for i in range(whole(rows(world)))]
        return [
            [int(near and (upper is None or j - i <= whole(upper(world)))) for j, near in enumerate(row)]
            for i, row in enumerate(seen)
        ]

    return value


@rule.register
def _(node: RowSoftmax) -> Meaning:
    inner, *masks = map(meaning, node.args)
    rank, mask_rank = len(node.shape), len(node.args[1].shape) if masks else 0

    def weights(row: list[Any], visible: list[int]) -> list[Any]:
        powers = [CONTEXT.exp(entry) if shown else 0 for entry, shown in zip(row, visible, strict=True)]
        whole_row = sum(powers)
        return [power / whole_row if power else 0 for power in powers]

    def value(world: World) -> Any:
        array = inner(world)
        if masks and mask_rank:
            return deep(rank - 1, weights, array, masks[0](world))
        shown = masks[0](world) if masks else 1
        return deep(rank - 1, lambda row: weights(row, [shown] * len(row)), array)

    return value


def _rows(node: Array, function: Callable[[list[Any]], Any]) -> Meaning:
    inner, rank = meaning(node.args[0]), len(node.shape)
    return lambda world: deep(rank, function, inner(world))


@rule.register
def _(node: RowSum) -> Meaning:
    return _rows(node, sum)


@rule.register
def _(node: RowMean) -> Meaning:
    return _rows(node, lambda row: number(sum(row)) / len(row))


@rule.register
def _(node: RowLogSumExp) -> Meaning:
    return _rows(node, lambda row: CONTEXT.ln(sum(CONTEXT.exp(entry) for entry in row)))


@rule.register
def _(node: Interleave) -> Meaning:
    even, odd = map(meaning, node.args)
    rank = len(node.shape)

    def value(world: World) -> Any:
        return deep(
            rank - 1,
            lambda a, b: [entry for pair in zip(a, b, strict=True) for entry in pair],
            even(world),
            odd(world),
        )

    return value


# --- choices by number -----------------------------------------------------------------------------------------------


def _chosen(array: list[Any], token: Any) -> Any:
    place = whole(token)
    if not 0 <= place < len(array):
        raise Undefined(f"there is no row {place} in a table of {len(array)}")
    return array[place]


@rule.register
def _(node: Lookup) -> Meaning:
    table, tokens = map(meaning, node.args)

    def value(world: World) -> Any:
        rows = table(world)
        return [_chosen(rows, token) for token in tokens(world)]

    return value


@rule.register
def _(node: Pick) -> Meaning:
    matrix, tokens = map(meaning, node.args)
    return lambda world: [_chosen(row, t) for row, t in zip(matrix(world), tokens(world), strict=True)]


@rule.register
def _(node: OneHot) -> Meaning:
    tokens, size = meaning(node.args[0]), meaning(total(node.args[1]))
    return lambda world: [[int(whole(t) == c) for c in range(whole(size(world)))] for t in tokens(world)]


@rule.register
def _(node: ScatterRows) -> Meaning:
    rows, tokens, size = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))

    def value(world: World) -> Any:
        given, names = rows(world), tokens(world)
        width = len(given[0])
        table = [[0] * width for _ in range(whole(size(world)))]
        for row, name in zip(given, names, strict=True):
            if 0 <= whole(name) < len(table):
                table[whole(name)] = [a + b for a, b in zip(table[whole(name)], row, strict=True)]
        return table

    return value


@rule.register
def _(node: TopK) -> Meaning:
    scores, count = meaning(node.args[0]), meaning(total(node.args[1]))

    def first(row: list[Any], kept: int, world: World) -> list[int]:
        order = sorted(range(len(row)), key=lambda place: (-row[place], place))
        if kept > len(row):
            raise Undefined(f"a row of {len(row)} has no {kept} largest entries")
        for place, after in pairwise(order):
            sign_of(row[place] - row[after], world)  # refuses a tie where something is differentiated
        return order[:kept]

    def value(world: World) -> Any:
        kept = whole(count(world))
        return [list(places) for places in zip(*(first(row, kept, world) for row in scores(world)), strict=True)]

    return value


@rule.register
def _(node: EachTransposed) -> Meaning:
    family = meaning(node.args[0])
    return lambda world: [[list(column) for column in zip(*matrix, strict=True)] for matrix in family(world)]


@rule.register
def _(node: RoutedProduct) -> Meaning:
    rows, family, numbers = map(meaning, node.args)

    def value(world: World) -> Any:
        matrices, product = family(world), []
        for row, number_of_row in zip(rows(world), numbers(world), strict=True):
            columns = zip(*_chosen(matrices, number_of_row), strict=True)
            product.append([sum(map(mul, row, column)) for column in columns])
        return product

    return value


@rule.register
def _(node: RoutedOuter) -> Meaning:
    left, right, numbers = map(meaning, node.args[:3])
    sizes = sizes_of(node.shape)

    def value(world: World) -> Any:
        count, height, width = sizes(world)
        family = [[[0] * width for _ in range(height)] for _ in range(count)]
        for first, second, name in zip(left(world), right(world), numbers(world), strict=True):
            if 0 <= whole(name) < count:
                for row, entry in zip(family[whole(name)], first, strict=True):
                    row[:] = [held + entry * other for held, other in zip(row, second, strict=True)]
        return family

    return value


# --- stretches of columns and rows -----------------------------------------------------------------------------------


@rule.register
def _(node: ColumnBlock) -> Meaning:
    inner, block, width = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.shape[-1]))
    rank = len(node.shape)

    def value(world: World) -> Any:
        array, step = inner(world), whole(width(world))
        first = whole(block(world)) * step
        rows = [array] if rank == 1 else array
        if first < 0 or any(first + step > len(row) for row in rows):
            raise Undefined(f"there are no columns {first} to {first + step - 1}")
        cut = [row[first : first + step] for row in rows]
        return cut[0] if rank == 1 else cut

    return value


@rule.register
def _(node: PlacedBlock) -> Meaning:
    inner, block, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))
    rank = len(node.shape)

    def placed(row: list[Any], place: int, blocks: int) -> list[Any]:
        if not 0 <= place < blocks:
            raise Undefined(f"there is no block {place} of {blocks}")
        return [0] * (place * len(row)) + list(row) + [0] * ((blocks - place - 1) * len(row))

    def value(world: World) -> Any:
        place, blocks = whole(block(world)), whole(count(world))
        return deep(rank - 1, lambda row: placed(row, place, blocks), inner(world))

    return value


@rule.register
def _(node: EveryOther) -> Meaning:
    inner, first = map(meaning, node.args)
    return lambda world: [row[whole(first(world)) :: 2] for row in inner(world)]


@rule.register
def _(node: Windows) -> Meaning:
    inner, width = meaning(node.args[0]), meaning(total(node.args[1]))

    def value(world: World) -> Any:
        rows, size = inner(world), whole(width(world))
        starts = range(len(rows) - size + 1)
        return [[entry for row in rows[start : start + size] for entry in row] for start in starts]

    return value


@rule.register
def _(node: AddedWindows) -> Meaning:
    inner, count = meaning(node.args[0]), meaning(total(node.args[1]))
    columns = meaning(total(node.shape[1]))

    def value(world: World) -> Any:
        windows, width = inner(world), whole(columns(world))
        added = [[0] * width for _ in range(whole(count(world)))]
        for start, row in enumerate(windows):
            for place, entry in enumerate(row):
                added[start + place // width][place % width] += entry
        return added

    return value


@rule.register
def _(node: Chosen) -> Meaning:
    table, numbers = map(meaning, node.args)

    def value(world: World) -> Any:
        columns = list(map(list, zip(*table(world), strict=True)))
        return [[[_chosen(column, place) for place in row] for row in numbers(world)] for column in columns]

    return value


@rule.register
def _(node: AddedEntries) -> Meaning:
    inner, numbers, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))

    def value(world: World) -> Any:
        matrices, size = inner(world), whole(count(world))
        places = [place for row in numbers(world) for place in row]
        added: list[list[Any]] = [[0] * len(matrices) for _ in range(size)]
        for column, matrix in enumerate(matrices):
            for entry, place in zip((entry for row in matrix for entry in row), places, strict=True):
                _chosen(added, place)[column] += entry
        return added

    return value


# --- rows ------------------------------------------------------------------------------------------------------------


@rule.register
def _(node: RowRange) -> Meaning:
    inner, start, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))
    step = meaning(node.args[3])

    def value(world: World) -> Any:
        rows, first, every = inner(world), whole(start(world)), whole(step(world))
        return [_chosen(rows, first + every * place) for place in range(whole(count(world)))]

    return value


@rule.register
def _(node: PlacedRows) -> Meaning:
    inner, start, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))
    columns, step = meaning(total(node.shape[1])), meaning(node.args[3])

    def value(world: World) -> Any:
        placed = [[0] * whole(columns(world)) for _ in range(whole(count(world)))]
        first, every = whole(start(world)), whole(step(world))
        for place, row in enumerate(inner(world)):
            _chosen(placed, first + every * place)[:] = row
        return placed

    return value


@rule.register
def _(node: Stacked) -> Meaning:
    above, below = map(meaning, node.args)
    return lambda world: [*above(world), *below(world)]
