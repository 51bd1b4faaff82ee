"""Layers at small concrete sizes, written out as SymPy matrices.

Every node is evaluated by operations on whole matrices (`*`, `.T`, stacking) and never by its entry rule, so this is an
independent evaluation of the same equations. A vector is a matrix of one row, a scalar a matrix of one entry, and an
array of higher rank a tuple of its members along the leading axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce, singledispatch
from itertools import product
from operator import add, mul
from typing import Any, TypeAlias

from sympy import Expr, Integer, KroneckerDelta, MatrixBase, Max, Symbol, diag, exp, log, ones, zeros
from sympy import ImmutableDenseMatrix as Matrix
from sympy import Tuple as Places
from sympy.core.symbol import Str

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Explicit, PlacedBlock, SumOver, Tabulated
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
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
from derivations.language.arrays.rows import (
    PlacedRows,
    RowRange,
    Stacked,
)
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
from derivations.language.arrays.shapes import Axis, Blocks, ShapeError, axis, shape_text, total
from derivations.language.differentiation.pullback import Pullback
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Apply, Layer, Repeat

__all__ = ["Value", "explicit", "explicit_layer", "symbolic"]

Value: TypeAlias = Any  # a matrix up to rank 2, then a tuple of values: SymPy's matrices have no static type


def symbolic(variable: Variable) -> Value:
    """Return a variable of concrete shape as matrices of its symbolic entries.

    Shapes       (n, m): an n x m matrix; (n,): one row; (): one entry; (h, n, m): h matrices
    Raises       ShapeError when a size is not a number
    """
    return _filled(variable, variable.entry)


def explicit(expression: Array, given: Mapping[str, Any] | None = None, **sizes: int) -> Value:
    """Return an expression written out; a variable without a given value is replaced by its symbolic entries.

    Definition   every node by matrix operations on the matrices of its operands
    Raises       ShapeError when a size is not a number or a given value does not fit; TypeError for an unknown node
    """
    symbols = {s.name: s for s in expression.free_symbols if isinstance(s, Symbol)}
    for name in sorted(set(sizes) - set(symbols)):
        raise ShapeError(f"{expression} has no size {name}; it has {', '.join(sorted(symbols))}")
    concrete = expression.xreplace({symbols[name]: axis(number) for name, number in sizes.items()})
    scope = _Scope(dict(given or {}))
    result = _value(concrete, scope)
    scope.check_all_used(str(expression))
    return result


def explicit_layer(
    layer: Layer, given: Mapping[str, Any] | None = None, digits: int | None = None, **sizes: int
) -> dict[str, Value]:
    """Return every input, parameter and intermediate of a layer at concrete sizes, by name, in order of evaluation.

    Definition   `given` maps names to values (nested lists, a matrix, or a tuple of them); an input or weight without a
                 given value is replaced by its symbolic entries; the weights of a part are named `part.weight`, those
                 of a repetition `part.0.weight`, `part.1.weight`, ...; with `digits`, the value of every equation is
                 evaluated to that many digits
    Raises       ShapeError when a size is not a number or a given value does not fit; TypeError for an unknown node
    """
    layer, scope = layer.at(**sizes), _Scope(dict(given or {}), digits=digits)
    scope.known.update({v: _value(v, scope) for v in (*layer.inputs, *layer.parameters)})
    _run(layer, scope)
    scope.check_all_used(f"layer {layer.name}")
    return {variable.name: value for variable, value in scope.known.items()}


# --- layers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scope:
    """The values of the variables of a layer; `path` is the prefix of the names of its weights."""

    given: Mapping[str, Any]
    known: dict[Variable, Value] = field(default_factory=dict)
    path: str = ""
    used: set[str] = field(default_factory=set)
    digits: int | None = None

    def inside(self, part: str, known: Mapping[Variable, Value]) -> _Scope:
        return replace(self, known=dict(known), path=f"{self.path}{part}.")

    def check_all_used(self, what: str) -> None:
        for name in sorted(set(self.given) - self.used):
            raise ShapeError(f"{what} has no array or symbol called {name}; leave out its value")


def _run(layer: Layer, scope: _Scope) -> Mapping[Variable, Value]:
    for equation in layer.equations:
        if equation.over is None:
            value = _value(equation.value, scope)
        else:
            members = [_value(member, scope) for member in _members(equation.value, *equation.over)]
            value = _stacked(members, len(equation.value.shape))
        if scope.digits is not None:
            value = _each(lambda matrix: matrix.evalf(scope.digits), value)
        scope.known[equation.variable] = value
    return scope.known


@singledispatch
def _value(node: Array, scope: _Scope) -> Value:
    """Evaluate one node by operations on the matrices of its operands."""
    raise TypeError(f"{node} as matrices: no rule evaluates a {type(node).__name__}; register one in this module")


@_value.register
def _(node: Apply, scope: _Scope) -> Value:
    return _run(node.layer, scope.inside(node.name, _bound(node, scope)))[node.layer.output]


@_value.register
def _(node: Repeat, scope: _Scope) -> Value:
    *_, (_, known) = _copies(node, scope)
    return known[node.layer.inputs[0]]


def _copies(node: Apply, scope: _Scope) -> Iterator[tuple[str, dict[Variable, Value]]]:
    """Yield the path and the given values of every copy of an applied or repeated layer, and finally the output."""
    known = _bound(node, scope)
    if not isinstance(node, Repeat):
        yield node.name, known
        return
    for number in range(_number(node, node.count)):
        path = f"{node.name}.{number}"
        yield path, known
        output = _run(node.layer, scope.inside(path, known))[node.layer.output]
        known = {**known, node.layer.inputs[0]: output}
    yield "", known


def _bound(node: Apply, scope: _Scope) -> dict[Variable, Value]:
    """Return the values of the inputs and of the bound parameters of an applied layer."""
    parameters = {p.name: p for p in node.layer.parameters}
    inputs = zip(node.layer.inputs, node.arguments, strict=True)
    bound = ((parameters[name], array) for name, array in node.bound.items())
    return {variable: _value(array, scope) for variable, array in (*inputs, *bound)}


@_value.register
def _(node: Pullback, scope: _Scope) -> Value:
    """Return the gradient of the layer, from the last copy to the first; inputs shared by all copies add up."""
    layer, wanted = node.applied.layer, node.variable
    backward, first = gradient(layer), layer.inputs[0]
    by = [v for v in (*layer.inputs, *layer.parameters) if v.kind == "real"]
    copies, collected = list(_copies(node.applied, scope)), []
    g = _value(node.cotangent, scope)
    for path, known in reversed(copies[:-1] if isinstance(node.applied, Repeat) else copies):
        found = _run(backward, scope.inside(path, {**known, backward.inputs[-1]: g}))
        gradients = {variable: found[output] for variable, output in zip(by, backward.outputs, strict=True)}
        collected.append(gradients[wanted])
        # the gradient for the first input of a copy is the one for the output of the previous copy
        g = gradients.get(first)
    return collected[-1] if wanted == first else reduce(partial(_each, add), collected)


@_value.register
def _(node: Variable, scope: _Scope) -> Value:
    if node in scope.known:
        return scope.known[node]
    full = node.func(Str(scope.path + node.name), *node.args[1:])
    if full.name not in scope.given:
        return symbolic(full)
    scope.used.add(full.name)
    return _fitted(full, scope.given[full.name])


# --- linear algebra -------------------------------------------------------------------------------------------------


@_value.register
def _(node: Product, scope: _Scope) -> Value:
    left, right = (_value(a, scope) for a in node.args)
    if len(node.args[1].shape) == 2:
        return left * right
    column = left * right.T  # a vector is written as a row
    return column.T


@_value.register
def _(node: Plus, scope: _Scope) -> Value:
    return _each(add, *(_value(a, scope) for a in node.args))


@_value.register
def _(node: Scaled, scope: _Scope) -> Value:
    return _each(lambda matrix: matrix * node.args[0], _value(node.args[1], scope))


@_value.register
def _(node: Transpose, scope: _Scope) -> Value:
    return _value(node.args[0], scope).T


@_value.register
def _(node: RowBroadcast, scope: _Scope) -> Value:
    return Matrix(ones(_number(node, node.shape[0]), 1)) * _value(node.args[0], scope)


@_value.register
def _(node: ColumnBroadcast, scope: _Scope) -> Value:
    return _value(node.args[0], scope).T * Matrix(ones(1, _number(node, node.shape[1])))


@_value.register
def _(node: Member, scope: _Scope) -> Value:
    whole, place = _value(node.args[0], scope), _number(node, node.args[1])
    if isinstance(whole, tuple):
        return whole[place]
    return whole[place, :] if len(node.shape) == 1 else whole[:, place]


@_value.register
def _(node: Concatenate, scope: _Scope) -> Value:
    return Matrix.hstack(*(_value(member, scope) for member in _members(*node.args)))


@_value.register
def _(node: SumOver, scope: _Scope) -> Value:
    return reduce(partial(_each, add), (_value(member, scope) for member in _members(*node.args)))


@_value.register
def _(node: PlacedBlock, scope: _Scope) -> Value:
    block, count = _number(node, node.args[1]), _number(node, node.args[2])
    body = _value(node.args[0], scope)
    return Matrix.hstack(*(body if number == block else zeros(*body.shape) for number in range(count)))


@_value.register
def _(node: ColumnRange, scope: _Scope) -> Value:
    start, width = _number(node, node.args[1]), _number(node, node.shape[-1])
    return _value(node.args[0], scope)[:, start : start + width]


@_value.register
def _(node: ColumnBlock, scope: _Scope) -> Value:
    block, width = _number(node, node.args[1]), _number(node, node.shape[-1])
    return _value(node.args[0], scope)[:, block * width : (block + 1) * width]


@_value.register
def _(node: Tabulated, scope: _Scope) -> Value:
    return _filled(node, node.args[0])


@_value.register
def _(node: Explicit, scope: _Scope) -> Value:
    return node.args[0]


# --- functions ------------------------------------------------------------------------------------------------------


@_value.register
def _(node: Elementwise, scope: _Scope) -> Value:
    function, *arrays = node.args
    return _each(partial(_entrywise, function.formula), *(_value(a, scope) for a in arrays))


@_value.register(Hadamard)
@_value.register(MaskConjunction)
def _(node: Array, scope: _Scope) -> Value:
    return _each(partial(_entrywise, mul), *(_value(a, scope) for a in node.args))


def _entrywise(function: Callable[..., Expr], *matrices: Matrix) -> Matrix:
    shape = max(m.shape for m in matrices)  # a scalar is combined with every entry
    return Matrix(*shape, lambda r, c: function(*(m[r, c] if m.shape == shape else m[0] for m in matrices)))


@_value.register
def _(node: BandMask, scope: _Scope) -> Value:
    rows, columns = (_number(node, along) for along in node.sides)
    # a band is a sum of shifted diagonals: no rule of entries is used
    diagonals = [
        Matrix(rows, columns, lambda r, c, k=k: int(int(c) - int(r) == k))
        for k in range(-rows + 1, columns)
        if node.lower <= k <= node.upper
    ]
    return reduce(add, diagonals, Matrix(zeros(rows, columns)))


@_value.register
def _(node: RowSoftmax, scope: _Scope) -> Value:
    weights = _value(node.args[0], scope).applyfunc(exp)
    for mask in node.args[1:]:
        weights = _entrywise(mul, weights, _value(mask, scope))
    totals = weights * Matrix(ones(weights.cols, 1))
    return Matrix(diag(*(1 / t if t != 0 else t for t in totals))) * weights  # no visible key: a row of zeros


@_value.register
def _(node: RowLogSumExp, scope: _Scope) -> Value:
    return _row_sums(_value(node.args[0], scope).applyfunc(exp)).applyfunc(log)


@_value.register
def _(node: RowSum, scope: _Scope) -> Value:
    return _row_sums(_value(node.args[0], scope))


@_value.register
def _(node: RowMean, scope: _Scope) -> Value:
    columns = total(node.args[0].shape[-1])
    return _each(lambda sums: sums / columns, _row_sums(_value(node.args[0], scope)))


def _row_sums(whole: Value) -> Value:
    if isinstance(whole, tuple):
        return _stacked([_row_sums(member) for member in whole], 2 if isinstance(whole[0], tuple) else 1)
    return (whole * Matrix(ones(whole.cols, 1))).T


@_value.register
def _(node: Interleave, scope: _Scope) -> Value:
    even, odd = (_value(a, scope) for a in node.args)
    return Matrix.hstack(*(side[:, pair] for pair in range(even.cols) for side in (even, odd)))


@_value.register
def _(node: Lookup, scope: _Scope) -> Value:
    table, tokens = (_value(a, scope) for a in node.args)
    return _one_hot(tokens, table.rows) * table  # a lookup is a product with one-hot rows


@_value.register
def _(node: RowMax, scope: _Scope) -> Value:
    array, *masks = (_value(a, scope) for a in node.args)

    def largest(*places: Any) -> Expr:
        row = range(_number(node, node.args[0].shape[-1]))
        shown = [place for place in row if not masks or _entry_at(masks[0], (*places, place)) != 0]
        if not shown:
            raise ShapeError(f"{node} as matrices: row {places} has no visible entry, so it has no largest one")
        if any(not _entry_at(mask, (*places, place)).is_number for mask in masks for place in row):
            raise ShapeError(f"{node} as matrices: give numbers for the mask {node.args[1]}")
        return Max(*(_entry_at(array, (*places, place)) for place in shown))

    return _filled(node, largest)


@_value.register
def _(node: Contraction, scope: _Scope) -> Value:
    values = [_value(array, scope) for array, _ in node.operands]
    sums = [(symbol, range(_number(node, count))) for symbol, count in node.sums]

    def entry(*places: Any) -> Expr:
        own: dict[Symbol, Expr] = {}
        for index, place, along in zip(node.indices, places, node.shape, strict=True):
            parts = divmod(int(place), _number(node, along.size)) if isinstance(along, Blocks) else (int(place),)
            symbols = index if isinstance(index, Places) else (index,)
            own |= dict(zip(symbols, map(Integer, parts if len(symbols) == len(parts) else (place,)), strict=True))
        terms = []
        for chosen in product(*(values_of for _, values_of in sums)):
            at = own | dict(zip((symbol for symbol, _ in sums), map(Integer, chosen), strict=True))
            read = (
                tuple(_flat_number(place, along, at) for place, along in zip(places_of, array.shape, strict=True))
                for array, places_of in node.operands
            )
            terms.append(reduce(mul, map(_entry_at, values, read), node.factor.xreplace(at)))
        return reduce(add, terms, Integer(0))

    return _filled(node, entry)


def _flat_number(place: Any, along: Axis, at: Mapping[Symbol, Expr]) -> int:
    if isinstance(place, Places):
        assert isinstance(along, Blocks)
        return int(place[0].xreplace(dict(at))) * int(along.size) + int(place[1].xreplace(dict(at)))
    return int(place.xreplace(dict(at)))


def _entry_at(value: Value, places: tuple[Any, ...]) -> Expr:
    """Return an entry of a value, which is a matrix or, with leading axes, nested tuples of matrices."""
    while isinstance(value, tuple):
        value, places = value[int(places[0])], places[1:]
    return value[(*(0,) * (2 - len(places)), *map(int, places))]


# --- choices by number ----------------------------------------------------------------------------------------------


def _one_hot(tokens: Matrix, columns: int) -> Matrix:
    return Matrix(tokens.cols, columns, lambda r, c: KroneckerDelta(tokens[0, r], c))


@_value.register
def _(node: OneHot, scope: _Scope) -> Value:
    return _one_hot(_value(node.args[0], scope), _number(node, node.args[1]))


@_value.register
def _(node: Pick, scope: _Scope) -> Value:
    matrix, tokens = (_value(a, scope) for a in node.args)
    if len(node.shape) == 2:
        return Matrix.vstack(*(matrix[r, :] * _one_hot(tokens[r, :], matrix.cols).T for r in range(matrix.rows)))
    return _row_sums(_entrywise(mul, _one_hot(tokens, matrix.cols), matrix))


@_value.register
def _(node: AddedPicks, scope: _Scope) -> Value:
    picked, numbers = (_value(a, scope) for a in node.args[:2])
    size = _number(node, node.args[2])
    return Matrix.vstack(*(picked[r, :] * _one_hot(numbers[r, :], size) for r in range(picked.rows)))


@_value.register
def _(node: ScatterRows, scope: _Scope) -> Value:
    rows, tokens = (_value(a, scope) for a in node.args[:2])
    return _one_hot(tokens, _number(node, node.args[2])).T * rows


@_value.register
def _(node: EveryOther, scope: _Scope) -> Value:
    return _value(node.args[0], scope)[:, int(node.args[1]) :: 2]


@_value.register
def _(node: Windows, scope: _Scope) -> Value:
    rows, width = _value(node.args[0], scope), _number(node, node.args[1])
    return Matrix.hstack(*(rows[start : rows.rows - width + 1 + start, :] for start in range(width)))


@_value.register
def _(node: AddedWindows, scope: _Scope) -> Value:
    stretches, rows = _value(node.args[0], scope), _number(node, node.args[1])
    count, columns = stretches.rows, _number(node, node.shape[1])

    def placed(start: int) -> Matrix:
        part = stretches[:, start * columns : (start + 1) * columns]
        return Matrix.vstack(zeros(start, columns), part, zeros(rows - count - start, columns))

    return reduce(add, (placed(start) for start in range(rows - count + 1)))


@_value.register
def _(node: Recurrence, scope: _Scope) -> Value:
    parts = (*node.args[:2], *node.factors)
    decays, steps, *factors = (_along_first(_value(part, scope), len(part.shape)) for part in parts)
    own, rank = len(node.args[0].shape) - 1, len(node.shape) - 1
    count = len(steps)
    order = range(count - 1, -1, -1) if node.backwards else range(count)
    states: dict[int, Value] = {}
    for t in order:
        before = states.get(t + 1 if node.backwards else t - 1)
        decay = decays[t + 1] if node.backwards and t + 1 < count else decays[t]
        states[t] = steps[t] if before is None else _decayed(decay, before, steps[t], own, rank)
        if before is not None and factors:
            column, row = (each[t + 1 if node.backwards else t] for each in factors)
            states[t] = _corrected(states[t], column, row, before, rank, len(node.factors[0].shape) - 1)
    return _stacked([states[t] for t in range(count)], rank)


def _corrected(kept: Value, column: Value, row: Value, before: Value, rank: int, own: int) -> Value:
    """Return kept + w (r^T before), where `own` is the rank of w and r; all axes but their last are batch axes."""
    if own > 1:
        ranks = (rank, own, own, rank)
        members = (_along_first(each, k) for each, k in zip((kept, column, row, before), ranks, strict=True))
        return _stacked(
            [_corrected(a, w, r, h, rank - 1, own - 1) for a, w, r, h in zip(*members, strict=True)], rank - 1
        )
    if rank == 1:
        return kept + column * (row * before.T)[0, 0]
    if rank == 2:
        return kept + column.T * (row * before)
    terms = [_each(lambda m, a=a: a * m, each) for a, each in zip(row, before, strict=True)]
    said = reduce(partial(_each, add), terms)
    return tuple(_each(lambda m, s, a=a: m + a * s, each, said) for a, each in zip(column, kept, strict=True))


def _along_first(value: Value, rank: int) -> Sequence[Value]:
    """Return the members of a value along its first axis; those of a vector are its entries, as 1 x 1 matrices."""
    if rank > 2:
        return tuple(value)
    return [value[row, :] for row in range(value.rows)] if rank == 2 else [value[:, k] for k in range(value.cols)]


def _decayed(decay: Value, before: Value, more: Value, own: int, rank: int) -> Value:
    """Return exp(decay) o before + more; along axes that `decay` lacks, its entries are repeated."""
    if own == rank:
        return _entrywise(lambda a, h, b: exp(a) * h + b, decay, before, more)
    if own == 0:
        return _entrywise(lambda h, b: exp(decay[0, 0]) * h + b, before, more)
    if rank == 2:  # one decay for each row
        rows = (exp(decay[0, r]) * before[r, :] + more[r, :] for r in range(before.rows))
        return Matrix.vstack(*rows)
    parts = zip(_along_first(decay, own), before, more, strict=True)
    return tuple(_decayed(a, h, b, own - 1, rank - 1) for a, h, b in parts)


# --- rows sent to matrices -----------------------------------------------------------------------------------------


@_value.register
def _(node: TopK, scope: _Scope) -> Value:
    scores, count = _value(node.args[0], scope), _number(node, node.args[1])

    return Matrix([_falling(node, scores, row, range(scores.cols))[:count] for row in range(scores.rows)]).T


def _falling(node: Array, scores: Matrix, row: int, places: Iterable[int]) -> list[int]:
    """Return the given positions in a row, sorted from the largest entry to the smallest, then by position."""
    entries = list(scores[row, :])
    if not all(entry.is_comparable for entry in entries):
        raise ShapeError(f"{node} as places: give numbers for the entries of row {row}")
    return sorted(places, key=lambda place: (-entries[place], place))


@_value.register
def _(node: TopKMask, scope: _Scope) -> Value:
    scores, visible, count = _value(node.args[0], scope), _value(node.args[1], scope), _number(node, node.args[2])
    seen = [[place for place in range(scores.cols) if visible[row, place] != 0] for row in range(scores.rows)]
    first = [_falling(node, scores, row, places)[:count] for row, places in enumerate(seen)]
    return Matrix(*scores.shape, lambda r, c: int(c in first[r]))


@_value.register
def _(node: BatchTranspose, scope: _Scope) -> Value:
    return tuple(matrix.T for matrix in _value(node.args[0], scope))


@_value.register
def _(node: RoutedProduct, scope: _Scope) -> Value:
    rows, family, numbers = (_value(a, scope) for a in node.args)
    # All rows times every matrix, each masked by the choice of the rows, so that the numbers may be symbols.
    chosen = _one_hot(numbers, len(family))
    sent = (_entrywise(mul, rows * matrix, chosen[:, e] * ones(1, matrix.cols)) for e, matrix in enumerate(family))
    return reduce(add, sent)


@_value.register
def _(node: RoutedOuter, scope: _Scope) -> Value:
    left, right, numbers = (_value(a, scope) for a in node.args[:3])
    chosen = _one_hot(numbers, _number(node, node.args[3]))
    return tuple(left.T * diag(*chosen[:, e]) * right for e in range(chosen.cols))


# --- rows -----------------------------------------------------------------------------------------------------------


@_value.register
def _(node: RowRange, scope: _Scope) -> Value:
    matrix, rows = _value(node.args[0], scope), _row_numbers(node, node.args[1], node.shape[0], node.args[3])
    return matrix.extract(rows, list(range(matrix.cols)))


@_value.register
def _(node: PlacedRows, scope: _Scope) -> Value:
    body, count = _value(node.args[0], scope), _number(node, node.shape[0])
    places = _row_numbers(node, node.args[1], node.args[0].shape[0], node.args[3])
    # a 0-1 matrix puts the rows in place
    return Matrix(count, len(places), lambda r, c: int(places[c] == int(r))) * body


def _row_numbers(node: Array, start: Expr, count: Axis, step: Expr) -> list[int]:
    first = 0 if start == 0 else _number(node, start)
    return [first + _number(node, step) * row for row in range(_number(node, count))]


@_value.register
def _(node: Stacked, scope: _Scope) -> Value:
    return Matrix.vstack(*(_value(part, scope) for part in node.args))


@_value.register
def _(node: Chosen, scope: _Scope) -> Value:
    table, numbers = (_value(a, scope) for a in node.args)
    chosen = _one_hot(_in_one_row(numbers), table.rows) * table
    return tuple(chosen[:, column].reshape(*numbers.shape) for column in range(table.cols))


@_value.register
def _(node: AddedEntries, scope: _Scope) -> Value:
    matrices, numbers = (_value(a, scope) for a in node.args[:2])
    places = _one_hot(_in_one_row(numbers), _number(node, node.args[2]))
    return Matrix.hstack(*(places.T * _in_one_row(matrix).T for matrix in matrices))


def _in_one_row(matrix: Matrix) -> Matrix:
    return matrix.reshape(1, matrix.rows * matrix.cols)


@_value.register
def _(node: RelativeBuckets, scope: _Scope) -> Value:
    return _filled(node, node.entry)


# --- matrices -------------------------------------------------------------------------------------------------------


def _each(function: Callable[..., Matrix], *values: Value) -> Value:
    """Apply a function of matrices to values; where these are tuples, apply it to their members."""
    lengths = [len(value) for value in values if isinstance(value, tuple)]
    if not lengths:
        return function(*values)
    return tuple(_each(function, *(v[k] if isinstance(v, tuple) else v for v in values)) for k in range(lengths[0]))


def _filled(array: Array, entry: Callable[..., Expr], *places: Integer) -> Value:
    """Return the value with the shape of an array whose entries are a function of the indices."""
    sizes = [_number(array, a) for a in array.shape[len(places) :]]
    if len(sizes) > 2:
        return tuple(_filled(array, entry, *places, Integer(place)) for place in range(sizes[0]))
    rows, columns = [1] * (2 - len(sizes)) + sizes
    return Matrix(rows, columns, lambda r, c: entry(*places, *(r, c)[2 - len(sizes) :]))


def _stacked(members: list[Any], rank: int) -> Value:
    """Return the members of a family, each of the given rank, as one value."""
    if rank >= 2:
        return tuple(members)
    return Matrix.vstack(*members) if rank == 1 else Matrix.hstack(*members)


def _members(body: Array, over: Symbol, count: Axis) -> Iterable[Array]:
    return (body.xreplace({over: Integer(number)}) for number in range(_number(body, count)))


def _number(what: Array, size: Axis) -> int:
    value = total(size)
    if not isinstance(value, Integer):
        raise ShapeError(f"{what} as matrices: give a number for {value}")
    return int(value)


def _fitted(variable: Variable, given: Any) -> Value:
    """Return the given value of a variable, after a check of its shape."""
    sizes = [_number(variable, a) for a in variable.shape]
    value = _read(given, len(sizes))
    if not _fits(value, sizes):
        raise ShapeError(f"{variable} has shape {shape_text(variable.shape)}, which {given} does not fit")
    return value


def _read(given: Any, rank: int) -> Value:
    if rank > 2:
        return tuple(_read(member, rank - 1) for member in given)
    # a vector is a matrix of one row, a scalar one of one entry
    rows = given if rank == 2 or isinstance(given, MatrixBase) else [given] if rank == 1 else [[given]]
    return Matrix(rows)


def _fits(value: Value, sizes: list[int]) -> bool:
    if isinstance(value, tuple):
        return len(value) == sizes[0] and all(_fits(member, sizes[1:]) for member in value)
    return bool(value.shape == (*[1] * (2 - len(sizes)), *sizes))
