r"""A share of a sum whose terms are all the same: `A_{ij} = e^{S_{ij}} / \sum_l e^{S_{ij}}`, which is 1 / m.

Definition   the sum below the line is over an index that its terms do not have, and each is what stands above it
Result       wrong where the entry on the left has its places in the terms: the terms of the sum need its own index
Assumes      nothing of an entry with a place that the terms have not, which may say that all weights are equal
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from derivations.documents.formulas import formula_text
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Quotient
from derivations.documents.verdicts import Finding

__all__ = ["check_idle_sums"]

CHECK = "consistency.index"
MOST_NODES = 160


def check_idle_sums(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the share on the right of an entry that does not depend on its places."""
    if link is None or not is_equation(statement.chain.relations[link]):
        return
    left, right = (bare(side) for side in statement.chain.sides[link : link + 2])
    places = set(flat(left.subscripts)) if isinstance(left, Name) else set()
    if not places or len(list(islice(right.walk(), MOST_NODES + 1))) > MOST_NODES:
        return
    match right:
        case Quotient(numerator=above, denominator=Aggregate(kind="sum", body=body, index=(own,))):
            if above == body and own not in body.walk() and places <= _indices(body):
                term = formula_text(body)
                reason = f"every term of the sum over {own.key} is the same: {term} has not the index {own.key}"
                yield Finding("wrong", CHECK, reason)


def _indices(body: Node) -> set[Node]:
    return {each for part in body.walk() if isinstance(part, Name) for each in flat(part.subscripts)}
