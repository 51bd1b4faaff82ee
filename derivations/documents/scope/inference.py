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

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sympy import Expr

from derivations.documents.budget import spend
from derivations.documents.scope.agreement import Agreement
from derivations.documents.scope.array_shapes import shape_of_list, shape_of_matrix, shape_of_noted
from derivations.documents.scope.call_shapes import shape_of_call
from derivations.documents.scope.letter_shapes import shape_of_entry, shape_of_name
from derivations.documents.scope.letters import flat
from derivations.documents.scope.product_shapes import shape_of_product
from derivations.documents.scope.quotient_shapes import shape_of_quotient
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Clash, Shape, turned
from derivations.documents.scope.sizes import size_of
from derivations.documents.scope.sum_shapes import shape_of_sum
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Call,
    Cases,
    Entry,
    Fence,
    List,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Transpose,
)

if TYPE_CHECKING:
    from derivations.documents.scope.scopes import Scope

__all__ = ["Inference", "Reading"]

Reading = Literal["vectors", "rows", "columns"]

_DEEPEST = 90


@dataclass
class Inference:
    """One reading of the letters of a formula; `choice` gives shapes to keys in place of what is declared."""

    scope: Scope
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
        """What does not fit."""
        return self.sizes.clashes

    @property
    def conditions(self) -> dict[tuple[Expr, Expr], None]:
        """The pairs of sizes that must be the same, and of which nothing tells that they are."""
        return self.sizes.conditions

    def found(self, size: Expr | None) -> Expr | None:
        """Return what a size was found to be; None if it may be anything."""
        return self.sizes.found(size)

    def aside(self) -> Inference:
        """Return a reading with the same shapes chosen, for the definition of a letter."""
        return Inference(self.scope, self.choice, self.code, unfolding=self.unfolding, _depth=self._depth)

    def shape(self, node: Node) -> Shape:
        """Return the shape of a part, as far as it is known."""
        known = self._known.get(id(node))
        if known is None:
            self._depth += 1
            known = UNKNOWN if self._depth > _DEEPEST else self._shape(node)
            self._depth -= 1
            self._known[id(node)] = known
        return known

    def _shape(self, node: Node) -> Shape:
        spend()
        match node:
            case Number():
                return SCALAR
            case Name():
                return shape_of_name(self, node)
            case Product():
                return shape_of_product(self, node)
            case Sum(terms=terms):
                return shape_of_sum(self, node, terms)
            case Negative(operand=inner) | Root(radicand=inner):
                return self.shape(inner)
            case Fence(bracket=bracket, inside=inside):
                return SCALAR if bracket in ("|", "||", "‖", "⟨") else self.shape(inside)
            case Quotient():
                return shape_of_quotient(self, node)
            case Power(base=base, exponent=exponent):
                return self._power(base, exponent)
            case Transpose(operand=operand):
                return turned(self.shape(operand))
            case Call():
                return shape_of_call(self, node)
            case Entry(of=Fence(bracket="["), indices=(_,)):
                return UNKNOWN  # [Z]_i is as often the i-th block of Z
            case Entry(of=of, indices=indices):
                return shape_of_entry(self, self.shape(of), flat(indices))
            case Aggregate(kind="sum" | "product" | "max" | "min", body=body, index=index, upper=upper):
                count = size_of(upper) if upper is not None else None
                self.ranges.update((each.key, count) for each in index)
                return self.shape(body)
            case List(items=items, bracket="[" | "("):
                return shape_of_list(self, items)
            case MatrixLiteral(rows=rows):
                return shape_of_matrix(self, rows)
            case Cases(branches=branches):
                shapes = {self.shape(value) for value, _ in branches}
                return shapes.pop() if len(shapes) == 1 else UNKNOWN
            case Annotated(of=of, note=note):
                return shape_of_noted(self, node, self.shape(of), note)
        return UNKNOWN

    def _power(self, base: Node, exponent: Node) -> Shape:
        a, b = self.shape(base), self.shape(exponent)
        if (isinstance(base, Name) and base.base == "e") or a.is_scalar:
            return b
        return a if b.is_scalar else UNKNOWN
