"""Products with weights in the cheapest order: products of weights are computed once, when weights are packed.

Definition   (X A + a) B + b becomes X (A B) + (a B + b), where no other equation reads X A + a and A B has fewer
             numbers than A and B together; X W + c (X A) B becomes X (W + c A B)
Source       linear.composition, low_rank_adaptation.merges
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Integer, expand

from derivations.language.arrays.expression import Array, Plus, Product, Scaled, Variable
from derivations.language.counting.operations import entries
from derivations.language.layers.layer import Equation
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import Affine, added, affine, biased, of_sizes, terms
from numeric.optimize.rewrite import Proposal

__all__ = ["product_order"]

OF_CHAINS, OF_SUMS = "linear.composition", "low_rank_adaptation.merges"


def product_order(draft: Draft) -> bool:
    """Multiply weights with one another where that saves work in every call; return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        # an earlier proposal of this round may have removed the equation
        if equation.over is not None or equation.variable not in draft.equations:
            continue
        proposal = _chain(draft, affine(equation, draft)) or _sum(draft, equation)
        done |= proposal is not None and draft.propose("product_order", proposal)
    return done


# --- one product after another --------------------------------------------------------------------------------------


def _first(draft: Draft, rows: Array) -> Affine | None:
    """Return the projection that computes some rows, if they are read once and belong to no family."""
    found = affine(draft.equation(rows), draft) if isinstance(rows, Variable) else None
    alone = found is not None and found.equation.over is None and draft.read_once(found.variable) is not None
    return found if alone else None


def _chain(draft: Draft, second: Affine | None) -> Proposal | None:
    first = _first(draft, second.rows) if second is not None else None
    if first is None or second is None:
        return None
    both = Product(first.weight, second.weight)
    # X (A B) costs one multiplication per entry of A B and row of X; (X A) B one per entry of A and of B
    saved = expand(entries(first.weight.shape) + entries(second.weight.shape) - entries(both.shape))
    if not saved.is_positive:
        return None
    W = _packed(draft, f"{second.variable.name}_weight", both)
    packed, bias = [W], second.bias
    if first.bias is not None:
        moved = Product(first.bias, second.weight)
        packed.append(_packed(draft, f"{second.variable.name}_bias", moved if bias is None else Plus(moved, bias)))
        bias = packed[-1].variable
    value = biased(first.rows @ W.variable, bias)
    return Proposal(
        OF_CHAINS, {second.variable: value}, packed=tuple(packed), opened=(first.variable,), rule="associativity"
    )


# --- a sum of products ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Term:
    """A term of a sum: a factor times rows times a weight, perhaps through a variable; or any other expression."""

    node: Array
    factor: Expr = Integer(1)
    rows: Array | None = None
    weight: Array | None = None
    through: Variable | None = None


def _term(node: Array, draft: Draft) -> _Term:
    factor, product = node.args if isinstance(node, Scaled) else (Integer(1), node)
    if not isinstance(product, Product) or len(product.shape) != 2 or not of_sizes(factor):
        return _Term(node)
    rows, weight = product.args
    if not draft.is_weight(weight):
        return _Term(node)
    first = _first(draft, rows)
    if first is not None and first.bias is None:
        return _Term(node, factor, first.rows, Product(first.weight, weight), first.variable)
    return _Term(node, factor, rows, weight)


def _sum(draft: Draft, equation: Equation) -> Proposal | None:
    """Return a proposal that merges the products of the same rows with several weights in a sum, or None."""
    if not isinstance(equation.value, Plus):
        return None
    summands = [_term(node, draft) for node in terms(equation.value)]
    direct = next((term for term in summands if term.rows is not None and term.through is None), None)
    together = [term for term in summands if direct is not None and term.rows == direct.rows]
    # a single product of these rows has nothing to be added to
    if direct is None or len(together) < 2:
        return None
    whole = added(_scaled(term.factor, term.weight) for term in together if term.weight is not None)
    W = _packed(draft, f"{equation.variable.name}_weight", whole)
    rest = [Product(direct.rows, W.variable), *(term.node for term in summands if term not in together)]
    opened = tuple(term.through for term in together if term.through is not None)
    return Proposal(OF_SUMS, {equation.variable: added(rest)}, packed=(W,), opened=opened, rule="distributivity")


def _scaled(factor: Expr, weight: Array) -> Array:
    return weight if factor == 1 else Scaled(factor, weight)


def _packed(draft: Draft, name: str, value: Array) -> Equation:
    return Equation(Variable(draft.fresh(name), value.shape), value)
