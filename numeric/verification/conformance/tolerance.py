"""The permitted distance of an implementation from a layer: as much as rounding explains, and no more.

Definition   |found - expected| <= 16 e + e', e the bound of the running error of the compiled layer in the number type
             under test, e' the same in float64, in which the layer itself is computed;
             the arguments count as rounded once, so that the bound is at least the effect of one such rounding:
             x s - m s is as right as (x - m) s where x is close to m, and so is any exact result
             for arguments that near
Assumes      an implementation with other steps loses at most four bits more than the equations as written;
             where the worst case is useless (more than 2^-10 of the row: in deep stacks it grows without limit),
             ordinary cases have the bound of `verification.agreement.rounding`, whose assumptions they satisfy
Source       see `numeric.verification.conformance.running_error`; Higham and Mary (2019) for deep stacks
"""

from functools import lru_cache
from typing import Any

import numpy as np

from derivations.language.layers.layer import Layer
from numeric.codegen.compile import compile_layer
from numeric.runtime.structure import applications
from numeric.verification.agreement.rounding import rounding_bound, roundings
from numeric.verification.conformance.drawing import Case, doubled, mapped
from numeric.verification.conformance.running_error import Arithmetic, Bounded, NotBounded, bounded

__all__ = ["FREEDOM", "running_error", "settled", "tolerance", "typical_error", "unit_in_the_last_place"]

FREEDOM = 16
USEFUL = 2.0**-10


def tolerance(case: Case, dtype: str) -> Any:
    """Return the permitted error of each entry of the output; infinite where no bound is known."""
    expected, own = case.expected, running_error(case, "float64")
    other = own if dtype == "float64" else running_error(case, dtype)
    worst = None if own is None or other is None else FREEDOM * other + own
    largest = np.abs(expected).max(axis=-1, keepdims=True, initial=0.0) if np.ndim(expected) else np.abs(expected)
    return settled(worst, largest, case, dtype)


def settled(worst: Any, largest: Any, case: Case, dtype: str, cost: int = 1, size: Any = None) -> Any:
    """Return the bound of the worst case or, where that is useless in a deep stack, the bound of a typical case.

    `worst` is None where no bound is known; `size` is the size of the numbers whose typical error is taken, by
    default the largest of the row; `cost` multiplies the number of roundings of the layer.
    """
    size = largest if size is None else size
    if worst is None:
        return typical_error(case, size, dtype, cost) if case.plan.numbers.usual else np.full(np.shape(largest), np.inf)
    of_use = worst <= USEFUL * largest
    if not case.plan.usual or of_use.all() or not applications(case.layer):
        return worst
    typical = typical_error(case, size, dtype, cost)
    return np.where(of_use | (worst <= typical), worst, typical)


def typical_error(case: Case, size: Any, dtype: str, cost: int = 1) -> Any:
    """Return the typical error of numbers of a size after `cost` times the roundings of the layer."""
    try:
        count = _roundings(case.layer, tuple(case.plan.sizes.items()))
    except (TypeError, ValueError):  # a table whose largest entry is not known
        return np.array(np.inf)
    return FREEDOM * rounding_bound(cost * count) * unit_in_the_last_place(size, dtype)


@lru_cache(maxsize=64)  # cases of one size differ only in their numbers
def _roundings(layer: Layer, sizes: tuple[tuple[str, int], ...]) -> int:
    return roundings(layer, dict(sizes))


def running_error(case: Case, dtype: str) -> Any:
    """Return the bound that the compiled layer computes for itself, by entry; None where it cannot."""
    arithmetic = Arithmetic.of(dtype)
    exact = mapped(dict(case.arguments), lambda _, each: bounded(doubled(each), arithmetic, 1))
    try:
        with np.errstate(all="ignore"):  # an unbounded error is infinite, or NaN on the way
            result = compile_layer(case.layer)(**exact, **case.defaults, check=False)
    except NotBounded:
        return None
    return result.error if isinstance(result, Bounded) else None


def unit_in_the_last_place(value: Any, dtype: str) -> Any:
    """Return the distance from values to the next number of a number type, in float64."""
    return np.spacing(np.abs(value).astype(dtype)).astype(np.float64)
