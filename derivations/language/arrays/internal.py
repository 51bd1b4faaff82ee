"""Internal names of the judge, which no name written by a user can equal.

An `Internal` symbol differs from every `Symbol` by its type, an `Unwritten` function from every `Function`. In the
normal form a name is text; there a control character, which user names may not contain, marks internal names and
separates a name from its declaration.
"""

from __future__ import annotations

from sympy import Symbol
from sympy.core.function import UndefinedFunction

__all__ = ["MARK", "Internal", "Unwritten"]

MARK = "\x1f"


class Internal(Symbol):
    """A symbol for an arbitrary index or an argument of a function."""

    __slots__ = ()


class Unwritten(UndefinedFunction):
    """An unknown function that users cannot write; it equals only itself."""

    def __eq__(cls, other: object) -> bool:
        return cls is other

    def __ne__(cls, other: object) -> bool:
        return cls is not other

    def __hash__(cls) -> int:
        return object.__hash__(cls)
