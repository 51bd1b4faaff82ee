r"""An index that stands in one side of a chain alone: `\partial y_i / \partial x_i = y_i (1 - y_i) = y_j (1 - y_i)`.

Definition   an index is alone that is free in a side behind the first, and stands in no other side and no condition
Result       wrong: the side beside it is the same formula with one of its own indices there, on the same letter; or an
             index stands once in all of the chain, in a sum that stands in it again with its own index there
Assumes      nothing where the letter has this index alone: `x_i = x_j` may say that all entries are alike
"""

from __future__ import annotations

from collections import Counter
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
    if link is None or relations[link] not in EQUALS or is_condition(statement):
        return
    for side in sides[link : link + 2]:
        for total, index in _lost_from_sums(side, statement):
            own = total.index[0].key
            reason = f"the index {index} stands nowhere else, and this sum stands in the formula with {own} there"
            yield Finding("wrong", "consistency.index", reason, right=formula_text(_reindexed(total, index, own)))
            return
    if len(sides) < 3:
        return
    for at, beside in ((link + 1, link), (link, link + 1)):
        for index in _lone(statement, at) if at else ():
            for own in sorted(_indices(sides[beside]) - {index}):
                mended = _reindexed(sides[at], index, own)
                if _has_both(sides[at], index, own) and bare(mended) == bare(sides[beside]):
                    reason = f"the index {index} stands nowhere else in the chain: it must be {own}"
                    yield Finding("wrong", "consistency.index", reason, right=formula_text(mended))
                    return


def _lost_from_sums(side: Node, statement: Statement) -> Iterator[tuple[Aggregate, str]]:
    """Yield a sum with an index that is nowhere else, where another sum has that of the sum in its place."""
    sums = [part for part in side.walk() if isinstance(part, Aggregate) and part.kind == "sum" and len(part.index) == 1]
    if len(sums) < 2:
        return
    chain = statement.chain
    parts = (*chain.sides, *((chain.condition,) if chain.condition else ()))
    used = Counter(part.key for each in parts for part in each.walk() if isinstance(part, Name))
    for total in sums:
        own = total.index[0].key
        entries = [part for part in total.body.walk() if isinstance(part, Name) and len(part.subscripts) > 1]
        for index in sorted({key for entry in entries for key in _indices(entry)} - {own}):
            mended = bare(_reindexed(total, index, own)) if used[index] == 1 else None
            if own in _indices(total.body) and any(mended == bare(each) for each in sums if each is not total):
                yield total, index


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
