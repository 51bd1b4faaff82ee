"""A second centring: the mean of a centred matrix, the rounding error of the first mean, is subtracted too.

Definition   X_c = X - mean(X) becomes X_c = X_1 - mean(X_1) with X_1 = X - mean(X): the means of rows (layer norm), or
             those of columns (batch norm)
Result       exact arithmetic gives the same values; in floating point the first mean is off by a few units in its last
             place, which is much where X varies little compared with its mean, and the second mean is that error
Source       layer_norm.centred
"""

from __future__ import annotations

from sympy import S

from derivations.language.arrays.expression import Array, ColumnBroadcast, Plus, RowBroadcast, Scaled, Transpose
from derivations.language.arrays.functions import RowMean
from derivations.language.layers.layer import Equation
from derivations.language.layers.names import is_name
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import at_index, defined
from numeric.optimize.rewrite import Proposal

__all__ = ["second_centring"]

THEOREM = "layer_norm.centred"
Spread = ColumnBroadcast | RowBroadcast


def second_centring(draft: Draft) -> bool:
    """Subtract the mean of every centred matrix once more. Return whether the layer changed."""
    done = False
    for equation in list(draft.equations.values()):
        spread = _subtracted_mean(draft, equation)
        if spread is not None and not _is_one_of_two(draft, equation, spread):
            done |= draft.propose("second_centring", _centred_again(draft, equation, spread))
    return done


def _subtracted_mean(draft: Draft, equation: Equation) -> Spread | None:
    """Return the mean of X, spread over its rows or columns, in an equation X - mean(X); None for other equations."""
    match equation.value:
        case Plus(args=(rows, Scaled(args=(S.NegativeOne, ColumnBroadcast() | RowBroadcast() as spread)))):
            mean = spread.args[0]
            defining = draft.equation(mean) if is_name(mean) else None
            if defining is not None:
                mean = at_index(defining, mean)
            return spread if mean == _mean(rows, spread) else None
    return None


def _mean(of: Array, like: Spread) -> Array:
    """Return the mean of the rows, or of the columns, of a matrix."""
    return RowMean(of if isinstance(like, ColumnBroadcast) else Transpose(of))


def _is_one_of_two(draft: Draft, equation: Equation, spread: Spread) -> bool:
    """Return whether an equation centres an already centred matrix, or a later one centres its result again."""
    rows = draft.equation(equation.value.args[0])
    before = _subtracted_mean(draft, rows) if rows is not None else None
    own = _mean(equation.target, spread)
    afterwards = any(reader.value.has(own) for reader in draft.readers(equation.variable))
    # without this test every round would centre once more
    return afterwards or isinstance(before, type(spread))


def _centred_again(draft: Draft, equation: Equation, spread: Spread) -> Proposal:
    mean, count = spread.args
    once, rows = defined(draft.fresh(f"{equation.variable.name}_once"), equation.value, equation)
    rest, left = defined(draft.fresh(f"{equation.variable.name}_mean"), _mean(rows, spread), equation)
    defining = draft.equation(mean) if is_name(mean) else None
    return Proposal(
        THEOREM,
        {equation.variable: rows - spread.func(left, count)},
        fresh=(once, rest),
        opened=() if defining is None else (defining.variable,),
        rule="linearity of sums",
    )
