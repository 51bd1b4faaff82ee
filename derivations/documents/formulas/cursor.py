"""A cursor over tokens with a limit on depth, and the interface of the grammar that its parts call."""

from __future__ import annotations

from abc import ABC, abstractmethod

from derivations.documents.formulas.tokens import MAX_DEPTH, Token, stop
from derivations.documents.syntax import Node

__all__ = ["Grammar"]


class Cursor:
    """Tokens that are read one after another; the last one is of the kind "end" and is never passed."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.position]

    @property
    def end(self) -> int:
        """The end offset of the token that was read last."""
        return self.tokens[self.position - 1].end if self.position else 0

    def take(self) -> Token:
        """Read a token."""
        token = self.tokens[self.position]
        if token.kind == "end":
            stop(token.start, "the formula ends too early")
        self.position += 1
        return token

    def at(self, kind: str, text: str = "") -> bool:
        """Return whether a token of this kind, and with this text, comes next."""
        token = self.tokens[self.position]
        return token.kind == kind and (not text or token.text == text)

    def accept(self, kind: str, text: str = "") -> bool:
        """Read a token of this kind if it comes next, and return whether it did."""
        if self.at(kind, text):
            self.position += 1
            return True
        return False

    def expect(self, kind: str, what: str) -> Token:
        """Read a token of this kind, or stop."""
        if self.token.kind != kind:
            stop(self.token.start, f"expected {what}")
        return self.take()

    def deeper(self) -> None:
        """Increase the depth, and stop parsing if it is too large."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            stop(self.token.start, f"more than {MAX_DEPTH} constructs inside one another")

    def group_end(self) -> int:
        """Return the position of the brace that closes the group which begins here."""
        depth = 0
        for position in range(self.position, len(self.tokens)):
            kind = self.tokens[position].kind
            depth += (kind == "{") - (kind == "}")
            if not depth:
                return position
        stop(self.token.start, "the brace is not closed")


class Grammar(Cursor, ABC):
    """The interface of the grammar: what its parts call to read nested parts.

    `functions` are single letters that are functions. `waiting` are brackets that were read after a letter as if they
    held arguments, and are a factor: the next one. `integrals` counts those around what is read.
    """

    def __init__(self, tokens: list[Token], text: str, syntax: str, functions: frozenset[str]) -> None:
        super().__init__(tokens)
        self.text = text
        self.syntax = syntax
        self.functions = functions
        self.waiting: Node | None = None
        self.integrals = 0

    @abstractmethod
    def clause(self) -> Node:
        """Read sides with relations between them, or one side alone."""

    @abstractmethod
    def side(self, space: bool = False) -> Node:
        """Read a sum. With `space`, the letter R is the real numbers."""

    @abstractmethod
    def side_next(self) -> bool:
        """Return whether a side may begin here."""

    @abstractmethod
    def sign(self) -> int:
        """Read an optional sign. Returns 1 for plus or no sign, -1 for minus, and 0 for plus or minus."""

    @abstractmethod
    def product(self, sizes: bool = False) -> Node:
        r"""Read the factors of a product. With `sizes`, `\times` ends the product, because it separates two sizes."""

    @abstractmethod
    def signed_factor(self) -> Node:
        """Read a factor with the signs before it."""

    @abstractmethod
    def factor_next(self) -> bool:
        """Return whether a factor may begin here."""

    @abstractmethod
    def factor(self) -> Node:
        """Read an atom with its scripts, indices and other postfixes."""

    @abstractmethod
    def skip_empty(self) -> None:
        """Skip empty braces."""

    @abstractmethod
    def postfix(self, node: Node) -> Node:
        """Read scripts, indices, factorials and transposes after something that is not a name."""

    @abstractmethod
    def atom(self) -> Node:
        """Read a number, a name, brackets or a structure."""

    @abstractmethod
    def items(self) -> tuple[list[Node], list[str]]:
        """Read the clauses inside brackets and the separators between them. The closing bracket is not read."""

    @abstractmethod
    def brackets(self) -> Node:
        """Read a pair of brackets."""
