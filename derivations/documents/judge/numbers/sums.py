r"""Sums over the entries of a list of numbers that the section shows: `\sum_j e^{x_j}` with x = [2, 1] is e^2 + e^1.

Definition   the list is what defined x; else the nearest list of numbers before, which is certain to be meant where
             every term of the sum was written before as well (`e^2 \approx 7.39`)
Result       the sum written out, as it is and with the terms as the section printed them
Assumes      a bound that is a letter is the length of the list
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from derivations.documents.judge.numbers.printed import printed
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Fence, List, Name, Node, Number, Sum, replaced

__all__ = ["WrittenOut", "entries", "written_out"]


@dataclass(frozen=True)
class WrittenOut:
    """A formula with its sum written out term by term, the list of its entries, and whether that list is certain.

    `letter` has the `entries` of the list.
    """

    node: Node
    rounded: Node | None
    over: str
    certain: bool
    letter: str
    entries: tuple[Number, ...]


def written_out(statement: Statement, node: Node, scope: Scope) -> WrittenOut | None:
    """Return a formula with its one sum written out for a known list of numbers, or None if either is missing."""
    sums = [part for part in node.walk() if isinstance(part, Aggregate) and part.kind == "sum" and len(part.index) == 1]
    if len(sums) != 1:
        return None
    index = sums[0].index[0]
    parts = list(sums[0].body.walk())
    uses = {part for part in parts if isinstance(part, Name) and index in part.subscripts}
    if len(uses) != 1 or parts.count(index) != sum(part in uses for part in parts):
        return None  # the index is used by itself, or for two lists
    (entry,) = uses
    earlier = scope.earlier(statement)
    defined = scope.definition(Name(entry.base))
    numbers = entries(defined) if defined is not None else ()
    listed = numbers or next(filter(None, (entries(side) for each in earlier for side in each.chain.sides[-1:])), ())
    if len(listed) < 2 or (isinstance(sums[0].upper, Number) and sums[0].upper.value != len(listed)):
        return None
    terms = tuple(replaced(sums[0].body, entry, each) for each in listed)
    shown = [_as_printed(term, earlier) for term in terms]
    signs = (1,) * len(terms)
    rounded = Sum(tuple(each for each in shown if each is not None), signs) if None not in shown else None
    return WrittenOut(
        replaced(node, sums[0], Sum(terms, signs)),
        replaced(node, sums[0], rounded) if rounded is not None else None,
        f"{entry.base} = [{', '.join(each.text for each in listed)}]",
        bool(numbers) or rounded is not None,
        entry.base,
        listed,
    )


def entries(node: Node) -> tuple[Number, ...]:
    """Return the entries of a list if all are numbers, else an empty tuple."""
    while isinstance(node, Fence):
        node = node.inside
    items = node.items if isinstance(node, List) else ()
    numbers = tuple(each for each in items if isinstance(each, Number))
    return numbers if len(numbers) == len(items) else ()


def _as_printed(term: Node, earlier: Sequence[Statement]) -> Number | None:
    """Return the number that was printed for a term."""
    for each in earlier:
        for side, following in zip(each.chain.sides, each.chain.sides[1:], strict=False):
            shown = printed(following)
            if side == term and shown is not None:
                return shown.number
    return None
