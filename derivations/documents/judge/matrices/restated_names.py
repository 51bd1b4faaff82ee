r"""A letter that a formula defines and the "where ..." behind it defines once more, by other letters.

Definition   O = softmax(Q K^T) V, where S = Q K^T / sqrt(d_k), A = softmax(S), O = A V: what the letters are is put in,
             and both must be one formula
Result       wrong where they differ, and one edit of the formula makes them the same; else nothing
Assumes      two definitions that are further apart than one slip are of two things, and so are two by the same letters,
             and those behind "with scaling, ...", which change what was said
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from derivations.documents.budget import current_budget
from derivations.documents.canon.edits import edits
from derivations.documents.judge.matrices.matrix_equations import COST, Equation, has_entries, numbers_set, unfolded
from derivations.documents.judge.matrices.matrix_letters import letters_in_order, readings
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.judge.wording import link_text, source
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_restated_names"]

CHECK = "consistency.restated"
_SETTING = re.compile(r"\W{0,4}with\W{1,4}\w", re.IGNORECASE)
MOST_NODES, MOST_EDITS, MOST_STATEMENTS = 50, 400, 16


def check_restated_names(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a letter is defined otherwise by the words behind the formula."""
    if link != 0 or not is_equation(statement.chain.relations[0]) or scope.block + 1 not in scope.document.explaining:
        return
    name, right = statement.chain.sides[:2]
    parts = list(islice(right.walk(), MOST_NODES + 1))
    if not isinstance(name, Name) or isinstance(right, Name) or len(parts) > MOST_NODES or has_entries(parts):
        return
    explained = _explained(scope)
    restated = explained.pop(name.key, None)
    budget = current_budget()
    if restated is None or budget.steps - budget.spent < COST:
        return
    whole = unfolded(restated, explained)
    if whole is restated or _changes_what_was_said(scope):
        return
    letters = letters_in_order(right, whole)
    known = explained | numbers_set(letters, scope)
    equation = Equation(tuple(readings(letters, (right, whole), statement, scope)), explained, known)
    if not any(each.base[:1].isupper() for each in letters) or not equation.differ(right, restated):
        return
    found = equation.agreeing(restated, islice(edits(right, letters), MOST_EDITS))
    if found is not None:
        said = source((restated,), statement)
        reason = f"{name.key} is {said} by the words behind the formula, and that is not this: {found[1]}"
        yield Finding("wrong", CHECK, reason, link_text(name, whole, statement))


def _changes_what_was_said(scope: Scope) -> bool:
    """Say whether the block behind begins with more words than "with": a setting of its own."""
    first = next(iter(scope.document.in_block.get(scope.block + 1, ()))).block.passages[0].text
    return _SETTING.match(first) is not None


def _explained(scope: Scope) -> dict[str, Node]:
    """Return what the words right behind this block define letters to be, each by one formula."""
    found: dict[str, set[Node]] = {}
    for other in scope.document.in_block.get(scope.block + 1, ())[:MOST_STATEMENTS]:
        match other.chain.sides:
            case (Name() as name, made, *_) if is_equation(other.chain.relations[0]):
                found.setdefault(name.key, set()).add(made)
    return {key: made.pop() for key, made in found.items() if len(made) == 1}
