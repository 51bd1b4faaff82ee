"""Other definitions of the same letter in a document, as independent evidence against a formula.

Definition   an equation restates another one if both define one letter, up to its indices
Result       `restated_as(left, statement, scope)`: the titles of the known formulas that the other equations state;
             `others(left, statement, scope)`: their sides
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sympy import Expr

from derivations.documents.budget import spend
from derivations.documents.canon.equations import Equation
from derivations.documents.nearest.known import Known, known_under, typings_of
from derivations.documents.scope import Scope
from derivations.documents.scope.filing import family_of, stands_for
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node

__all__ = ["known_in", "others", "restated_as"]

MOST = 4  # other equations that are read
MOST_NODES = 60


def restated_as(left: Node, statement: Statement, scope: Scope) -> frozenset[str]:
    """Return the titles of the known formulas by which the document defines a letter in other places."""
    found: set[str] = set()
    for other, side in others(left, statement, scope):
        if (other.number, side) not in scope.document.stated:
            titles = frozenset(known.title for known, _ in known_in(side, other, scope.at(other)))
            scope.document.stated[other.number, side] = titles
        found |= scope.document.stated[other.number, side]
    return frozenset(found)


def others(left: Node, statement: Statement, scope: Scope) -> Iterator[tuple[Statement, Node]]:
    """Yield the equations that define a letter in other places, each with its right sides; at most four."""
    if not isinstance(left, Name):
        return
    own = statement.chain.sides[1:]
    every = scope.document.equations_of.get(family_of(left) or left.key, ())
    alike = (each for each in every if each is not statement and _is_the_letter(each.chain.sides[0], left))
    for other in islice(alike, MOST):
        yield from ((other, side) for side in other.chain.sides[1:] if side not in own)


def _is_the_letter(other: Node, left: Name) -> bool:
    """Return whether another equation defines the same letter: `o_j` stands for `o_i`, but `x_2` not for `x_1`."""
    return isinstance(other, Name) and (other.key == left.key or stands_for(other, left))


def known_in(
    side: Node, statement: Statement, scope: Scope, quoted: tuple[Equation, ...] = ()
) -> Iterator[tuple[Known, Expr]]:
    """Yield the known formulas that a side equals, each with the expression of the side."""
    spend(100)
    if sum(1 for _ in side.walk()) > MOST_NODES:
        return
    for typing in typings_of(side, scope, statement.chain.sides):
        yield from known_under(typing, side, quoted)
