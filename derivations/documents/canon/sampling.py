"""Fast numerical values of an expression at small fixed sizes. They only filter candidates for the judge.

Definition   an expression of any shape is evaluated in floating point, entry by entry, at the numbers of
             `scalar_sampling`
Result       the entries to nine digits, so that equal expressions have equal numbers, up to rounding
Raises       NoNumber where an expression has none here
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from derivations.documents.canon import rounded
from derivations.documents.canon.scalar_sampling import NoNumber, drawn, scalar_number, size_number
from derivations.language.arrays.arrangements import Concatenate, Tabulated
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
from derivations.language.arrays.functions import Elementwise, Hadamard, RowLogSumExp, RowMean, RowSoftmax, RowSum

__all__ = ["Numbers", "numbers"]

Numbers = tuple[tuple[int, ...], tuple[float, ...]]  # the shape, and the entries row by row
Grid = tuple[tuple[int, ...], list[float]]


@lru_cache(maxsize=8192)
def numbers(expression: Any) -> Numbers:
    """Return the shape and the entries of an expression, to nine digits."""
    try:
        if isinstance(expression, Array):
            shape, values = _array(expression, {})
        else:
            shape, values = (), [scalar_number(expression, {})]
    except (ValueError, OverflowError, ZeroDivisionError, TypeError, RecursionError) as error:
        raise NoNumber(str(error)) from error
    return shape, tuple(float(f"{value:.9g}") if abs(value) > 1e-12 else 0.0 for value in values)


def _array(node: Array, bound: Mapping[Any, float]) -> Grid:
    if not bound:
        return _known(node)
    return _evaluated(node, bound)


@lru_cache(maxsize=8192)
def _known(node: Array) -> Grid:
    return _evaluated(node, {})


def _evaluated(node: Array, bound: Mapping[Any, float]) -> Grid:
    shape = tuple(size_number(axis, bound) for axis in node.shape)
    rule = _ARRAYS.get(type(node))
    if rule is None:
        raise NoNumber(type(node).__name__)
    return shape, rule(node, shape, bound)


def _variable(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    return [drawn(f"{node.name}{list(at)}", signed=True) for at in product(*map(range, shape))]


def _member(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    outer, values = _array(node.args[0], bound)
    place, size = int(scalar_number(node.args[1], bound)), math.prod(shape)
    if not 0 <= place < outer[0]:
        raise NoNumber("a place outside its axis")
    return values[place * size : (place + 1) * size]


def _product(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    (left, a), (right, b) = _array(node.args[0], bound), _array(node.args[1], bound)
    inner = left[-1]
    rows, columns = math.prod(left[:-1]), math.prod(right[1:])
    return [
        math.fsum(a[row * inner + p] * b[p * columns + column] for p in range(inner))
        for row in range(rows)
        for column in range(columns)
    ]


def _plus(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    return [x + y for x, y in zip(*(_array(part, bound)[1] for part in node.args), strict=True)]


def _scaled(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    factor = scalar_number(node.args[0], bound)
    return [factor * x for x in _array(node.args[1], bound)[1]]


def _transpose(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    rows, columns = shape
    values = _array(node.args[0], bound)[1]
    return [values[column * rows + row] for row in range(rows) for column in range(columns)]


def _rows(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    return _array(node.args[0], bound)[1] * shape[0]


def _columns(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    return [x for x in _array(node.args[0], bound)[1] for _ in range(shape[1])]


def _elementwise(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    formula, arrays = node.args[0].formula, [_array(part, bound) for part in node.args[1:]]
    values = [grid if own else grid * math.prod(shape) for own, grid in arrays]
    return [
        scalar_number(formula.expr, {**bound, **dict(zip(formula.variables, entries, strict=True))})
        for entries in zip(*values, strict=True)
    ]


def _hadamard(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    return [x * y for x, y in zip(*(_array(part, bound)[1] for part in node.args), strict=True)]


def _in_rows(node: Any, bound: Mapping[Any, float]) -> list[list[float]]:
    shape, values = _array(node.args[0], bound)
    width = shape[-1]
    return [values[start : start + width] for start in range(0, len(values), width)]


def _softmax(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    if len(node.args) > 1:
        raise NoNumber("a mask")
    found = []
    for row in _in_rows(node, bound):
        powers = [rounded.exp(x) for x in row]
        found += [x / math.fsum(powers) for x in powers]
    return found


def _tabulated(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    formula = node.args[0]
    return [
        scalar_number(formula.expr, {**bound, **dict(zip(formula.variables, at, strict=True))})
        for at in product(*map(range, shape))
    ]


def _concatenated(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    body, over, size = node.args
    parts = [_array(body, {**bound, over: member})[1] for member in range(size_number(size, bound))]
    rows = math.prod(shape[:-1])
    width = len(parts[0]) // rows
    return [x for row in range(rows) for part in parts for x in part[row * width : (row + 1) * width]]


_ARRAYS: dict[type[Array], Callable[[Any, tuple[int, ...], Mapping[Any, float]], list[float]]] = {
    Variable: _variable, Member: _member, Product: _product, Plus: _plus, Scaled: _scaled, Transpose: _transpose,
    RowBroadcast: _rows, ColumnBroadcast: _columns, Elementwise: _elementwise, Hadamard: _hadamard,
    RowSoftmax: _softmax, Tabulated: _tabulated, Concatenate: _concatenated,
    RowSum: lambda node, shape, bound: [math.fsum(row) for row in _in_rows(node, bound)],
    RowMean: lambda node, shape, bound: [math.fsum(row) / len(row) for row in _in_rows(node, bound)],
    RowLogSumExp: lambda node, shape, bound: [
        rounded.log(math.fsum(map(rounded.exp, row))) for row in _in_rows(node, bound)
    ],
}  # fmt: skip
