r"""Experts chosen one by one, each weighted by a softmax over the remaining experts with nearby scores.

Definition   L the scores, chosen the K experts with the largest ones, l_s the score of the s-th of them;
             p_s = 1 / sum_e [L_e <= l_s] [l_s - L_e <= c max(|L_e|, l_s)] exp(L_e - l_s),
             the softmax of l_s over the experts that are not chosen before it and whose scores are near enough
Shapes       L (n, E), chosen (K, n), l and p (K, n), N (K, n, E)
Assumes      no two scores of a position are equal: the second of two equal ones would see the one chosen before it
Source       Liu et al. (2024), GRIN: SparseMixer-v2 as it is evaluated, with c twice its jitter
"""

from sympy import Abs, Expr, Le, Max, Min, exp

from derivations.language.arrays.expression import Array, ColumnBroadcast
from derivations.language.arrays.functions import RowSum, named
from derivations.language.arrays.routing import TopK
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import Pick
from derivations.language.layers.layer import Equations
from derivations.symbols import index, scalar

__all__ = ["chosen_by_threshold"]

s = index("s")  # numbers the experts of one position, the first chosen first
_u, _v = scalar("u"), scalar("v")
inverse = named("inverse", 1 / _u, _u)


def chosen_by_threshold(let: Equations, L: Array, count: Expr, threshold: Expr) -> tuple[Array, Array]:
    """Add the equations that choose `count` experts by the scores L, and return their numbers and their weights.

    Definition   that of the module, with c the `threshold`
    Shapes       L (n, E), results (count, n)
    """
    seen = Iverson(Le(_u, _v)) * Iverson(Le(_v - _u, threshold * Max(Abs(_u), _v)))
    near = named("near", seen * exp(Min(0, _u - _v)), _u, _v)  # larger scores, which are not seen, would overflow
    chosen = let("chosen")(TopK(L, count))
    largest = let("l", over=(s, count))(Pick(L, chosen[s]))
    N = let("N", over=(s, count))(near(L, ColumnBroadcast(largest[s], L.shape[1])))
    return chosen, let("p", over=(s, count))(inverse(RowSum(N[s])))
