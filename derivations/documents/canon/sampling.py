"""Quick numbers of an expression at fixed small sizes: a filter before the judge, never a verdict.

Definition   sizes, indices and entries get numbers that depend on their names alone; an expression of any shape is
             evaluated in floating point, entry by entry
Result       the entries to nine digits, so that equal expressions have equal numbers, up to rounding
Raises       NoNumber where an expression has none here
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from typing import Any
from zlib import crc32

from sympy import (
    Add,
    E,
    Indexed,
    Integer,
    KroneckerDelta,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Sum,
    Symbol,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    tanh,
)
from sympy.core.function import AppliedUndef

from derivations.language.arrangements import Concatenate, Tabulated
from derivations.language.expression import (
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
from derivations.language.functions import Elementwise, Hadamard, RowLogSumExp, RowMean, RowSoftmax, RowSum
from derivations.language.shapes import total

__all__ = ["SIZES", "NoNumber", "numbers"]

SIZES = {"n": 3, "m": 4, "d_k": 2, "d_v": 5, "d_model": 6, "d_ff": 7, "d": 4, "d_in": 3, "d_out": 5, "h": 2, "vocab": 5}
PLACES = {"i": 1, "k": 0, "j": 2, "l": 1, "c": 1, "pos": 3, "u": 2}
Numbers = tuple[tuple[int, ...], tuple[float, ...]]  # the shape, and the entries row by row
Grid = tuple[tuple[int, ...], list[float]]


class NoNumber(Exception):
    """An expression that has no number here."""


@lru_cache(maxsize=8192)
def numbers(expression: Any) -> Numbers:
    """Return the shape and the entries of an expression, to nine digits."""
    try:
        if isinstance(expression, Array):
            shape, values = _array(expression, {})
        else:
            shape, values = (), [_scalar(expression, {})]
    except (ValueError, OverflowError, ZeroDivisionError, TypeError, RecursionError) as error:
        raise NoNumber(str(error)) from error
    return shape, tuple(float(f"{value:.9g}") if abs(value) > 1e-12 else 0.0 for value in values)


def _drawn(name: str, *, signed: bool = False) -> float:
    """Return a number between 1/4 and 7/4 that depends on the name alone, or one of either sign."""
    share = (crc32(name.encode()) % 100_003) / 100_003
    return 3 * share - 1.6 if signed else 0.25 + 1.5 * share


def _size(expression: Any, bound: Mapping[Any, float]) -> int:
    value = _scalar(total(expression), bound)
    if value != int(value) or not 0 <= value < 100:
        raise NoNumber(f"a size of {value}")
    return int(value)


def _array(node: Array, bound: Mapping[Any, float]) -> Grid:
    if not bound:
        return _known(node)
    return _evaluated(node, bound)


@lru_cache(maxsize=8192)
def _known(node: Array) -> Grid:
    return _evaluated(node, {})


def _evaluated(node: Array, bound: Mapping[Any, float]) -> Grid:
    shape = tuple(_size(axis, bound) for axis in node.shape)
    rule = _ARRAYS.get(type(node))
    if rule is None:
        raise NoNumber(type(node).__name__)
    return shape, rule(node, shape, bound)


def _variable(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    return [_drawn(f"{node.name}{list(at)}", signed=True) for at in product(*map(range, shape))]


def _member(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    outer, values = _array(node.args[0], bound)
    place, size = int(_scalar(node.args[1], bound)), math.prod(shape)
    if not 0 <= place < outer[0]:
        raise NoNumber("a place outside its axis")
    return values[place * size : (place + 1) * size]


def _product(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    (left, a), (right, b) = _array(node.args[0], bound), _array(node.args[1], bound)
    inner = left[-1]
    rows, columns = math.prod(left[:-1]), math.prod(right[1:])
    return [
        sum(a[row * inner + p] * b[p * columns + column] for p in range(inner))
        for row in range(rows)
        for column in range(columns)
    ]


def _plus(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    return [x + y for x, y in zip(*(_array(part, bound)[1] for part in node.args), strict=True)]


def _scaled(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    factor = _scalar(node.args[0], bound)
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
        _scalar(formula.expr, {**bound, **dict(zip(formula.variables, entries, strict=True))})
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
        powers = [math.exp(x) for x in row]
        found += [x / sum(powers) for x in powers]
    return found


def _tabulated(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    formula = node.args[0]
    return [
        _scalar(formula.expr, {**bound, **dict(zip(formula.variables, at, strict=True))})
        for at in product(*map(range, shape))
    ]


def _concatenated(node: Any, shape: tuple[int, ...], bound: Mapping[Any, float]) -> list[float]:
    body, over, size = node.args
    parts = [_array(body, {**bound, over: member})[1] for member in range(_size(size, bound))]
    rows = math.prod(shape[:-1])
    width = len(parts[0]) // rows
    return [x for row in range(rows) for part in parts for x in part[row * width : (row + 1) * width]]


_ARRAYS: dict[type[Array], Callable[[Any, tuple[int, ...], Mapping[Any, float]], list[float]]] = {
    Variable: _variable, Member: _member, Product: _product, Plus: _plus, Scaled: _scaled, Transpose: _transpose,
    RowBroadcast: _rows, ColumnBroadcast: _columns, Elementwise: _elementwise, Hadamard: _hadamard,
    RowSoftmax: _softmax, Tabulated: _tabulated, Concatenate: _concatenated,
    RowSum: lambda node, shape, bound: [sum(row) for row in _in_rows(node, bound)],
    RowMean: lambda node, shape, bound: [sum(row) / len(row) for row in _in_rows(node, bound)],
    RowLogSumExp: lambda node, shape, bound: [math.log(sum(map(math.exp, row))) for row in _in_rows(node, bound)],
}  # fmt: skip


def _scalar(node: Any, bound: Mapping[Any, float]) -> float:
    if node in bound:
        return bound[node]
    for kind, rule in _SCALARS:
        if isinstance(node, kind):
            return float(rule(node, bound))
    raise NoNumber(type(node).__name__)


def _symbol(node: Any, bound: Mapping[Any, float]) -> float:
    known = SIZES if node.is_positive else PLACES if node.is_integer else {}
    return known[node.name] if node.name in known else _drawn(node.name, signed=not node.is_positive)


def _entry(node: Any, bound: Mapping[Any, float]) -> float:
    if not isinstance(node.base.label, Symbol):
        raise NoNumber("an entry of what is no array")
    return _drawn(f"{node.base.label.name}{[int(_scalar(place, bound)) for place in node.indices]}", signed=True)


def _sum(node: Any, bound: Mapping[Any, float]) -> float:
    (place, first, last), *rest = node.limits
    if rest:
        raise NoNumber("a sum over several indices")
    low, high = int(_scalar(first, bound)), int(_scalar(last, bound))
    if high - low > 200:
        raise NoNumber("a long sum")
    return sum(_scalar(node.function, {**bound, place: at}) for at in range(low, high + 1))


def _power(node: Any, bound: Mapping[Any, float]) -> float:
    base, exponent = _scalar(node.base, bound), _scalar(node.exp, bound)
    return abs(base) ** exponent if base < 0 and exponent != int(exponent) else base**exponent  # a filter, no proof


_SCALARS: tuple[tuple[Any, Callable[[Any, Mapping[Any, float]], float]], ...] = (
    (Symbol, _symbol),
    ((Rational, Integer), lambda node, bound: int(node.p) / int(node.q)),
    (Indexed, _entry),
    (Add, lambda node, bound: sum(_scalar(part, bound) for part in node.args)),
    (Mul, lambda node, bound: math.prod(_scalar(part, bound) for part in node.args)),
    (exp, lambda node, bound: math.exp(_scalar(node.args[0], bound))),
    (Pow, _power),
    (Sum, _sum),
    (KroneckerDelta, lambda node, bound: float(len({_scalar(part, bound) for part in node.args}) == 1)),
    (log, lambda node, bound: math.log(abs(_scalar(node.args[0], bound)))),
    (sin, lambda node, bound: math.sin(_scalar(node.args[0], bound))),
    (cos, lambda node, bound: math.cos(_scalar(node.args[0], bound))),
    (tanh, lambda node, bound: math.tanh(_scalar(node.args[0], bound))),
    (erf, lambda node, bound: math.erf(_scalar(node.args[0], bound))),
    (Max, lambda node, bound: max(_scalar(part, bound) for part in node.args)),
    (Min, lambda node, bound: min(_scalar(part, bound) for part in node.args)),
    (type(pi), lambda node, bound: math.pi),
    (type(E), lambda node, bound: math.e),
    # an unknown function: one that is neither even nor linear, the same for all of that name
    (AppliedUndef, lambda node, bound: math.sin(1.3 * _scalar(node.args[0], bound) + 0.4)),
)
