r"""Whether a section writes positions as rows or as columns, by the side on which weights stand in its products.

Definition   a product x W of weights with something that is none is a vote for rows, W x is one for columns
Result       `Votes.convention` of a block: that of its own votes if they are several and agree, else what most votes
             of the nearest section in reach that has any say; None where nothing tells
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from derivations.documents.syntax import Chain, Name, Node, Number, Product

__all__ = ["Convention", "Votes", "votes_of"]

Convention = Literal["rows", "columns"]


@dataclass
class Votes:
    """The votes for rows and for columns in the blocks and sections of a document."""

    in_block: dict[int, Counter[Convention]] = field(default_factory=lambda: defaultdict(Counter))
    in_section: dict[int, Counter[Convention]] = field(default_factory=lambda: defaultdict(Counter))
    everywhere: Counter[Convention] = field(default_factory=Counter)

    def add(self, votes: Counter[Convention], block: int, section: int) -> None:
        """Count the votes of a statement."""
        self.in_block[block].update(votes)
        self.in_section[section].update(votes)
        self.everywhere.update(votes)

    def convention(self, block: int, sections: Sequence[int]) -> Convention | None:
        """Return the convention of a block, by its own votes or by those of the sections around it."""
        own = self.in_block.get(block, Counter())
        if len(own) == 1 and own.total() > 1:
            return next(iter(own))
        for section in sections:
            votes = self.in_section.get(section)
            if votes:
                (first, count), *others = votes.most_common()
                return first if not others or others[0][1] < count else None
        return None


def votes_of(chain: Chain, is_weight: Callable[[Node], bool]) -> Counter[Convention]:
    """Count products of a weight with something else: x W is a vote for rows, W x one for columns."""
    votes: Counter[Convention] = Counter()
    for side in chain.sides:
        for node in side.walk():
            if isinstance(node, Product):
                for left, right in pairwise(node.factors):
                    weights = (is_weight(left), is_weight(right))
                    if weights == (False, True) and _is_array(left):
                        votes["rows"] += 1
                    elif weights == (True, False) and _is_array(right):
                        votes["columns"] += 1
    return votes


def _is_array(node: Node) -> bool:
    return not isinstance(node, Number) and not (isinstance(node, Name) and node.base in ("d", "n"))
