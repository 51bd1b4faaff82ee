r"""An index that stands twice below one letter, where another one belongs: `\mu_i = \frac1d \sum_{j=1}^d X_{ii}`.

Definition   an entry is doubled that has one index in both places; its sum is the one around it
Result       wrong: no term of the sum has the index of the sum, and the other side depends on the doubled one; or
             another side has the same sum with two indices there; or the two sides are equal by definition with two;
             or entries of a gradient, of means or of variances are sums without their own index
Assumes      nothing of the trace of a matrix, of sums that are told apart from their diagonal, or of Kronecker's delta
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from derivations.documents.formulas import formula_text
from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.free_letters import PLACE, indices_below
from derivations.documents.judge.numbers.letters import bare, put
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Power, replaced
from derivations.documents.verdicts import Finding

__all__ = ["check_doubled_indices"]

CHECK = "consistency.index"
EQUALS = ("=", "≡")
DELTA = ("δ", "delta")
MOMENTS = ("mu", "sigma")
MOST_NODES = 240  # of a chain


@dataclass(frozen=True)
class _Doubled:
    """An entry with the index that it has twice, and the sum around it."""

    entry: Name
    index: Name
    total: Aggregate

    @property
    def own(self) -> Name:
        """The index of the sum."""
        return self.total.index[0]

    def with_two(self, first: Node, second: Node) -> Name:
        """Return the entry with two indices."""
        return replace(self.entry, subscripts=(first, second))


def check_doubled_indices(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the first side of a link in which an index stands twice where two belong."""
    sides, relations = statement.chain.sides, statement.chain.relations
    stated = not is_condition(statement) or scope.block in scope.document.explaining  # "where" a letter is explained
    if link is None or relations[link] not in EQUALS or not stated:
        return
    nodes = chain(*(side.walk() for side in sides))
    if sum(1 for _ in islice(nodes, MOST_NODES + 1)) > MOST_NODES:
        return
    for at, beside in ((link + 1, link), (link, link + 1)):
        for each in _doubled(sides[at]):
            others = (*sides[:at], *sides[at + 1 :])
            found = _idle(each, sides[at], sides[beside]) or _lost(each, sides[at], sides[beside])
            found = found or _told_by_others(each, sides[at], others) or _by_definition(each, sides, at, beside, scope)
            if found is not None:
                yield Finding("wrong", CHECK, found)
                return


def _doubled(side: Node) -> Iterator[_Doubled]:
    """Yield the entries of the sums of a side that have one index in both places."""
    for total in _sums(side):
        for entry in total.body.walk():
            if isinstance(entry, Name) and entry.base not in DELTA:
                match flat(entry.subscripts):
                    case (Name(subscripts=()) as first, second) if first == second:
                        yield _Doubled(entry, first, total)


def _idle(doubled: _Doubled, side: Node, other: Node) -> str | None:
    """Say that all terms are the same, where the other side depends on the index and has no such entry."""
    index, own = doubled.index, doubled.own
    if own in doubled.total.body.walk() or index in _bound(side) or doubled.entry in other.walk():
        return None
    if index not in indices_below(other) - _bound(other):
        return None
    entry = formula_text(doubled.entry)
    return f"every term of the sum over {own.key} is the same: {entry} has not the index {own.key}"


def _lost(doubled: _Doubled, side: Node, other: Node) -> str | None:
    """Say that an entry is named on the other side whose index is nowhere in the sum of a diagonal."""
    named = other.base if isinstance(other, Power) else other
    if doubled.index != doubled.own or not isinstance(named, Name) or not named.subscripts:
        return None
    if not (named.accent == doubled.entry.accent == "d" or named.base in MOMENTS):
        return None
    free = indices_below(named)
    if len(free) != 1 or free & indices_below(side) or free & {*side.walk()}:
        return None
    (index,) = free
    return f"{formula_text(named)} is named, and {index.key} is not in the sum: it belongs below {doubled.entry.base}"


def _told_by_others(doubled: _Doubled, side: Node, others: Sequence[Node]) -> str | None:
    """Say which entry belongs here, where another side of the chain has it in the same sum."""
    if any(doubled.entry in other.walk() for other in others):
        return None
    if doubled.index == doubled.own:
        pairs = [(side, other) for other in others if len(_sums(side)) == len(_sums(other)) == 1]
    elif doubled.index in _bound(side):
        return None
    else:
        pairs = [(doubled.total, total) for other in others for total in _sums(other)]
    for here, there in pairs:
        own = _sums(there)[0].index[0]
        kept = own if doubled.index == doubled.own else doubled.index
        for entry in there.walk():
            indices = flat(entry.subscripts) if isinstance(entry, Name) and entry.base == doubled.entry.base else ()
            if kept not in indices or len(set(indices)) < 2:
                continue
            meant = replaced(entry, own, PLACE)
            if bare(replaced(replaced(here, doubled.entry, meant), doubled.own, PLACE)) == bare(
                replaced(there, own, PLACE)
            ):
                right, wrong = formula_text(replaced(meant, PLACE, doubled.own)), formula_text(doubled.entry)
                return f"another side has this sum with {right}, not with {wrong}"
    return None


def _by_definition(doubled: _Doubled, sides: Sequence[Node], at: int, beside: int, scope: Scope) -> str | None:
    """Say which entry belongs here, where what defines it makes the sides equal."""
    if doubled.index != doubled.own:
        return None
    for free in sorted(indices_below(sides[beside]) - _bound(sides[beside]), key=lambda name: name.key):
        for entry in (doubled.with_two(free, doubled.own), doubled.with_two(doubled.own, free)):
            meant = scope.definition(entry)
            whole = put(replaced(sides[at], doubled.entry, entry), {entry.key: meant}) if meant is not None else None
            if whole is not None and bare(whole) == bare(sides[beside]):
                return f"{formula_text(entry)} belongs where {formula_text(doubled.entry)} stands, as it is defined"
    return None


def _sums(side: Node) -> list[Aggregate]:
    return [part for part in side.walk() if isinstance(part, Aggregate) and part.kind == "sum" and len(part.index) == 1]


def _bound(side: Node) -> set[Name]:
    return {name for part in side.walk() if isinstance(part, Aggregate) for name in part.index}
