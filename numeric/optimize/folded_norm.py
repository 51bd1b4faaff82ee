"""The gain and the shift of a norm move into the weights that read its result, where only products read it.

Definition   (gamma o x^ + beta) W + b becomes x^ (diag(gamma) W) + (beta W + b); RMS norm has no beta
Source       layer_norm.affine_folds_into_weights, rms_norm.gamma_folds_into_weights
"""

from __future__ import annotations

from derivations.language.arrays.expression import Array, ColumnBroadcast, Plus, RowBroadcast, Variable
from derivations.language.arrays.functions import Hadamard
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import Affine, affine, bias_with, biased, defined, named_variable
from numeric.optimize.rewrite import Proposal

__all__ = ["folded_norm"]

THEOREM, WITHOUT_SHIFT = "layer_norm.affine_folds_into_weights", "rms_norm.gamma_folds_into_weights"


def folded_norm(draft: Draft) -> bool:
    """Fold the gains and shifts of norms; return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        parts = _gain_and_shift(equation, draft)
        readers = draft.readers(equation.variable)
        if parts is None or not readers or equation.variable in draft.layer.outputs:
            continue
        products = [p for p in (affine(reader, draft) for reader in readers) if p and p.rows == equation.variable]
        # any other reader needs the gain and the shift themselves
        if len(products) == len(readers):
            done |= draft.propose("folded_norm", _folded(draft, equation, parts, products))
    return done


def _gain_and_shift(equation: Equation, draft: Draft) -> tuple[Array, Variable, Variable | None] | None:
    """Return x^, gamma and beta of an equation Y = gamma o x^ + beta; beta is None in RMS norm."""
    value, shift = equation.value, None
    if equation.over is not None:
        return None
    if isinstance(value, Plus) and isinstance(value.args[1], RowBroadcast):
        value, shift = value.args[0], value.args[1].args[0]
    if not isinstance(value, Hadamard) or (shift is not None and not draft.is_weight(shift)):
        return None
    # the gain may be either factor
    for gain, rows in (value.args, value.args[::-1]):
        if isinstance(gain, RowBroadcast) and draft.is_weight(gain.args[0]) and isinstance(rows, Variable):
            return rows, gain.args[0], shift
    return None


def _folded(
    draft: Draft, norm: Equation, parts: tuple[Array, Variable, Variable | None], products: list[Affine]
) -> Proposal:
    rows, gain, shift = parts
    packed: list[Equation] = []
    replaced: dict[Variable, Array] = {}
    for product in products:
        weight, bias = product.weight, product.bias
        # (gamma o x) W = x (diag(gamma) W)
        gained = Hadamard(ColumnBroadcast(gain, total(weight.shape[-1])), weight)
        equation, W = defined(draft.fresh(f"{named_variable(weight)}_gained"), gained, product.equation)
        packed.append(equation)
        if shift is not None:
            packed.append(bias_with(shift, product, draft))
            bias = packed[-1].target
        replaced[product.variable] = biased(rows @ W, bias)
    theorem = WITHOUT_SHIFT if shift is None else THEOREM
    return Proposal(theorem, replaced, packed=tuple(packed), opened=(norm.variable,), rule="distributivity")
