"""A published formula of cost without one of its terms, beside an explanation of the letters that went with it.

Definition   a count lacks terms if it has the others as they are published, and no letter that only these have
Result       wrong: the text cites the place of the formula, and the "where ..." right behind explains the lost letters
             too, which no other formula of the section has had so far
Assumes      what explains a letter of the formula, and no letter that is used, belongs to the whole of it: a text that
             counts a part alone, and names it beside the formula, may do so
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, Symbol, expand

from derivations.documents.judge.costs.citations import Ascription
from derivations.documents.judge.costs.published_counts import Row, published_rows, shown
from derivations.documents.judge.costs.subjects import parts_named
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name
from derivations.documents.verdicts import Finding

__all__ = ["check_omitted"]

CHECK = "counting"
MOST_BEHIND = 20  # statements of an explanation


def check_omitted(statement: Statement, counted: Expr, ascribed: Ascription, scope: Scope) -> Iterator[Finding]:
    """Yield the published formula of which a count lacks a term."""
    value = expand(counted.xreplace({symbol: Symbol(str(symbol)) for symbol in counted.free_symbols}))
    letters = frozenset(map(str, value.free_symbols))
    rows = [row for row in published_rows() if letters < row.letters and _lacks_terms(value, row)]
    explained = _explained_behind(statement, scope) if rows else frozenset()
    for row in rows:
        lost = row.letters - letters
        if lost <= explained and ascribed.names(row.formula) and ascribed.cites(row.formula):
            right, terms = shown(row.expression), ", ".join(sorted(lost))
            yield Finding(
                "wrong", CHECK, f"the term with {terms} is left out; it is {right}: {row.called}", right=right
            )
            return


def _lacks_terms(value: Expr, row: Row) -> bool:
    """Say whether a count has some of the terms of a published formula, as they are, and nothing else."""
    first, second = (each.as_coefficients_dict() for each in (value, row.expression))
    return bool(first) and first.items() < second.items()


def _explained_behind(statement: Statement, scope: Scope) -> frozenset[str]:
    """Return the letters that stand alone in the explanation right behind, and in no formula of the section before."""
    document = scope.document
    if scope.block + 1 not in document.explaining or parts_named(document.texts[scope.block]):
        return frozenset()
    behind = document.around(statement, 0, MOST_BEHIND)
    beside = [each.chain for each in behind if document.blocks.get(id(each.passage)) == scope.block + 1]
    alone = {side.key for chain in beside for side in chain.sides if len(chain.sides) == 1 and isinstance(side, Name)}
    used = {part.key for each in scope.earlier(statement) for part in each.chain.walk() if isinstance(part, Name)}
    return frozenset(alone - used)
