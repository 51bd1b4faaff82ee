"""NumPy, PyTorch and JAX: how each receives arrays, returns them, and differentiates.

A framework is a table row: `to` converts arrays from NumPy, `back` converts them to NumPy, `pull_back` returns the
output of a function and the gradients of <cotangent, output> by the chosen arrays. PyTorch and JAX are imported on
first use.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from numeric.verification.conformance.drawing import leaves, mapped

__all__ = ["FRAMEWORKS", "Framework", "Untraceable", "framework_of"]

Arguments = Mapping[str, Any]
Call = Callable[[Arguments], Any]


class Untraceable(Exception):
    """An output through which no gradient can be computed; the text says why."""


@dataclass(frozen=True)
class Framework:
    """A library of arrays; `differentiable` says whether it computes gradients."""

    name: str
    kind: str  # the name of its arrays
    to: Callable[[Any], Any]
    back: Callable[[Any], Any]
    owns: Callable[[Any], bool]
    pull_back: Callable[[Call, Arguments, frozenset[str], Any], tuple[Any, dict[str, Any]]] | None = None
    precision: Callable[[str], Any] = lambda dtype: nullcontext()
    write: Callable[[Any, Any], Any] = lambda array, value: array  # write numbers into an array, where it is mutable
    shares: Callable[[Any, Any], bool] = lambda one, other: False  # whether two arrays share memory
    layouts: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # equal numbers in other memory layouts
    shapes: int = 200  # most shapes that a search for a small case tries: JAX compiles anew for each

    @property
    def differentiable(self) -> bool:
        """Whether the framework computes gradients."""
        return self.pull_back is not None


def framework_of(function: Any) -> str:
    """Return the framework of a function or module, as far as its type or module shows it; otherwise "numpy"."""
    origins = {kind.__module__.partition(".")[0] for kind in type(function).__mro__}
    origins.add(str(getattr(function, "__module__", "")).partition(".")[0])
    if "torch" in origins:
        return "torch"
    return "jax" if origins & {"jax", "jaxlib", "flax", "equinox"} else "numpy"


# NumPy


def _written(array: Any, value: Any) -> Any:
    np.copyto(array, value)
    return array


def _turned(array: Any) -> Any:
    """Return the same matrices, stored column by column."""
    return np.ascontiguousarray(array.mT).mT if array.ndim > 1 else array


def _spread(array: Any) -> Any:
    """Return the same numbers, stored as every second entry of a larger array along each axis."""
    larger = np.zeros([2 * size for size in array.shape], array.dtype)
    places = (..., *(slice(None, None, 2),) * array.ndim)  # with the dots, an array without axes stays one
    larger[places] = array
    return larger[places]


def _reversed(array: Any) -> Any:
    """Return the same numbers, stored from the last to the first."""
    places = (..., *(slice(None, None, -1),) * array.ndim)
    return np.array(array[places], order="C")[places]


def _read_only(array: Any) -> Any:
    array.setflags(write=False)
    return array


# PyTorch


def _torch_written(array: Any, value: Any) -> Any:
    torch = import_module("torch")
    with torch.no_grad():
        return array.copy_(torch.from_numpy(np.array(value)))


def _torch_shares(one: Any, other: Any) -> bool:
    return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())


def _torch_spread(array: Any) -> Any:
    larger = import_module("torch").zeros([2 * size for size in array.shape], dtype=array.dtype)
    places = (slice(None, None, 2),) * array.ndim
    larger[places] = array
    return larger[places]


def _torch_pull_back(call: Call, arguments: Arguments, chosen: frozenset[str], cotangent: Any) -> Any:
    torch = import_module("torch")
    inputs = mapped(arguments, lambda path, each: each.detach().requires_grad_() if path in chosen else each)
    output = call(inputs)
    if not (isinstance(output, torch.Tensor) and output.shape == cotangent.shape):
        return output, {}
    if not output.requires_grad:
        raise Untraceable("the output does not require a gradient: detach(), no_grad() or a detour over NumPy cuts it")
    found = leaves(inputs)
    paths = sorted(chosen)
    slopes = torch.autograd.grad(
        output, [found[path] for path in paths], torch.from_numpy(cotangent).to(output.dtype), allow_unused=True
    )
    whole = {path: slope for path, slope in zip(paths, slopes, strict=True) if slope is not None}
    return output, {path: whole.get(path, torch.zeros_like(found[path])) for path in paths}


# JAX


@contextmanager
def _jax_precision(dtype: str) -> Iterator[None]:
    jax = import_module("jax")
    switch = jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64
    with switch(dtype == "float64"):
        yield


def _jax_array(value: Any) -> Any:
    numpy = import_module("jax.numpy")
    return numpy.asarray(value.astype(np.int32) if value.dtype.kind == "i" else value)


def _jax_pull_back(call: Call, arguments: Arguments, chosen: frozenset[str], cotangent: Any) -> Any:
    jax = import_module("jax")

    def of_chosen(inputs: Arguments) -> Any:
        return call(mapped(arguments, lambda path, each: inputs.get(path, each)))

    given = {path: each for path, each in leaves(arguments).items() if path in chosen}
    try:
        output, back = jax.vjp(of_chosen, given)
    except TypeError:
        output = call(arguments)  # an output that is not an array cannot be differentiated; its type is reported
        if isinstance(output, jax.Array):
            raise
    if not (isinstance(output, jax.Array) and output.shape == cotangent.shape):
        return output, {}
    (slopes,) = back(_jax_array(cotangent.astype(output.dtype)))
    return output, slopes


FRAMEWORKS: dict[str, Framework] = {
    "numpy": Framework(
        "numpy",
        "NumPy array",
        np.copy,
        np.asarray,
        lambda value: isinstance(value, np.ndarray | np.generic),
        write=_written,
        shares=np.may_share_memory,
        layouts={"columns first": _turned, "spread": _spread, "reversed": _reversed, "read-only": _read_only},
    ),
    "torch": Framework(
        "torch",
        "torch.Tensor",
        lambda value: import_module("torch").from_numpy(np.copy(value)),
        lambda value: value.detach().cpu().numpy(),
        lambda value: isinstance(value, import_module("torch").Tensor),
        _torch_pull_back,
        write=_torch_written,
        shares=_torch_shares,
        layouts={
            "columns first": lambda array: array.mT.contiguous().mT if array.ndim > 1 else array,
            "spread": _torch_spread,
        },
    ),
    "jax": Framework(
        "jax",
        "jax.Array",
        _jax_array,
        np.asarray,
        lambda value: isinstance(value, import_module("jax").Array),
        _jax_pull_back,
        _jax_precision,
        write=lambda array, value: _jax_array(value),
        shapes=12,
    ),
}
