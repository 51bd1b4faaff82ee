r"""A letter that the "where ..." behind a formula defines by the same factors in another order.

Definition   P = f(A^T B), where S = B A^T and P = f(S): what the letters are is put in, and both must be one formula
Result       wrong where they differ by the order of the two factors of one product, of which one is transposed
Assumes      matrices do not commute; of vectors A^T B is a number, and B A^T is none; words of columns, or of another
             convention, tell that the order is changed
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from derivations.documents.canon.places import places
from derivations.documents.judge.canonical.restated_entries import definitions_in
from derivations.documents.judge.matrices.matrix_equations import unfolded
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.judge.wording import link_text, source
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Product, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_restated_orders"]

CHECK = "consistency.restated"
MOST_NODES = 60
_ANOTHER = re.compile(r"column|transpose|convention|instead|[列行]", re.IGNORECASE)


def check_restated_orders(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that the words behind a formula have two of its factors in the other order."""
    if link != 0 or not is_equation(statement.chain.relations[0]) or scope.block + 1 not in scope.document.explaining:
        return
    left, right = statement.chain.sides[:2]
    if not isinstance(left, Name) or len(list(islice(right.walk(), MOST_NODES + 1))) > MOST_NODES:
        return
    turned = list(_turned(right)) if not _ANOTHER.search(scope.document.texts[scope.block + 1]) else []
    defined = definitions_in(scope, scope.block + 1) if turned else {}
    restated = defined.pop(left.key, None)
    if restated is None:
        return
    whole = bare(unfolded(restated, defined))
    for mended in turned:
        if bare(mended) == whole:
            said = source((restated,), statement)
            reason = f"{left.key} is {said} by the words behind the formula, which has the factors in another order"
            yield Finding("wrong", CHECK, reason, link_text(left, mended, statement))
            return


def _turned(right: Node) -> Iterator[Node]:
    """Yield a formula with the factors of a product in the other order, where one of them is transposed."""
    for node, put in places(right):
        match node:
            case Product(factors=(first, second)) if isinstance(first, Transpose) is not isinstance(second, Transpose):
                yield put(Product((second, first), node.operators))
