"""A reading of a function: its arguments, and the equations that give the layer's arrays from them.

Each array of the layer that is no argument itself has an equation, so that the judge decides about the reading too: a
run only chooses which reading is tried first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from sympy import Expr, Integer, Symbol

from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation, Layer
from numeric.lifting.differential import compiled_value
from numeric.lifting.doors.choice import door_of
from numeric.lifting.lift import Lifted, variables_in
from numeric.lifting.reading.layouts import Layout

__all__ = ["BATCHES", "Binding", "are_close", "front_axes", "member", "own_array", "parameters_of", "stored_shape"]

_CALLS = ("self", "check")  # parameters that every compiled layer has
BATCHES = (0, 1, 2)  # axes in front of the arrays of a layer, such as items and heads
_CLOSE = 0.05  # a run that differs less than this, by another epsilon, say, is the right reading


@dataclass(frozen=True)
class Binding:
    """The arguments of a function, and the equations that give the layer's arrays from them."""

    layer: Layer  # written out, with the sizes as the function has them
    arguments: Mapping[str, Any]
    equations: tuple[Equation, ...] = ()  # arrays of the layer from arrays of the function
    readings: tuple[str, ...] = ()
    weights: Mapping[str, Variable] | None = None  # of a module
    known: Mapping[int, Expr] = field(default_factory=dict)  # numbers of a module that stand for sizes
    fixed: Mapping[Symbol, int] | None = None  # sizes that the module was made with
    batch: tuple[tuple[Symbol, Expr], ...] = ()  # indices of axes in front of the function's arrays

    def value(self, run: Any, scalars: Mapping[str, float]) -> Any:
        """Return the value of the layer for the arguments of a run."""
        return compiled_value(self.whole(self.layer.equations), self.batch_values(run), scalars)

    def whole(self, equations: tuple[Equation, ...]) -> Layer:
        """Return the layer with the function's arrays as inputs. It takes batch axes as every compiled layer does."""
        members = self._members()
        plain = [e for e in self.equations if e.variable not in members]
        given = [v for value in (*self.arguments.values(), *(self.weights or {}).values()) for v in variables_in(value)]
        defined = {e.variable for e in plain}
        arrays = [v for v in (*self.layer.inputs, *self.layer.parameters) if v not in defined]
        inputs = dict.fromkeys(v for v in (*arrays, *given) if v not in members.values())
        return Layer(self.layer.name, tuple(inputs), (), (*plain, *equations), equations[-1].variable)

    def batch_values(self, run: Any) -> Any:
        """Return a run in which the function's arrays with batch axes have the names of the layer's arrays."""
        arrays = {**run.arrays, **{v.name: run.arrays[whole.name] for v, whole in self._members().items()}}
        return type(run)(run.sizes, run.scalars, arrays)

    def unlifted(self, function: Any) -> Lifted:
        """Return the function with these arguments as a `Lifted` that can be run, although it is not lifted."""
        door, weights, fixed = door_of(function), self.weights or {}, self.fixed or {}
        return Lifted(function, self.layer, self.arguments, door=door, weights=weights, fixed=fixed)

    def _members(self) -> dict[Variable, Variable]:
        """Return the function's array with batch axes for each array of the layer that is a member of one."""
        indices = [index for index, _ in self.batch]
        return {e.variable: _whole(e.value) for e in self.equations if indices and e.value.has(*indices)}


def _whole(value: Array) -> Variable:
    """Return the array of which a value is a member."""
    while isinstance(value, Member):
        value = value.args[0]
    assert isinstance(value, Variable)
    return value


def are_close(given: Any, expected: Any) -> bool | None:
    """Return whether two results are near one another; None where their shapes differ."""
    if given.shape != expected.shape:
        return None
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    apart = np.subtract(given, expected, dtype=float)  # masks are compared as 0 and 1
    return bool(np.max(np.abs(apart), initial=0) < _CLOSE * scale)


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function, without `*args` and `**kwargs`."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def own_array(name: str, shape: Sequence[Any], variable: Variable, layer: Layer) -> Variable:
    """Return the variable that a parameter gets for an array of a layer, with a name that no other array has."""
    own = Variable(name, shape, variable.kind)
    names = {v.name for v in (*layer.inputs, *layer.parameters, *(e.variable for e in layer.equations))}
    free = name not in names and name not in _CALLS
    return own if own == variable or free else Variable(f"{name}_given", shape, variable.kind)


def front_axes(batch: int) -> tuple[tuple[Symbol, Expr], ...]:
    """Return the indices and sizes of the batch axes in front of an array."""
    return tuple(
        (Symbol(f"item_{number}", integer=True), Symbol(f"batch_{number}", integer=True, positive=True))
        for number in range(batch)
    )


def member(whole: Array, front: Sequence[tuple[Symbol, Expr]]) -> Array:
    """Return the member of an array at the given indices of its batch axes."""
    for index, _ in front:
        whole = Member(whole, index)
    return whole


def stored_shape(variable: Variable, layout: Layout, parts: int = 1, axis: int = 0) -> list[Expr]:
    """Return the shape in which a weight is stored."""
    dims = [prod((total(variable.shape[a]) for a in group), start=Integer(1)) for group in layout.groups]
    dims[axis % len(dims)] = dims[axis % len(dims)] * parts
    return dims
