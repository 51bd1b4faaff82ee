"""A layer with its parts inlined, and with all their weights among its parameters.

A part that holds a family inside a family stays an application. The weights of its own parts, such as the norm of the
queries in groups of heads, become inputs of it, and parameters of the whole layer: a module has them as well.
"""

from __future__ import annotations

from sympy import Tuple as Arguments

from derivations.language.arrays.expression import Variable
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Apply, Equation, Layer

__all__ = ["written_out"]


def written_out(layer: Layer) -> Layer:
    """Return a layer with its parts inlined. A part with a family inside a family stays, with its weights as inputs."""
    flat = inlined(layer)
    found: list[Variable] = []
    equations = [_with_inputs(equation, found) for equation in flat.equations]
    return Layer(flat.name, flat.inputs, (*flat.parameters, *found), equations, flat.args[4]) if found else flat


def _with_inputs(equation: Equation, found: list[Variable]) -> Equation:
    """Return an equation whose applied layer takes its weights as inputs. Add these weights to `found`."""
    node = equation.value
    if not isinstance(node, Apply) or equation.over is None or not inlined(node.layer).parameters or node.bound:
        return equation
    part = inlined(node.layer)
    own = [Variable(f"{node.name}.{v.name}", v.shape, v.kind) for v in part.parameters]
    found += own
    inside = Layer(part.name, (*part.inputs, *part.parameters), (), part.equations, part.args[4])
    value = node.func(node.args[0], inside, Arguments(*node.arguments, *own), *node.args[3:])
    return Equation(equation.target, value, *equation.over)
