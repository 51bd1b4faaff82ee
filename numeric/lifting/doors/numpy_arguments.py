"""Arguments of NumPy's functions as operands of operations: arrays, axes, shapes, orders, number types."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import Any

import numpy as np
from sympy import Expr, Integer, oo

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.numbers import as_number, is_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = [
    "Table",
    "array_operand",
    "axes_of",
    "float_only",
    "keeps",
    "kind_of",
    "order_of",
    "plain",
    "python_number",
    "shape_of",
    "small_table",
]


Table = dict[Any, Callable[..., Any]]


def small_table(value: Any) -> Any:
    """Return a number or a symbolic array unchanged, and a small array of numbers as a symbolic array."""
    if isinstance(value, Tensor) or is_number(value):
        return value
    if value is None or isinstance(value, str):
        raise refuse(f"{value!r} where an array is expected")
    numbers = np.asarray(value)
    if numbers.size == 1:
        only = as_number(numbers.reshape(()).item())
        return op.constant(only, [Integer(1)] * numbers.ndim) if numbers.ndim else only
    return places.tabulated(numbers)


def plain(given: dict[str, Any], *harmless: str) -> None:
    """Refuse options that would change the result."""
    for name, value in given.items():
        usual = (
            value is None or value is np._NoValue or name in harmless or (name == "order" and value in ("C", "K", "A"))
        )
        if not usual:
            raise refuse(f"the option {name}={value!r}")


def python_number(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else value


def float_only(name: str, given: Any) -> None:
    """Refuse a number type that rounds to whole numbers; wider and narrower reals are read as the reals."""
    if name == "dtype" and given is not None and np.dtype(given).kind != "f":
        raise refuse(f"a cast to {np.dtype(given).name}")


def axes_of(given: Any) -> list[int] | None:
    """Return axes that were given as one number, or several; None for all of them."""
    return None if given is None else [int(each) for each in (given if isinstance(given, tuple | list) else (given,))]


def keeps(keepdims: Any) -> bool:
    """Return whether axes are kept; NumPy passes `np._NoValue` if the caller gives no value."""
    return keepdims is not np._NoValue and bool(keepdims)


def kind_of(dtype: Any, number: Any) -> str:
    """Return the kind of an array filled with a number; a number type that cannot hold the number is refused."""
    kind = np.dtype(dtype).kind
    if kind == "f" or (kind in "iu" and number.is_integer) or (kind == "b" and number in (0, 1)):
        return "boolean" if kind == "b" else ""
    raise refuse(f"{number} in an array of the type {np.dtype(dtype).name}")


def order_of(given: Any) -> Expr:
    """Return the order of a norm, which may be infinite."""
    return (oo if given > 0 else -oo) if isinstance(given, float) and isinf(given) else as_number(given)


def array_operand(value: Any) -> Tensor:
    """Return an argument that has to be an array: a symbolic one, or a small table of numbers."""
    found = value if isinstance(value, Tensor) else small_table(value)
    if not isinstance(found, Tensor):
        raise refuse("a number where an array is expected")
    return found


def shape_of(given: tuple[Any, ...]) -> list[Any]:
    """Return a shape that was given as one tuple, or as several arguments."""
    one = given[0] if len(given) == 1 else given
    return list(one) if isinstance(one, tuple | list | np.ndarray) and not isinstance(one, Tensor) else list(given)
