"""What an equation names: the variable of an expression, the index and the number of members of its family."""

from __future__ import annotations

from sympy import Basic, Symbol

from derivations.language.expression import Array, Member, Variable
from derivations.language.layer import Equation
from derivations.language.names import variables_in
from derivations.language.shapes import Axis

__all__ = ["index_of", "members_of", "named", "variables_of"]


def variables_of(node: Basic) -> frozenset[Variable]:
    """Return the variables of an expression."""
    return frozenset(variables_in(node))


def named(node: Array) -> Variable | None:
    """Return the variable that an expression names, as a whole or as a member, or None."""
    inner = node.args[0] if isinstance(node, Member) else node
    return inner if isinstance(inner, Variable) else None


def index_of(equation: Equation) -> Symbol | None:
    """Return the index of a family, if the equation defines one."""
    return equation.over[0] if equation.over else None


def members_of(equation: Equation) -> Axis | None:
    """Return the number of members of a family, if the equation defines one."""
    return equation.over[1] if equation.over else None
