"""Biases of keys cancel in softmax; biases of values move past it, into the bias of the output.

Definition   key_bias: K = X W^K + b^K becomes X W^K, where only a softmax reads the scores;
             value_bias: V = X W^V + b^V becomes X W^V, and b^O becomes Concat(b_1^V, ..., b_h^V) W^O + b^O
Assumes      value_bias: every query sees at least one key, its own: there are as many keys as queries, and no mask, or
             a causal mask, or a window. With other keys a query may see none, and its weights do not add up to 1
Source       attention.key_bias_cancels, multi_head.effective_biases
"""

from __future__ import annotations

from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import Array, Plus, Product, Scaled, Transpose, Variable
from derivations.language.arrays.functions import BandMask, RowSoftmax
from derivations.language.arrays.shapes import same_size
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import Affine, affine, biased, defined, named_variable, renamed
from numeric.optimize.rewrite import Proposal, sees_a_key

__all__ = ["key_bias", "value_bias"]

OF_KEYS, OF_VALUES = "attention.key_bias_cancels", "multi_head.effective_biases"


def key_bias(draft: Draft) -> bool:
    """Leave out biases of keys; return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        keys = affine(equation, draft)
        if keys is None or keys.bias is None:
            continue
        scores = draft.read_once(keys.variable)
        weights = scores and draft.read_once(scores.variable)
        # the bias cancels in the softmax only: a second reader of the scores would see it
        if scores and weights and _are_scores(scores.value, keys.variable) and isinstance(weights.value, RowSoftmax):
            done |= draft.propose("key_bias", _without_key_bias(draft, keys, scores, weights))
    return done


def _are_scores(node: Array, keys: Variable) -> bool:
    """Return whether an expression is a sum with a term c Q K^T that has these keys."""
    if isinstance(node, Plus):
        return any(_are_scores(part, keys) for part in node.args)
    if isinstance(node, Scaled):
        return _are_scores(node.args[1], keys)
    if not isinstance(node, Product) or not isinstance(node.args[1], Transpose):
        return False
    return named_variable(node.args[1].args[0]) == keys


def _without_key_bias(draft: Draft, keys: Affine, scores: Equation, weights: Equation) -> Proposal:
    # q . (k_j + b) = q . k_j + q . b: the second term is the same for all keys j, and softmax cancels it
    plain, _ = defined(draft.fresh(f"{keys.variable.name}_plain"), keys.rows @ keys.weight, keys.equation)
    names = {keys.variable: plain.variable}
    lower, _ = defined(draft.fresh(f"{scores.variable.name}_plain"), replace_free(scores.value, names), scores)
    value = replace_free(weights.value, {scores.variable: lower.variable})
    return Proposal(
        OF_KEYS,
        {weights.variable: value},
        fresh=(plain, lower),
        opened=(keys.variable, scores.variable),
        assuming=sees_a_key(weights.value.args[1:]),
        rule="exponent",
    )


def value_bias(draft: Draft) -> bool:
    """Move biases of values after the average; return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        values = affine(equation, draft)
        if values is None or values.bias is None:
            continue
        way = _way_out(draft, values)
        if way is not None:
            done |= draft.propose("value_bias", _behind_the_average(draft, values, values.bias, *way))
    return done


def _way_out(draft: Draft, values: Affine) -> tuple[Equation, Equation, Equation | None, Affine] | None:
    """Return the equations of the weights, heads, concatenation and output, or None if they do not fit."""
    heads = draft.read_once(values.variable)
    if heads is None or not isinstance(heads.value, Product) or named_variable(heads.value.args[1]) != values.variable:
        return None
    weights = draft.equation(heads.value.args[0])
    if weights is None or not is_name(heads.value.args[0]) or not isinstance(weights.value, RowSoftmax):
        return None
    # as many keys as queries, so that the key with the number of the query exists
    if not same_size(*weights.value.shape[-2:]):
        return None
    masks = [draft.mask(mask) for mask in weights.value.args[1:]]
    # a row that sees no key has weights of sum 0, and would lose the bias
    if not all(isinstance(mask, BandMask) and mask.shows_itself for mask in masks):
        return None
    beside = draft.read_once(heads.variable)
    if beside is None:
        return None
    joined = None
    if isinstance(beside.value, Concatenate) and named_variable(beside.value.args[0]) == heads.variable:
        joined, beside = beside, draft.read_once(beside.variable)
    # heads that are not concatenated meet no single output bias
    elif heads.over is not None:
        return None
    output = affine(beside, draft)
    read = heads.variable if joined is None else joined.variable
    return (weights, heads, joined, output) if output is not None and output.rows == read else None


def _behind_the_average(
    draft: Draft,
    values: Affine,
    bias: Array,
    weights: Equation,
    heads: Equation,
    joined: Equation | None,
    output: Affine,
) -> Proposal:
    # the rows of the weights add up to 1: A (V + 1 b^T) = A V + 1 b^T
    chain = [values.equation, heads, *([joined] if joined else [])]
    names = {each.variable: Variable(draft.fresh(f"{each.variable.name}_plain"), each.variable.shape) for each in chain}
    fresh = [renamed(values.equation, values.rows @ values.weight, names)]
    fresh += [renamed(each, replace_free(each.value, names), names) for each in chain[1:]]
    beside: Array = bias if joined is None else Concatenate(bias, *(values.equation.over or ()))
    shifted: Array = Product(beside, output.weight)
    whole = shifted if output.bias is None else Plus(shifted, output.bias)
    wanted = f"{output.bias.name}_all" if isinstance(output.bias, Variable) else f"{output.variable.name}_bias"
    packed = Equation(Variable(draft.fresh(wanted), whole.shape), whole)
    value = biased(replace_free(output.rows, names) @ output.weight, packed.variable)
    masks = [(m, draft.mask(m)) for m in weights.value.args[1:] if isinstance(m, Variable)]
    return Proposal(
        OF_VALUES,
        {output.variable: value},
        fresh=tuple(fresh),
        packed=(packed,),
        opened=(weights.variable, *(each.variable for each in chain)),
        known=tuple(Equation(m, written) for m, written in masks if written is not None),
        rule="exponent",
    )
