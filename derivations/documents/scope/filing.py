"""Declarations of one kind, indexed by letter and section for look-up; and the families of names.

Definition   `W_1^Q` and `W_i^Q` are one family: the same name with its numbers and single letters left open
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from derivations.documents.scope.pieces import Declaration
from derivations.documents.scope.sizes import fold_key
from derivations.documents.syntax import Name, Node, Number

__all__ = ["Filed", "family_of", "stands_for"]

_MOST_FOUND = 16
PURPOSES = frozenset("qkvo")

Placed = tuple[int, Declaration]  # a declaration with the number of its block


@dataclass
class Filed:
    """Declarations of one kind, by key and section, with the numbers of their blocks in order."""

    by_section: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    anywhere: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    declarations: list[Declaration] = field(default_factory=list)

    def add(self, declaration: Declaration, section: int, block: int) -> None:
        """Add a declaration after those of its block and of earlier blocks."""
        entry = (block, len(self.declarations))
        self.declarations.append(declaration)
        key = fold_key(declaration.key)
        self.by_section[key, section].append(entry)
        self.anywhere[key].append(entry)

    def has(self, key: str) -> bool:
        """Return whether anything is declared of a letter, wherever it is."""
        return fold_key(key) in self.anywhere

    def around(self, key: str, section: int, block: int) -> tuple[list[Declaration], list[Declaration]]:
        """Return the declarations in a section up to a block and those after it, nearest first, at most 16 of each."""
        entries = self.by_section.get((fold_key(key), section), [])
        cut = bisect_left(entries, (block + 1, -1))
        before = [self.declarations[n] for _, n in reversed(entries[max(cut - _MOST_FOUND, 0) : cut])]
        return before, [self.declarations[n] for _, n in entries[cut : cut + _MOST_FOUND]]

    def nearest(self, key: str, section: int, block: int) -> tuple[Placed | None, Placed | None]:
        """Return the last declaration in a section up to a block, and the first after it, with their blocks."""
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


def family_of(name: Name) -> str:
    r"""Return the key of a name with • for numbers and single letters: `W_i^Q` and `W_1^Q` are one family."""
    lower = ",".join("•" if _is_open(each) else _text(each) for each in name.subscripts)
    upper = ",".join("•" if _is_open(each) and not _is_label(each) else _text(each) for each in name.superscripts)
    return f"{name.accent}{name.base}_{lower}^{upper}" if "•" in lower + upper else ""


def stands_for(name: Name, other: Name) -> bool:
    """Return whether one family member stands for another: `W_i` for `W_1`; not W_1 for W_2, nor W_1 or W_q for W_v."""
    pairs = zip(_places(name), _places(other), strict=False)
    same = bool(family_of(name)) and family_of(name) == family_of(other)
    return same and not any(_are_apart(mine, theirs) for mine, theirs in pairs if mine != theirs)


def _are_apart(mine: Node, theirs: Node) -> bool:
    """Return whether two subscripts belong to different members: two numbers, or a letter such as q, k, v or o."""
    if isinstance(mine, Number):
        return isinstance(theirs, Number) or _is_purpose(theirs)
    return _is_purpose(mine) and (not isinstance(theirs, Number) or mine.key != "k")  # k may count as well


def _is_purpose(node: Node) -> TypeGuard[Name]:
    """Return whether a subscript or label stands for the queries, the keys, the values or the output."""
    return isinstance(node, Name) and node.key in PURPOSES


def _places(name: Name) -> tuple[Node, ...]:
    return tuple(each for node in (*name.subscripts, *name.superscripts) for each in node.walk())


def _is_open(node: Node) -> bool:
    inner = node.children[0] if len(node.children) == 1 and not isinstance(node, Name) else node
    return isinstance(inner, Number) or (isinstance(inner, Name) and len(inner.base) == 1 and not inner.subscripts)


def _is_label(node: Node) -> bool:
    return isinstance(node, Name) and node.base.isupper()


def _text(node: Node) -> str:
    return node.key if isinstance(node, Name) else repr(node)
