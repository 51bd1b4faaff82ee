r"""A term that is subtracted from itself where a concept is certainly meant: `\partial L/\partial z = t - t`.

Definition   a concept is certainly meant by a word or a derivative of a loss on the left
Result       wrong: what is left of the formula does not depend on the term, which none of its forms has
Assumes      nothing follows in the chain, for a line that shows how terms cancel goes on with what is left of them
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.canon.concepts import CONCEPTS
from derivations.documents.formulas import formula_text
from derivations.documents.judge.arrays.left_sides import word_of
from derivations.documents.judge.canonical.recognition import is_about
from derivations.documents.statements import Statement
from derivations.documents.syntax import Derivative, Node, Sum
from derivations.documents.verdicts import Finding

__all__ = ["cancelled", "shows_how"]


def cancelled(statement: Statement, link: int) -> Iterator[Finding]:
    """Yield that a term is subtracted from itself."""
    left, right = statement.chain.sides[link : link + 2]
    term = _subtracted_from_itself(right)
    if term is None or shows_how(statement, link):
        return
    word = word_of(left)
    for concept in CONCEPTS:
        told = word in concept.words or (concept.left == "derivative" and isinstance(left, Derivative))
        if told and not concept.lenient and is_about(concept, left, right):
            reason = f"this is not {concept.title}: {formula_text(term, 'plain')} is subtracted from itself"
            yield Finding("wrong", "canonical", reason, result=concept.forms()[0].result)
            return


def shows_how(statement: Statement, link: int) -> bool:
    """Say whether a term is subtracted from itself in a chain that goes on."""
    return link + 1 < len(statement.chain.relations) and bool(_subtracted_from_itself(statement.chain.sides[link + 1]))


def _subtracted_from_itself(right: Node) -> Node | None:
    for part in right.walk():
        if isinstance(part, Sum):
            added, taken = ([t for t, own in zip(part.terms, part.signs, strict=True) if own == s] for s in (1, -1))
            found = next((term for term in added if term in taken), None)
            if found is not None:
                return found
    return None
