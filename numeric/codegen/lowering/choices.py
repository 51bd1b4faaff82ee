"""Choices of the generated code that the equations leave open, each with the theorem that permits it.

Result       a loop over tiles of rows for the equations whose row i reads only row i, which is read off their entries;
             keys that a tile of queries does not see are skipped; many keys are read tile by tile
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SWITCHES", "Choice"]

SWITCHES = (
    "hidden_keys",
    "key_tiles",
)  # these can be switched off; rows are always in tiles, with all rows in one tile where they are few


@dataclass(frozen=True)
class Choice:
    """One choice of the generated code: its name, the theorem of the catalogue that permits it, where it applies."""

    name: str
    theorem: str
    where: str

    def text(self) -> str:
        """Return the choice as a line of text."""
        return f"{self.name} ({self.theorem}): {self.where}"
