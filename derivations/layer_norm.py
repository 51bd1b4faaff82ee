r"""Layer normalisation."""

from sympy import Expr, sqrt

from derivations.language.expression import ColumnBroadcast, RowBroadcast, array
from derivations.language.functions import Hadamard, RowMean, named, square
from derivations.language.layer import Equations, Layer
from derivations.symbols import d, epsilon, n, scalar

__all__ = ["layer_norm"]


def layer_norm(eps: Expr = epsilon) -> Layer:
    """Return layer normalisation: every row brought to mean 0 and variance near 1, then scaled and shifted.

    Definition   mu = mean of the row, sigma^2 = mean of (x - mu)^2, y = gamma (x - mu) / sqrt(sigma^2 + eps) + beta
    Shapes       X (n, d), mu and sigma2 (n,), gamma and beta (d,), Y (n, d)
    Assumes      eps > 0; the variance divides by d
    Source       Ba, Kiros and Hinton (2016), equations 3 and 4
    """
    X, gamma, beta = array("X", n, d), array("gamma", d), array("beta", d)
    x, variance = scalar("x"), scalar("v")
    standardise = named("standardise", x / sqrt(variance + eps), x, variance)

    let = Equations()
    mu = let("mu")(RowMean(X))
    centred = let("X_c")(X - ColumnBroadcast(mu, d))
    sigma2 = let("sigma2")(RowMean(square(centred)))
    normed = let("X_hat")(standardise(centred, ColumnBroadcast(sigma2, d)))
    Y = let("Y")(Hadamard(RowBroadcast(gamma, n), normed) + beta)
    return Layer("layer_norm", (X,), (gamma, beta), let, Y)
