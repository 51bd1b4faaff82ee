"""Sums, means, maxima and softmax along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sympy import Abs, Expr, Integer, Rational, Symbol, oo, sqrt

from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import (
    RowLogSumExp,
    RowMean,
    RowSoftmax,
)
from numeric.lifting.axes import (
    Along,
    Factors,
    Index,
    fine,
    numbered,
    parts_of,
)
from numeric.lifting.operations.arithmetic import exponential, logarithm, multiply, negate, subtract
from numeric.lifting.operations.broadcasting import built
from numeric.lifting.operations.entries import FIRST, SECOND, finite, formula, real
from numeric.lifting.operations.rearranging import axis_number, inserted, permute
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, made, tensor
from numeric.lifting.trace import current

__all__ = [
    "count",
    "log_softmax",
    "log_sum_exp",
    "maximum_along",
    "mean",
    "minimum_along",
    "norm",
    "softmax",
    "summation",
    "summed",
    "variance",
]


def summed(array: Tensor, axes: Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Return the sums along axes."""
    finite("a sum", array)
    array = real(array)
    chosen = sorted({axis_number(each, array.ndim) for each in (range(array.ndim) if axes is None else axes)})
    target = [along for number, along in enumerate(array.axes) if number not in chosen]
    indices = numbered(target)
    left = iter(indices)
    sums: list[Any] = []
    places: list[Any] = []
    for number, along in enumerate(array.axes):
        if number in chosen:
            place, more = summation(along, len(sums))
            places.append(place)
            sums += more
        else:
            places.append(next(left))
    result = tensor(built(indices, target, sums, 1, (array.node, array.axes, places)), axes=target)
    return inserted(result, chosen) if keepdims else result


def summation(along: Along, first: int) -> tuple[Index, list[tuple[Symbol, Expr]]]:
    """Return an index for a sum over an axis, and its symbols, each with its number of values."""
    parts = fine([along])
    own = tuple(Symbol(f"p_{first + number}", integer=True) for number in range(len(parts)))
    return Index(own, tuple(parts)), list(zip(own, parts, strict=True))


def count(array: Tensor, axes: Sequence[int] | None) -> Expr:
    """Return the number of entries along axes."""
    result: Expr = Integer(1)
    for each in range(array.ndim) if axes is None else axes:
        result = result * array.sizes[axis_number(each, array.ndim)]
    return result


