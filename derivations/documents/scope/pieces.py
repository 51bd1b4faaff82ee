r"""The pieces of a block that declarations are read from, and the declarations and mentions found in them.

Definition   a piece is a stretch of prose or the statements of a formula; a declaration is something said of a name; a
             mention is a shape that stands alone, with what it is the shape of
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sympy import Expr

from derivations.documents.passages import Block, Passage, Place
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Annotated,
    Chain,
    Dots,
    List,
    Name,
    Node,
    Number,
)

__all__ = [
    "FARTHEST", "NEAR", "PHRASE_END", "Declaration", "Mention", "Piece", "is_empty", "names_before", "piece_of",
    "subjects",
]  # fmt: skip

FARTHEST = 60  # characters between a name and its shape
NEAR = 40  # pieces of a block that are looked through
PHRASE_END = re.compile(r"[。！？!?\n，,;；)）]|\.(?:\s|$)|\$")


@dataclass(frozen=True)
class Declaration:
    """A property of a name that a document declares: exactly one field from `sizes` to `vector` is set."""

    key: str
    place: Place
    name: Name | None = None
    sizes: tuple[Expr | None, ...] | None = None
    value: Expr | None = None
    definition: Node | None = None
    meaning: frozenset[str] = frozenset()
    printed: Number | None = None
    index: bool = False
    vector: bool = False
    stated: bool = False  # a meaning that a verb states: "$d_k$ is the ..."


@dataclass(frozen=True)
class Mention:
    """A shape that stands alone, and its subject, the formula that has this shape.

    A subject in prose is a name.
    """

    statement: Statement
    sizes: tuple[Expr, ...]
    subject: Node | None
    example_of: tuple[Expr, ...] | None = None


@dataclass(frozen=True)
class Piece:
    """A stretch of prose, or the statements of a formula; `cell` is the cell of a table."""

    text: str
    statements: tuple[Statement, ...]
    place: Place
    cell: int

    @property
    def alone(self) -> Node | None:
        """The only side of a formula without a relation, or None."""
        if len(self.statements) == 1 and not self.statements[0].chain.relations:
            return self.statements[0].chain.sides[0]
        return None


def piece_of(block: Block, number: int, passage: Passage, readings: Mapping[int, Sequence[Statement]]) -> Piece:
    """Return a passage of a block as a piece, with the statements that were read from it."""
    cell = block.columns[number] if number < len(block.columns) else 0
    statements = tuple(readings.get(id(passage), ())) if passage.is_formula else ()
    return Piece("" if passage.is_formula else passage.text, statements, passage.place(0), cell)


def subjects(node: Node | None) -> tuple[Name, ...]:
    r"""Return the names in a subject: `X`, `Q, K, V`, `\underbrace{x}_{...}`."""
    match node:
        case Name(base=base):
            return (node,) if base else ()
        case Annotated(of=of):
            return subjects(of)
        case List(items=items, bracket=""):
            each = [subjects(item) for item in items if not isinstance(item, Dots)]
            return tuple(name for names in each for name in names) if all(each) else ()
        case Chain(sides=(side,)):
            return subjects(side)
    return ()


def names_before(pieces: Sequence[Piece], number: int) -> tuple[Name, ...]:
    r"""Return the names before `\in \mathbb{R}^{...}`, if they are in an earlier formula."""
    for earlier in reversed(pieces[max(number - NEAR, 0) : number]):
        if earlier.statements:
            return subjects(earlier.alone)
    return ()


def is_empty(node: Node) -> bool:
    """Return whether a side is empty, as on the left of a formula that begins with a relation."""
    return isinstance(node, Name) and not node.base
