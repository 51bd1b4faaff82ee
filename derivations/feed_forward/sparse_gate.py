r"""A gated network whose gate keeps only the units that lie some number of standard deviations above their mean.

Definition   P = X W_gate, mu and sigma^2 the mean and the variance of its row, T = max(0, P - mu - tau sigma),
             G = activation(T) o X W_up, Y = G W_down
Result       a row times a > 0 has its T times a, and one plus a number has the same T: the share of units that pass
             does not depend on either. Of Gaussian numbers it is 1 - Phi(tau), tau being the quantile of the share of
             zeros
Shapes       X (n, d_model), W_gate and W_up (d_model, d_ff), W_down (d_ff, d_model), mu and sigma2 (n,)
Assumes      the variance divides by d_ff; it is not 0, where its root has no slope: the layer is not in the catalogue
Source       Gemma Team (2025), Gemma 3n, as in the released code
"""

from sympy import Expr, Max, sqrt

from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, Named, RowMean, gelu, named, square
from derivations.language.counting.costs import Count
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import d_ff, d_model, n, scalar

__all__ = ["sparse_gated_feed_forward"]

tau, x, v = scalar("tau", positive=True), scalar("x"), scalar("v")
X = array("X", n, d_model)
W_gate, W_up, W_down = array("W_gate", d_model, d_ff), array("W_up", d_model, d_ff), array("W_down", d_ff, d_model)


TOPIC = "feed_forward"
GEMMA = "Gemma Team (2025), Gemma 3n, as in the released code"


def sparse_gated_feed_forward(activation: Named = gelu, *, cutoff: Expr = tau) -> Layer:
    """Return the gated network whose gate is 0 up to `cutoff` standard deviations above the mean of its row.

    Definition   T = max(0, P - mu - tau sigma), Y = (activation(T) o X W_up) W_down
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


@result
def sparse_gate_scale() -> Derivation:
    """Which units pass does not depend on the scale of a row, nor on a number added to all its entries."""
    a, b, mu, sigma = scalar("a", positive=True), scalar("b"), scalar("mu"), scalar("sigma", positive=True)
    gate, moved = Max(0, x - mu - tau * sigma), Max(0, (a * x + b) - (a * mu + b) - tau * (a * sigma))
    return derivation(
        "A row $a x + b$, $a > 0$, opens the same units of a sparse gate, $a$ times as far",
        claim(moved, step("algebra", a * gate)),
        source=GEMMA,
    )


@result
def sparse_gate_costs() -> Derivation:
    """A sparse gate changes neither the parameters nor the counted products: products with zeros count as well."""
    layer = sparse_gated_feed_forward()
    return derivation(
        "A sparse gate has no parameters, and as many products as without it",
        claim(Count("parameters", layer), step("count", 3 * d_model * d_ff)),
        claim(Count("matmul FLOPs", layer), step("count", 6 * n * d_model * d_ff)),
        source=GEMMA,
    )
