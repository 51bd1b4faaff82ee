r"""One thing that a document says in a formula, with where it stands.

Definition   a formula holds one or more statements: `Q = X W_Q, \quad K = X W_K` holds two. A statement is a chain of
             sides; a claim is one link of it, or the whole of a chain that has no link
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from derivations.documents.passages import Block, Passage
from derivations.documents.syntax import Chain, Number

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

    @property
    def notation(self) -> Literal["latex", "plain"]:
        """How formulas are written beside it."""
        return "latex" if self.passage.syntax == "latex" else "plain"

    @property
    def links(self) -> range:
        """The numbers of the links of the chain: link k says that side k and side k + 1 are so related.

        A proportion, `4:6:2 = 2:3:1`, has none.
        """
        return range(0 if self._is_proportion else len(self.chain.relations))

    @property
    def _is_proportion(self) -> bool:
        """Say whether numbers are in a ratio that is said to be another one."""
        numbers = all(isinstance(side, Number) for side in self.chain.sides)
        return numbers and ":" in self.chain.relations and len(self.chain.relations) > 1

    def text(self, start: int, end: int) -> str:
        """Return a stretch of the passage as it is written."""
        return self.passage.text[start:end]

    @property
    def is_equivalent(self) -> bool:
        r"""Say whether it is one side of an equivalence, so that it is not said to hold: `p \iff 2 = 3`."""
        text, start, end = self.passage.text, self.chain.start, self.chain.end
        before, after = text[max(start - _NEAR, 0) : start].rstrip(" &{\n"), text[end : end + _NEAR].lstrip(" &}\n")
        return before.endswith(_EQUIVALENT) or after.startswith(_EQUIVALENT)
