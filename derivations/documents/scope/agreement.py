r"""Finds the sizes that must be equal for a formula to fit, and records clashes and assumed equalities.

Definition   two sizes agree if the document says so, or if nothing tells them apart and the condition that they are
             the same is noted; a size of which nothing is declared is free, and is found to be what it meets
Result       `clashes` where two sizes are surely different, `conditions` where nothing tells that they are the same
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from sympy import Dummy, Expr, cancel

from derivations.documents.scope.scopes import Scope
from derivations.documents.scope.shape import Clash, ClashKind, Shape
from derivations.documents.syntax import Node

__all__ = ["Agreement"]


@dataclass
class Agreement:
    """The equalities between the sizes of a formula under one reading, with their clashes and conditions."""

    scope: Scope
    alike: Set[frozenset[Expr]] = frozenset()  # pairs of sizes that the formula itself takes to be the same
    clashes: list[Clash] = field(default_factory=list)
    conditions: dict[tuple[Expr, Expr], None] = field(default_factory=dict)
    compared: int = 0  # how often two sizes met that are both declared
    counts: set[Expr] = field(default_factory=set)  # how many parts are joined, which is more than one
    _bound: dict[Expr, Expr] = field(default_factory=dict)
    _free: dict[Expr, bool] = field(default_factory=dict)  # sizes to be found, and whether they count positions

    def new(self, positions: bool = False) -> Expr:
        """Return a new unknown size. With `positions`, it counts positions."""
        size = Dummy()
        self._free[size] = positions
        return size

    def is_new(self, size: Expr) -> bool:
        """Return whether a size is one of the unknowns that `new` returned."""
        return size in self._free

    def found(self, size: Expr | None) -> Expr | None:
        """Return the value that was found for a size, or None if it is not known."""
        size = None if size is None else self._followed(size)
        return None if size is None or size.has(Dummy) else size

    def _followed(self, size: Expr) -> Expr:
        while size in self._bound:
            size = self._bound[size]
        return size

    def settled(self, shape: Shape) -> Shape:
        """Return a shape with the values that were found for its sizes."""
        return Shape(tuple(map(self.found, shape.sizes)), shape.open, shape.turned)

    def same(
        self,
        kind: ClashKind,
        node: Node, left: Node, right: Node, a: Shape, b: Shape, first: Expr | None, second: Expr | None,
    ) -> bool:  # fmt: skip
        """Return whether two sizes may be equal, and record a clash or the condition that they are equal."""
        if first is None or second is None:
            return True
        first, second = self._divided(self._followed(first), self._followed(second))
        if first in self._free or second in self._free:
            if self._bind(first, second):
                return True
            self.clashes.append(Clash(kind, node, left, right, first, second, a, b))
            return False
        relation = self.scope.compare(first, second).relation
        apart = relation == "different" or (
            relation == "unsure"
            and bool(self.counts)
            and bool({cancel(first / second), cancel(second / first)} & self.counts)
        )
        if apart and frozenset((first, second)) not in self.alike:
            self.clashes.append(Clash(kind, node, left, right, first, second, a, b))
            return False
        if relation in ("unsure", "different"):
            self.conditions[first, second] = None
        else:
            self.compared += 1
        return True

    def _divided(self, first: Expr, second: Expr) -> tuple[Expr, Expr]:
        """Return w and d in place of h w and h d, where w is an unknown size."""
        for size in (first, second):
            for free in size.free_symbols & self._free.keys():
                factor = size.coeff(free)
                if size == factor * free and factor != 1:
                    other = cancel((second if size is first else first) / factor)
                    return (free, other) if not other.as_numer_denom()[1].free_symbols else (first, second)
        return first, second

    def is_same(self, first: Expr | None, second: Expr | None) -> bool:
        """Return whether two sizes are surely the same."""
        known = first is not None and second is not None and not {first, second} & self._free.keys()
        return known and self.scope.compare(first, second).relation in ("equal", "given")

    def _bind(self, first: Expr, second: Expr) -> bool:
        """Set one unknown size to another size. Return False if one counts positions and the other is a width."""
        if first == second:
            return True
        if first not in self._free or (second in self._free and self._free[first]):
            first, second = second, first
        if self._free[first] and self.scope.document.distinctions.is_width(second):
            return False
        if not second.has(first):
            self._bound[first] = second
        return True
