"""The scopes of the statements of a document.

Result       `Scopes.at(statement)` is the `Scope` of one statement
"""

from __future__ import annotations

from dataclasses import dataclass

from derivations.documents.scope.declared import Declared
from derivations.documents.scope.scopes import Scope
from derivations.documents.scope.shape_rules import inferred_shape
from derivations.documents.statements import Statement

__all__ = ["Scopes"]


@dataclass
class Scopes(Declared):
    """All that a document declares, and the scope of each of its statements."""

    def at(self, statement: Statement) -> Scope:
        """Return the scope of a statement of this document."""
        return Scope(self, *self.place_of(statement), inferred_shape)

    def admit(self, statement: Statement, block: int) -> Scope:
        """Register a statement that was read from the words of a block, after all others, and return its scope."""
        self.take(statement, block)
        return self.at(statement)
