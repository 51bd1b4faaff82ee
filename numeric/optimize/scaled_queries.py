"""The factor of the scores moves into the queries, and from there into the weights that compute the queries.

Definition   S = c Q K^T becomes S = Q' K^T with Q' = X (c W^Q) + c b^Q; where linear maps, such as rotary positions,
             lead from Q to the scores, they are applied to Q'; where Q is computed in another way, Q' = c Q
Source       attention.scale_folds_into_queries, positional_encoding.rotary_linear
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr, log

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, PlacedBlock
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Member, Plus, Product, Scaled, Transpose, Variable
from derivations.language.arrays.functions import Hadamard, Interleave
from derivations.language.arrays.selection import EveryOther
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name, subexpressions, variables_in
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import Affine, affine, biased, defined, of_sizes, renamed
from numeric.optimize.rewrite import TWO_EXCEEDS_ONE, Proposal

__all__ = ["scaled_queries"]

THEOREM = "attention.scale_folds_into_queries"
LINEAR = (Plus, Hadamard, Interleave, EveryOther, ColumnBlock, PlacedBlock, Concatenate, Member, Transpose, Scaled)


def scaled_queries(draft: Draft) -> bool:
    """Move factors of products of queries and keys; return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        for node in subexpressions(equation.value):
            if isinstance(node, Scaled) and (products := _products(node.args[1])):
                proposal = _proposal(draft, equation, node, products)
                done |= proposal is not None and draft.propose("scaled_queries", proposal)
                break  # a proposal replaces the whole equation, so the next round finds its other products
    return done


def _products(node: Array) -> list[Product]:
    """Return the products Q K^T whose sum an expression is, or an empty list if it has other terms."""
    if isinstance(node, Plus):
        parts = [_products(part) for part in node.args]
        return [product for part in parts for product in part] if all(parts) else []
    scores = isinstance(node, Product) and isinstance(node.args[1], Transpose) and is_name(node.args[0])
    return [node] if scores and len(node.shape) == 2 else []


def _proposal(draft: Draft, equation: Equation, node: Scaled, products: list[Product]) -> Proposal | None:
    factor, total = node.args
    fresh: list[Equation] = []
    packed: list[Equation] = []
    opened: list[Variable] = []
    new = total
    for product in products:
        queries = product.args[0]
        variable = queries.args[0] if isinstance(queries, Member) else queries
        # a factor with a scalar that a caller passes is unknown when weights are packed
        path = _linear_path(draft, variable, equation) if of_sizes(factor) else None
        if path is None:
            scaled, name = defined(draft.fresh(f"{variable.name}_scaled"), Scaled(factor, queries), equation)
            fresh.append(scaled)
            new = replace_free(new, {product: Product(name, product.args[1])})
            continue
        root, between = path
        names = {old: Variable(draft.fresh(f"{old.name}_scaled"), old.shape) for old in (root.variable, *between)}
        weights = _scaled_weights(draft, root, factor)
        packed += [weight for weight, _ in weights.values()]
        value = biased(root.rows @ weights["W"][1], weights["b"][1] if "b" in weights else None)
        fresh.append(renamed(root.equation, value, names))
        chain = [draft.equations[v] for v in between]
        fresh += [renamed(each, replace_free(each.value, names), names) for each in chain]
        opened += [root.variable, *between]
        new = replace_free(new, {product: replace_free(product, {variable: names[variable]})})
    value = replace_free(equation.value, {node: new})
    return Proposal(
        THEOREM,
        {equation.variable: value},
        fresh=tuple(fresh),
        packed=tuple(packed),
        opened=tuple(opened),
        assuming=(TWO_EXCEEDS_ONE,) if factor.has(log) else (),
        rule="distributivity",
    )


def _scaled_weights(draft: Draft, root: Affine, factor: Expr) -> dict[str, tuple[Equation, Array]]:
    """Return the equations of the scaled weights and their names in the projection."""
    found = {}
    for letter, weight in (("W", root.weight), ("b", root.bias)):
        if weight is not None:
            whole = weight.args[0] if isinstance(weight, Member) else weight
            name = draft.fresh(f"{whole.name}_scaled")
            found[letter] = defined(name, Scaled(factor, weight), root.equation)
    return found


# --- the way from a projection to the scores ------------------------------------------------------------------------


def _linear_path(draft: Draft, variable: Variable, reader: Equation) -> tuple[Affine, list[Variable]] | None:
    """Return the projection from which linear maps compute the queries, and the variables between, in order.

    None where there is no such path, or where another equation reads a variable on it.
    """
    inside: set[Variable] = set()
    waiting, root = [variable], None
    while waiting:
        current = waiting.pop()
        if current in inside:
            continue
        inside.add(current)
        found = affine(draft.equation(current), draft)
        if found is not None:
            # two projections, as in Q = X A + Z B: one factor would have to reach both
            if root is not None:
                return None
            root = found
            continue
        equation = draft.equation(current)
        if equation is None:
            return None
        carried = list(_carriers(draft, equation))
        if not carried:
            return None
        waiting += carried
    if root is None:
        return None
    between = [v for v in draft.equations if v in inside and v != root.variable]
    dependent = {root.variable, *between}
    for current in dependent:
        readers = {each.variable for each in draft.readers(current)}
        # another reader of the unscaled values would need them a second time
        if current in draft.layer.outputs or not readers <= {*dependent, reader.variable}:
            return None
    if any(not _is_linear(draft.equations[v].value, dependent) for v in between):
        return None
    return root, between


def _carriers(draft: Draft, equation: Equation) -> Iterator[Variable]:
    """Yield the variables that may carry a projection on: those that depend on a weight or an input."""
    for variable in dict.fromkeys(variables_in(equation.value)):
        below = draft.needed([variable])
        if any(draft.is_weight(v) or v in draft.layer.inputs for v in below):
            yield variable


def _is_linear(node: Array, of: set[Variable]) -> bool:
    """Return whether an expression is linear in some variables, without a constant term."""
    if isinstance(node, Variable):
        return node in of
    if not isinstance(node, LINEAR):
        return False
    operands = [part for part in node.args if isinstance(part, Array)]
    linear = [_is_linear(part, of) for part in operands]
    if isinstance(node, Hadamard):
        free = [not of.intersection(variables_in(part)) for part in operands]
        return (linear[0] and free[1]) or (linear[1] and free[0])
    return all(linear)
