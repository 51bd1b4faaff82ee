r"""Two entries of a pair that are turned in opposite ways, though either of them is right by itself.

Definition   x_1' = x_1 \cos\theta - x_2 \sin\theta and x_2' = x_1 \sin\theta + x_2 \cos\theta turn one way; with \theta
             of the other sign in one of them alone they are no rotation
Result       `is_turned_apart` says so of the second entry where the first stands right before it, in the same letters;
             `first_before` is what that first entry is
"""

from __future__ import annotations

from derivations.documents.canon.equations import Equation
from derivations.documents.canon.running_equations import FIRST, RUNNING, SECOND
from derivations.documents.canon.running_forms import OTHER_WAY
from derivations.documents.judge.arrays.left_sides import plain
from derivations.documents.judge.canonical.equation_roles import by_spelling, matched, names_of
from derivations.documents.judge.canonical.matching import Match
from derivations.documents.judge.canonical.spellings import left_spelling, running
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name

__all__ = ["first_before", "is_turned_apart"]


def is_turned_apart(
    equation: Equation, match: Match, names: dict[str, Name], statement: Statement, scope: Scope
) -> bool:
    """Say whether the statement right before turns the first entry of this pair the other way."""
    found = first_before(equation, names, statement, scope)
    return found is not None and (found.form.assumed == OTHER_WAY) is not (match.form.assumed == OTHER_WAY)


def first_before(equation: Equation, names: dict[str, Name], statement: Statement, scope: Scope) -> Match | None:
    """Return what the statement right before is where it is the first entry of a pair, and this may be the second."""
    before = scope.earlier(statement)[:1]
    if equation.title != SECOND or not before or len(before[0].chain.sides) != 2:
        return None
    left, right = before[0].chain.sides
    first = next(each for each in RUNNING if each.title == FIRST)
    if left_spelling(left) not in first.left or names_of(right).keys() != names.keys():
        return None
    return matched(plain(right), by_spelling(names, running(left), first), first, scope)
