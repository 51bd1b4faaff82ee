r"""One thing that a document says in a formula, with where it stands.

Definition   a formula holds one or more statements: `Q = X W_Q, \quad K = X W_K` holds two. A statement is a chain of
             sides; a claim is one link of it, or the whole of a chain that has no link
"""

from __future__ import annotations

from dataclasses import dataclass

from derivations.documents.passages import Block, Passage
from derivations.documents.syntax import Chain

__all__ = ["Statement"]


@dataclass(frozen=True)
class Statement:
    """A chain that was read from a passage; `section` and `number` count through the document."""

    chain: Chain
    passage: Passage
    block: Block
    section: int = 0
    number: int = 0

    @property
    def links(self) -> range:
        """The numbers of the links of the chain: link k says that side k and side k + 1 are so related."""
        return range(len(self.chain.relations))

    def text(self, start: int, end: int) -> str:
        """Return a stretch of the passage as it is written."""
        return self.passage.text[start:end]
