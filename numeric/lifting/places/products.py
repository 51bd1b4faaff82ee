"""Products along axes, cumulative products, and convolution or correlation with a short vector.

Definition   of a known number of factors one after another; of a symbolic number exp(sum_j log(x_j)), which is their
             product where all factors are positive: that is a condition of the verdict
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate

from sympy import Gt, Integer

from numeric.lifting.operations import (
    UNARY,
    add,
    axis_number,
    compare,
    finite,
    inserted,
    multiply,
    real,
    summed,
)
from numeric.lifting.places.joining import LARGEST_TABLE, padded, stack
from numeric.lifting.places.positions import running_sums
from numeric.lifting.places.slices import item
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor
from numeric.lifting.trace import current

__all__ = ["product_along", "running_products", "with_kernel"]


def product_along(array: Tensor, axes: Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Return the products along axes."""
    chosen = sorted({axis_number(each, array.ndim) for each in (range(array.ndim) if axes is None else axes)})
    if not all(isinstance(array.shape[number], int) for number in chosen):
        return UNARY["exp"](summed(_logarithms(array), chosen, keepdims))
    result = array
    for number in reversed(chosen):
        result = reduce(multiply, _factors(result, number))
    return inserted(result, chosen) if keepdims else result


def running_products(array: Tensor, axis: int, reverse: bool = False) -> Tensor:
    """Return the cumulative products along an axis, from its start or, with `reverse`, from its end."""
    number = axis_number(axis, array.ndim)
    if not isinstance(array.shape[number], int):
        return UNARY["exp"](running_sums(_logarithms(array), number, reverse))
    factors = _factors(array, number)
    found = list(accumulate(factors[::-1] if reverse else factors, multiply))
    return stack(found[::-1] if reverse else found, number)


def with_kernel(array: Tensor, kernel: Tensor, mode: str, turned: bool) -> Tensor:
    """Return the correlation of a vector with a shorter one of known length, or the convolution if `turned`.

    Definition   valid: shifts inside the vector; full and same: zeros stand before and after it
    """
    finite("a convolution", array, kernel)
    if turned and not isinstance(kernel.shape[0], int):
        array, kernel = kernel, array
    length, count = array.shape[0], kernel.shape[0]
    if array.ndim != 1 or kernel.ndim != 1 or not isinstance(count, int) or count > LARGEST_TABLE:
        raise refuse("a convolution of other than a vector with a short one of known length")
    if not length >= count:
        raise refuse("a convolution with a longer vector")
    before = {"valid": 0, "full": count - 1, "same": count // 2}[mode]
    behind = {"valid": 0, "full": count - 1, "same": count - 1 - count // 2}[mode]
    wide = padded(real(array), 0, Integer(before), Integer(behind), Integer(0))
    shifts = wide.shape[0] - count + 1
    weights = [item(real(kernel), (count - 1 - place if turned else place,)) for place in range(count)]
    return reduce(add, (multiply(item(wide, slice(k, k + shifts)), weight) for k, weight in enumerate(weights)))


def _logarithms(array: Tensor) -> Tensor:
    """Return the logarithms of factors, and note the condition that they are positive."""
    finite("a product", array)
    factors = real(array)
    current().guarded[current().define(compare(factors, Integer(0), Gt).node), True] = None
    current().narrowed = True  # the product itself has a value for all factors
    return UNARY["log"](factors)


def _factors(array: Tensor, axis: int) -> list[Tensor]:
    """Return the slices of an array at every index of an axis of known size."""
    finite("a product", array)
    return [item(real(array), (*[slice(None)] * axis, place)) for place in range(array.shape[axis])]
