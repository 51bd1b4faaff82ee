"""Readings of a function: which parameter gets which array, in which layout.

A parameter gets the array that `names` says, else the one of its own name, else of the same letters, else the next one
in order. Weights may be stored transposed, as PyTorch's `Linear` has them, or all heads in one matrix; arrays may have
batch axes in front.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import shape_text, total
from derivations.language.layers.layer import Equation, Layer
from numeric.lifting.doors.choice import door_of
from numeric.lifting.reading.binding import BATCHES, Binding, front_axes, member, own_array, parameters_of, stored_shape
from numeric.lifting.reading.fewer_inputs import needed_arrays, with_fewer_inputs
from numeric.lifting.reading.layouts import Piece, layouts_of

__all__ = ["paired", "readings_of_function"]

_SCALAR_NAMES = {"eps": "epsilon", "epsilon": "epsilon", "variance_epsilon": "epsilon"}
_SIZE_NAMES = {"h": ("n_head", "num_heads", "heads", "n_heads", "nhead", "h")}


def readings_of_function(
    function: Any, layer: Layer, shapes: Mapping[str, Any], names: Mapping[str, str]
) -> Iterator[list[Binding]]:
    """Yield readings of a function: weights as declared, with merged heads, or transposed, and up to two batch axes."""
    parameters = parameters_of(door_of(function).called(function)) or [
        inspect.Parameter(v.name, inspect.Parameter.POSITIONAL_ONLY)  # a compiled function tells nothing: in this order
        for v in (*layer.inputs, *layer.parameters)
    ]
    for own_mask in (False, True):
        for single in (False, True):
            changed, equations, readings = with_fewer_inputs(layer, own_mask, single)
            if changed is None:
                continue
            pairs = paired(parameters, needed_arrays(changed, readings), names)
            extra = None if pairs is None else _extra(parameters, pairs, changed, shapes)
            if pairs is None or extra is None:
                continue
            for style in ("as declared", "plain", "transposed"):
                for batch in BATCHES:
                    found = _function_binding(changed, pairs, extra, shapes, style, batch)
                    if found is not None:
                        more = replace(
                            found,
                            equations=(*found.equations, *equations(found)),
                            readings=(*readings, *found.readings),
                        )
                        yield [more]
                        yield from ([each] for each in _with_equal_sizes(more, pairs, extra, shapes, style, batch))


def paired(
    parameters: list[inspect.Parameter], arrays: Sequence[Variable], names: Mapping[str, str]
) -> dict[str, Variable] | None:
    """Return which parameter gets which array; None if there are too few parameters."""
    left = list(arrays)
    pairs: dict[str, Variable] = {}
    told = lambda mine, other: names.get(mine) == other  # noqa: E731 - one of three tests alike
    same = lambda mine, other: mine == other  # noqa: E731
    letters = lambda mine, other: _letters(mine) == _letters(other)  # noqa: E731
    for fits in (told, same, letters):
        for parameter in parameters:
            found = next((v for v in left if parameter.name not in pairs and fits(parameter.name, v.name)), None)
            if found is not None:
                pairs[parameter.name] = found
                left.remove(found)
    for parameter in parameters:
        if left and parameter.name not in pairs and parameter.name not in _SCALAR_NAMES:
            pairs[parameter.name] = left.pop(0)
    return None if left else pairs


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _extra(
    parameters: list[inspect.Parameter], pairs: Mapping[str, Variable], layer: Layer, given: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the scalars and sizes that a function takes in addition to arrays, or None if it needs anything else."""
    scalars = {s.name: s for s in layer.scalars}
    sizes = {str(s): s for v in (*layer.inputs, *layer.parameters) for a in v.shape for s in total(a).free_symbols}
    by_name = {name: sizes[size] for size, known in _SIZE_NAMES.items() if size in sizes for name in known}
    found: dict[str, Any] = {}
    for parameter in parameters:
        name = parameter.name
        if name in pairs or name in given:
            continue
        value = scalars.get(_SCALAR_NAMES.get(name, name)) or sizes.get(name) or by_name.get(name)
        if value is not None:
            found[name] = value
        elif parameter.default is parameter.empty:
            return None
    return found


def _function_binding(
    layer: Layer,
    pairs: Mapping[str, Variable],
    extra: Mapping[str, Any],
    shapes: Mapping[str, Any],
    style: str,
    batch: int,
) -> Binding | None:
    front = front_axes(batch)
    arguments: dict[str, Any] = {}
    equations: list[Equation] = []
    declared: list[str] = []  # layouts that the shape alone tells
    changed = False
    for name, variable in pairs.items():
        weight = variable in layer.parameters
        given = shapes.get(name)
        if given is not None:
            whole = given if isinstance(given, Variable) else own_array(name, given, variable, layer)
            arguments[name] = whole
            if len(whole.shape) != len(variable.shape):
                return None
            equations.append(Equation(variable, whole))
        elif not weight:
            whole = own_array(name, (*(s for _, s in front), *map(total, variable.shape)), variable, layer)
            arguments[name] = whole
            equations.append(Equation(variable, member(whole, front)))
        elif style == "as declared" or len(variable.shape) < 2:
            arguments[name] = own_array(name, variable.shape, variable, layer)
            declared += [f"{name} of shape {shape_text(variable.shape)}"] if len(variable.shape) > 2 else []
            equations.append(Equation(variable, arguments[name]))
        else:
            layouts = layouts_of(len(variable.shape), 2, style)
            if not layouts:
                return None
            layout = layouts[0]
            stored = own_array(name, stored_shape(variable, layout), variable, layer)
            arguments[name] = stored
            equations.append(Equation(variable, layout.reads(variable, stored, Piece(name, ()))))
            changed = changed or stored.shape != variable.shape
            if len(stored.shape) < len(variable.shape):
                declared.append(f"{name} of shape {shape_text(stored.shape)}")
    if style != "as declared" and not changed:
        return None
    arguments |= {**extra, **{name: value for name, value in shapes.items() if name not in arguments}}
    equations = [e for e in equations if e.variable != e.value]
    readings = (*(["weights as stored transposed"] if style == "transposed" else []), *declared)
    return Binding(layer, arguments, tuple(equations), readings, batch=front)


def _with_equal_sizes(
    binding: Binding,
    pairs: Mapping[str, Variable],
    extra: Mapping[str, Any],
    shapes: Mapping[str, Any],
    style: str,
    batch: int,
) -> Iterator[Binding]:
    """Yield the reading with d_v = d_k and d_model = h d_k, which code that reshapes to the model's width assumes."""
    named = {s.name: s for v in pairs.values() for a in v.shape for s in total(a).free_symbols}
    if not {"h", "d_k", "d_model"} <= named.keys():
        return
    same = {named["d_model"]: named["h"] * named["d_k"]} | ({named["d_v"]: named["d_k"]} if "d_v" in named else {})
    layer = binding.layer.xreplace(same)
    moved = {name: variable.xreplace(same) for name, variable in pairs.items()}
    found = _function_binding(layer, moved, extra, shapes, style, batch)
    if found is not None:
        own = {e.variable for e in found.equations}
        rest = tuple(e.xreplace(same) for e in binding.equations if e.variable.xreplace(same) not in own)
        readings = (*binding.readings, *(f"{s} as {p}" for s, p in same.items()))
        yield replace(found, equations=(*found.equations, *rest), readings=readings)
