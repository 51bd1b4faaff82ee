r"""The tokens of formulas, the same for LaTeX, plain text and code, and the limits of parsing.

Definition   a token has a kind, a text that does not depend on how it was spelled (`\alpha`, α: letter "alpha"), its
             place, and whether a space stands before it
Raises       Stopped, where understanding ends
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from derivations.documents.syntax import Number

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "MAX_TOKENS", "Stopped", "Token", "stop"]

MAX_LENGTH = 20_000  # characters of a formula
MAX_TOKENS = 4_000
MAX_DEPTH = 40  # constructs inside one another


class Stopped(Exception):
    """Raised where parsing stops, with the offset and the reason."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


class Token(NamedTuple):
    """A token. `number` is set for the kind "number". `detail` is the font or the accent of a letter."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool = False
    detail: str = ""
    number: Number | None = None


def stop(offset: int, reason: str) -> NoReturn:
    """Stop parsing by raising Stopped."""
    raise Stopped(offset, reason)
