r"""Formulas of one pattern: a document writes several of them the same way, and one with a mistake.

Definition   the pattern of an equation has numbers in the place of its letters, in the order in which they come, so
             that `a = Norm(x + F(x))` and `b = Norm(y + F(y))` have one; functions and numbers stay as they are
Result       wrong where an edit of a sign, a transpose or an order gives an equation the pattern of two others or more,
             and no other one has the pattern that it has now: the document itself says how such formulas are written
Assumes      a pattern says enough where four letters and functions stand on the right
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from derivations.documents.budget import spend
from derivations.documents.canon.letter_slips import orders, signs, transposes
from derivations.documents.canon.places import places
from derivations.documents.canon.slips import Slip, SlipKind
from derivations.documents.conditions import is_condition
from derivations.documents.formulas import formula_text
from derivations.documents.scope import Scope
from derivations.documents.scope.declared import Declared
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Chain, Name, Node, rebuilt
from derivations.documents.verdicts import Finding

__all__ = ["check_patterns", "pattern_of"]

CHECK = "pattern"
LEAST = 2  # other equations of the pattern
LETTERS = 4
MOST_NODES = 60
BOTH_WAYS = re.compile(r"\b(?:a|de)scent|maximi[sz]|minimi[sz]|上升|下降|最大|最小", re.IGNORECASE)
RULES = (signs, transposes, orders)  # a square or another range makes a formula of its own
Pattern = tuple[Node, Node]


def check_patterns(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare an edit of an equation with the other equations of the document that have the same pattern."""
    if link != 0 or statement.chain.relations[0] not in ("=", ":=") or is_condition(statement):
        return
    left, right = statement.chain.sides[:2]
    if not _says_enough(right):
        return
    known = _patterns(scope.document)
    if known[pattern_of(left, right)] != 1:
        return
    for new, slip in _edited(right):
        spend(10)
        count = known[pattern_of(left, new)]
        is_turned = slip.kind in (SlipKind.SIGN, SlipKind.A_SIGN)
        if count >= LEAST and not (is_turned and BOTH_WAYS.search(scope.words(statement))):
            reason = f"{count} other formulas of this document are written alike but for this: {slip}"
            yield Finding("wrong", CHECK, reason, formula_text(new, statement.notation))
            return


def pattern_of(left: Node, right: Node) -> Pattern:
    """Return both sides with each letter replaced by a number, including bound indices."""
    letters: dict[str, Name] = {}

    def of(node: Any) -> Any:
        match node:
            case Name():
                return letters.setdefault(node.key, Name(f"letter {len(letters)}"))
            case Call(function=function, arguments=arguments):
                return Call(function=function, arguments=of(arguments))
        return rebuilt(node, of)

    return of(left), of(right)


def _patterns(document: Declared) -> Counter[Any]:
    """Return the number of different equations of a document that have each pattern. Computed once."""
    if not document.patterns:
        chains = (s.chain for s in document.kept if len(s.chain.sides) > 1 and s.chain.relations[0] in ("=", ":="))
        # an equation that is written again says no more than once
        different = {each.sides[:2] for each in chains if _says_enough(each.sides[1])}
        document.patterns.update(pattern_of(*sides) for sides in different)
    return document.patterns


def _says_enough(right: Node) -> bool:
    parts = list(right.walk())
    if len(parts) > MOST_NODES or any(isinstance(part, Chain) and ":" in part.relations for part in parts):
        return False  # a row X_{i,:} and a column X_{:,j} are turned otherwise
    return len({part.key for part in parts if isinstance(part, Name)}) >= LETTERS


def _edited(right: Node) -> Iterator[tuple[Node, Slip]]:
    for rule in RULES:
        for node, put in places(right):
            for new, slip in rule(node, ()):
                yield put(new), slip
