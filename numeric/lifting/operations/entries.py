"""Functions of entries: a formula in up to three numbers, applied entry by entry.

Where minus infinity may stand in an array, a function without a rule for it refuses the array.
"""

from __future__ import annotations

from sympy import (
    Expr,
    Integer,
    Symbol,
)

from derivations.language.arrays.functions import (
    Elementwise,
    Hadamard,
    Named,
    named,
)
from numeric.lifting.operations.broadcasting import Operand, table, together
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor, tensor
from numeric.lifting.trace import current

__all__ = ["FIRST", "SECOND", "THIRD", "apply", "entry_function", "finite", "formula", "real"]

FIRST, SECOND, THIRD = (Symbol(name, real=True) for name in "xyz")


def finite(what: str, *operands: Operand) -> None:
    """Refuse arrays in which minus infinity may stand."""
    if any(isinstance(each, Tensor) and each.alive is not None for each in operands):
        raise refuse(f"{what} of an array in which minus infinity stands")


def real(array: Tensor) -> Tensor:
    """Return a mask or an array of integers as an array of real numbers; a mask is 1 where it is set."""
    if not array.axes:
        return array
    if array.node.kind == "real":
        return array if array.kind == "real" else tensor(array.node, array.alive, "real", array.axes)
    ones = current().define(table(Integer(1), array.axes))
    return tensor(Hadamard(ones, array.node), axes=array.axes)


def apply(function: Named, *operands: Tensor) -> Tensor:
    """Apply a function entry by entry to arrays without minus infinity."""
    finite(function.name, *operands)
    shape, nodes = together(*map(real, operands))
    return tensor(Elementwise(function, *nodes), axes=shape)


def formula(name: str, expression: Expr, *operands: Tensor) -> Tensor:
    """Apply a formula in x (and y, z) entry by entry."""
    return apply(entry_function(name, expression, *(FIRST, SECOND, THIRD)[: len(operands)]), *operands)


def entry_function(name: str, expression: Expr, *variables: Symbol) -> Named:
    """Return the named function with a formula; if the name stands for another formula, `_of` is appended to it."""
    try:
        return named(name, expression, *variables)
    except ValueError:  # a built-in function has this name with another formula
        return named(f"{name}_of", expression, *variables)
