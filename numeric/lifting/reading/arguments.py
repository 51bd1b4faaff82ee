"""Checks of a function's arguments against a layer: their names, their sizes, and why no reading fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sympy import Expr, Symbol, sympify

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import ShapeError, axis, shape_text, total
from derivations.language.layers.layer import Layer
from numeric.lifting.doors.choice import door_of
from numeric.lifting.reading.binding import parameters_of
from numeric.lifting.reading.function_readings import paired
from numeric.lifting.reading.written_out import written_out

__all__ = ["refuse_unknown_names", "with_given_sizes", "without_reading"]


def refuse_unknown_names(function: Callable[..., Any], layer: Layer, names: Mapping[str, str]) -> None:
    """Raise `ValueError` where `names` has an argument that the function lacks, or an array that the layer lacks."""
    if not names:
        return
    both = (layer, written_out(layer))
    arrays = {v.name for each in both for v in (*each.inputs, *each.parameters, *each.scalars)}
    door = door_of(function)
    stored = door.weights(function)
    arguments = {p.name for p in parameters_of(door.called(function))}
    for own, array in names.items():
        if array not in arrays:
            raise ValueError(f"{layer.name} has no array called {array!r}; it has {', '.join(sorted(arrays))}")
        if not stored and own not in arguments:
            known = ", ".join(sorted(arguments)) or "none"
            raise ValueError(f"there is no argument called {own!r} to be {array}; the arguments are {known}")


def with_given_sizes(
    function: Callable[..., Any], layer: Layer, shapes: Mapping[str, Any], names: Mapping[str, str] | None
) -> Layer:
    """Return a layer with its sizes replaced by those in the given shapes of its arrays.

    Raises       ShapeError where two shapes give one size two values, or a shape has an entry that is no size
    """
    arrays = _arrays_of(function, layer, names or {})
    found: dict[Symbol, tuple[Expr, str]] = {}
    for name, shape in shapes.items():
        variable = arrays.get(name)
        if not _is_shape(shape):
            continue
        try:
            given = tuple(total(axis(size)) for size in shape)
        except ShapeError as error:
            raise ShapeError(f"{name} is given the shape {shape}: {error}") from None
        if variable is None or len(given) != len(variable.shape):
            continue
        for own, size in zip(map(total, variable.shape), given, strict=True):
            if not isinstance(own, Symbol):
                continue
            known, told = found.setdefault(own, (size, f"{name} of shape {shape_text(given)}"))
            if known != size:
                here = f"{name} of shape {shape_text(given)}"
                raise ShapeError(f"{own} of {layer.name} is {known} in {told}, and {size} in {here}: give one size")
    sizes = {own: size for own, (size, _) in found.items() if own != size}
    return layer.xreplace(sizes) if sizes else layer


def _arrays_of(function: Callable[..., Any], layer: Layer, names: Mapping[str, str]) -> dict[str, Variable]:
    """Return the layer's arrays by the function's parameter names, paired by `names`, by equal names, or by order."""
    arrays = (*layer.inputs, *layer.parameters)
    found = {v.name: v for v in arrays}
    if not door_of(function).weights(function):
        found |= paired(parameters_of(door_of(function).called(function)), arrays, names) or {}
    return found


def _is_shape(given: Any) -> bool:
    return isinstance(given, tuple) and all(isinstance(each, int | Expr) for each in given)


def without_reading(function: Callable[..., Any], layer: Layer, shapes: Mapping[str, Any]) -> str:
    """Return why no reading of a function's arguments or weights was found, with the shapes that could not be paired.

    Result       the first argument without an array, or the first array without an argument; for a module its weights
                 beside those of the layer
    """
    layer = written_out(layer)
    arrays = [*layer.inputs, *layer.parameters]
    stored = door_of(function).weights(function)
    if stored:
        held = ", ".join(f"{path} {tuple(shape)}" for path, shape in stored.items())
        wanted = ", ".join(_shaped(v) for v in layer.parameters) or "no weights"
        tried = "as stored, transposed, split into parts and with heads merged"
        return (
            f"no reading of its weights was found: it holds {held}, and {layer.name} has {wanted}; "
            f"each was tried {tried}, with inputs {', '.join(map(_shaped, layer.inputs))}"
        )
    parameters = _required(function, shapes)
    tried = ", ".join(_shaped(v) for v in arrays)
    for name, shape in shapes.items():
        own = next((v for v in arrays if v.name == name), None)
        if own is not None and _is_shape(shape) and len(shape) != len(own.shape):
            given = shape_text(map(sympify, shape))
            return f"its argument {name} is given the shape {given}, and {layer.name} has {_shaped(own)}"
    if len(parameters) < len(arrays):
        names = ", ".join(parameters) or "none"
        missing = arrays[len(parameters)]
        return f"it has no argument for {_shaped(missing)} of {layer.name}: its arguments are {names}; tried: {tried}"
    extra = [name for name in parameters if name not in {v.name for v in arrays}][len(arrays) - len(parameters) :]
    known = f"its argument {extra[0]} stands for no array of {layer.name}" if extra else "its arguments do not fit"
    return f"{known}: give its shape or its value, such as {extra[0] if extra else 'x'}=(n, d); tried: {tried}"


def _required(function: Callable[..., Any], shapes: Mapping[str, Any]) -> list[str]:
    plain = parameters_of(door_of(function).called(function))
    return [p.name for p in plain if p.default is p.empty or p.name in shapes]


def _shaped(variable: Variable) -> str:
    return f"{variable.name} of shape {shape_text(variable.shape)}"
