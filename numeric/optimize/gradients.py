"""Gradients with respect to the weights of all heads are computed as one product, as the heads themselves are.

Definition   dW_i = X^T dQ_i becomes block i of the columns of X^T dQ with dQ = [dQ_1 ... dQ_h], and db_i the same block
             of the sum of the rows of dQ; [dQ_1 ... dQ_h] and [W_1 ... W_h] get names in all products that contain them
Source       linear.column_parallel
"""

from __future__ import annotations

from sympy import Symbol

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Member, Product, Transpose, Variable
from derivations.language.arrays.functions import RowSum
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import subexpressions
from numeric.optimize.draft import Draft
from numeric.optimize.rewrite import Proposal

__all__ = ["wide_gradients"]

THEOREM = "linear.column_parallel"


def wide_gradients(draft: Draft) -> bool:
    """Concatenate the members of a family once, and read them from there. Return whether the layer changed."""
    done = False
    # a gradient, whose weights keep their names: only its products are joined
    if not draft.rearranges:
        families = [v for equation in draft.equations.values() for v in _read_side_by_side(equation)]
        for family in dict.fromkeys(families):
            done |= draft.propose("wide_gradients", _side_by_side(draft, family))
    return done


def _read_side_by_side(equation: Equation) -> list[Variable]:
    """Return the families that an equation concatenates in an expression, or multiplies by one common matrix."""
    inside = [node.args[0].args[0] for node in subexpressions(equation.value) if _is_whole(node)]
    # this equation is the concatenation itself
    if _is_whole(equation.value):
        return []
    return [*inside, *(node.args[1].args[0] for node in [equation.value] if _is_product(node, equation))]


def _is_whole(node: Array) -> bool:
    """Return whether an expression is [A_1 ... A_h]."""
    return isinstance(node, Concatenate) and _is_member(node.args[0], node.args[1])


def _is_member(node: Array, index: Symbol) -> bool:
    """Return whether an expression is a member, at an index, of a family whose columns are not in blocks yet."""
    return (
        isinstance(node, Member)
        and isinstance(node.args[0], Variable)
        and node.args[1] == index
        and not isinstance(node.shape[-1], Blocks)
    )


def _is_product(node: Array, equation: Equation) -> bool:
    """Return whether an expression is X^T A_i, with the same X for all i."""
    if equation.over is None or not isinstance(node, Product) or len(node.shape) != 2:
        return False
    (left, right), index = node.args, equation.over[0]
    return isinstance(left, Transpose) and index not in left.free_symbols and _is_member(right, index)


def _is_sum(node: Array, equation: Equation) -> bool:
    """Return whether an expression is the sum of the rows of A_i."""
    if equation.over is None or not isinstance(node, RowSum) or not isinstance(node.args[0], Transpose):
        return False
    return _is_member(node.args[0].args[0], equation.over[0])


def _side_by_side(draft: Draft, family: Variable) -> Proposal:
    readers = {e.variable: e for e in draft.readers(family)}
    known = next((e for e in readers.values() if _is_whole(e.value)), None)
    if known is None:
        wide = _concatenation(draft, family, readers)
    else:
        wide = known
        # the equation that holds the concatenation must not read itself
        del readers[known.variable]
    replaced = {variable: _reading(wide.variable, family, equation) for variable, equation in readers.items()}
    changed = {variable: value for variable, value in replaced.items() if value != readers[variable].value}
    fresh, definitions = ((wide,), ()) if known is None else ((), (wide,))
    return Proposal(THEOREM, changed, fresh=fresh, known=definitions, rule="block product")


def _concatenation(draft: Draft, family: Variable, readers: dict[Variable, Equation]) -> Equation:
    """Return the equation that concatenates the members of a family."""
    shown = [node for e in readers.values() for node in subexpressions(e.value) if _is_whole(node)]
    overs = [node.args[1:] for node in shown if node.args[0].args[0] == family]
    overs += [e.over for e in readers.values() if e.over is not None and _is_product(e.value, e)]
    value = Concatenate(Member(family, overs[0][0]), *overs[0])
    return Equation(Variable(draft.fresh(f"{family.name}_wide"), value.shape), value)


def _reading(wide: Variable, family: Variable, equation: Equation) -> Array:
    """Return a right-hand side that reads the concatenated members of a family instead of each member."""
    value, over = equation.value, equation.over
    whole = [node for node in subexpressions(value) if _is_whole(node) and node.args[0].args[0] == family]
    if whole:
        value = replace_free(value, dict.fromkeys(whole, wide))
    elif over is not None and _is_product(value, equation) and value.args[1].args[0] == family:
        value = ColumnBlock(Product(value.args[0], wide), over[0])
    elif over is not None and _is_sum(value, equation) and value.args[0].args[0].args[0] == family:
        value = ColumnBlock(RowSum(Transpose(wide)), over[0])
    return value
