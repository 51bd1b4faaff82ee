r"""The choice of experts within the best groups: groups are ranked first, then the experts of those that are kept.

Definition   S the scores by which experts are chosen; expert e belongs to group g where g E <= e N_G < (g + 1) E;
             the score of a group in a row is the sum of the `best` largest scores of its experts, kept are the K_G
             groups with the largest sums, chosen the K experts with the largest scores among those of the kept groups
Written      a score of a group that is not looked at is lowered by z_i = sum_e s_ie^2 + 2, below all others:
             |s| <= s^2 + 1/4 for every real s, and so s_ie - s_if <= s_ie^2 + s_if^2 + 1/2 < z_i
Shapes       S (n, E), member (N_G, E), z (n,), group_score (N_G, n), kept (K_G, n), V (n, E), chosen (K, n)
Assumes      every group has `best` experts or more, and any K_G of them have K
Source       DeepSeek-AI (2024), DeepSeek-V2, section 2.2.2, and DeepSeek-V3, section 2.1.2
"""

from sympy import Expr, Lambda, Le, Lt

from derivations.language.arrays.arrangements import SumOver, Tabulated
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast
from derivations.language.arrays.functions import Lookup, RowSum, named, square
from derivations.language.arrays.routing import TopK
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import Pick
from derivations.language.layers.layer import Equations
from derivations.symbols import index, n, scalar, size

__all__ = ["K_G", "N_G", "chosen_within_groups"]

N_G, K_G = size("N_G"), size("K_G")  # the number of groups, and of those that one position keeps
g, e, r = index("g"), index("e"), index("r")  # number groups, experts, and the kept groups of one position
_u, _v, _w = (scalar(letter) for letter in "uvw")
more = named("more", _u + 2, _u)
among = named("among", _u - _v * (1 - _w), _u, _v, _w)  # u itself where w = 1, so that nothing is rounded


def chosen_within_groups(let: Equations, S: Array, count: Expr, best: int) -> Array:
    """Add the equations that choose `count` experts by the scores S, in groups ranked by their `best` largest scores.

    Definition   that of the module
    Shapes       S (n, E), result (count, n)
    """
    experts = S.shape[1]
    starts, ends = (Iverson(Le(g * experts, e * N_G)), Iverson(Lt(e * N_G, (g + 1) * experts)))
    member = let("member")(Tabulated(Lambda((g, e), starts * ends), N_G, experts))
    z = let("z")(more(RowSum(square(S))))  # smooth, where the largest score would have no rule of differentiation

    def visible(where: Array) -> Array:
        return among(S, ColumnBroadcast(z, experts), where)

    first = let("best", over=(g, N_G))(TopK(visible(RowBroadcast(member[g], n)), best))
    largest = [Pick(S, first[g][place]) for place in range(best)]
    group_score = let("group_score", over=(g, N_G))(sum(largest[1:], largest[0]))
    kept = let("kept")(TopK(group_score.T, K_G))
    V = let("V")(SumOver(Lookup(member, kept[r]), r, K_G))
    return let("chosen")(TopK(visible(V), count))
