"""Compiled layers against the loops of `numeric.verification.reference`, an independent implementation.

Definition   error = max_j |compiled_ij - reference_ij| over the unit in the last place of max_j |reference_ij|, the
             largest over rows i and items of the batch
Result       an `Agreement` for every layer, sizes and number type; its bound is from the module `rounding`
Assumes      the reference reads the same float32 or float64 numbers exactly; its 50 digits count as exact
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from mpmath import mp

from numeric.codegen.compile import compile_layer
from numeric.verification.agreement.cases import BATCH, SIZES, Case, all_cases
from numeric.verification.agreement.report import Agreement
from numeric.verification.agreement.rounding import rounding_bound, roundings

__all__ = ["against_reference", "agreement", "error_in_ulp"]


def against_reference(sizes: tuple[dict[str, int], ...] = SIZES, seed: int = 0) -> Iterator[Agreement]:
    """Yield the agreement of every layer with its reference, for all sizes and number types."""
    for case in all_cases(sizes, seed):
        yield agreement(case)


def agreement(case: Case, function: Callable[..., Any] | None = None) -> Agreement:
    """Return how well a function, by default the compiled layer of the case, agrees with the reference."""
    found = np.asarray((function or compile_layer(case.layer))(**case.arguments))
    items = range(BATCH) if case.inputs else [Ellipsis]
    error = max(error_in_ulp(found[item], case.rows(item), case.dtype) for item in items)  # type: ignore[arg-type]
    bound = rounding_bound(roundings(case.layer, case.sizes))
    return Agreement(case.name, tuple(case.sizes.items()), str(case.dtype), error, bound)


def error_in_ulp(found: Any, expected: Any, dtype: np.dtype[Any]) -> float:
    """Return the largest error over rows, in units in the last place of the largest expected value of the row.

    Result       infinite where the number type or the shape differs, or a value is not finite
    """
    if found.ndim > 2 and len(found) == len(expected):  # the members of a family, each by its rows
        return max(error_in_ulp(*members, dtype) for members in zip(found, expected, strict=True))
    rows = np.atleast_2d(found)
    shape = (len(expected), len(expected[0]))
    if found.dtype != dtype or rows.shape != shape or not np.isfinite(found).all():
        return float("inf")
    errors = []
    with mp.workdps(50):
        for row, exact in zip(rows, expected, strict=True):
            unit = np.spacing(dtype.type(max(abs(value) for value in exact)))
            distance = max(abs(mp.mpf(float(value)) - true) for value, true in zip(row, exact, strict=True))
            errors.append(float(distance / mp.mpf(float(unit))))
    return max(errors)
