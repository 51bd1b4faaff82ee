"""Names in expressions: the arrays and variables inside an expression, and fresh names."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Basic

from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.layers.layer import Layer

__all__ = ["fresh_name", "is_name", "subexpressions", "variables_in"]


def is_name(node: Basic) -> bool:
    """Return whether an expression is a variable, or a member of one."""
    return isinstance(node, Variable) or (isinstance(node, Member) and isinstance(node.args[0], Variable))


def subexpressions(node: Basic) -> Iterator[Array]:
    """Yield an expression and the arrays inside it, outermost first, but not those inside layers."""
    if isinstance(node, Array):
        yield node
    if isinstance(node, Variable):  # its arguments contain no arrays
        return
    for child in node.args:
        if not isinstance(child, Layer):
            yield from subexpressions(child)


def variables_in(node: Basic) -> Iterator[Variable]:
    """Yield the variables of an expression in order, each as often as it occurs, but not those inside layers."""
    return (each for each in subexpressions(node) if isinstance(each, Variable))


def fresh_name(wanted: str, taken: set[str]) -> str:
    """Return the wanted name, with a number appended if it is taken; add the result to `taken`."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name
