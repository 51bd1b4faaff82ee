"""Declarations of one kind, put where a statement finds those around it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from derivations.documents.scope.pieces import Declaration
from derivations.documents.scope.sizes import fold_key

__all__ = ["Filed"]

_MOST_FOUND = 16

Placed = tuple[int, Declaration]  # a declaration with the number of its block


@dataclass
class Filed:
    """Declarations of one kind, by key and section, with the numbers of their blocks in order."""

    by_section: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    anywhere: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    declarations: list[Declaration] = field(default_factory=list)

    def add(self, declaration: Declaration, section: int, block: int) -> None:
        """Put a declaration behind those of its block and of the blocks before."""
        entry = (block, len(self.declarations))
        self.declarations.append(declaration)
        key = fold_key(declaration.key)
        self.by_section[key, section].append(entry)
        self.anywhere[key].append(entry)

    def has(self, key: str) -> bool:
        """Say whether anything is declared of a letter, wherever it is."""
        return fold_key(key) in self.anywhere

    def around(self, key: str, section: int, block: int) -> tuple[list[Declaration], list[Declaration]]:
        """Return what stands in a section up to a block and behind it, the nearest first; at most 16 of each."""
        entries = self.by_section.get((fold_key(key), section), [])
        cut = bisect_left(entries, (block + 1, -1))
        before = [self.declarations[n] for _, n in reversed(entries[max(cut - _MOST_FOUND, 0) : cut])]
        return before, [self.declarations[n] for _, n in entries[cut : cut + _MOST_FOUND]]

    def nearest(self, key: str, section: int, block: int) -> tuple[Placed | None, Placed | None]:
        """Return the last declaration in a section up to a block, and the first behind it, with their blocks."""
        entries = self.by_section.get((fold_key(key), section))
        if not entries:
            return None, None
        cut = bisect_left(entries, (block + 1, -1))
        return self._placed(entries, cut - 1), self._placed(entries, cut)

    def _placed(self, entries: Sequence[tuple[int, int]], at: int) -> Placed | None:
        if not 0 <= at < len(entries):
            return None
        block, number = entries[at]
        return block, self.declarations[number]

    def earlier(self, key: str, block: int) -> Placed | None:
        """Return the last declaration up to a block in any section, with its block."""
        entries = self.anywhere.get(fold_key(key), [])
        return self._placed(entries, bisect_left(entries, (block + 1, -1)) - 1)
