"""The distance of a result from the exact one, in units in the last place, by entry and by row.

Definition   ulp(v) = the distance from |v| to the next larger number of the type of the result, never below the least
             subnormal number;
             by entry   |found - exact| / ulp(exact)
             by row     |found - exact| / ulp(the largest |exact| of the row), rows along the last axis
Result       a correctly rounded result has an error of at most 1/2 by either measure
Assumes      the exact values are in the range of the type; NaN and infinities have an infinite error

An entry that is a sum of cancelling terms has few correct digits in any arithmetic of this precision, and its error
by entry has no bound: claims about layers are claims by row. The error by entry shows how accurate small probabilities
are.

>>> import numpy as np
>>> found = errors_in_ulp(np.array([1 + 2**-22, 2**-24], np.float32), [1, 2**-25])
>>> found.by_entry.tolist(), found.by_row.tolist()
([2.0, 8388608.0], [2.0, 0.25])
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp

__all__ = ["UlpErrors", "errors_in_ulp"]


@dataclass(frozen=True)
class UlpErrors:
    """The error of every entry, in units of the entry and in units of its row.

    Units        units in the last place
    """

    by_entry: np.ndarray[Any, Any]
    by_row: np.ndarray[Any, Any]

    @property
    def largest_by_row(self) -> float:
        """The largest error of an entry over the unit of its row."""
        return float(self.by_row.max(initial=0))

    @property
    def typical_by_row(self) -> float:
        """The root of the mean square of the errors over the units of their rows."""
        return float(np.sqrt(np.mean(self.by_row**2))) if self.by_row.size else 0.0

    @property
    def largest_by_entry(self) -> float:
        """The largest error of an entry over its own unit."""
        return float(self.by_entry.max(initial=0))

    @property
    def median_by_entry(self) -> float:
        """The median of the errors over their own units."""
        return float(np.median(self.by_entry)) if self.by_entry.size else 0.0


def errors_in_ulp(found: Any, exact: Any) -> UlpErrors:
    """Return the errors of a float32 or float64 result, given the exact one.

    Shapes       found (..., d) and exact, nested lists of mpf or anything that mpmath reads, of the same shape
    Raises       ValueError where the shapes differ
    """
    found = np.asarray(found)
    with mp.workdps(50):
        high, low = _pair(exact)
    if found.shape != high.shape:
        raise ValueError(f"the result has shape {found.shape}, the exact one {high.shape}: compare the same entries")
    with np.errstate(invalid="ignore"):
        # found - high is exact where one is at most twice the other (Sterbenz's lemma), so that low is not lost
        distance = abs((found.astype(np.float64) - high) - low)
    distance = np.where(np.isfinite(found), distance, np.inf)
    units = _ulp(high, found.dtype)
    largest = np.max(abs(high), axis=-1, keepdims=True, initial=0) if high.ndim else high
    return UlpErrors(distance / units, distance / _ulp(largest, found.dtype))


def _pair(exact: Any) -> tuple[Any, Any]:
    """Return numbers as sums of two float64, which represent 106 bits of them."""
    values = np.asarray(exact, dtype=object)
    numbers = [mp.mpf(value) for value in values.ravel()]
    high = [float(number) for number in numbers]
    low = [float(number - first) for number, first in zip(numbers, high, strict=True)]
    return np.array(high).reshape(values.shape), np.array(low).reshape(values.shape)


def _ulp(values: Any, dtype: Any) -> Any:
    """Return the distance from each value to the next larger number of a type."""
    information = np.finfo(dtype)
    _, exponent = np.frexp(values)  # |v| = m 2^exponent, 1/2 <= m < 1
    least = int(np.log2(float(information.smallest_subnormal)))
    return np.ldexp(1.0, np.maximum(np.where(values == 0, least, exponent - 1 - information.nmant), least))
