"""Functions that read an equation: the variables in it, the index of its family, the layer that it applies."""

from __future__ import annotations

from sympy import Basic, Symbol

from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.shapes import Axis
from derivations.language.layers.layer import Apply, Equation, Repeat
from derivations.language.layers.names import variables_in

__all__ = ["applied_to_members", "index_of", "members_of", "named", "variables_of"]


def variables_of(node: Basic) -> frozenset[Variable]:
    """Return the variables of an expression."""
    return frozenset(variables_in(node))


def named(node: Array) -> Variable | None:
    """Return the variable that an expression names, or the family that it is a member of, else None."""
    inner = node.args[0] if isinstance(node, Member) else node
    return inner if isinstance(inner, Variable) else None


def applied_to_members(equation: Equation) -> Apply | None:
    """Return the application of a layer to each member of a family, or None if the equation has any other form."""
    node = equation.value
    if equation.over is None or not isinstance(node, Apply) or isinstance(node, Repeat) or node.own_parameters:
        return None
    dependent = [each for each in (*node.arguments, *node.bound.values()) if equation.over[0] in each.free_symbols]
    are_members = all(
        isinstance(each, Member) and named(each) and each.args[1] == equation.over[0] for each in dependent
    )
    return node if are_members else None


def index_of(equation: Equation) -> Symbol | None:
    """Return the index of a family, if the equation defines one."""
    return equation.over[0] if equation.over else None


def members_of(equation: Equation) -> Axis | None:
    """Return the number of members of a family, if the equation defines one."""
    return equation.over[1] if equation.over else None
