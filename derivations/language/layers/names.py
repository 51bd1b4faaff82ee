"""The names in expressions: the arrays and variables that one is made of, and new names beside those that there are."""

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
    """Yield an expression and the arrays in it, outermost first; the inside of a layer is its own."""
    if isinstance(node, Array):
        yield node
    if isinstance(node, Variable):  # its sizes hold no arrays
        return
    for child in node.args:
        if not isinstance(child, Layer):
            yield from subexpressions(child)


def variables_in(node: Basic) -> Iterator[Variable]:
    """Yield the variables of an expression, in order, each as often as it occurs; the inside of a layer is its own."""
    return (each for each in subexpressions(node) if isinstance(each, Variable))


def fresh_name(wanted: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it: the wanted one, or that with a number behind it."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name
