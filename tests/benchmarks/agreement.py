"""Contestants must agree before they are timed: results differ by rounding, or the comparison is an error.

Definition   the difference of two arrays is the largest |a - b| over all entries, divided by the largest |b|, or by a
             thousandth of the largest entry of all arrays where b is smaller (the gradient by a bias of the keys is 0)
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["BOUND", "Disagreement", "arrays_in", "difference", "require_agreement"]

BOUND = 1e-4  # in float32, a sum of some thousand products is right to about 1e-5 of its terms
NEGLIGIBLE = 1e-3


class Disagreement(ValueError):
    """Two contestants that do not compute the same."""


def arrays_in(nested: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the arrays of nested dicts and sequences, each with its path."""
    if isinstance(nested, Mapping):
        for name in sorted(nested):
            yield from arrays_in(nested[name], f"{path}.{name}" if path else name)
    elif isinstance(nested, list | tuple):
        for number, each in enumerate(nested):
            yield from arrays_in(each, f"{path}[{number}]")
    else:
        yield path, np.asarray(nested)


def difference(found: Any, expected: Any) -> float:
    """Return how far nested arrays are from the expected ones.

    Raises       Disagreement where they do not hold the same arrays of the same shapes
    """
    ours, theirs = dict(arrays_in(found)), dict(arrays_in(expected))
    shapes, wanted = ({path: array.shape for path, array in each.items()} for each in (ours, theirs))
    if shapes != wanted:
        raise Disagreement(f"these shapes are expected: {wanted}, and these were found: {shapes}")
    largest = {path: np.abs(array).max(initial=0.0) for path, array in theirs.items()}
    least = NEGLIGIBLE * max(largest.values()) or 1.0
    shares = [np.abs(ours[path] - array).max(initial=0.0) / max(largest[path], least) for path, array in theirs.items()]
    return float(np.max(shares))


def require_agreement(name: str, found: Any, expected: Any, bound: float = BOUND) -> float:
    """Return how far a contestant's result is from the expected one.

    Raises       Disagreement where it is farther than rounding takes it
    """
    distance = difference(found, expected)
    if not distance <= bound:  # nor where it is no number
        raise Disagreement(f"{name} differs by {distance:.1e}, more than rounding: {bound:.0e} is allowed; repair it")
    return distance
