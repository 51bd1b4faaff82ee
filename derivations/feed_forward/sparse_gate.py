r"""A gated network whose gate lets few units through: those above a number of standard deviations over their mean.

Definition   P = X W_gate, mu and sigma^2 the mean and the variance of its row, T = max(0, P - mu - c sigma),
             G = activation(T) o X W_up, Y = G W_down
Result       a row times a > 0 has its T times a, and one plus a number has the same T: the share of units that pass
             does not depend on either. Of Gaussian numbers it is 1 - Phi(c): c is the quantile of the share of zeros
Shapes       X (n, d_model), W_gate and W_up (d_model, d_ff), W_down (d_ff, d_model), mu and sigma2 (n,)
Assumes      the variance divides by d_ff
Source       Gemma Team (2025), Gemma 3n, as in the released code
"""

from sympy import Expr, Max, sqrt

from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, Named, RowMean, gelu, named, square
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d_ff, d_model, n, scalar

__all__ = ["c", "sparse_gated_feed_forward"]

c, x, v = scalar("c", positive=True), scalar("x"), scalar("v")
X = array("X", n, d_model)
W_gate, W_up, W_down = array("W_gate", d_model, d_ff), array("W_up", d_model, d_ff), array("W_down", d_ff, d_model)


def sparse_gated_feed_forward(activation: Named = gelu, *, cutoff: Expr = c) -> Layer:
    """Return the gated network whose gate is 0 up to `cutoff` standard deviations above the mean of its row.

    Definition   T = max(0, P - mu - c sigma), Y = (activation(T) o X W_up) W_down
    Shapes       X and Y (n, d_model), W_gate and W_up (d_model, d_ff), W_down (d_ff, d_model)
    Source       Gemma Team (2025), Gemma 3n, as in the released code
    """
    above = named("above", Max(0, x - cutoff * sqrt(v)), x, v)
    let = Equations()
    P = let("P")(X @ W_gate)
    mu = let("mu")(RowMean(P))
    P_c = let("P_c")(P - ColumnBroadcast(mu, d_ff))
    sigma2 = let("sigma2")(RowMean(square(P_c)))
    T = let("T")(above(P_c, ColumnBroadcast(sigma2, d_ff)))
    U = let("U")(X @ W_up)
    G = let("G")(Hadamard(activation(T), U))
    return Layer("sparse_gated_feed_forward", (X,), (W_gate, W_up, W_down), let, let("Y")(G @ W_down))
