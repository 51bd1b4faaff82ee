r"""The shapes of the parts of a formula, from those of its letters.

Definition   a shape is the sizes of the axes: () a scalar, (d,) a vector, (n, d) a matrix, more for batches; a size may
             be unknown, and an open shape may have further axes in front: of X W with W of d x m it is known that the
             last axis has m
Result       `Inference.shape(node)`; what does not fit is collected in `clashes`, what must be assumed in `notes` (a
             bias is added to every row) and `conditions` (two sizes that nothing tells to be the same)
Assumes      where a reading makes the formula fit, that reading is meant: a vector is a row or a column as its
             neighbour asks, a vector is added to every row of a matrix
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Literal

from sympy import Expr

from derivations.documents.scope.agreement import Agreement
from derivations.documents.scope.scopes import Scope
from derivations.documents.scope.shape import UNKNOWN, Clash, Shape
from derivations.documents.syntax import Name, Node

__all__ = ["Inference", "Reading"]

Reading = Literal["vectors", "rows", "columns"]

_DEEPEST = 90


@dataclass
class Inference:
    """One reading of the letters of a formula; `choice` gives shapes to keys in place of what is declared."""

    scope: Scope
    rule: Callable[[Inference, Node], Shape]  # gives the shape of a part from those of its parts
    choice: Mapping[str, Shape] = field(default_factory=dict)
    code: bool = False
    unknown_as: Reading | None = None
    alike: Set[frozenset[Expr]] = frozenset()  # pairs of sizes that the formula itself takes to be the same
    unfolding: list[str] = field(default_factory=list)  # letters whose definitions are being read
    notes: dict[str, None] = field(default_factory=dict)
    ranges: dict[str, Expr | None] = field(default_factory=dict)  # how far the index of a sum goes
    met: dict[str, Name] = field(default_factory=dict)
    assumed: dict[str, Shape] = field(default_factory=dict)  # shapes of letters of which nothing is declared
    sizes: Agreement = field(init=False)
    _known: dict[int, Shape] = field(default_factory=dict)
    _depth: int = 0

    def __post_init__(self) -> None:
        self.sizes = Agreement(self.scope, self.alike)

    @property
    def clashes(self) -> list[Clash]:
        """The sizes that should be equal and are not."""
        return self.sizes.clashes

    @property
    def conditions(self) -> dict[tuple[Expr, Expr], None]:
        """The pairs of sizes that must be equal, although nothing shows that they are."""
        return self.sizes.conditions

    def found(self, size: Expr | None) -> Expr | None:
        """Return the value that was found for a size, or None if it is not known."""
        return self.sizes.found(size)

    def aside(self) -> Inference:
        """Return a reading with the same shapes chosen, for the definition of a letter."""
        return Inference(self.scope, self.rule, self.choice, self.code, unfolding=self.unfolding, _depth=self._depth)

    def shape(self, node: Node) -> Shape:
        """Return the shape of a part, as far as it is known."""
        known = self._known.get(id(node))
        if known is None:
            self._depth += 1
            known = UNKNOWN if self._depth > _DEEPEST else self.rule(self, node)
            self._depth -= 1
            self._known[id(node)] = known
        return known
