r"""A statement of a document: a chain from a formula, with its passage and its block.

Definition   a formula holds one or more statements: `Q = X W_Q, \quad K = X W_K` holds two. A statement is a chain of
             sides; a claim is one link of it, or the whole of a chain that has no link. A line `= c` after `a = b` is
             the chain `a = b = c`, of which only the last link is its own
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from derivations.documents.passages import Block, Passage
from derivations.documents.syntax import Chain, Name, Node, Number

__all__ = ["Statement"]

_NEAR = 40  # characters between a statement and the sign beside it
_EQUIVALENT = ("\\iff", "\\Leftrightarrow", "\\Longleftrightarrow", "⇔", "⟺", "iff", "if and only if")


@dataclass(frozen=True)
class Statement:
    """A chain that was read from a passage; `section` and `number` count through the document."""

    chain: Chain
    passage: Passage
    block: Block
    section: int = 0
    number: int = 0
    continues: bool = False  # the first two sides are those of the statement before

    @property
    def own_sides(self) -> tuple[Node, ...]:
        """The sides of this statement, without those that were taken from the statement before."""
        return self.chain.sides[2 * self.continues :]

    def continued_by(self, chain: Chain) -> Chain | None:
        """Return a chain that begins with `=`, extended by the first and the last side of this chain, or None."""
        sides, relations = self.chain.sides, {*self.chain.relations}
        open_ = chain.sides[0] == Name("") and chain.relations[:1] == ("=",)
        if not open_ or relations != {"="} or self.chain.condition is not None:
            return None
        before = (replace(each, start=chain.start, end=chain.start) for each in (sides[0], sides[-1]))
        return replace(chain, sides=(*before, *chain.sides[1:]), relations=("=", *chain.relations))

    @property
    def notation(self) -> Literal["latex", "plain"]:
        """The syntax for formulas that are printed beside this statement."""
        return "latex" if self.passage.syntax == "latex" else "plain"

    @property
    def links(self) -> range:
        """The numbers of the links of the chain. Link k is the relation between side k and side k + 1.

        A proportion, `4:6:2 = 2:3:1`, has none.
        """
        return range(int(self.continues), 0 if self._is_proportion else len(self.chain.relations))

    @property
    def _is_proportion(self) -> bool:
        """Whether the chain is a proportion of numbers, such as `4:6:2 = 2:3:1`."""
        numbers = all(isinstance(side, Number) for side in self.chain.sides)
        return numbers and ":" in self.chain.relations and len(self.chain.relations) > 1

    def text(self, start: int, end: int) -> str:
        """Return a stretch of the passage as it is written."""
        return self.passage.text[start:end]

    @property
    def is_equivalent(self) -> bool:
        r"""Whether the statement is one side of an equivalence, which does not assert it: `p \iff 2 = 3`."""
        text, start, end = self.passage.text, self.chain.start, self.chain.end
        before, after = text[max(start - _NEAR, 0) : start].rstrip(" &{\n"), text[end : end + _NEAR].lstrip(" &}\n")
        return before.endswith(_EQUIVALENT) or after.startswith(_EQUIVALENT)
