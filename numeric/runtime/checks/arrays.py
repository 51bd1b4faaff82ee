"""Check the arrays of one call: type, number type, rank and lengths of axes; batch axes must broadcast."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sympy import Symbol

from derivations.language.arrays.shapes import shape_text, total
from derivations.language.layers.layer import Layer
from numeric.runtime.checks.given import Given, kind, listed
from numeric.runtime.checks.wanted import axes_to_check, divisors
from numeric.runtime.structure import WeightTree

__all__ = ["check_arrays", "check_axes", "collect"]

NUMBERS = (np.dtype(np.float32), np.dtype(np.float64))
REFUSED = (np.matrix, np.ma.MaskedArray)  # subclasses that change the meaning of `*`, or would lose their mask
KINDS = {"real": "float32 or float64", "boolean": "bool (True where visible)", "integer": "an integer type"}
FITS: Mapping[str, Callable[[Any], bool]] = {
    "real": lambda dtype: dtype in NUMBERS,
    "boolean": lambda dtype: dtype == np.dtype(bool),
    "integer": lambda dtype: np.issubdtype(dtype, np.integer),
}


def collect(given: Given, path: str, tree: WeightTree, value: Any) -> None:
    """Collect the arrays of nested weights; refuse missing and unknown names."""
    if tree.count is None:
        return _collect_one(given, path, tree, value)
    if not isinstance(value, list | tuple):
        raise given.refuse(
            f"{path} must be a list of weights, one for each of the {tree.count} layers, not {kind(value)}"
        )
    if not value:
        raise given.refuse(f"{path} is empty: give the weights of one layer at least")
    given.bind(tree.count, len(value), lambda: f"{path} is a list of {len(value)}, {tree.count} is needed")
    for number, one in enumerate(value):
        _collect_one(given, f"{path}[{number}]", tree, one)
    return None


def _collect_one(given: Given, path: str, tree: WeightTree, value: Any) -> None:
    wanted = [*tree.parameters, *tree.parts]
    if not isinstance(value, Mapping):
        raise given.refuse(f"{path} must be a dict of the weights {', '.join(wanted)}, not {kind(value)}")
    missing = [name for name in wanted if name not in value]
    unknown = [str(name) for name in value if name not in wanted]
    if missing or unknown:
        what = f"lacks {missing[0]}" if missing else f"has {unknown[0]}, which is unknown"
        raise given.refuse(f"{path} {what}; its weights are {', '.join(wanted)}")
    for name, variable in tree.parameters.items():
        given.arrays.append((f"{path}.{name}", variable, value[name], False))
    for name, part in tree.parts.items():
        collect(given, f"{path}.{name}", part, value[name])


def check_arrays(given: Given) -> None:
    """Check type, number type, rank and shape of every array, and that batch axes broadcast.

    Raises       InputError
    """
    for name, variable, value, is_input in given.arrays:
        # a NumPy number is what indexing and arithmetic make of an array without axes
        is_array = isinstance(value, np.ndarray | np.generic) and not isinstance(value, REFUSED)
        if not is_array or not FITS[variable.kind](value.dtype):
            instead = f"; np.array({value}) is one" if not variable.shape and type(value) is float else ""
            raise given.refuse(f"{name} must be a NumPy array of {KINDS[variable.kind]}, not {kind(value)}{instead}")
        if variable.kind == "real":
            given.first = given.first or (name, value.dtype)
            other, number = given.first
            if value.dtype != number:
                raise given.refuse(f"{name} is {value.dtype} and {other} is {number}: convert one of them (.astype)")
        rank = len(variable.shape)
        if value.ndim < rank or (value.ndim > rank and not is_input):
            batch = "batch axes in front of " if is_input else ""
            raise given.refuse(f"{name} has shape {value.shape}, {batch}{shape_text(variable.shape)} is needed")
    # bind all sizes before comparing any shape: then the message can list the size that another array has set
    for name, variable, value, _ in given.arrays:
        _bind_shape(given, name, variable.shape, value.shape)
    for name, variable, value, is_input in given.arrays:
        _check_shape(given, name, variable.shape, value.shape)
        if not (value.size or is_input):
            raise given.refuse(f"{name} has shape {value.shape}: a weight without entries is empty: give larger sizes")
    batches = {n: value.shape[: value.ndim - len(v.shape)] for n, v, value, is_input in given.arrays if is_input}
    try:
        np.broadcast_shapes(*batches.values())
    except ValueError:
        raise given.refuse(f"the batch axes {listed(batches)} do not broadcast: give equal ones") from None


def _bind_shape(given: Given, name: str, shape: Any, actual: tuple[int, ...]) -> None:
    for along, length in zip(shape, actual[len(actual) - len(shape) :], strict=True):
        if isinstance(along, Symbol):
            given.bind(along, length, lambda: f"{name} has shape {actual}, {shape_text(shape)} is needed")


def _check_shape(given: Given, name: str, shape: Any, actual: tuple[int, ...]) -> None:
    for along, length in zip(shape, actual[len(actual) - len(shape) :], strict=True):
        if given.length(along) not in (None, length):
            wanted = f"{shape_text(shape)} is needed with {given.bound(along)}"
            raise given.refuse(f"{name} has shape {actual}, {wanted}")


def check_axes(given: Given, layer: Layer) -> None:
    """Check that every axis has a whole length, and that no size that is used as a divisor is 0.

    Definition   a length d_model/2 needs an even d_model, the mean of a row needs an entry, 1/sqrt(d_k) needs d_k >= 1

    Raises       InputError
    """
    for name, along in axes_to_check(layer):
        length = given.length(along)
        if length is not None and (not isinstance(length, int) or length < 0):
            must = "must be whole" if not isinstance(length, int) else "is negative"
            raise given.refuse(f"{name} has an axis of {total(along)} places, which {must}; {given.bound(along)}")
    for name, what, below in divisors(layer):
        if given.length(below) == 0:
            sizes = "" if isinstance(below, Symbol) else f" with {given.bound(below)}"
            raise given.refuse(f"{name} {what} {below}, which is 0{sizes}: give a larger size")
