r"""An index that stands in one side of a chain alone: `\partial y_i / \partial x_i = y_i (1 - y_i) = y_j (1 - y_i)`.

Definition   an index is alone that is free in a side behind the first, and stands in no other side and no condition
Result       wrong: the side beside it is the same formula with one of its own indices there, on the same letter
Assumes      nothing where the letter has this index alone: `x_i = x_j` may say that all entries are alike
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.free_letters import indices_below
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, rebuilt
from derivations.documents.verdicts import Finding

__all__ = ["check_lone_indices"]

EQUALS = ("=", "≡")


def check_lone_indices(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the first side of a link whose index stands nowhere else, where the other has its own in that place."""
    sides, relations = statement.chain.sides, statement.chain.relations
    if link is None or len(sides) < 3 or relations[link] not in EQUALS or is_condition(statement):
        return
    for at, beside in ((link + 1, link), (link, link + 1)):
        for index in _lone(statement, at) if at else ():
            for own in sorted(_indices(sides[beside]) - {index}):
                mended = _reindexed(sides[at], index, own)
                if _has_both(sides[at], index, own) and bare(mended) == bare(sides[beside]):
                    reason = f"the index {index} stands nowhere else in the chain: it must be {own}"
                    yield Finding("wrong", "consistency.index", reason, right=formula_text(mended))
                    return


def _lone(statement: Statement, at: int) -> list[str]:
    """Return the indices of a side that no other part of the chain has, and no sum of it binds."""
    chain = statement.chain
    found = _indices(chain.sides[at])
    if found:
        bound = {each.key for part in chain.sides[at].walk() if isinstance(part, Aggregate) for each in part.index}
        others = (*chain.sides[:at], *chain.sides[at + 1 :], *((chain.condition,) if chain.condition else ()))
        found -= bound.union(*({part.key for part in each.walk() if isinstance(part, Name)} for each in others))
    return sorted(found)


def _indices(side: Node) -> set[str]:
    return {each.key for each in indices_below(side)}


def _has_both(side: Node, first: str, second: str) -> bool:
    """Say whether a letter of a side stands there with one index, and with another one."""
    names = [part for part in side.walk() if isinstance(part, Name)]
    bases = [{name.base for name in names if Name(key) in name.subscripts} for key in (first, second)]
    return not bases[0].isdisjoint(bases[1])


def _reindexed(node: Any, old: str, new: str) -> Any:
    if isinstance(node, Name):
        subscripts = tuple(Name(new) if each == Name(old) else each for each in node.subscripts)
        return replace(node, subscripts=subscripts)
    return rebuilt(node, lambda each: _reindexed(each, old, new))
