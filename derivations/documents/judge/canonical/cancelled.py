"""Chains that show how a term cancels: `a + b - b = a`."""

from __future__ import annotations

from derivations.documents.statements import Statement
from derivations.documents.syntax import Node, Sum

__all__ = ["shows_how"]


def shows_how(statement: Statement, link: int) -> bool:
    """Return whether a side subtracts a term from itself in a chain that continues."""
    return link + 1 < len(statement.chain.relations) and bool(_subtracted_from_itself(statement.chain.sides[link + 1]))


def _subtracted_from_itself(right: Node) -> Node | None:
    for part in right.walk():
        if isinstance(part, Sum):
            added, taken = ([t for t, own in zip(part.terms, part.signs, strict=True) if own == s] for s in (1, -1))
            found = next((term for term in added if term in taken), None)
            if found is not None:
                return found
    return None
