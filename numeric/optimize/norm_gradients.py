"""The backward pass of a norm from the normalised rows: one row sum, and no power of the variance.

Definition   with x^ = u / s, s = sqrt(v + eps), v the mean of the squares of a row: du = g / s + dv 2 u / d with
             dv = -sum(g o u) / (2 s^3) becomes du = (g - x^ mean(g o x^)) / s
Source       rms_norm.gradient
"""

from __future__ import annotations

from derivations.language.arrays.expression import Array, ColumnBroadcast, Plus, Scaled, Variable
from derivations.language.arrays.functions import Elementwise, Hadamard, RowMean, RowSum
from derivations.language.layers.layer import Equation
from numeric.optimize.draft import Draft
from numeric.optimize.patterns import defined, terms
from numeric.optimize.rewrite import Proposal

__all__ = ["norm_gradients"]

THEOREM = "rms_norm.gradient"


def norm_gradients(draft: Draft) -> bool:
    """Rewrite gradients of norms in terms of the normalised rows. Return whether the layer changed."""
    done = False
    if not draft.rearranges:
        for normalised in list(draft.equations.values()):
            if _is_normalised(normalised):
                for equation in draft.readers(normalised.value.args[1]):
                    proposal = _proposal(draft, normalised, equation)
                    done |= proposal is not None and draft.propose("norm_gradients", proposal)
    return done


def _is_normalised(equation: Equation) -> bool:
    """Return whether an equation is x^ = f(u, v), proportional to u, with one v for each row of the variable u."""
    value = equation.value
    if equation.over is not None or not isinstance(value, Elementwise) or len(value.args) != 3:
        return False
    function, rows, spread = value.args
    x, _ = function.formula.variables
    # f(u, v) = u h(v): only then is f'(u, v) g a multiple of g, as the theorem needs
    factor = function.formula.expr / x
    return isinstance(rows, Variable) and isinstance(spread, ColumnBroadcast) and x not in factor.free_symbols


def _proposal(draft: Draft, normalised: Equation, equation: Equation) -> Proposal | None:
    """Return a proposal for an equation that adds the gradients with respect to u through x^ and through v, or None."""
    function, rows, spread = normalised.value.args
    summands = list(terms(equation.value))
    # the two terms stand anywhere in the sum, beside those of other readers
    for direct in summands:
        slope = _slope(direct, rows, spread)
        if slope is None:
            continue
        for other in summands:
            by_statistic = _through_statistic(draft, other, slope, rows, spread)
            if by_statistic is None:
                continue
            part = _defined_along(draft, slope, normalised)
            compact: Array = Elementwise(function, slope - Hadamard(_spread(part), normalised.variable), spread)
            for term in summands:
                compact = compact if term in (direct, other) else Plus(term, compact)
            return Proposal(
                THEOREM,
                {equation.variable: compact},
                fresh=(part,),
                opened=(by_statistic.variable,),
                known=(normalised, *_statistic(draft, spread)),
            )
    return None


def _slope(node: Array, rows: Array, spread: Array) -> Variable | None:
    """Return g of a product g o f'(u, v) where g is a variable, else None."""
    if not isinstance(node, Hadamard):
        return None
    slope, factor = node.args
    fits = isinstance(factor, Elementwise) and factor.args[1:] == (rows, spread)
    return slope if fits and isinstance(slope, Variable) else None


def _through_statistic(draft: Draft, node: Array, slope: Array, rows: Array, spread: Array) -> Equation | None:
    """Return the equation dv = rowsum(g o f'(u, v)) that a term c dv o f'(u) reads."""
    inner = node.args[1] if isinstance(node, Scaled) else node
    if not isinstance(inner, Hadamard) or not isinstance(inner.args[0], ColumnBroadcast):
        return None
    by_rows = inner.args[1]
    equation = draft.equation(inner.args[0].args[0])
    if not isinstance(by_rows, Elementwise) or by_rows.args[1:] != (rows,) or equation is None:
        return None
    value = equation.value
    return equation if isinstance(value, RowSum) and _slope(value.args[0], rows, spread) == slope else None


def _defined_along(draft: Draft, slope: Variable, normalised: Equation) -> Equation:
    """Return the equation of mean(g o x^), the component of g along x^."""
    path, dot, _ = slope.name.rpartition(".")
    name = draft.fresh(f"{path}{dot}along")
    return defined(name, RowMean(Hadamard(slope, normalised.variable)), normalised)[0]


def _spread(part: Equation) -> Array:
    rows = part.value.args[0]
    return ColumnBroadcast(part.variable, rows.shape[1])


def _statistic(draft: Draft, spread: Array) -> tuple[Equation, ...]:
    """Return the equation of v: it shows that v, a mean of squares, is not negative, so that v + eps is not 0."""
    equation = draft.equation(spread.args[0])
    return () if equation is None else (equation,)
