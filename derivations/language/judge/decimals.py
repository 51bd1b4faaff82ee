"""Floating-point numbers in statements, read as the decimals that were written.

Definition   a SymPy `Float` stands for the decimal with as many digits as its precision carries: 15 for a Python float,
             more for a `Float` that was made from a longer text
Result       0.1 + 0.2 is 0.3, for Python's 0.30000000000000004 has 15 digits 0.300000000000000; 0.333333333333333 is
             not 1/3
Assumes      a decimal that was written has no more digits than that: 15 digits tell any two doubles' decimals apart
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sympy import Basic, Float, Rational

from derivations.language.results.derivation import Step

__all__ = ["exact", "exact_step", "rounded_by_arithmetic"]


_DIGITS = 12  # a number with more of them may be the result of rounding


def exact(expression: Basic) -> Basic:
    """Return the expression with every floating-point number as the decimal that it shows."""
    if not isinstance(expression, Basic) or not _has_decimals(expression):
        return expression
    numbers = {each: Rational(str(each)) for each in expression.atoms(Float) if each.is_finite}
    return expression.xreplace(numbers)


def rounded_by_arithmetic(expression: Basic) -> bool:
    """Say whether a number has so many digits that it may be rounded, as that of 1 - 0.9999: it refutes nothing."""
    numbers = expression.atoms(Float) if isinstance(expression, Basic) and _has_decimals(expression) else ()
    return any(len(str(each).partition("e")[0].replace(".", "").strip("-0")) > _DIGITS for each in numbers)


@lru_cache(maxsize=1 << 12)
def _has_decimals(expression: Basic) -> bool:
    return bool(expression.has(Float))


def exact_step(step: Step) -> Step:
    """Return the step in exact numbers."""
    return replace(step, expression=exact(step.expression), certificate=tuple(map(exact, step.certificate)))
