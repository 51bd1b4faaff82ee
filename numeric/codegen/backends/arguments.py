"""Checks of the arguments of a layer that runs in JAX or PyTorch; they are the same as the checks for NumPy.

Result       the checks see a NumPy array of the same shape and number type instead of each array; its entries are the
             array's own where it holds any, and those of a valid array where it is traced (jit, grad, vmap), so that
             no check asks a traced array for a value
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from sympy import Symbol

from derivations.language.layers.layer import Layer
from numeric.codegen.backends.libraries import BACKENDS
from numeric.runtime.checks import InputError, check_call

__all__ = ["checked_call", "mapped"]

NUMBERS = ("float32", "float64", "float16", "bool", "uint8", "int8", "int16", "int32", "int64")  # as NumPy has them
Seen = Callable[[Any], Any]


def mapped(weights: Any, convert: Callable[[Any], Any]) -> Any:
    """Return nested weights with every array converted: `mapped(weights, torch.from_numpy)`."""
    if isinstance(weights, Mapping):
        return {name: mapped(each, convert) for name, each in weights.items()}
    return [mapped(each, convert) for each in weights] if isinstance(weights, list | tuple) else convert(weights)


@lru_cache
def checked_call(backend: str) -> Callable[..., dict[str, Any]]:
    """Return the function that checks a call of a layer in JAX or PyTorch, and returns its arguments by name."""
    return partial(_checked, backend, {"jax": _seen_of_jax, "torch": _seen_of_torch}[backend])


def _checked(
    backend: str,
    seen: Seen,
    layer: Layer,
    function: Callable[..., Any],
    sizes: Sequence[Symbol],
    arguments: tuple[Any, ...],
    named: Mapping[str, Any],
) -> dict[str, Any]:
    """Check the arguments of a call and return them by name.

    Arrays are returned as given. Sizes become int, and scalars become float unless they are traced.

    Raises       InputError where an argument does not fit
    """
    try:
        looked_at = [mapped(each, seen) for each in arguments], {name: mapped(v, seen) for name, v in named.items()}
        values = check_call(layer, function, sizes, tuple(looked_at[0]), looked_at[1])
    except InputError as error:
        raise InputError(_worded(f"{error}", layer, backend)) from None
    given = {**dict(zip(values, arguments, strict=False)), **named}
    plain = {name for name, value in given.items() if isinstance(value, int | float | np.generic)}
    return given | {name: value for name, value in values.items() if name in plain or isinstance(value, int)}


def _worded(message: str, layer: Layer, backend: str) -> str:
    """Return an error message that starts with the layer's name and calls the arrays what the library calls them."""
    named = message if message.startswith(f"{layer.name}: ") else f"{layer.name}: {message}"
    return named.replace("a NumPy array of", f"one of {BACKENDS[backend].arrays}, of")


def _outline(shape: Sequence[int], dtype: Any) -> Any:
    """Return a placeholder array of a shape and number type that passes every check and stores one entry only."""
    kind = np.dtype(dtype)
    # ones pass checks for finite and positive numbers, zeros are valid tokens and masks
    return np.broadcast_to(np.ones((), kind) if kind.kind == "f" else np.zeros((), kind), tuple(shape))


def _seen_of_jax(value: Any) -> Any:
    jax = import_module("jax")
    if isinstance(value, jax.core.Tracer):
        return _outline(value.shape, value.dtype)
    if isinstance(value, jax.Array | np.ndarray):
        array = np.asarray(value)
        if array.dtype == np.float64 and not jax.config.jax_enable_x64:
            raise InputError('an array is float64, which JAX has after jax.config.update("jax_enable_x64", True) alone')
        return array
    return _not_of(value, "jax")


def _seen_of_torch(value: Any) -> Any:
    torch = import_module("torch")
    if not isinstance(value, torch.Tensor):
        return _not_of(value, "torch")
    name = str(value.dtype).removeprefix("torch.")
    if name not in NUMBERS:
        raise InputError(
            f"a tensor is {value.dtype}: convert it (.to) to {', '.join(NUMBERS[:2])} or what is asked for"
        )
    try:
        return value.detach().cpu().numpy()
    except RuntimeError:  # it is traced, and has no entries
        return _outline(value.shape, name)


def _not_of(value: Any, backend: str) -> Any:
    """Return a value that is not an array unchanged.

    Raises       InputError for the array of another library
    """
    if hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, np.generic):
        kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        raise InputError(f"an array is a {kind}: give {BACKENDS[backend].arrays}")
    return value
