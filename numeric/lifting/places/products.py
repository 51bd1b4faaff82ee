"""Products along axes of known sizes, one factor after another: of a symbolic number of factors there is no formula."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate

from numeric.lifting.operations import axis_number, finite, inserted, multiply, real
from numeric.lifting.places.joining import stack
from numeric.lifting.places.slices import item
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["product_along", "running_products"]


def product_along(array: Tensor, axes: Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Return the products along axes."""
    chosen = sorted({axis_number(each, array.ndim) for each in (range(array.ndim) if axes is None else axes)})
    result = array
    for number in reversed(chosen):
        result = reduce(multiply, _factors(result, number))
    return inserted(result, chosen) if keepdims else result


def running_products(array: Tensor, axis: int, reverse: bool = False) -> Tensor:
    """Return at each place of an axis the product of the entries up to it, or from it on."""
    number = axis_number(axis, array.ndim)
    factors = _factors(array, number)
    found = list(accumulate(factors[::-1] if reverse else factors, multiply))
    return stack(found[::-1] if reverse else found, number)


def _factors(array: Tensor, axis: int) -> list[Tensor]:
    """Return what stands at each place of an axis."""
    finite("a product", array)
    count = array.shape[axis]
    if not isinstance(count, int):
        raise refuse(
            f"a product along an axis of the symbolic size {array.sizes[axis]}: give a number for it in the shapes"
        )
    return [item(real(array), (*[slice(None)] * axis, place)) for place in range(count)]
