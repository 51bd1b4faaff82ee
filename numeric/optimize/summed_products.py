"""A sum of products over a family becomes one product of its operands, concatenated.

Definition   sum_i A_i B_i^T becomes [A_1 ... A_h] [B_1 ... B_h]^T: one product, and no matrix for each member
Source       linear.row_parallel
"""

from __future__ import annotations

from derivations.language.arrays.arrangements import Concatenate, SumOver
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Product, Transpose, Variable
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name, subexpressions
from numeric.optimize.draft import Draft
from numeric.optimize.rewrite import Proposal

__all__ = ["summed_products"]

THEOREM = "linear.row_parallel"


def summed_products(draft: Draft) -> bool:
    """Make one product of sums of products over a family; return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        found = next((node for node in subexpressions(equation.value) if _sums_products(node)), None)
        if equation.over is None and found is not None:
            done |= draft.propose("summed_products", _side_by_side(draft, equation, found))
    return done


def _sums_products(node: Array) -> bool:
    if not isinstance(node, SumOver) or not isinstance(node.args[0], Product):
        return False
    (left, right), index = node.args[0].args, node.args[1]
    if not isinstance(right, Transpose) or len(left.shape) != 2:
        return False
    operands = (left, right.args[0])
    return all(is_name(a) and index in a.free_symbols and not isinstance(a.shape[1], Blocks) for a in operands)


def _side_by_side(draft: Draft, equation: Equation, node: SumOver) -> Proposal:
    product, *over = node.args
    rows, columns = product.args[0], product.args[1].args[0]
    beside: Array = Concatenate(columns, *over)
    packed: tuple[Equation, ...] = ()
    # concatenated once, when weights are packed, and not in every call
    if draft.rearranges and draft.is_weight(columns.args[0]):
        name = draft.fresh(f"{columns.args[0].name}_wide")
        packed = (Equation(Variable(name, beside.shape), beside),)
        beside = packed[0].variable
    value = replace_free(equation.value, {node: Product(Concatenate(rows, *over), Transpose(beside))})
    return Proposal(THEOREM, {equation.variable: value}, packed=packed, rule="block product")
