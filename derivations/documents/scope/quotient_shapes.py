r"""The shape of a fraction: an array divided by a number, by an array entry by entry, or a number by entries.

Definition   x / (1 + e^{-x}) divides entry by entry; nothing is divided by a product of matrices, nor a vector by a
             matrix. What a number divided by a matrix is, is not known: its inverse, entry by entry, a fraction turned
"""

from __future__ import annotations

from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import of_entries
from derivations.documents.scope.shape import UNKNOWN, Clash, Shape
from derivations.documents.syntax import Fence, Name, Node, Product, Quotient

__all__ = ["shape_of_quotient"]


def shape_of_quotient(reading: Inference, node: Quotient) -> Shape:
    """Return the shape of a fraction; note a clash where a number or a vector is divided by a matrix."""
    above, below = node.numerator, node.denominator
    a, b = reading.shape(above), reading.shape(below)
    if b.complete is not None and _is_divided_by_a_matrix(reading, below, a, b):
        rows, columns = b.complete
        reading.sizes.clashes.append(Clash("quotient", node, above, below, rows, columns, a, b))
        return UNKNOWN
    if a.is_scalar and b.rank == 2 and not (reading.code or of_entries(below)):
        return UNKNOWN
    return a if b.is_scalar or not a.is_scalar else (a if b == UNKNOWN else b)


def _is_divided_by_a_matrix(reading: Inference, below: Node, a: Shape, b: Shape) -> bool:
    if reading.code or b.rank != 2 or not (a.is_scalar or a.rank == 1):
        return False
    while isinstance(below, Fence):
        below = below.inside
    if isinstance(below, Product) and set(below.operators) <= {"", "dot", "times"}:
        return sum(reading.shape(factor).rank == 2 for factor in below.factors) > 1
    return isinstance(below, Name) and not a.is_scalar
