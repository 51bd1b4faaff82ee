"""The rules that give each kind of part of a formula its shape, and inference by these rules.

Result       `inferred_shape(scope, node)`, and `shape_of_part` for an `Inference` that assumes more
"""

from __future__ import annotations

from derivations.documents.budget import spend
from derivations.documents.scope.array_shapes import shape_of_list, shape_of_matrix, shape_of_noted
from derivations.documents.scope.call_shapes import shape_of_call
from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letter_shapes import shape_of_entry, shape_of_name
from derivations.documents.scope.letters import flat
from derivations.documents.scope.product_shapes import shape_of_product
from derivations.documents.scope.quotient_shapes import shape_of_quotient
from derivations.documents.scope.scopes import Scope
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Shape, turned
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

__all__ = ["inferred_shape", "shape_of_part"]


def inferred_shape(scope: Scope, node: Node) -> Shape:
    """Return the shape of a part of a formula, from the declarations in its scope."""
    return Inference(scope, shape_of_part).shape(node)


def shape_of_part(reading: Inference, node: Node) -> Shape:
    """Return the shape of a part of a formula by the rule of its kind."""
    spend()
    match node:
        case Number():
            return SCALAR
        case Name():
            return shape_of_name(reading, node)
        case Product():
            return shape_of_product(reading, node)
        case Sum(terms=terms):
            return shape_of_sum(reading, node, terms)
        case Negative(operand=inner) | Root(radicand=inner):
            return reading.shape(inner)
        case Fence(bracket=bracket, inside=inside):
            return SCALAR if bracket in ("|", "||", "‖", "⟨") else reading.shape(inside)
        case Quotient():
            return shape_of_quotient(reading, node)
        case Power(base=base, exponent=exponent):
            return _power(reading, base, exponent)
        case Transpose(operand=operand):
            return turned(reading.shape(operand))
        case Call():
            return shape_of_call(reading, node)
        case Entry(of=Fence(bracket="["), indices=(_,)):
            return UNKNOWN  # [Z]_i is as often the i-th block of Z
        case Entry(of=of, indices=indices):
            return shape_of_entry(reading, reading.shape(of), flat(indices))
        case Aggregate(kind="sum" | "product" | "max" | "min", body=body, index=index, upper=upper):
            count = size_of(upper) if upper is not None else None
            reading.ranges.update((each.key, count) for each in index)
            return reading.shape(body)
        case List(items=items, bracket="[" | "("):
            return shape_of_list(reading, items)
        case MatrixLiteral(rows=rows):
            return shape_of_matrix(reading, rows)
        case Cases(branches=branches):
            shapes = {reading.shape(value) for value, _ in branches}
            return shapes.pop() if len(shapes) == 1 else UNKNOWN
        case Annotated(of=of, note=note):
            return shape_of_noted(reading, node, reading.shape(of), note)
    return UNKNOWN


def _power(reading: Inference, base: Node, exponent: Node) -> Shape:
    a, b = reading.shape(base), reading.shape(exponent)
    if (isinstance(base, Name) and base.base == "e") or a.is_scalar:
        return b
    return a if b.is_scalar else UNKNOWN
