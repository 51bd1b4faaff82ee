"""Scalar functions that SymPy lacks or would evaluate too eagerly.

`Iverson(c)` is 1 where the condition c holds and 0 elsewhere; `Expectation` and `Variance` are operators that stay
as written; `Rounded(x, p)` is x rounded to p decimals. None of them evaluates itself: the judge does.
"""

from typing import Any

from sympy import Basic, Expr, Function, I, Integer, Symbol
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean, false, true

__all__ = ["LARGEST", "MASK", "SHARE", "Expectation", "Iverson", "Rounded", "Variance", "Within", "declared_real"]


def declared_real(expression: Basic) -> bool:
    """Say whether every symbol, array and function in an expression was declared real, and I does not occur."""
    named = expression.atoms(Symbol, AppliedUndef)
    return not expression.has(I) and all(each.is_real or each.is_integer for each in named)


MASK = {"integer": True, "nonnegative": True}  # what is declared of the entries of a mask, and of nothing else
LARGEST, SHARE = Function("largest", real=True), Function("share", real=True)  # of these no value is ever taken


class Iverson(Function):
    """Iverson's bracket [condition]: 1 where the condition holds, 0 elsewhere."""

    @classmethod
    def eval(cls, condition: Any) -> Expr | None:
        """Evaluate the bracket only on the truth values themselves."""
        if condition is true:
            return Integer(1)
        if condition is false:
            return Integer(0)
        if not isinstance(condition, Boolean):
            raise TypeError(f"Iverson's bracket takes a condition, not {condition}")
        return None

    def _eval_is_real(self) -> bool:
        return True


class Expectation(Function):
    """The expectation E[x] of a random scalar; array entries are random; masks, sizes and scalar symbols are not."""

    nargs = 1

    def _eval_is_real(self) -> bool:
        return True


class Variance(Function):
    """The variance Var(x) = E[x^2] - E[x]^2 of a random scalar."""

    nargs = 1

    def _eval_is_real(self) -> bool:
        return True


class Within(Function):
    """A value that counts only where a place lies on its axis: `Within(value, place, size)` with 0 <= place < size."""

    nargs = 3

    def _eval_is_real(self) -> bool | None:
        return self.args[0].is_real


class Rounded(Function):
    """The value of a number rounded to the given count of decimals."""

    nargs = 2
