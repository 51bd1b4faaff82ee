"""Finds the edit of one side that makes a refuted equation hold, as evidence of a slip.

Definition   an edit changes one place and keeps the letters; numbers at fixed values tell which edits are worth a proof
Result       `mended(sides, typing, scope)`: the side with the edit, and the slip, where the judge proves it
"""

from __future__ import annotations

from collections.abc import Sequence

from derivations.documents.budget import spend
from derivations.documents.canon.edits import edits_among
from derivations.documents.canon.scalar_sampling import differ
from derivations.documents.canon.slips import Slip
from derivations.documents.elaborate import Elaborated, NotElaborated
from derivations.documents.elaborate.typings import again
from derivations.documents.proving import are_equal, provisos, work_of
from derivations.documents.scope import Scope
from derivations.documents.syntax import Node

__all__ = ["mended"]

DEAREST = 300  # steps of an edit


def mended(
    sides: Sequence[Node], typing: Elaborated, scope: Scope, rule: str = "algebra"
) -> tuple[int, Node, Slip] | None:
    """Return which side an edit changes, the edited side, and the slip; None where no edit makes the sides equal."""
    cost = min(20 + work_of(*typing.sides[:2]) // 4, DEAREST)
    for at in (1, 0):
        for new, slip in edits_among(sides[at], sides):
            spend(cost)
            both = (new, sides[1]) if at == 0 else (sides[0], new)
            try:
                found = again(both, typing)
            except NotElaborated:
                continue
            left, right = found.sides
            if not differ(left, right) and are_equal(left, right, found.stated(rule, provisos(left, right)), rule):
                return at, new, slip
    return None
