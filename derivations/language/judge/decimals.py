"""Floating-point numbers in statements, read as the decimals that the user wrote.

Definition   a SymPy `Float` means the decimal with as many digits as its precision carries: 15 for a Python float,
             more for a `Float` from a longer text
Result       0.1 + 0.2 is 0.3, for Python's 0.30000000000000004 has 15 digits 0.300000000000000; 0.333333333333333 is
             not 1/3
Assumes      a written decimal has no more digits than that: different decimals of up to 15 digits are different doubles
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sympy import Basic, Float, Rational

from derivations.language.results.derivation import Step

__all__ = ["exact", "exact_step", "rounded_by_arithmetic"]


_DIGITS = 12  # a number with more of them may be the result of rounding


def exact(expression: Basic) -> Basic:
    """Return the expression with every floating-point number replaced by the decimal that it prints as."""
    if not isinstance(expression, Basic) or not _has_decimals(expression):
        return expression
    # the text of a Float is the decimal that was written; Rational(0.1) would be the binary fraction
    numbers = {each: Rational(str(each)) for each in expression.atoms(Float) if each.is_finite}
    return expression.xreplace(numbers)


def rounded_by_arithmetic(expression: Basic) -> bool:
    """Return whether an expression has a decimal of so many digits that it may be rounded, as in 1 - 0.9999.

    A step with such a number is never refuted.
    """
    numbers = expression.atoms(Float) if isinstance(expression, Basic) and _has_decimals(expression) else ()
    return any(len(str(each).partition("e")[0].replace(".", "").strip("-0")) > _DIGITS for each in numbers)


@lru_cache(maxsize=1 << 12)
def _has_decimals(expression: Basic) -> bool:
    return bool(expression.has(Float))


def exact_step(step: Step) -> Step:
    """Return the step in exact numbers."""
    return replace(step, expression=exact(step.expression), certificate=tuple(map(exact, step.certificate)))
