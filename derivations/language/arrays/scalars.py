"""Scalar functions that SymPy lacks or would evaluate too eagerly.

`Iverson(c)` is 1 where the condition c holds and 0 elsewhere; `Expectation` and `Variance` are operators that stay
as written; `Rounded(x, p)` is x rounded to p decimals. They do not evaluate themselves: the judge does.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from sympy import Basic, Dummy, Expr, Function, I, Integer, Max, Min, Mul, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, false, true

from derivations.language.arrays.internal import Unwritten

__all__ = [
    "LARGEST",
    "MASK",
    "SHARE",
    "Admitted",
    "Expectation",
    "Iverson",
    "Rounded",
    "Variance",
    "Within",
    "brackets",
    "declared_real",
    "kind_of",
    "without_conditions",
]


@lru_cache(maxsize=1 << 12)
def declared_real(expression: Basic) -> bool:
    """Return whether every symbol, array and function in an expression is declared real, and I does not occur."""
    named = expression.atoms(Symbol, AppliedUndef)
    return not expression.has(I) and all(each.is_real or each.is_integer for each in named)


MASK = {"integer": True, "nonnegative": True}  # the declaration of mask entries; no other array has it
LARGEST, SHARE = Unwritten("largest", real=True), Unwritten("share", real=True)  # never evaluated


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


def brackets(formula: Expr) -> tuple[Boolean, ...]:
    """Return the conditions of a product of Iverson brackets; an empty tuple for any other formula."""
    # [a][b] = [a and b]: only products of brackets are conditions again
    factors = Mul.make_args(without_conditions(formula))
    return tuple(factor.args[0] for factor in factors) if all(isinstance(f, Iverson) for f in factors) else ()


def kind_of(formula: Expr, variables: Iterable[Symbol]) -> str:
    """Return the kind of a formula of integers: "boolean" for a product of brackets, "integer", or else "real"."""
    if brackets(formula):
        return "boolean"
    formula = without_conditions(formula)
    # With integers in place of its variables, SymPy's assumptions decide whether the formula is an integer.
    whole = {part: Dummy(integer=True) for part in (*variables, *formula.atoms(Iverson))}
    return "integer" if formula.xreplace(whole).is_integer else "real"


class Expectation(Function):
    """The expectation E[x] of a random scalar: entries of arrays are random, masks and symbols are not."""

    nargs = 1

    def _eval_is_real(self) -> bool:
        return True


class Variance(Function):
    """The variance Var(x) = E[x^2] - E[x]^2 of a random scalar."""

    nargs = 1

    def _eval_is_real(self) -> bool:
        return True


class Within(Function):
    """A value with the condition that an index is on its axis: `Within(value, place, size)` needs 0 <= place < size."""

    nargs = 3

    @classmethod
    def eval(cls, value: Any, place: Any, size: Any) -> Expr | None:
        """Drop the condition if `place` and `size` are integers that satisfy it."""
        return value if isinstance(place, Integer) and isinstance(size, Integer) and 0 <= place < size else None

    def _eval_is_real(self) -> bool | None:
        return self.args[0].is_real


class Admitted(Within):
    """A value with the side condition that the entry put in for a variable satisfies the variable's declaration.

    `Admitted(value, entry, kind)`, where the kind is that of a side condition, such as "positive".
    """


@lru_cache(maxsize=1 << 13)
def without_conditions(expression: Any) -> Any:
    """Return an expression without the side conditions `Within` and `Admitted`, in order to print or compile it."""
    if isinstance(expression, Within):
        return without_conditions(expression.args[0])
    if getattr(expression, "closed", False) or not expression.has(Within):
        return expression
    parts = [without_conditions(part) for part in expression.args]
    if isinstance(expression, Max | Min | Relational):  # evaluation would try to decide the comparison
        return expression.func(*parts, evaluate=False)
    return expression.func(*parts)


class Rounded(Function):
    """A number rounded to the given number of decimals."""

    nargs = 2
