"""Two ways to give weights to an applied layer: as arguments for its inputs, or bound to its parameters.

Result       both applications have the same value; bound weights are the same for every item of a batch
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from sympy import Tuple as Sequence
from sympy.core.symbol import Str

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from derivations.language.layers.names import subexpressions

__all__ = ["with_arguments_bound", "with_arrays_passed", "with_bound_passed"]


def with_arguments_bound(node: Apply, inputs: Collection[Variable]) -> Apply:
    """Return the application in which some inputs of the layer are parameters, bound to their arguments."""
    layer = node.layer
    pairs = list(zip(layer.inputs, node.arguments, strict=True))
    left = [(variable, value) for variable, value in pairs if variable not in inputs]
    bound = [Sequence(Str(variable.name), value) for variable, value in pairs if variable in inputs]
    parameters = (*layer.parameters, *(variable for variable, _ in pairs if variable in inputs))
    changed = Layer(layer.name, tuple(v for v, _ in left), parameters, layer.equations, layer.args[4])
    return Apply(node.args[0], changed, Sequence(*(value for _, value in left)), Sequence(*node.args[3], *bound))


def with_bound_passed(node: Apply) -> Apply:
    """Return the application in which bound parameters are inputs of the layer, and the arrays arguments."""
    layer, bound = node.layer, node.bound
    passed = [p for p in layer.parameters if p.name in bound]
    changed = Layer(layer.name, (*layer.inputs, *passed), node.own_parameters, layer.equations, layer.args[4])
    return Apply(node.args[0], changed, Sequence(*node.arguments, *(bound[p.name] for p in passed)))


def with_arrays_passed(layer: Layer, keep: Callable[[Equation], Any] = lambda equation: None) -> Layer:
    """Return the layer whose parts have parameters bound to whole weights only; other bound arrays are passed.

    Assumes      an equation for which `keep` is true stays as it is
    """
    equations = [each if keep(each) else _with_arrays_passed(each, layer) for each in layer.equations]
    if all(new is old for new, old in zip(equations, layer.equations, strict=True)):
        return layer
    return layer.func(layer.name, layer.inputs, layer.parameters, equations, layer.args[4])


def _with_arrays_passed(equation: Equation, layer: Layer) -> Equation:
    found = [
        node for node in subexpressions(equation.value) if isinstance(node, Apply) and not isinstance(node, Repeat)
    ]
    passed = {
        node: with_bound_passed(node)
        for node in found
        if any(value not in layer.parameters for value in node.bound.values())
    }
    if not passed:
        return equation
    return Equation(equation.target, replace_free(equation.value, passed), *(equation.over or ()))
