"""The shape of an array as far as it is known, and two sizes that should be the same and are not.

Definition   a shape is the sizes of the last axes; an open one may have further axes in front
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sympy import Expr

from derivations.documents.syntax import Node

__all__ = ["SCALAR", "UNKNOWN", "Clash", "ClashKind", "Shape", "turned"]

ClashKind = Literal["product", "quotient", "sum", "keys", "values", "note", "relation"]


@dataclass(frozen=True)
class Shape:
    """Sizes of the last axes; None for a size that is not known. A vector that was transposed is `turned`."""

    sizes: tuple[Expr | None, ...] = ()
    open: bool = False
    turned: bool = False

    @property
    def complete(self) -> tuple[Expr, ...] | None:
        """The sizes, where all axes and all sizes are known."""
        known = tuple(size for size in self.sizes if size is not None)
        return known if not self.open and len(known) == len(self.sizes) else None

    @property
    def rank(self) -> int | None:
        """The number of axes; None where the shape is open."""
        return None if self.open else len(self.sizes)

    @property
    def is_scalar(self) -> bool:
        """Whether this is surely a scalar."""
        return not self.open and not self.sizes

    @property
    def last(self) -> Expr | None:
        """The size of the last axis, where it is known."""
        return self.sizes[-1] if self.sizes else None


SCALAR = Shape()
UNKNOWN = Shape(open=True)


@dataclass(frozen=True)
class Clash:
    """Two sizes that should be equal and are not, with the parts that they come from, or a division by a matrix."""

    kind: ClashKind
    node: Node
    left: Node
    right: Node
    left_size: Expr
    right_size: Expr
    left_shape: Shape = UNKNOWN
    right_shape: Shape = UNKNOWN


def turned(shape: Shape) -> Shape:
    """Return the shape of a transpose."""
    if len(shape.sizes) >= 2:
        return Shape((*shape.sizes[:-2], shape.sizes[-1], shape.sizes[-2]), open=shape.open)
    if shape.open:
        return Shape((shape.sizes[0], None), open=True) if shape.sizes else UNKNOWN
    return Shape(shape.sizes, turned=not shape.turned)
