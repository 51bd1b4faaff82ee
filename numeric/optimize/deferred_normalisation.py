"""Deferred normalisation: softmax divides after the product with the values; powers of two replace exponentials.

Definition   softmax(S) V becomes (E V) / (E 1) with E = exp(S - r 1^T), r the largest visible entry of each row; then
             E = 2^(S' - r' 1^T) with S' = S / ln 2
Source       attention.deferred_normalisation, attention.powers_of_two
"""

from __future__ import annotations

from sympy import E, Integer, log

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.exponentials import Normalised, RowExponentials, row_exponentials
from derivations.language.arrays.expression import Array, Member, Product, Scaled
from derivations.language.arrays.functions import RowSoftmax, RowSum
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name, subexpressions
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import at_index, defined, named_variable
from numeric.optimize.rewrite import TWO_EXCEEDS_ONE, Proposal, sees_a_key

__all__ = ["base_two", "deferred_normalisation"]


def deferred_normalisation(draft: Draft) -> bool:
    """Divide after the product with the values, where the weights are read by that product alone."""
    done = False
    for equation in list(draft.equations.values()):
        for node in subexpressions(equation.value):
            softmax = _weights_of(node, draft)
            if softmax is not None:
                done |= draft.propose("deferred_normalisation", _normalised_later(draft, equation, node, softmax))
                break  # a proposal replaces the whole equation, so the next round finds its other products
    return done


def _weights_of(node: Array, draft: Draft) -> RowSoftmax | None:
    """Return the softmax that a product with values reads, if no other equation reads it."""
    if not isinstance(node, Product) or len(node.shape) != 2:
        return None
    weights = node.args[0]
    if isinstance(weights, RowSoftmax):
        return weights if len(weights.shape) == 2 else None
    equation = draft.equation(weights)
    if equation is None or not isinstance(equation.value, RowSoftmax) or len(weights.shape) != 2:
        return None
    if isinstance(weights, Member) and equation.over is None:  # one row of a matrix of weights, not a head's matrix
        return None
    # another reader needs the weights themselves, which would then be computed twice
    alone = draft.read_once(equation.variable) is not None
    return at_index(equation, weights) if alone and is_name(weights) else None


def _normalised_later(draft: Draft, equation: Equation, node: Product, softmax: RowSoftmax) -> Proposal:
    weights, values = node.args
    scores, *masks = softmax.args
    name = weights.args[0].name if isinstance(weights, Member) else getattr(weights, "name", equation.variable.name)
    path = name.rpartition(".")[0]
    path = f"{path}." if path else ""
    E_equation, powers = defined(draft.fresh(f"{path}E"), row_exponentials(scores, *masks), equation)
    l_equation, sums = defined(draft.fresh(f"{path}l"), RowSum(powers), equation)
    U_equation, unscaled = defined(draft.fresh(f"{path}U"), powers @ values, equation)
    opened = () if isinstance(weights, RowSoftmax) else (named_variable(weights),)
    return Proposal(
        "attention.deferred_normalisation",
        {equation.variable: replace_free(equation.value, {node: Normalised(unscaled, sums)})},
        fresh=(E_equation, l_equation, U_equation),
        opened=opened,
        assuming=sees_a_key(masks),
        rule="exponent",
    )


def base_two(draft: Draft) -> bool:
    """Replace exponentials by powers of two where the scores are a product, which takes up the factor 1/ln 2."""
    done = False
    for equation in list(draft.equations.values()):
        value = equation.value
        if isinstance(value, RowExponentials) and value.base == E and is_name(value.args[0]):
            scores = draft.equation(value.args[0])
            if scores is not None and draft.read_once(scores.variable) is not None and _has_factor(scores.value):
                done |= draft.propose("base_two", _in_powers_of_two(draft, equation, scores))
    return done


def _has_factor(scores: Array) -> bool:
    # 1/ln 2 joins a factor, or a product that gets one: it costs no pass over the scores of its own
    return isinstance(scores, Product | Scaled)


def _in_powers_of_two(draft: Draft, equation: Equation, scores: Equation) -> Proposal:
    # exp(s) = 2^(s / ln 2)
    factor, product = scores.value.args if isinstance(scores.value, Scaled) else (Integer(1), scores.value)
    fresh, _ = defined(draft.fresh(f"{scores.variable.name}_2"), Scaled(factor / log(2), product), scores)
    old, mask = equation.value.args[0], equation.value.mask
    new = Member(fresh.variable, old.args[1]) if isinstance(old, Member) else fresh.variable
    powers = row_exponentials(new, mask, base=2)
    return Proposal(
        "attention.powers_of_two",
        {equation.variable: powers},
        fresh=(fresh,),
        opened=(scores.variable,),
        assuming=(TWO_EXCEEDS_ONE,),
        rule="exponent",
    )
