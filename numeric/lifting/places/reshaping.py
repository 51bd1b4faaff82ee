"""Reshapes: the same entries in row-major order in another shape.

Definition   a reshape is a common refinement: both shapes are written over the same units, sizes that follow one
             another, so that no floor and no remainder appears
Raises       NotFollowed for a size that is not a product of known units
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, Integer, Symbol, expand

from numeric.lifting.axes import Along, Factors, Index, fine, numbered
from numeric.lifting.numbers import as_number, whole_quotient
from numeric.lifting.operations import moved, unequal, viewed
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["reshape"]


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
    """Return the sizes of the new shape, with the computed size in place of -1."""
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
    """Return the units whose products give the axes of both shapes, and which units make up each axis."""
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
    """Return the index along an axis from the indices of the units that make it up."""
    return Index(tuple(parts), tuple(sizes)) if parts else Integer(0)
