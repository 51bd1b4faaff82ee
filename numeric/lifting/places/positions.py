"""Ranges of integers, band masks, small tables of numbers, and cumulative sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sympy import Add, Expr, Gt, Integer, KroneckerDelta, Lambda, Mul, Symbol, expand, oo

from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.masks import BandMask, CausalMask
from numeric.lifting.axes import Along, same_length, size_of_axis
from numeric.lifting.numbers import as_number, whole_quotient
from numeric.lifting.operations import (
    axis_number,
    compare,
    contract,
    finite,
    logical_and,
    multiply,
    real,
    removed,
)
from numeric.lifting.places.joining import LARGEST_TABLE, demand_entries
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor
from numeric.lifting.trace import current

__all__ = [
    "LARGEST_TABLE",
    "band",
    "identity",
    "positions",
    "powers",
    "running_sums",
    "table_of",
    "tabulated",
    "triangle",
]


def running_sums(array: Tensor, axis: int, reverse: bool = False) -> Tensor:
    """Return the cumulative sums along an axis, as a product with the causal mask."""
    finite("a running sum", array)
    along = axis_number(axis, array.ndim)
    size = size_of_axis(array.axes[along])
    mask = band(size, size, 0, not reverse)
    names = [f"a{number}" for number in range(array.ndim)]
    inner = [*names[:along], "p", *names[along + 1 :]]
    return contract(names, (mask, [names[along], "p"]), (real(array), inner))


def table_of(numbers: Any, letters: Sequence[Symbol]) -> Expr:
    """Return a formula for the entries of a small table of numbers, with the given symbols as indices.

    Definition   a linear function of the places where the numbers are one, such as a mask's columns; else the sum of
                 the numbers, each times the deltas of its place
    Raises       NotFollowed for more numbers than a formula has
    """
    if numbers.dtype.kind not in "fiub" or not 0 < numbers.size <= LARGEST_TABLE:
        raise refuse(f"a table of {numbers.size} numbers: pass it as an argument")
    powers_of = _powers_in(numbers, letters)
    if powers_of is not None:
        return powers_of
    exact = {at: as_number(numbers[at].item()) for at in np.ndindex(numbers.shape)}
    first = exact[(0,) * numbers.ndim]
    steps = [
        exact[tuple(int(axis == own) for own in range(numbers.ndim))] - first if size > 1 else Integer(0)
        for axis, size in enumerate(numbers.shape)
    ]
    if all(value == first + sum(step * k for step, k in zip(steps, at, strict=True)) for at, value in exact.items()):
        return first + sum(step * letter for step, letter in zip(steps, letters, strict=False))
    return Add(
        *(
            Mul(value, *(KroneckerDelta(letter, k) for letter, k in zip(letters, at, strict=False)))
            for at, value in exact.items()
        )
    )


def _powers_in(numbers: Any, letters: Sequence[Symbol]) -> Expr | None:
    """Return base^(-i/count) if the numbers are these powers of an integer base up to rounding, else None."""
    count = numbers.size
    if numbers.ndim != 1 or numbers.dtype.kind != "f" or count < 3 or numbers[0] != 1 or not 0 < numbers[-1] < 1:
        return None
    base = round(float(numbers[-1]) ** (-count / (count - 1)))
    held = np.float64(base) ** (-np.arange(count) / count)
    double = numbers.dtype.itemsize >= 8
    if base < 2 or not np.allclose(numbers, held, rtol=1e-14 if double else 1e-6, atol=0):
        return None
    current().rounded = current().rounded or not double
    current().read(f"{count} numbers from 1 to {numbers[-1]:g} as {base}^(-i / {count})")
    return Integer(base) ** (-letters[0] / count)


def tabulated(numbers: Any) -> Tensor:
    """Return a small table of numbers, such as the taps of a filter, as a symbolic array."""
    letters = tuple(Symbol(f"i_{number}", integer=True) for number in range(numbers.ndim))
    formula = Lambda(letters, table_of(numbers, letters))
    sizes = tuple(map(Integer, numbers.shape))
    if numbers.dtype.kind == "b":
        return compare(tensor(Tabulated(formula, *sizes)), Integer(0), Gt)
    whole = numbers.dtype.kind in "iu" and numbers.ndim == 1
    return tensor((Numbers if whole else Tabulated)(formula, *sizes))


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
    """Return the mask of the entries on and below a diagonal, or on and above it. `kind` is the kind of the result."""
    shift = as_number(diagonal)
    if lower and shift == 0 and same_length(rows, columns):
        return tensor(CausalMask(rows), kind=kind)
    return tensor(BandMask(rows, columns, -oo if lower else shift, shift if lower else oo), kind=kind)


def identity(rows: Expr, columns: Expr, diagonal: Any = 0) -> Tensor:
    """Return a matrix with ones on a diagonal and zeros elsewhere."""
    shift = as_number(diagonal)
    return real(tensor(BandMask(rows, columns, shift, shift), kind="boolean"))


def triangle(array: Tensor, diagonal: Any, lower: bool) -> Tensor:
    """Return a matrix with zeros above or below a diagonal. A mask gives a mask."""
    value = current().equations.get(array.node)
    if array.ndim == 2 and array.kind == "real" and isinstance(value, Tabulated) and value.args[0].expr == 1:
        rows, columns = array.axes
        return band(rows, columns, diagonal, lower, "real")  # of ones, as masks are made
    rows, columns = array.axes[-2:]
    mask = band(rows, columns, diagonal, lower)
    if array.kind == "boolean":
        return logical_and(array, mask)
    return multiply(array, mask)
