"""An array type that records the products executed on it.

Definition   every array that NumPy computes from a `Recorded` array is `Recorded` too, and every product of matrices or
             vectors (`@`, matmul, dot, vecdot, matvec, vecmat, einsum, tensordot, inner) is added to their log
Units        FLOPs, one multiply-add being 2: a product of (n, k) and (k, m) adds 2 n k m for each item of its batch
Assumes      entrywise products are not products of matrices, even where a sum follows
"""

from collections.abc import Callable, Mapping
from math import isqrt, prod
from typing import Any

import numpy as np

__all__ = ["Log", "Recorded", "recorded"]

Log = list[tuple[str, int]]


class Recorded(np.ndarray):
    """An array with a log of (name of the product, FLOPs), which it shares with all arrays computed from it."""

    log: Log

    def __array_finalize__(self, source: Any) -> None:
        """Take the log of the array from which this one is made."""
        self.log = getattr(source, "log", [])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        """Execute on plain arrays, and record a product."""
        log = _log(inputs)
        plain = [_plain(each) for each in inputs]
        if out is not None:
            options["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc.__name__ in PRODUCTS and method == "__call__":
            log.append((ufunc.__name__, 2 * np.asarray(result).size * PRODUCTS[ufunc.__name__](*plain)))
        return _wrapped(result, log)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Mapping[str, Any]) -> Any:
        """Execute on plain arrays, and record a product."""
        log = _log((*arguments, *options.values()))
        plain = _plain(list(arguments))
        named = {name: _plain(value) for name, value in options.items()}
        result = function(*plain, **named)
        if function.__name__ in CONTRACTIONS:
            log.append((function.__name__, CONTRACTIONS[function.__name__](result, *plain, **named)))
        return _wrapped(result, log)

    def dot(self, other: Any, out: Any = None) -> Any:
        """Return the product by `np.dot`: a call of this method would not reach `__array_function__`."""
        return np.dot(self, other, out)


def recorded(value: Any, log: Log) -> Any:
    """Return nested arrays as recorded ones that write to the given log; token numbers and masks stay plain."""
    if isinstance(value, dict):
        return {name: recorded(inner, log) for name, inner in value.items()}
    if isinstance(value, list):
        return [recorded(inner, log) for inner in value]
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return _wrapped(value, log)


def _wrapped(result: Any, log: Log) -> Any:
    if isinstance(result, tuple | list):
        return type(result)(_wrapped(each, log) for each in result)
    if not isinstance(result, np.ndarray):
        return result
    array = result.view(Recorded)
    array.log = log
    return array


def _plain(value: Any) -> Any:
    if isinstance(value, Recorded):
        return value.view(np.ndarray)
    if isinstance(value, tuple | list):
        return type(value)(map(_plain, value))
    return value


def _log(values: Any) -> Log:
    """Return the log of the first recorded array among nested values."""
    for value in values:
        if isinstance(value, Recorded):
            return value.log
        if isinstance(value, tuple | list) and (found := _log(value)) is not NOWHERE:
            return found
    return NOWHERE


NOWHERE: Log = []  # the log of values without any recorded array; no product writes to it

# How many multiply-adds each entry of the result takes, from the operands
PRODUCTS: dict[str, Callable[..., int]] = {
    "matmul": lambda left, right: np.shape(left)[-1],
    "vecdot": lambda left, right: np.shape(left)[-1],
    "matvec": lambda left, right: np.shape(left)[-1],
    "vecmat": lambda left, right: np.shape(left)[-1],
}


def _einsum(result: Any, subscripts: str, *operands: Any, **options: Any) -> int:
    """Count a contraction: a multiply-add for every combination of its indices and batches.

    Sums of one array and products without a sum are not products of matrices.
    """
    if len(operands) > 2:
        raise NotImplementedError(f"einsum {subscripts!r}: write it with two operands")
    inside, _, wanted = subscripts.replace(" ", "").partition("->")
    lengths: dict[str, int] = {}
    for term, operand in zip(inside.split(","), operands, strict=True):
        letters = term.replace("...", "")  # which name the last axes
        lengths |= dict(zip(reversed(letters), reversed(operand.shape), strict=False))
    if len(operands) == 1 or not lengths.keys() - set(wanted):
        return 0
    batch = result.shape[: result.ndim - len(wanted.replace("...", ""))]
    return 2 * int(prod(lengths.values()) * prod(batch))


def _tensordot(result: Any, left: Any, right: Any, *options: Any, **named: Any) -> int:
    return 2 * isqrt(np.size(left) * np.size(right) * np.size(result))  # (nk)(km)(nm) = (nkm)^2


def _inner(result: Any, left: Any, right: Any, *options: Any, **named: Any) -> int:
    length = int(np.shape(left)[-1]) if np.ndim(left) and np.ndim(right) else 1
    return 2 * int(np.size(result)) * length


CONTRACTIONS: dict[str, Callable[..., int]] = {
    "dot": _inner, "einsum": _einsum, "inner": _inner, "tensordot": _tensordot,
}  # fmt: skip