def mean(array: Tensor, axes: Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Return the means along axes."""
    finite("a mean", array)
    last = axes is not None and [axis_number(each, array.ndim) for each in axes] == [array.ndim - 1]
    if last and array.ndim <= 2 and not isinstance(array.axes[-1], Factors):
        result = tensor(RowMean(real(array).node), axes=array.axes[:-1])
        return inserted(result, [array.ndim - 1]) if keepdims else result
    return multiply(summed(array, axes, keepdims), 1 / count(array, axes))


def variance(
    array: Tensor, axes: Sequence[int] | None = None, keepdims: bool = False, correction: Expr | int = 0
) -> Tensor:
    """Return the variances along axes: the mean square of the distances from the mean, over n - correction."""
    distance = subtract(array, mean(array, axes, keepdims=True))
    squares = formula("square", FIRST**2, distance)
    if correction == 0:
        return mean(squares, axes, keepdims)
    return multiply(summed(squares, axes, keepdims), 1 / (count(array, axes) - correction))


def _by_rows(array: Tensor, axis: int, of_rows: Callable[[Array, Array | None], Array], keeps: bool) -> Tensor:
    """Apply a function of rows along any axis."""
    axis = axis_number(axis, array.ndim)
    order = [*(number for number in range(array.ndim) if number != axis), axis]
    turned = permute(array, order)
    if isinstance(turned.axes[-1], Factors):
        raise refuse("a function of rows, some of whose entries are minus infinity, along an axis merged from several")
    result = tensor(of_rows(real(turned).node, turned.alive), axes=turned.axes if keeps else turned.axes[:-1])
    if not keeps:
        return result
    return permute(result, [order.index(number) for number in range(array.ndim)])


def _is_merged(array: Tensor, axis: int) -> bool:
    return isinstance(array.axes[axis_number(axis, array.ndim)], Factors)


def _parted(array: Tensor, axes: Sequence[int]) -> tuple[Tensor, list[int]]:
    """Return an array whose merged axes are split into their parts, and the numbers of the axes that `axes` become."""
    parts: list[Along] = []
    chosen: list[int] = []
    for number, along in enumerate(array.axes):
        own = parts_of(along) if number in axes else (along,)
        chosen += range(len(parts), len(parts) + len(own)) if number in axes else ()
        parts += own
    return made(array.node, array.alive, array.kind, parts), chosen


def _visible(array: Tensor) -> None:
    if array.alive is not None:
        current().demand_visible(array.alive)


def softmax(array: Tensor, axis: int) -> Tensor:
    """Return the softmax along an axis; minus infinity gets the weight 0."""
    _visible(array)
    if _is_merged(array, axis):
        powers = exponential(array)
        return formula("quotient", FIRST / SECOND, powers, summed(powers, [axis], True))
    return _by_rows(array, axis, lambda node, alive: RowSoftmax(*([node] if alive is None else [node, alive])), True)


def log_sum_exp(array: Tensor, axis: int, keepdims: bool = False) -> Tensor:
    """Return the logarithm of the sum of the exponentials along an axis."""
    if array.alive is not None or _is_merged(array, axis):
        _visible(array)
        return logarithm(summed(exponential(array), [axis], keepdims))
    result = _by_rows(array, axis, lambda node, alive: RowLogSumExp(node), False)
    return inserted(result, [axis_number(axis, array.ndim)]) if keepdims else result


def log_softmax(array: Tensor, axis: int) -> Tensor:
    """Return the logarithm of the softmax along an axis."""
    return subtract(array, log_sum_exp(array, axis, keepdims=True))


def maximum_along(array: Tensor, axes: Sequence[int] | None, keepdims: bool = False) -> Tensor:
    """Return the largest entries along axes."""
    chosen = list(range(array.ndim)) if axes is None else sorted({axis_number(each, array.ndim) for each in axes})
    if any(_is_merged(array, number) for number in chosen) and array.alive is None:
        result = maximum_along(*_parted(array, chosen))
        return inserted(result, chosen) if keepdims else result
    if len(chosen) > 1 and array.alive is None:
        inner = maximum_along(array, chosen[1:])
        result = maximum_along(inner, chosen[:1])
        return inserted(result, chosen) if keepdims else result
    if len(chosen) != 1:
        raise refuse("a maximum along several axes")
    _visible(array)
    result = _by_rows(
        array, chosen[0], lambda node, alive: RowMax(*([node] if alive is None else [node, alive])), False
    )
    return inserted(result, chosen) if keepdims else result


def minimum_along(array: Tensor, axes: Sequence[int] | None, keepdims: bool = False) -> Tensor:
    """Return the smallest entries along axes."""
    return negate(maximum_along(negate(array), axes, keepdims))


def norm(array: Tensor, order: Expr, axes: Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Return (sum |x|^p)^(1/p) along axes, for p = oo and -oo the largest and the smallest |x|."""
    if order == 2:
        return formula("sqrt", sqrt(FIRST), summed(formula("square", FIRST**2, array), axes, keepdims))
    sizes = formula("abs", Abs(FIRST), array)
    if order in (oo, -oo):
        return (maximum_along if order == oo else minimum_along)(sizes, axes, keepdims)
    if order == 1:
        return summed(sizes, axes, keepdims)
    if not (order.is_Integer and order > 0):
        raise refuse(f"a norm of order {order}")
    powers = formula("power", FIRST**order if order % 2 == 0 else Abs(FIRST) ** order, array)
    return formula("root", FIRST ** Rational(1, int(order)), summed(powers, axes, keepdims))
