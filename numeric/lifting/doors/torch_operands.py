"""Arguments of PyTorch's functions as operands of operations: numbers, symbolic arrays, number types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.numbers import as_number, is_number
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, made
from numeric.lifting.trace import current

__all__ = ["Table", "as_arguments", "as_operand", "cast", "in_type", "plain_operand", "refused"]

Table = dict[Any, Callable[..., Any]]


def as_operand(value: Any) -> Any:
    """Return an operand: a symbolic array or a number; a tensor of several numbers becomes a symbolic array."""
    if isinstance(value, Tensor) or is_number(value):
        return value
    if isinstance(value, torch.Tensor):
        if value.numel() == 1:
            return as_number(value.item())
        return places.tabulated(np.asarray(value.detach()))
    raise refuse(f"{value!r} where a tensor is expected")


_NAMES = {"axis": "dim", "keepdims": "keepdim"}  # of NumPy, which PyTorch takes as well


def as_arguments(given: Any, options: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments with small tables of numbers as symbolic arrays, and options under PyTorch's own names."""
    return tuple(map(_symbolic, given)), {_NAMES.get(name, name): _symbolic(value) for name, value in options.items()}


def _symbolic(value: Any) -> Any:
    if type(value) in (tuple, list) and any(isinstance(each, torch.Tensor) for each in value):
        return type(value)(map(_symbolic, value))
    numbers = isinstance(value, torch.Tensor) and not isinstance(value, Tensor)
    return as_operand(value) if numbers and value.numel() != 1 else value


def _dtype(kind: Any) -> str:
    if kind is None:
        return "real"
    if kind.is_floating_point:
        return "real"
    return "boolean" if kind is torch.bool else "integer"


def cast(x: Any, *given: Any, dtype: Any = None, **options: Any) -> Any:
    """Return an array in another number type if that changes no entry; other casts are refused."""
    if x.is_empty:
        return x
    kinds = [each for each in (*given, dtype) if isinstance(each, torch.dtype)]
    if any(each.is_floating_point and each is not torch.float64 for each in kinds):
        current().rounded = True
    kind = _dtype(kinds[0]) if kinds else ("real" if x.node.kind == "real" else x.kind)
    if kind == "real":
        return op.real(x) if x.node.kind != "real" else made(x.node, x.alive, "", x.axes).view_of(x)
    if kind == x.kind or (kind == "integer" and x.node.kind == "integer"):
        return again(x).view_of(x)
    raise refuse(f"a cast to {kinds[0]}")


def in_type(x: Any, dtype: Any) -> Any:
    """Return an array cast to `dtype`, or unchanged if that is None."""
    return x if dtype is None else cast(x, dtype=dtype)


def plain_operand(value: Any) -> Any:
    """Return an operand; a tensor with one entry becomes a number."""
    return value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else _checked(value)


def _checked(value: Any) -> Any:
    return value if isinstance(value, Tensor) or is_number(value) else as_operand(value)


def refused(what: str) -> Any:
    """Raise the refusal that names `what`."""
    raise refuse(what)
