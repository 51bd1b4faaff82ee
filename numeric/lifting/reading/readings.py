"""The readings of a function as a layer: those under which a run agrees with the layer, else the first to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from derivations.language.layers.layer import Layer
from numeric.lifting.differential import assignments, draw, run_function
from numeric.lifting.doors.choice import door_of
from numeric.lifting.reading.binding import Binding, are_close
from numeric.lifting.reading.function_readings import readings_of_function
from numeric.lifting.reading.module_readings import readings_of_module
from numeric.lifting.reading.written_out import written_out

__all__ = ["bindings"]


def bindings(
    function: Callable[..., Any],
    layer: Layer,
    shapes: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
) -> list[Binding]:
    """Return the readings of a function as a layer: those under which a run agrees with it, else the first to run."""
    shapes, names = shapes or {}, names or {}
    flat = written_out(layer)
    if door_of(function).weights(function):
        return next(readings_of_module(function, flat, shapes, names), [])
    fallback: Binding | None = None
    runs = False  # whether the function could be called with the fallback
    for readings in readings_of_function(function, flat, shapes, names):
        agrees = _run(function, readings[0])  # the others read the same numbers
        if agrees:
            return readings
        if fallback is None or (agrees is not None and not runs):
            fallback, runs = readings[0], agrees is not None
    return [fallback] if fallback else []


def _run(function: Any, binding: Binding) -> bool | None:
    """Return whether a run of the function agrees with the layer; None where the arguments do not fit."""
    probe = binding.unlifted(function)
    try:
        sizes = next(iter(assignments(probe, general=True)))
        run = draw(probe, sizes)
        given = run_function(probe, run)
        expected = np.asarray(binding.value(run, {s.name: 1e-5 for s in binding.layer.scalars}))
    except Exception:  # these arguments do not fit: another reading may
        return None
    return are_close(given, expected)
