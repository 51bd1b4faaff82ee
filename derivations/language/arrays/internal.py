"""Names of the judge's own, which no name that a person writes can equal.

An `Internal` symbol differs from every `Symbol` by its type, an `Unwritten` function from every `Function`; in the
normal form, where a name is text, what was declared and what is internal is told by a control character that names
may not hold.
"""

from __future__ import annotations

from sympy import Symbol
from sympy.core.function import UndefinedFunction

__all__ = ["MARK", "Internal", "Unwritten"]

MARK = "\x1f"


class Internal(Symbol):
    """A symbol that stands for a general place, for any index, or for an argument."""

    __slots__ = ()


class Unwritten(UndefinedFunction):
    """A function of which nothing is known, and that nobody can write: it equals itself alone."""

    def __eq__(cls, other: object) -> bool:
        return cls is other

    def __ne__(cls, other: object) -> bool:
        return cls is not other

    def __hash__(cls) -> int:
        return object.__hash__(cls)
