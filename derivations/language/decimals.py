"""Floating-point numbers in statements, read as the decimals that were written.

Definition   a SymPy `Float` stands for the decimal with as many digits as its precision carries: 15 for a Python float,
             more for a `Float` that was made from a longer text
Result       0.1 + 0.2 is 0.3, for Python's 0.30000000000000004 has 15 digits 0.300000000000000; 0.333333333333333 is
             not 1/3
Assumes      a decimal that was written has no more digits than that: 15 digits tell any two doubles' decimals apart
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Basic, Float, Rational

from derivations.language.derivation import Assumption, Claim, Derivation, Step

__all__ = ["exact", "exact_derivation", "exact_step"]


def exact(expression: Basic) -> Basic:
    """Return the expression with every floating-point number as the decimal that it shows."""
    if not isinstance(expression, Basic) or not expression.has(Float):
        return expression
    numbers = {each: Rational(str(each)) for each in expression.atoms(Float) if each.is_finite}
    return expression.xreplace(numbers)


def exact_step(step: Step) -> Step:
    """Return the step in exact numbers."""
    return replace(step, expression=exact(step.expression), certificate=tuple(map(exact, step.certificate)))


def _exact_assumptions(assumptions: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    return tuple(replace(each, statement=exact(each.statement)) for each in assumptions)


def exact_derivation(derivation: Derivation, claim: Claim) -> tuple[Derivation, Claim]:
    """Return definitions and assumptions in exact numbers."""
    parts = (*derivation.definitions, *(a.statement for a in (*derivation.assumptions, *claim.given)))
    if not any(part.has(Float) for part in parts):
        return derivation, claim
    return (
        replace(
            derivation,
            definitions=tuple(map(exact, derivation.definitions)),
            assumptions=_exact_assumptions(derivation.assumptions),
        ),
        replace(claim, given=_exact_assumptions(claim.given)),
    )
