"""Sizes of axes with unification: two axes that must agree get the same size.

Definition   a size is 1, an unknown, or an expression in named sizes; `unify` makes two of them one
Raises       Clash where two sizes cannot be one: an axis of one entry is none of several
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from sympy import Expr, Integer

from derivations.symbols import size

__all__ = ["ONE", "Clash", "Size", "Sizes"]


class Clash(Exception):
    """Raised if two sizes cannot be equal, or if operands do not fit."""


@dataclass(eq=False)
class Size:
    """A size: known, or bound to another one, or free."""

    known: Expr | None = None
    bound: Size | None = None


ONE = Size(Integer(1))


@dataclass
class Sizes:
    """The sizes of one typing."""

    numbers: count[int] = field(default_factory=lambda: count(1))
    names: dict[int, Expr] = field(default_factory=dict)
    differ: Callable[[Expr, Expr], bool] | None = None  # whether two known sizes are surely two

    def root(self, of: Size) -> Size:
        """Return the representative of all sizes that were unified with one."""
        while of.bound is not None:
            of = of.bound
        return of

    def is_one(self, of: Size) -> bool:
        """Return whether an axis has one entry."""
        return self.root(of).known == 1

    def unify(self, first: Size, second: Size) -> None:
        """Make two sizes equal, or raise Clash. A size that is not known yet is greater than 1."""
        first, second = self.root(first), self.root(second)
        if first is second:
            return
        if first.known is None:
            first, second = second, first
        if second.known is not None:
            if first.known != second.known and (self.differ is None or self.differ(first.known, second.known)):
                raise Clash(f"{first.known} and {second.known}")
            return
        if first.known == 1:
            raise Clash("1 and several")
        second.bound = first

    def resolved(self, of: Size) -> Expr:
        """Return a size as an expression. A size that is not known yet gets a new name."""
        root = self.root(of)
        if root.known is not None:
            return root.known
        if id(root) not in self.names:
            self.names[id(root)] = size(f"size_{next(self.numbers)}")
        return self.names[id(root)]
