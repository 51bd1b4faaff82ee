r"""Which declarations of a letter reach a statement.

Definition   a declaration reaches the statements of its section and of the sections inside, before it and after it;
             what an earlier section declares reaches further as long as nothing nearer does, and is marked as far
Assumes      the nearest declaration before a statement counts, then the nearest after it; where these two differ both
             are candidates; the "where ..." after a formula counts before both
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from derivations.documents.scope.filing import Filed
from derivations.documents.scope.pieces import Declaration
from derivations.documents.scope.sections import Sections

__all__ = ["Candidate", "Reach"]


@dataclass(frozen=True)
class Candidate:
    """A declaration in reach. `far` if it is in an earlier section, `beside` if that section has the same parent."""

    declaration: Declaration
    far: bool = False
    beside: bool = False


@dataclass(frozen=True)
class Reach:
    """The sections that a block lies in, from the inside outwards, and the blocks that explain the one before them."""

    sections: tuple[int, ...]
    block: int
    outline: Sections
    explaining: Set[int]

    def said(self, filed: Filed, key: str) -> list[Declaration]:
        """Return all declarations of the nearest section in reach that has some; else the last earlier one."""
        for section in self.sections:
            before, behind = filed.around(key, section, self.block)
            if before or behind:
                return [*before, *behind]
        far = filed.earlier(key, self.block)
        return [far[1]] if far is not None else []

    def _is_explained_by(self, block: int) -> bool:
        """Return whether a block is the "where ..." that explains this one."""
        return block == self.block + 1 and block in self.explaining

    def candidates(self, filed: Filed, key: str) -> tuple[Candidate, ...]:
        """Return the declarations that a letter may follow here, the likeliest first: at most two."""
        if not filed.has(key):
            return ()
        for section in self.sections:
            before, behind = filed.nearest(key, section, self.block)
            if (
                before is not None
                and behind is not None
                and self._is_explained_by(behind[0])
                and before[0] < self.block
            ):
                before = None
            near = [each[1] for each in (before, behind) if each is not None]
            if near:
                same = len(near) == 2 and near[0].sizes == near[1].sizes and near[0].definition == near[1].definition
                return tuple(Candidate(each) for each in (near[:1] if same else near))
        far = filed.earlier(key, self.block)
        return (Candidate(far[1], far=True, beside=self._is_beside(far[0])),) if far is not None else ()

    def _is_beside(self, block: int) -> bool:
        """Return whether a block is in a section with the same parent as the section of this one."""
        around = self.sections[1:2]
        return any(around) and self.outline.parents[self.outline.of_block[block]] in around
