r"""The shape of a product: of matrices, of a scalar and an array, of two vectors, or entry by entry.

Definition   A B of n x m and m x d is n x d; side by side binds closer than a product of entries, except in code
Assumes      a vector is a row or a column as its neighbour asks
"""

from __future__ import annotations

from sympy import Expr

from derivations.documents.scope.array_shapes import is_of_parts
from derivations.documents.scope.inference import Inference
from derivations.documents.scope.letters import is_gain, is_ones, label_of, of_entries
from derivations.documents.scope.shape import SCALAR, UNKNOWN, Clash, Shape
from derivations.documents.scope.sum_shapes import shape_alike
from derivations.documents.syntax import Name, Node, Product, Transpose

__all__ = ["shape_of_product"]

MOST_AXES = 2  # of a matrix


def shape_of_product(reading: Inference, node: Product) -> Shape:
    """Return the shape of a product. Factors side by side bind closer than entrywise products, except in code."""
    total, left, pending = _of_factor(reading, node.factors[0]), node.factors[0], None
    for operator, right in zip(node.operators, node.factors[1:], strict=True):
        shape = _of_factor(reading, right)
        if operator == "odot" and not reading.code:
            pending = (left, total) if pending is None else (left, _entrywise(reading, node, pending, left, total))
            total = shape
        elif operator == "odot" or (operator == "star" and reading.code):
            total = shape_alike(reading, node, left, right, total, shape, "sum")
        elif operator in ("otimes", "oplus", "circ", "cup", "cap", "concat", "mod"):
            return UNKNOWN
        elif operator == "star" and not (total.is_scalar or shape.is_scalar):
            return UNKNOWN  # a convolution, as often as a product
        else:
            total = _times(reading, node, left, right, total, shape, operator)
        left = right
    return total if pending is None else _entrywise(reading, node, pending, left, total)


def _of_factor(reading: Inference, node: Node) -> Shape:
    return UNKNOWN if is_of_parts(node) else reading.shape(node)


def _entrywise(reading: Inference, node: Node, before: tuple[Node, Shape], right: Node, shape: Shape) -> Shape:
    return shape_alike(reading, node, before[0], right, before[1], shape, "sum")


def _times(reading: Inference, node: Node, left: Node, right: Node, a: Shape, b: Shape, operator: str) -> Shape:
    if a.is_scalar or b.is_scalar:
        return b if a.is_scalar else a
    repeated = _repeated(left, right, a, b)
    if repeated is not None:
        return repeated
    if not reading.code and max(a.rank or 0, b.rank or 0) > MOST_AXES and 1 in (a.rank, b.rank):
        return UNKNOWN  # a vector beside an array of three axes: over which one is summed, is not written
    if not a.sizes or not b.sizes:
        return Shape((b.sizes[-1],), open=True) if len(b.sizes) >= 2 else UNKNOWN
    if a.rank == 1 and b.rank == 1:
        return _of_vectors(reading, node, left, right, a, b, operator)
    inner = b.sizes[-2] if len(b.sizes) >= 2 else b.sizes[-1]
    if b.open and len(b.sizes) == 1:
        return Shape((b.sizes[-1],), open=True)  # whether b is a vector or a matrix is not known
    scaled = _scaled(reading, left, right, a, b, inner)
    if scaled is not None:
        return scaled
    if a.last is not None and inner is not None and _is_turned(reading, left, right, a, b):
        reading.sizes.clashes.append(Clash("product", node, left, right, a.last, inner, a, b))
        return UNKNOWN
    if not reading.sizes.same("product", node, left, right, a, b, a.last, inner):
        return UNKNOWN
    if a.rank == 1 and not a.turned and isinstance(left, Name):
        reading.notes[f"{left.key} is a row vector"] = None
    if len(b.sizes) == 1:
        return Shape(a.sizes[:-1], open=a.open)
    if len(a.sizes) == 1:
        return Shape((*b.sizes[:-2], b.sizes[-1]), open=a.open or b.open)
    front = a.sizes[:-2] if len(a.sizes) >= len(b.sizes) else b.sizes[:-2]
    return Shape((*front, a.sizes[-2], b.sizes[-1]), open=a.open or b.open)


def _repeated(left: Node, right: Node, a: Shape, b: Shape) -> Shape | None:
    r"""Return the shape of `x \mathbf{1}^T` and `\mathbf{1} x^T`, whose columns or rows are all x; else None.

    Assumes      the ones are a column, as many as are needed where nothing is declared of them
    """
    of_columns = is_ones(right) and isinstance(right, Transpose) and a.rank == 1 and not a.turned
    of_rows = is_ones(left) and isinstance(left, Name) and b.rank == 1 and b.turned
    vectors = all(each == UNKNOWN or each.rank == 1 for each in (a, b))
    return Shape((a.last, b.last)) if vectors and (of_columns or of_rows) else None


def _scaled(reading: Inference, left: Node, right: Node, a: Shape, b: Shape, inner: Expr | None) -> Shape | None:
    """Return the shape of factors side by side that are multiplied by entries, or None for a matrix product.

    Result       a vector of gains beside rows scales every row; of two arrays of one shape that cannot be
                 multiplied, one of them a formula of entries as `1 - f(P)`, the entries are multiplied
    """
    for gain, rows, small, large in ((left, right, a, b), (right, left, b, a)):
        if is_gain(gain) and small.rank == 1 and large.rank != 1 and reading.sizes.is_same(small.last, large.last):
            reading.notes[f"{label_of(gain)} multiplies every row of {label_of(rows)}"] = None
            return large
        if is_gain(gain) and large.rank is not None and 2 < large.rank > (small.rank or 0) > 0:
            reading.notes[f"{label_of(gain)} multiplies the entries of {label_of(rows)}"] = None
            return large  # a gain for each channel, which need not be the last axis
    if a.complete is None or b.complete is None or len(a.sizes) != len(b.sizes) or reading.sizes.is_same(a.last, inner):
        return None
    if (of_entries(left) or of_entries(right)) and all(map(reading.sizes.is_same, a.sizes, b.sizes)):
        reading.notes["the product is taken entry by entry"] = None
        return a
    return None


def _is_turned(reading: Inference, left: Node, right: Node, a: Shape, b: Shape) -> bool:
    """Return whether weights are declared transposed: their outer size is the inner one of the other factor.

    Assumes      of d_model x h d_v beside n x h d_v nobody means h d_v = d_model where nothing says it
    """
    if reading.code or a.last is None or len(b.sizes) < 2 or b.sizes[-2] is None or b.last is None:
        return False
    if reading.scope.compare(a.last, b.sizes[-2]).relation != "unsure":
        return False
    weights = reading.scope.document.is_weight
    by_rows = weights(right) and not weights(left) and a.last == b.last and len(b.sizes) == 2
    return by_rows or (weights(left) and not weights(right) and len(a.sizes) == 2 and a.sizes[0] == b.sizes[-2])


def _of_vectors(reading: Inference, node: Node, left: Node, right: Node, a: Shape, b: Shape, operator: str) -> Shape:
    """Return the shape of a product of two vectors: a scalar for a dot product, else UNKNOWN."""
    inner = not a.turned and not b.turned and operator in ("dot", "at")
    inner |= b.turned and not a.turned and (reading.scope.convention != "columns" or operator == "dot")
    inner |= a.turned and not b.turned and reading.scope.convention != "rows"
    if not inner:
        return UNKNOWN
    reading.sizes.same("product", node, left, right, a, b, a.last, b.last)
    return SCALAR
