"""What the code of a layer does beside its equations, and the theorem that permits each: rows and keys in tiles.

Result       a loop over tiles of rows for the equations whose row i reads row i alone (read off their entries, one by
             one); keys that a tile of queries does not see are left out; many keys are read tile by tile
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SWITCHES", "Choice"]

SWITCHES = (
    "hidden_keys",
    "key_tiles",
)  # these can be left out; rows are in tiles always, of all rows where they are few


@dataclass(frozen=True)
class Choice:
    """One thing that the code of a layer does: its name, the catalogue's theorem that permits it, and where."""

    name: str
    theorem: str
    where: str

    def text(self) -> str:
        """Return the choice as a line of text."""
        return f"{self.name} ({self.theorem}): {self.where}"
