"""A symbolic array that PyTorch takes for a tensor: its methods and operators, and its use by PyTorch's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_arguments import shape_of
from numeric.lifting.doors.shared_functions import swapped
from numeric.lifting.doors.torch_calls import torch_called
from numeric.lifting.doors.torch_methods import IDENTITIES, METHODS
from numeric.lifting.doors.torch_operands import Table, as_arguments, as_operand, cast
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again
from numeric.lifting.trace import current

__all__ = ["TorchArray"]

_LIBRARYS: Any = torch.Tensor  # its properties are declared as attributes, which ours are not


class TorchArray(Tensor, _LIBRARYS):  # type: ignore[misc]
    """A symbolic array with the methods of PyTorch's tensors.

    It is a tensor, of no entries, since PyTorch reads the memory of whatever says that it is one. What this class does
    not define goes to `__torch_function__`, which refuses what has no rule.
    """

    @staticmethod
    def __new__(cls: type, *given: Any, **options: Any) -> Any:
        """Return a tensor without memory, so that nothing can be read from it."""
        return torch.Tensor._make_subclass(cls, torch.empty(0, device="meta"))

    device = torch.device("cpu")
    requires_grad = False
    is_cuda = is_xpu = is_sparse = is_nested = is_quantized = False
    grad_fn = None
    layout = torch.strided

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, given: Any = (), options: Any = None) -> Any:
        """Return what a function of PyTorch gives."""
        return torch_called(function, given, options or {})

    @property
    def dtype(self) -> Any:
        """The number type: reals are float64 here."""
        return {"boolean": torch.bool, "integer": torch.int64}.get(self.kind, torch.float64)

    def size(self, dim: Any = None) -> Any:
        """Return the sizes, or one of them."""
        return self.shape if dim is None else self.shape[dim]

    def view(self, *shape: Any) -> Any:
        """Return the entries in another shape."""
        if len(shape) == 1 and isinstance(shape[0], torch.dtype):
            raise refuse("a view of another number type")
        return places.reshape(self, shape_of(shape))

    def view_as(self, other: Any) -> Any:
        """Return the entries in the shape of another array."""
        return places.reshape(self, list(other.shape))

    def expand_as(self, other: Any) -> Any:
        """Return the array repeated to the shape of another one."""
        return op.broadcast_to(self, other.axes)

    def is_floating_point(self) -> bool:
        """Return whether the entries are real numbers."""
        return self.kind == "real"

    def is_contiguous(self, **options: Any) -> bool:
        """Return True: equations have no memory layout."""
        return True

    def __getitem__(self, key: Any) -> Any:
        """Return the entries that an index selects."""
        return places.item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write into the array in place; an argument, a view and an array with live views are refused."""
        places.written(self, key, as_operand(value))

    T = property(lambda self: op.permute(self, list(range(self.ndim))[::-1]))
    mT = property(lambda self: swapped(self, -1, -2))
    data = property(lambda self: self)
    size_ = None

    def __getattr__(self, name: str) -> Any:
        """Refuse an attribute that tensors have and this class lacks; raise AttributeError for any other name."""
        if hasattr(torch.Tensor, name):
            raise refuse(f"Tensor.{name} has no rule")
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")


def _identity(self: Any, *given: Any, **options: Any) -> Any:
    return again(self).view_of(self)


def _to_real(self: Any, *given: Any, **options: Any) -> Any:
    current().rounded = True
    return cast(self, dtype=torch.float64)


def _inplace(rule: Callable[..., Any]) -> Callable[..., Any]:
    def called_(self: Any, *given: Any, **options: Any) -> Any:
        held = again(self)
        found = rule(held, *given, **options)
        return self.overwrite(op.broadcast_to(found, self.axes) if found.ndim != self.ndim else found)

    return called_


def _method(rule: Callable[..., Any]) -> Callable[..., Any]:
    def called_(self: Any, *given: Any, **options: Any) -> Any:
        given, options = as_arguments(given, options)
        return rule(self, *given, **options)

    return called_


for _name, _rule in METHODS.items():
    setattr(TorchArray, _name, _method(_rule))


for _name in IDENTITIES:
    setattr(TorchArray, _name, _to_real if _name in ("float", "double", "half", "bfloat16") else _identity)


_OPERATORS: Table = {
    "add": METHODS["add"],
    "sub": METHODS["sub"],
    "mul": METHODS["mul"],
    "truediv": METHODS["div"],
    "pow": METHODS["pow"],
    "floordiv": METHODS["floor_divide"],
    "mod": METHODS["remainder"],
    "matmul": METHODS["matmul"],
    "and": op.bits_and,
    "or": op.bits_or,
}


for _name, _rule in _OPERATORS.items():
    setattr(TorchArray, f"__{_name}__", _method(_rule))
    setattr(TorchArray, f"__r{_name}__", lambda self, other, _rule=_rule: _swapped(_rule, self, other))
    setattr(TorchArray, f"__i{_name}__", _inplace(_rule))


for _name in ("gt", "ge", "lt", "le", "eq", "ne"):
    setattr(TorchArray, f"__{_name}__", METHODS[_name])


for _name, _own_rule in (("hash", object.__hash__), ("neg", op.UNARY["negative"]), ("invert", op.bits_not)):
    setattr(TorchArray, f"__{_name}__", _own_rule)


def _swapped(rule: Callable[..., Any], self: Any, other: Any) -> Any:
    other = as_operand(other)
    if rule is METHODS["pow"]:
        return op.power(other, self)
    return rule(other, self)
