"""The symbolic array for functions over NumPy arrays: operators, methods, `__array_ufunc__`, `__array_function__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numeric.lifting import operations as op
from numeric.lifting import places
from numeric.lifting.doors.numpy_arguments import shape_of, small_table
from numeric.lifting.doors.numpy_door import FUNCTIONS, function_called
from numeric.lifting.doors.numpy_ufuncs import ufunc_called
from numeric.lifting.numbers import Scalar
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, again, tensor
from numeric.lifting.trace import current

__all__ = ["NumpyArray"]


def _binary(ufunc: Any, swapped: bool = False, inplace: bool = False) -> Callable[[Tensor, Any], Any]:
    def called(self: Tensor, other: Any) -> Any:
        given = (other, self) if swapped else (self, other)
        return ufunc_called(ufunc, "__call__", given, {"out": (self,)} if inplace else {})

    return called


_OPERATORS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "pow": np.power,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}
_RELATIONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def _astype(self: Tensor, dtype: Any, *more: Any, **options: Any) -> Tensor:
    kind = np.dtype(dtype).kind
    if kind == "f":
        current().rounded |= np.dtype(dtype).itemsize < 8
        return op.real(self) if self.kind == "boolean" else again(self).view_of(self)
    if kind == "b":
        return op.truth(self)
    if np.dtype(dtype) == np.int64 and self.kind == "boolean":  # what narrower integers overflow at is not followed
        ones = op.real(self)
        return tensor(ones.node, ones.alive, "integer", ones.axes)
    raise refuse(f"a cast to {np.dtype(dtype).name}")


def _ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    return ufunc_called(ufunc, method, inputs, options)


def _reshape(self: Tensor, *shape: Any, **options: Any) -> Tensor:
    return FUNCTIONS[np.reshape](self, shape_of(shape), **options)  # type: ignore[no-any-return]


def _transpose(self: Tensor, *axes: Any) -> Tensor:
    turned: Tensor = FUNCTIONS[np.transpose](self, shape_of(axes) if axes else None)
    return turned


def _as_function(function: Any) -> Callable[..., Any]:
    return lambda self, *given, **options: FUNCTIONS[function](self, *given, **options)


class NumpyArray(Tensor):
    """A symbolic array with the operators, methods and protocols of NumPy.

    `isinstance(x, np.ndarray)` is true, as it is when the function is called with numbers.
    """

    __class__ = property(lambda self: np.ndarray)

    def __getattr__(self, name: str) -> Any:
        """Refuse an attribute that NumPy arrays have and this class lacks; raise AttributeError for any other name."""
        if hasattr(np.ndarray, name):
            raise refuse(f"ndarray.{name} has no rule")
        raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")


def give_operators() -> None:
    """Put operators, methods and protocols of NumPy on `NumpyArray`."""
    for name, ufunc in _OPERATORS.items():
        setattr(NumpyArray, f"__{name}__", _binary(ufunc))
        setattr(NumpyArray, f"__r{name}__", _binary(ufunc, swapped=True))
        setattr(NumpyArray, f"__i{name}__", _binary(ufunc, inplace=True))
    for name, ufunc in _RELATIONS.items():
        setattr(NumpyArray, f"__{name}__", _binary(ufunc))
    for name, function in {
        "sum": np.sum,
        "mean": np.mean,
        "max": np.max,
        "min": np.min,
        "prod": np.prod,
        "cumsum": np.cumsum,
        "cumprod": np.cumprod,
        "any": np.any,
        "all": np.all,
        "var": np.var,
        "std": np.std,
        "swapaxes": np.swapaxes,
        "squeeze": np.squeeze,
        "dot": np.dot,
        "copy": np.copy,
        "repeat": np.repeat,
        "clip": np.clip,
        "round": np.round,
        "ravel": np.ravel,
        "take": np.take,
        "argsort": np.argsort,
    }.items():
        setattr(NumpyArray, name, _as_function(function))
    own: dict[str, Any] = {
        "__hash__": object.__hash__,
        "__neg__": lambda self: op.negate(self),
        "__pos__": lambda self: again(self),
        "__abs__": lambda self: op.UNARY["absolute"](self),
        "__invert__": lambda self: op.bits_not(self),
        "__getitem__": places.item,
        "__setitem__": lambda self, key, value: places.written(self, key, small_table(value)),
        "__array_namespace__": lambda self, api_version=None: np,
        "__array_ufunc__": _ufunc,
        "__array_function__": lambda self, function, types, given, options: function_called(function, given, options),
        "astype": _astype,
        "reshape": _reshape,
        "transpose": _transpose,
        "T": property(lambda self: _transpose(self)),
        "mT": property(lambda self: FUNCTIONS[np.matrix_transpose](self)),
        "dtype": property(
            lambda self: np.dtype(
                bool if self.kind == "boolean" else "int64" if "integer" in (self.kind, self.node.kind) else float
            )
        ),
    }
    for name, value in own.items():
        setattr(NumpyArray, name, value)
    setattr(Scalar, "__array_ufunc__", _ufunc)  # noqa: B010 - no attribute of the class below; symbolic numbers among the arguments of a ufunc


give_operators()
