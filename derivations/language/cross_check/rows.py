"""Values of functions of arrays under an assignment: elementwise functions, row functions, and lookups by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import pairwise
from operator import add, mul
from typing import Any

from sympy import oo

from derivations.language.arrays.arrangements import ColumnBlock, PlacedBlock
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import (
    BandMask,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    MaskConjunction,
    RowLogSumExp,
    RowMean,
    RowSoftmax,
    RowSum,
)
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.routing import BatchTranspose, RoutedOuter, RoutedProduct, TopK, TopKMask
from derivations.language.arrays.rows import PlacedRows, RowRange, Stacked
from derivations.language.arrays.selection import (
    AddedEntries,
    AddedPicks,
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
from derivations.language.cross_check.assignment import CONTEXT, Assignment, Meaning, Undefined, meaning, rule, whole
from derivations.language.cross_check.choices import sign_of
from derivations.language.cross_check.real_functions import number

__all__: list[str] = []


# --- functions -------------------------------------------------------------------------------------------------------


@rule.register
def _(node: Elementwise) -> Meaning:
    function, *arrays = node.args
    inner, symbols, rank = meaning(function.formula.expr), tuple(function.formula.variables), len(node.shape)
    scalar = [len(a.shape) == 0 for a in arrays]
    parts = list(map(meaning, arrays))

    def value(assignment: Assignment) -> Any:
        operands = [part(assignment) for part in parts]

        def entry(*entries: Any) -> Any:
            given = iter(entries)
            for symbol, operand, is_scalar in zip(symbols, operands, scalar, strict=True):
                assignment.values[symbol] = operand if is_scalar else next(given)
            return inner(assignment)

        with bound_to(assignment, symbols):
            full = [operand for operand, is_scalar in zip(operands, scalar, strict=True) if not is_scalar]
            return deep(rank, entry, *full)

    return value


@rule.register(Hadamard)
@rule.register(MaskConjunction)
def _(node: Array) -> Meaning:
    left, right = map(meaning, node.args)
    left_rank, right_rank = (len(a.shape) for a in node.args)

    def value(assignment: Assignment) -> Any:
        first, second = left(assignment), right(assignment)
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

    def value(assignment: Assignment) -> Any:
        keys = range(whole(columns(assignment)))
        seen = [
            [lower is None or j - i >= whole(lower(assignment)) for j in keys] for i in range(whole(rows(assignment)))
        ]
        return [
            [int(near and (upper is None or j - i <= whole(upper(assignment)))) for j, near in enumerate(row)]
            for i, row in enumerate(seen)
        ]

    return value


@rule.register
def _(node: RowSoftmax) -> Meaning:
    inner, *masks = map(meaning, node.args)
    rank, mask_rank = len(node.shape), len(node.args[1].shape) if masks else 0

    def weights(row: list[Any], visible: list[int]) -> list[Any]:
        # without a shift by the maximum: exponents of CONTEXT do not overflow
        powers = [CONTEXT.exp(entry) if shown else 0 for entry, shown in zip(row, visible, strict=True)]
        whole_row = sum(powers)
        return [power / whole_row if power else 0 for power in powers]  # a row that is hidden entirely is 0

    def value(assignment: Assignment) -> Any:
        array = inner(assignment)
        if masks and mask_rank:
            return deep(rank - 1, weights, array, masks[0](assignment))
        shown = masks[0](assignment) if masks else 1
        return deep(rank - 1, lambda row: weights(row, [shown] * len(row)), array)

    return value


def _rows(node: Array, function: Callable[[list[Any]], Any]) -> Meaning:
    inner, rank = meaning(node.args[0]), len(node.shape)
    return lambda assignment: deep(rank, function, inner(assignment))


@rule.register
def _(node: RowSum) -> Meaning:
    return _rows(node, sum)


@rule.register
def _(node: RowMean) -> Meaning:
    return _rows(node, lambda row: number(sum(row)) / len(row))


@rule.register
def _(node: RowLogSumExp) -> Meaning:
    # No shift by the largest entry is needed: the range of exponents of CONTEXT is too wide for an overflow.
    return _rows(node, lambda row: CONTEXT.ln(sum(CONTEXT.exp(entry) for entry in row)))


@rule.register
def _(node: Interleave) -> Meaning:
    even, odd = map(meaning, node.args)
    rank = len(node.shape)

    def value(assignment: Assignment) -> Any:
        return deep(
            rank - 1,
            lambda a, b: [entry for pair in zip(a, b, strict=True) for entry in pair],
            even(assignment),
            odd(assignment),
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

    def value(assignment: Assignment) -> Any:
        rows = table(assignment)
        return [_chosen(rows, token) for token in tokens(assignment)]

    return value


@rule.register
def _(node: Pick) -> Meaning:
    matrix, tokens = map(meaning, node.args)

    def of_row(row: list[Any], numbers: Any) -> Any:
        return [_chosen(row, t) for t in numbers] if isinstance(numbers, list) else _chosen(row, numbers)

    return lambda assignment: [of_row(*pair) for pair in zip(matrix(assignment), tokens(assignment), strict=True)]


@rule.register
def _(node: AddedPicks) -> Meaning:
    picked, numbers, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))

    def of_row(row: list[Any], places: list[Any], size: int) -> list[Any]:
        added: list[list[Any]] = [[0] for _ in range(size)]
        for entry, place in zip(row, places, strict=True):
            _chosen(added, place)[0] += entry
        return [entry for (entry,) in added]

    def value(assignment: Assignment) -> Any:
        size = whole(count(assignment))
        return [of_row(*pair, size) for pair in zip(picked(assignment), numbers(assignment), strict=True)]

    return value


@rule.register
def _(node: OneHot) -> Meaning:
    tokens, size = meaning(node.args[0]), meaning(total(node.args[1]))
    return lambda assignment: [[int(whole(t) == c) for c in range(whole(size(assignment)))] for t in tokens(assignment)]


@rule.register
def _(node: ScatterRows) -> Meaning:
    rows, tokens, size = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))

    def value(assignment: Assignment) -> Any:
        given, names = rows(assignment), tokens(assignment)
        width = len(given[0])
        table = [[0] * width for _ in range(whole(size(assignment)))]
        for row, name in zip(given, names, strict=True):
            if 0 <= whole(name) < len(table):
                table[whole(name)] = [a + b for a, b in zip(table[whole(name)], row, strict=True)]
        return table

    return value


@rule.register
def _(node: TopK) -> Meaning:
    scores, count = meaning(node.args[0]), meaning(total(node.args[1]))

    def first(row: list[Any], kept: int, assignment: Assignment) -> list[int]:
        if kept > len(row):
            raise Undefined(f"a row of {len(row)} has no {kept} largest entries")
        return _falling(row, range(len(row)), assignment)[:kept]

    def value(assignment: Assignment) -> Any:
        kept = whole(count(assignment))
        return [
            list(places) for places in zip(*(first(row, kept, assignment) for row in scores(assignment)), strict=True)
        ]

    return value


def _falling(row: list[Any], places: Iterable[int], assignment: Assignment) -> list[int]:
    """Return columns of a row in descending order of their entries. Equal entries stay in ascending column order."""
    order = sorted(places, key=lambda place: (-row[place], place))
    for place, after in pairwise(order):
        sign_of(row[place] - row[after], assignment)  # inside a derivative, a tie is a kink and raises `Unfit`
    return order


@rule.register
def _(node: TopKMask) -> Meaning:
    scores, visible, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))

    def shown(row: list[Any], seen: list[int], kept: int, assignment: Assignment) -> list[int]:
        first = _falling(row, (place for place, here in enumerate(seen) if here), assignment)[:kept]
        return [int(place in first) for place in range(len(row))]

    def value(assignment: Assignment) -> Any:
        kept, rows = whole(count(assignment)), zip(scores(assignment), visible(assignment), strict=True)
        return [shown(row, seen, kept, assignment) for row, seen in rows]

    return value


@rule.register
def _(node: BatchTranspose) -> Meaning:
    family = meaning(node.args[0])
    return lambda assignment: [[list(column) for column in zip(*matrix, strict=True)] for matrix in family(assignment)]


@rule.register
def _(node: RoutedProduct) -> Meaning:
    rows, family, numbers = map(meaning, node.args)

    def value(assignment: Assignment) -> Any:
        matrices, product = family(assignment), []
        for row, number_of_row in zip(rows(assignment), numbers(assignment), strict=True):
            columns = zip(*_chosen(matrices, number_of_row), strict=True)
            product.append([sum(map(mul, row, column)) for column in columns])
        return product

    return value


@rule.register
def _(node: RoutedOuter) -> Meaning:
    left, right, numbers = map(meaning, node.args[:3])
    sizes = sizes_of(node.shape)

    def value(assignment: Assignment) -> Any:
        count, height, width = sizes(assignment)
        family = [[[0] * width for _ in range(height)] for _ in range(count)]
        for first, second, name in zip(left(assignment), right(assignment), numbers(assignment), strict=True):
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

    def value(assignment: Assignment) -> Any:
        array, step = inner(assignment), whole(width(assignment))
        first = whole(block(assignment)) * step
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

    def value(assignment: Assignment) -> Any:
        place, blocks = whole(block(assignment)), whole(count(assignment))
        return deep(rank - 1, lambda row: placed(row, place, blocks), inner(assignment))

    return value


@rule.register
def _(node: EveryOther) -> Meaning:
    inner, first = map(meaning, node.args)
    return lambda assignment: [row[whole(first(assignment)) :: 2] for row in inner(assignment)]


@rule.register
def _(node: Windows) -> Meaning:
    inner, width = meaning(node.args[0]), meaning(total(node.args[1]))

    def value(assignment: Assignment) -> Any:
        rows, size = inner(assignment), whole(width(assignment))
        starts = range(len(rows) - size + 1)
        return [[entry for row in rows[start : start + size] for entry in row] for start in starts]

    return value


@rule.register
def _(node: AddedWindows) -> Meaning:
    inner, count = meaning(node.args[0]), meaning(total(node.args[1]))
    columns = meaning(total(node.shape[1]))

    def value(assignment: Assignment) -> Any:
        windows, width = inner(assignment), whole(columns(assignment))
        added = [[0] * width for _ in range(whole(count(assignment)))]
        for start, row in enumerate(windows):
            for place, entry in enumerate(row):
                added[start + place // width][place % width] += entry
        return added

    return value


@rule.register
def _(node: Recurrence) -> Meaning:
    logarithms, added = map(meaning, node.args[:2])
    factors = list(map(meaning, node.factors))
    own, rank = len(node.args[0].shape) - 1, len(node.shape) - 1
    leading = len(node.factors[0].shape) - 2 if factors else 0

    def step(decay: Any, before: Any, more: Any) -> Any:
        # a decay is one number for all the entries after the axes that it has
        return deep(
            own, lambda a, h, b: deep(rank - own, lambda x, y: CONTEXT.exp(a) * x + y, h, b), decay, before, more
        )

    def corrected(kept: Any, column: list[Any], row: list[Any], before: list[Any]) -> Any:
        said = reduce(
            lambda one, other: deep(rank - leading - 1, add, one, other),
            [deep(rank - leading - 1, lambda h, a=a: a * h, each) for a, each in zip(row, before, strict=True)],
        )
        return [
            deep(rank - leading - 1, lambda h, s, a=a: h + a * s, each, said)
            for a, each in zip(column, kept, strict=True)
        ]

    def value(assignment: Assignment) -> Any:
        decays, steps = logarithms(assignment), added(assignment)
        written_read = [factor(assignment) for factor in factors]
        count = len(steps)
        states: list[Any] = [None] * count
        order = range(count - 1, -1, -1) if node.backwards else range(count)
        for t in order:
            if t == order[0]:
                states[t] = steps[t]
                continue
            at, earlier = (t + 1, states[t + 1]) if node.backwards else (t, states[t - 1])
            states[t] = step(decays[at], earlier, steps[t])
            if written_read:
                states[t] = deep(leading, corrected, states[t], *(factor[at] for factor in written_read), earlier)
        return states

    return value


@rule.register
def _(node: Chosen) -> Meaning:
    table, numbers = map(meaning, node.args)

    def value(assignment: Assignment) -> Any:
        columns = list(map(list, zip(*table(assignment), strict=True)))
        return [[[_chosen(column, place) for place in row] for row in numbers(assignment)] for column in columns]

    return value


@rule.register
def _(node: AddedEntries) -> Meaning:
    inner, numbers, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))

    def value(assignment: Assignment) -> Any:
        matrices, size = inner(assignment), whole(count(assignment))
        places = [place for row in numbers(assignment) for place in row]
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

    def value(assignment: Assignment) -> Any:
        rows, first, every = inner(assignment), whole(start(assignment)), whole(step(assignment))
        return [_chosen(rows, first + every * place) for place in range(whole(count(assignment)))]

    return value


@rule.register
def _(node: PlacedRows) -> Meaning:
    inner, start, count = meaning(node.args[0]), meaning(node.args[1]), meaning(total(node.args[2]))
    columns, step = meaning(total(node.shape[1])), meaning(node.args[3])

    def value(assignment: Assignment) -> Any:
        placed = [[0] * whole(columns(assignment)) for _ in range(whole(count(assignment)))]
        first, every = whole(start(assignment)), whole(step(assignment))
        for place, row in enumerate(inner(assignment)):
            _chosen(placed, first + every * place)[:] = row
        return placed

    return value


@rule.register
def _(node: Stacked) -> Meaning:
    above, below = map(meaning, node.args)
    return lambda assignment: [*above(assignment), *below(assignment)]
