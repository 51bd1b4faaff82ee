"""Numbers of positions, masks of positions, and sums up to each position."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Integer, Lambda, Symbol, expand, oo

from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.masks import BandMask, CausalMask
from numeric.lifting.axes import Along, same_length, size_of_axis
from numeric.lifting.numbers import as_number, whole_quotient
from numeric.lifting.operations import (
    axis_number,
    contract,
    finite,
    logical_and,
    multiply,
    real,
    removed,
)
from numeric.lifting.places.joining import demand_entries
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor
from numeric.lifting.trace import current

__all__ = ["band", "positions", "powers", "running_sums", "triangle"]


def running_sums(array: Tensor, axis: int, reverse: bool = False) -> Tensor:
    """Return the sums of the entries up to each place along an axis: a product with the causal mask."""
    finite("a running sum", array)
    along = axis_number(axis, array.ndim)
    size = size_of_axis(array.axes[along])
    mask = band(size, size, 0, not reverse)
    names = [f"a{number}" for number in range(array.ndim)]
    inner = [*names[:along], "p", *names[along + 1 :]]
    return contract(names, (mask, [names[along], "p"]), (real(array), inner))


def positions(start: Any, stop: Any, step: Any = 1) -> Tensor:
    """Return the whole numbers start, start + step, ..., below stop."""
    first, end, by = as_number(start), as_number(stop), as_number(step)
    count = whole_quotient(expand(end - first), by)
    if not by.is_Integer or by <= 0 or count is None or not first.is_integer:
        raise refuse(f"positions from {first} to {end} in steps of {by}")
    place = Symbol("i", integer=True)
    demand_entries(count, "positions")
    return tensor(Numbers(Lambda((place,), first + by * place), count))


def powers(base: Expr, count: Expr) -> Tensor:
    """Return the numbers base^(-i / count) for i = 0, 1, ..., count - 1: the frequencies of a rotary embedding."""
    place = Symbol("i", integer=True)
    row = Symbol("r", integer=True)
    return removed(tensor(Tabulated(Lambda((row, place), base ** (-place / count)), Integer(1), count)), [0])


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
