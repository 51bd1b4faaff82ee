"""A sum of products over a family becomes one product of its operands, concatenated.

Definition   sum_i A_i B_i^T becomes [A_1 ... A_h] [B_1 ... B_h]^T, and sum_i A_i W_i with weights W_i becomes
             [A_1 ... A_h] [W_1; ...; W_h]: one product, and no matrix for each member
Source       linear.row_parallel
"""

from __future__ import annotations

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Product, Transpose, Variable
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name, subexpressions
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import at_index, flat_columns, is_weight, named_variable
from numeric.optimize.rewrite import Proposal

__all__ = ["summed_products"]

THEOREM = "linear.row_parallel"


def summed_products(draft: Draft) -> bool:
    """Make one product of sums of products over a family; return whether the layer changed."""
    done = False
    for equation in [each for each in draft.equations.values() if each.over is None]:
        proposals = (_side_by_side(draft, equation, node) for node in subexpressions(equation.value))
        proposal = next(filter(None, proposals), None)
        if proposal is not None:
            done |= draft.propose("summed_products", proposal)
    return done


def _side_by_side(draft: Draft, equation: Equation, node: Array) -> Proposal | None:
    """Return one product for a sum over a family, or None for any other expression."""
    if not isinstance(node, SumOver):
        return None
    product, *over = node.args
    summed = draft.equation(product) if is_name(product) else None
    if summed is not None and draft.read_once(summed.variable) is not None and summed.over is not None:
        product = at_index(summed, product)
    if not isinstance(product, Product) or len(product.args[0].shape) != 2:
        return None
    rows, right = product.args
    by_weights = summed is not None and is_weight(right, draft, summed)
    columns = right.T if by_weights else right.args[0] if isinstance(right, Transpose) else None
    named = [rows, right if by_weights else columns]
    if columns is None or any(not is_name(each) or over[0] not in each.free_symbols for each in named):
        return None
    rows, columns = flat_columns(rows), flat_columns(columns)
    beside: Array = Transpose(Concatenate(columns, *over))
    packed: tuple[Equation, ...] = ()
    # concatenated once, when weights are packed, and not in every call
    if draft.rearranges and draft.is_weight(named_variable(named[1])):
        name = draft.fresh(f"{named_variable(named[1]).name}_wide")
        packed = (Equation(Variable(name, beside.shape), beside),)
        beside = packed[0].variable
    wide = Concatenate(rows, *over)
    Z = Variable(draft.fresh(f"{named_variable(named[0]).name}_wide"), wide.shape)
    value = replace_free(equation.value, {node: Product(Z, beside)})
    opened = (summed.variable,) if summed is not None else ()
    return Proposal(THEOREM, {equation.variable: value}, (Equation(Z, wide),), packed, opened, rule="block product")
