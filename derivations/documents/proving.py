"""Calls of the judge of equality. Only this module makes a finding `proved`.

Result       `weighed` is the level that the judge gives to an equation, with its reason; `are_equal` says whether it
             proves it; `proved` is a finding with the judge's evidence, of sides in which nothing was cancelled
"""

from __future__ import annotations

from sympy import Basic, Expr, Gt, Indexed, Ne, Pow, Sum, log

from derivations.documents.verdicts import Finding
from derivations.language.judge.proof import prove_equal
from derivations.language.results.derivation import Assumption, Derivation

__all__ = ["are_equal", "proved", "provisos", "weighed", "work_of"]

TERMS = 4  # of a sum, where it is evaluated
EVALUATIONS = 4  # that a decision takes in the median; a search for a counterexample takes more


def are_equal(first: Basic, second: Basic, source: Derivation | None = None, rule: str = "algebra") -> bool:
    """Return whether the judge proves two expressions equal, in which SymPy may have cancelled factors before."""
    return weighed(first, second, source, rule)[0] == "proved"


def proved(
    first: Basic, second: Basic, source: Derivation | None, check: str, reason: str, rule: str = "algebra"
) -> Finding | None:
    """Return a `proved` finding if the judge proves two expressions equal, else None.

    Nothing may have been cancelled in the expressions before.
    """
    found = prove_equal(first, second, source, rule)
    return Finding(found, check, reason) if found.level == "proved" else None


def weighed(first: Basic, second: Basic, source: Derivation | None = None, rule: str = "algebra") -> tuple[str, str]:
    """Return the judge's level for the equality of two expressions, and its reason."""
    found = prove_equal(first, second, source, rule)
    return found.level, found.reason


def provisos(*expressions: Expr) -> list[Assumption]:
    """Return the assumptions under which expressions are defined: no divisor is 0, logarithms and roots exist."""
    found: dict[Basic, Assumption] = {}
    for power in (part for each in expressions for part in each.atoms(Pow)):
        if power.exp.is_negative and not power.base.has(Indexed) and not power.base.is_number:
            found[Ne(power.base, 0)] = Assumption(Ne(power.base, 0), text=f"{power.base} is not 0")
        elif power.exp.is_Rational and not power.exp.is_Integer and not power.base.has(Indexed):
            found[Gt(power.base, 0)] = Assumption(Gt(power.base, 0), text=f"{power.base} is positive")
    for part in (part for each in expressions for part in each.atoms(log)):
        if not part.args[0].has(Indexed) and not part.args[0].is_number:
            found[Gt(part.args[0], 0)] = Assumption(Gt(part.args[0], 0), text=f"{part.args[0]} is positive")
    return [found[each] for each in sorted(found, key=str) if each not in (True, False)]


def work_of(*expressions: Basic) -> int:
    """Return an estimate of the steps that a decision on expressions takes, with TERMS terms for each sum."""
    return EVALUATIONS * sum(map(_parts, expressions))


def _parts(expression: Basic) -> int:
    if isinstance(expression, Sum):
        return TERMS ** len(expression.limits) * _parts(expression.function)
    return 1 + sum(map(_parts, expression.args))
