"""Declared shapes: the section's own sizes are put into a formula, which must fit under some typing.

Definition   every array of the formula has a shape that its section declares; two sizes differ where the section tells
             them apart, or where they are two numbers
Result       wrong where no typing, rows or columns, lets the declared sizes fit, and one does without them; nothing
             where an array is not declared, or not in this section: shapes alone are no evidence
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.conditions import is_condition
from derivations.documents.elaborate import Misfit, NotElaborated, elaborated
from derivations.documents.elaborate.kinds import declared_shape
from derivations.documents.elaborate.letters import letters_of
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name
from derivations.documents.verdicts import Finding

__all__ = ["check_shapes"]

CHECK = "shapes"


def check_shapes(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a right side fits under no typing with the sizes that the section declares."""
    if link is None or statement.chain.relations[link] not in ("=", ":=", "≡", "←") or is_condition(statement):
        return
    right = statement.chain.sides[link + 1]
    letters = letters_of(statement.chain.sides)
    names = {letters.split(part)[0] for part in right.walk() if isinstance(part, Name)}
    if sum(1 for each in names if declared_shape(each, scope)) < 2:
        return
    try:
        typings = elaborated((right,), scope, statement.chain.sides)
        arrays = [letter for letter, _ in typings[0].kinds]
        shapes = [declared_shape(letter, scope) for letter in arrays if not letter.places]
        if len(shapes) < 2 or len(shapes) < len(arrays) or None in shapes:
            return
        elaborated((right,), scope, statement.chain.sides, sized=True)
    except Misfit as misfit:
        yield Finding("wrong", CHECK, f"the shapes that this section declares do not fit: {misfit}")
    except NotElaborated:
        return
