r"""Batch normalisation, and how it differs from layer normalisation.

Definition   mu_j = mean of column j, sigma_j^2 = mean of (x_ij - mu_j)^2 over the rows i,
             x^_ij = (x_ij - mu_j) / sqrt(sigma_j^2 + eps), y_ij = gamma_j x^_ij + beta_j
Result       x^(X) is the transpose of what layer normalisation makes of X^T: the statistics of a feature are taken
             over the rows, so that every row depends on all others, while layer normalisation keeps rows apart
Shapes       X (n, d), mu and sigma2 (d,), gamma and beta (d,), Y (n, d)
Assumes      eps > 0; the variance divides by n, the number of rows of the batch; statistics of training
Source       Ioffe and Szegedy (2015)
"""

from sympy import Derivative, Expr, KroneckerDelta, Sum, sqrt

from derivations.language.derivation import Derivation, claim, derivation, result, step
from derivations.language.expression import RowBroadcast, array
from derivations.language.functions import Hadamard, RowMean, square
from derivations.language.layer import Equations, Layer
from derivations.layer_norm import layer_norm, standardise
from derivations.symbols import d, epsilon, i, j, k, l, n

__all__ = ["batch_norm"]

IOFFE = "Ioffe and Szegedy (2015), algorithm 1"
X, X_c, X_hat, Y = (array(name, n, d) for name in ("X", "X_c", "X_hat", "Y"))
mu, sigma2, gamma, beta = (array(name, d) for name in ("mu", "sigma2", "gamma", "beta"))


def batch_norm(eps: Expr = epsilon) -> Layer:
    """Return batch normalisation: every column brought to mean 0 and variance near 1, then scaled and shifted.

    Definition   mu = mean of the column, sigma^2 = mean of (x - mu)^2, y = gamma (x - mu) / sqrt(sigma^2 + eps) + beta
    Shapes       X (n, d), mu and sigma2 (d,), gamma and beta (d,), Y (n, d)
    Assumes      eps > 0; the variance divides by n; the rows are the whole batch
    Source       Ioffe and Szegedy (2015), algorithm 1
    """
    let = Equations()
    let("mu")(RowMean(X.T))
    let("X_c")(X - RowBroadcast(mu, n))
    let("sigma2")(RowMean(square(X_c).T))
    let("X_hat")(standardise(eps)(X_c, RowBroadcast(sigma2, n)))
    let("Y")(Hadamard(RowBroadcast(gamma, n), X_hat) + beta)
    return Layer("batch_norm", (X,), (gamma, beta), let, Y)


def average(of: Expr) -> Expr:
    """Return the mean of an expression in j over the rows of the batch."""
    return Sum(of, (j, 0, n - 1)) / n


@result
def definition() -> Derivation:
    """Batch normalisation, entry by entry."""
    return derivation(
        "Definition of batch normalisation",
        claim(mu[k], step("definition", average(X[j, k]))),
        claim(sigma2[k], step("definition", average((X[j, k] - mu[k]) ** 2))),
        claim(X_hat[i, k], step("definition", (X[i, k] - mu[k]) / sqrt(sigma2[k] + epsilon))),
        claim(Y[i, k], step("definition", gamma[k] * X_hat[i, k] + beta[k])),
        about=batch_norm(),
        ranges={i: n, k: d},
        source=IOFFE,
    )


@result
def is_layer_norm_of_transpose() -> Derivation:
    """What layer normalisation does along the features of one row, batch normalisation does along the batch."""
    return derivation(
        "Batch normalisation standardises the columns, layer normalisation the rows: each is the other, transposed",
        claim(layer_norm().until("mu").result(X.T), step("definition", mu)),
        claim(layer_norm().until("sigma2").result(X.T), step("transpose of a product", sigma2)),
        claim(layer_norm().until("X_hat").result(X.T).T, step("elementwise function", X_hat)),
        about=batch_norm(),
        source=IOFFE,
    )


@result
def positions_interact() -> Derivation:
    """An entry changes when another row of the same feature does: with layer normalisation the derivative is 0."""
    s = sqrt(sigma2[k] + epsilon)
    return derivation(
        "Row i of batch normalisation depends on every row l of the batch",
        claim(Derivative(mu[k], X[l, k]), step("derivative", 1 / n)),
        claim(Derivative(sigma2[k], X[l, k]), step("chain rule", 2 * X_c[l, k] / n)),
        claim(
            Derivative(X_hat[i, k], X[l, k]),
            step(
                "quotient rule",
                Derivative(X_c[i, k], X[l, k]) / s - X_c[i, k] / (2 * s**3) * Derivative(sigma2[k], X[l, k]),
            ),
            step("derivative", (KroneckerDelta(i, l) - 1 / n) / s - X_c[i, k] * X_c[l, k] / (n * s**3)),
            step("definition", (KroneckerDelta(i, l) - 1 / n - X_hat[i, k] * X_hat[l, k] / n) / s),
        ),
        about=batch_norm(),
        ranges={i: n, k: d, l: n},
        source=IOFFE,
    )


@result
def one_row() -> Derivation:
    """Alone in its batch a row equals its mean: nothing of it is left."""
    return derivation(
        "Of a batch of one row batch normalisation returns beta, whatever the row holds",
        claim(batch_norm().at(n=1).result(array("X", 1, d))[0, k], step("algebra", beta[k])),
        ranges={k: d},
        source=IOFFE,
    )
