"""Exact conversion of arrays of numbers, and the precision of the reference.

Result       `read` turns any nested sequence into nested lists of mpf, equal to the numbers bit by bit, and checks
             that axes of one name have one length; `read_mask` does the same for masks
Assumes      a float16 or float32 is exactly a float64; 50 digits (169 bits) represent it, and integers below 2^169
"""

from collections.abc import Callable
from functools import wraps
from math import isfinite, prod
from numbers import Integral
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from mpmath import mp

__all__ = ["DIGITS", "Array", "Matrix", "Vector", "at_fifty_digits", "read", "read_mask"]

DIGITS = 50

Vector: TypeAlias = list[Any]  # of mpf: mpmath carries no types
Matrix: TypeAlias = list[Vector]
Array: TypeAlias = Any  # arguments: nested lists, NumPy arrays

P = ParamSpec("P")
R = TypeVar("R")


def at_fifty_digits(rule: Callable[P, R]) -> Callable[P, R]:
    """Evaluate `rule` at 50 decimal digits, or at the caller's working precision where that is higher."""

    @wraps(rule)
    def evaluated(*args: P.args, **kwargs: P.kwargs) -> R:
        with mp.workdps(max(DIGITS, mp.dps)):
            return rule(*args, **kwargs)

    return evaluated


def read(layer: str, **arrays: tuple[Array, str]) -> list[Any]:
    """Convert arrays to nested lists of mpf; each array is given with the names of its axes.

    Definition   `read("linear", X=(X, "n d_in"), W=(W, "d_in d_out"))` returns [X, W]; an array that is None stays None
    Shapes       axes of one name have one length, at least 1; an axis "h*d_v" has the product of lengths named before
    Raises       ValueError naming the layer, the array, its shape and the axis
    """
    sizes: dict[str, tuple[int, str]] = {}
    converted = []
    for name, (array, axes) in arrays.items():
        if array is not None:
            _check_shape(layer, name, array, axes.split(), sizes)
        converted.append(None if array is None else _convert(layer, name, array, len(axes.split()), _number))
    return converted


def read_mask(layer: str, M: Array | None, *shape: int) -> list[Any]:
    """Convert a mask of the given shape to nested lists of bool; without a mask every key is visible.

    Raises       ValueError where the shape differs, or an entry is not a Boolean (an additive mask means the opposite)
    """
    if M is None:
        M = np.ones(shape, dtype=bool)
    if _shape(M) != shape:
        raise ValueError(f"{layer}: the mask has shape {_shape(M)}, wanted {shape}; pass one Boolean for each key.")
    _check_shape(layer, "M", M, [str(size) for size in shape], {str(size): (size, "M") for size in shape})
    return list(_convert(layer, "M", M, len(shape), _truth))


def _check_shape(layer: str, name: str, array: Array, axes: list[str], sizes: dict[str, tuple[int, str]]) -> None:
    """Bind each axis name to the first length seen, and compare every later length with it, row after row."""
    level = [array]
    for axis in axes:
        if not all(_is_indexed(part) for part in level):
            wanted = ", ".join(axes)
            raise ValueError(f"{layer}: {name} has shape {_shape(array)}, too few axes; pass one with axes ({wanted}).")
        if "*" in axis:
            factors = axis.split("*")
            sizes.setdefault(axis, (prod(sizes[factor][0] for factor in factors), "the other arrays"))
        for part in level:
            length, where = sizes.setdefault(axis, (len(part), name))
            if len(part) != length or length == 0:
                raise ValueError(
                    f"{layer}: {name} of shape {_shape(array)} has length {len(part)} along {axis}, which is "
                    f"{length} in {where}; pass arrays whose {axis} is one size, at least 1."
                )
        level = [part[k] for part in level for k in range(len(part))]


def _convert(layer: str, name: str, array: Array, depth: int, leaf: Callable[[str, str, Any], Any]) -> Any:
    """Apply `leaf` to every entry of an array with `depth` axes."""
    if depth == 0:
        return leaf(layer, name, array)
    return [_convert(layer, name, array[k], depth - 1, leaf) for k in range(len(array))]


def _number(layer: str, name: str, value: Any) -> Any:
    """Return the mpf equal to `value`; refuse NaN, infinities and numbers that no float64 represents exactly."""
    if isinstance(value, mp.mpf) and (value.man or not value.exp):  # mantissa 0: exponent 0 for 0, not for inf and NaN
        return value
    if isinstance(value, Integral):
        return mp.mpf(int(value))
    try:
        exact = float(value)
        if exact == value and isfinite(exact):  # a wider number that float64 rounds is unequal
            return mp.mpf(exact)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{layer}: {name} has the entry {value!r}; pass finite numbers that a float64 holds exactly.")


def _truth(layer: str, name: str, value: Any) -> bool:
    """Return `value` as bool; refuse numbers."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{layer}: mask {name} has the entry {value!r}; pass True where a key is visible, else False.")


def _shape(array: Array) -> tuple[int, ...]:
    """Return the lengths of an array along its first entries."""
    shape: tuple[int, ...] = ()
    while _is_indexed(array):
        shape += (len(array),)
        if not len(array):
            break
        array = array[0]
    return shape


def _is_indexed(value: Any) -> bool:
    """Return whether `value` has an axis; text and NumPy arrays of shape () have none."""
    return hasattr(value, "__getitem__") and not isinstance(value, str) and getattr(value, "shape", None) != ()
