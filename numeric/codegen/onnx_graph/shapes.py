"""Lengths of axes while a layer is traced: numbers, and expressions of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, expand

from numeric.codegen.onnx_graph.graph import Dim, dim

__all__ = ["broadcast", "known_length", "number_of_entries", "places_of_slice", "same"]


def broadcast(*shapes: Sequence[Dim]) -> tuple[Dim, ...]:
    """Return the shape of arrays that are broadcast together.

    Raises       ValueError where two lengths differ, and neither is 1
    """
    rank = max(map(len, shapes), default=0)
    found: list[Dim] = [1] * rank
    for shape in shapes:
        for k, n in enumerate(shape, start=rank - len(shape)):
            if found[k] == 1:
                found[k] = n
            elif n != 1 and not same(n, found[k]):
                raise ValueError(f"lengths {found[k]} and {n} of one axis differ, and neither is known to be 1")
    return tuple(found)


def same(one: Dim, other: Dim) -> bool:
    """Return whether two lengths are equal for all sizes."""
    return bool(one == other or expand(one - other) == 0)


def known_length(length: Dim) -> int:
    """Return a length that must be a number.

    Raises       TypeError where it is an expression of sizes
    """
    if isinstance(length, Expr):
        names = ", ".join(sorted(symbol.name for symbol in length.free_symbols))
        raise TypeError(f"the number of its operators depends on {length}; give {names} a value")
    return length


def places_of_slice(length: Dim, step: Dim) -> Dim:
    """Return the number of entries that a slice with a step takes from an axis: length / step, rounded up.

    Assumes      of a length that is an expression all terms with a size divide by the step, as an axis d/2 says of d
    """
    if not isinstance(length, Expr) and not isinstance(step, Expr):
        return max(-(-length // step), 0)
    apart = expand(length)
    rest = apart.as_coeff_Add()[0]
    up = -rest % step if isinstance(step, int) and step > 1 and rest.is_Integer else 0
    return dim(expand((apart + up) / step))


def number_of_entries(lengths: Sequence[Dim]) -> Any:
    """Return the product of lengths."""
    found: Any = 1
    for each in lengths:
        found = found * each
    return found
