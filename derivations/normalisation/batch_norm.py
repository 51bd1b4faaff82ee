r"""Batch normalisation, and how it differs from layer normalisation.

Definition   mu_j = mean of column j, sigma_j^2 = mean of (x_ij - mu_j)^2 over the rows i,
             x^_ij = (x_ij - mu_j) / sqrt(sigma_j^2 + eps), y_ij = gamma_j x^_ij + beta_j
Result       x^(X) is the transpose of the layer normalisation of X^T: the statistics of a feature are taken over the
             rows, so that every row depends on all others, while layer normalisation treats rows separately
Shapes       X (n, d), mu and sigma2 (d,), gamma and beta (d,), Y (n, d)
Assumes      eps > 0; the variance divides by n, the number of rows of the batch; statistics of training
Source       Ioffe and Szegedy (2015)
"""

from sympy import Derivative, Expr, Ge, Integer, KroneckerDelta, Lambda, Ne, Sum, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowMean, square
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import NullSpace, Rank, Span
from derivations.normalisation.layer_norm import layer_norm, standardise
from derivations.symbols import d, d_in, epsilon, i, index, j, k, l, n, scalar

__all__ = ["batch_norm", "batch_norm_inference"]

IOFFE = "Ioffe and Szegedy (2015), algorithm 1"
X, X_c, X_hat, Y = (array(name, n, d) for name in ("X", "X_c", "X_hat", "Y"))
mu, sigma2, gamma, beta, m, v = (array(name, d) for name in ("mu", "sigma2", "gamma", "beta", "m", "v"))
p = index("p")


