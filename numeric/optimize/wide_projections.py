"""Products of one matrix with many weights become one product, whose columns hold the former results.

Definition   Q_i = X W_i^Q + b_i^Q and all other projections of X become P = X W + b, W = [W_1^Q ... W_h^Q W_1^K ...],
             and Q_i is a block of the columns of P
Source       multi_head.fused_projection, linear.column_parallel
"""

from __future__ import annotations

from sympy import Expr, Integer, Lambda, Symbol

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Tabulated
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.shapes import Axis, Blocks, total
from derivations.language.layers.layer import Equation
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import Affine, affine, biased, flat_columns, joined_name, named_variable
from numeric.optimize.rewrite import Proposal

__all__ = ["wide_projections"]

OF_HEADS, OF_COLUMNS = "multi_head.fused_projection", "linear.column_parallel"
_place = Symbol("c", integer=True)


def wide_projections(draft: Draft) -> bool:
    """Merge products with the same left operand into one product. Return whether the layer changed."""
    groups: dict[Array, list[Affine]] = {}
    for equation in draft.equations.values():
        found = affine(equation, draft)
        if found is not None and isinstance(found.rows, Variable) and len(found.rows.shape) == 2:
            groups.setdefault(found.rows, []).append(found)
    done = False
    for products in groups.values():
        # a single projection gains only if it is a family, whose members become one product
        if len(products) > 1 or isinstance(products[0].weight, Member):
            done |= draft.propose("wide_projections", _proposal(draft, products))
    return done


def _proposal(draft: Draft, products: list[Affine]) -> Proposal:
    weights = [_wide(product.weight, product) for product in products]
    columns = [weight.shape[-1] for weight in weights]
    together = draft.fresh(joined_name(product.variable.name for product in products))
    W = _concatenated(draft, _name([product.weight for product in products]), weights)
    packed, b = [W], None
    if any(product.bias is not None for product in products):
        # a projection without a bias adds zeros
        biases = [
            _wide(product.bias, product) if product.bias is not None else _zeros(along)
            for product, along in zip(products, columns, strict=True)
        ]
        present = [product.bias for product in products if product.bias is not None]
        wanted = _name(present) if len(present) == len(products) else f"{together}_bias"
        packed.append(_concatenated(draft, wanted, biases))
        b = packed[-1].variable
    value = biased(products[0].rows @ W.variable, b)
    P = Variable(together, value.shape)
    replaced: dict[Variable, Array] = {}
    start: Expr = Integer(0)
    for product, along in zip(products, columns, strict=True):
        cut: Array = P if len(products) == 1 else ColumnRange(P, start, along)
        over = product.equation.over
        of_one = cut if over is None else ColumnBlock(cut, over[0])
        own = product.variable.shape[-1]
        # the columns of a member of a family are blocks of a block
        replaced[product.variable] = ColumnRange(of_one, 0, own) if over and isinstance(own, Blocks) else of_one
        start = start + total(along)
    heads = any(isinstance(product.weight, Member) for product in products)
    theorem = OF_HEADS if heads else OF_COLUMNS
    return Proposal(theorem, replaced, (Equation(P, value),), tuple(packed), rule="block product")


def _wide(weight: Array, product: Affine) -> Array:
    """Return the weights of all members of a family, concatenated."""
    over = product.equation.over
    return weight if over is None else Concatenate(flat_columns(weight), *over)


def _zeros(along: Axis) -> Array:
    return Tabulated(Lambda((_place,), Integer(0)), total(along))


def _name(weights: list[Array]) -> str:
    """Return one name for concatenated weights."""
    name = joined_name(named_variable(weight).name for weight in weights)
    return f"{name}_wide" if len(weights) == 1 else name


def _concatenated(draft: Draft, wanted: str, parts: list[Array]) -> Equation:
    value = parts[0] if len(parts) == 1 else ColumnConcatenation(*parts)
    return Equation(Variable(draft.fresh(wanted), value.shape), value)