@catalogued
def batch_norm(eps: Expr | int = epsilon) -> Layer:
    """Return batch normalisation: standardise every column to mean 0 and variance near 1, then scale and shift it.

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


@catalogued
def batch_norm_inference(eps: Expr | int = epsilon) -> Layer:
    """Return batch normalisation after training: with a fixed mean and variance for each feature.

    Definition   y = gamma (x - m) / sqrt(v + eps) + beta
    Shapes       X and Y (n, d), m, v, gamma and beta (d,)
    Assumes      v >= 0; eps > 0
    Source       Ioffe and Szegedy (2015), algorithm 2
    """
    let = Equations()
    centred = let("X_c")(X - RowBroadcast(m, n))
    let("X_hat")(standardise(eps)(centred, RowBroadcast(v, n)))
    let("Y")(Hadamard(RowBroadcast(gamma, n), X_hat) + beta)
    return Layer("batch_norm_inference", (X,), (gamma, beta, m, v), let, Y)


def applied(to: Array) -> Array:
    """Return batch normalisation, with gamma and beta, of any matrix with d columns."""
    return part("batch_norm", batch_norm())(to, gamma=gamma, beta=beta)


def average(of: Expr) -> Expr:
    """Return the mean of an expression in j over the rows of the batch."""
    return Sum(of, (j, 0, n - 1)) / n


@result
def definition() -> Derivation:
    """The entries of batch normalisation."""
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
    """Layer normalisation averages over the features of one row, batch normalisation over the rows of the batch."""
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
    """An entry changes when another row of the same feature does; in layer normalisation that derivative is 0."""
    s = sqrt(sigma2[k] + epsilon)
    return derivation(
        "Row $i$ of batch normalisation depends on every row $l$ of the batch",
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
    """A single row equals its mean, so the output does not depend on the row."""
    return derivation(
        "Of a batch of one row batch normalisation returns $beta$, whatever the row holds",
        claim(batch_norm().at(n=1).result(array("X", 1, d))[0, k], step("algebra", beta[k])),
        ranges={k: d},
        source=IOFFE,
    )


@result
def mean_and_variance() -> Derivation:
    """Every feature has mean 0 over the batch, and variance near 1."""
    spread = sigma2[k] + epsilon
    return derivation(
        "Every column of $X_hat$ has mean 0 and variance $sigma^2 / (sigma^2 + epsilon)$",
        claim(average(X_hat[j, k]), step("linearity of sums", 0)),
        claim(average(X_hat[j, k] ** 2), step("linearity of sums", sigma2[k] / spread)),
        about=batch_norm(),
        ranges={k: d},
        source=IOFFE,
    )


@result
def jacobian() -> Derivation:
    """Within a feature, the components along 1 and x^ are removed (x^ up to epsilon); features do not interact."""
    within = KroneckerDelta(i, l) - 1 / n - X_hat[i, k] * X_hat[l, k] / n
    return derivation(
        "Jacobian of batch normalisation within a feature, "
        "$gamma/sqrt(sigma^2 + epsilon) (I - 1 1^T/n - x_hat x_hat^T/n)$, and 0 "
        "between features",
        claim(Derivative(Y[i, k], X[l, k]), step("chain rule", gamma[k] / sqrt(sigma2[k] + epsilon) * within)),
        claim((1 - KroneckerDelta(k, p)) * Derivative(Y[i, k], X[l, p]), step("chain rule", 0)),
        claim(Sum(Derivative(Y[i, k], X[j, k]), (j, 0, n - 1)), step("chain rule", 0)),
        about=batch_norm(),
        ranges={i: n, k: d, l: n, p: d},
        source="Ioffe and Szegedy (2015), section 3",
    )


@result
def jacobian_null_space() -> Derivation:
    """Within a feature only a shift common to all rows is lost, if its gamma is not 0."""
    s, same = sqrt(sigma2[k] + epsilon), KroneckerDelta(i, l)
    within = Tabulated(Lambda((i, l), gamma[k] / s * (same - 1 / n - X_hat[i, k] * X_hat[l, k] / n)), n, n)
    # Sherman-Morrison: (I - x^ x^^T/n)^-1 = I + X_c X_c^T/(n eps)
    undone = Tabulated(Lambda((i, l), (same + X_c[i, k] * X_c[l, k] / (n * epsilon)) * s / gamma[k]), n, n)
    ones = Tabulated(Lambda((i,), Integer(1)), n)
    return derivation(
        "The null space of the Jacobian within a feature is $span{1}$, its rank $n - 1$",
        claim(NullSpace(within), step("null space", Span(ones), "=", undone, ones / n)),
        claim(Rank(within), step("rank by trace", n - 1, "=", undone)),
        about=batch_norm(),
        ranges={k: d},
        assuming=[Assumption(Ne(gamma[k], 0), {k: d}, "no feature is switched off")],
        source=IOFFE,
    )


@result
def shift_and_scale() -> Derivation:
    """A bias of the previous layer has no effect; a factor a > 0 on its weights only changes epsilon."""
    Z, W, b, a = array("Z", n, d_in), array("W", d_in, d), array("b", d), scalar("a", positive=True)
    H, scaled = array("H", n, d), batch_norm().until("X_hat").result(Z @ (a * W))
    return derivation(
        "$BatchNorm(Z W + b) = BatchNorm(Z W)$; a factor $a > 0$ on $W$ divides $epsilon$ by $a^2$",
        claim(applied(Z @ W + b), step("linearity of sums", applied(Z @ W))),
        claim(H[i, k], step("algebra", X_c[i, k] / sqrt(sigma2[k] + epsilon / a**2))),
        about=(Equation(X, Z @ W), *batch_norm().equations, Equation(H, scaled)),
        ranges={i: n, k: d},
        source="Ioffe and Szegedy (2015), sections 3.2 and 3.3",
    )


@result
def folds_into_weights() -> Derivation:
    """After training, batch normalisation is an affine map of each feature, which the previous layer can absorb."""
    Z, W, b, c = array("Z", n, d_in), array("W", d_in, d), array("b", d), array("c", d)
    after = part("batch_norm", batch_norm_inference())
    return derivation(
        "After training $BatchNorm(Z W + b) = Z (W Diag(c)) + c (b - m) + beta$ with $c = gamma / sqrt(v + epsilon)$",
        claim(
            after(Z @ W + b, gamma=gamma, beta=beta, m=m, v=v),
            step(
                "distributivity",
                Z @ Hadamard(RowBroadcast(c, d_in), W) + (Hadamard(c, b - m) + beta),
            ),
        ),
        about=[Equation(c, standardise(epsilon)(gamma, v))],
        assuming=[Assumption(Ge(v[k], 0), {k: d}, "a variance")],
        source="Jacob et al. (2018), section 3.2",
    )
