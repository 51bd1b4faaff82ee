r"""Layer normalisation: the mean, variance and range of its output.

Definition   mu_i = mean of row i, sigma_i^2 = mean of (x_ij - mu_i)^2,
             x^_ij = (x_ij - mu_i) / sqrt(sigma_i^2 + eps), y_ij = gamma_j x^_ij + beta_j
Result       every row of x^ has mean 0 and variance sigma^2 / (sigma^2 + eps), a little less than 1
Shapes       X (n, d), mu and sigma2 (n,), gamma and beta (d,), Y (n, d)
Assumes      eps > 0; the variance divides by d
Source       Ba, Kiros and Hinton (2016)
"""

from sympy import Expr, Ge, KroneckerDelta, Sum, sqrt

from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, Named, RowMean, named, square
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d, epsilon, i, j, k, l, n, scalar

__all__ = ["layer_norm", "standardise"]

BA = "Ba, Kiros and Hinton (2016)"
X, X_c, X_hat, Y = (array(name, n, d) for name in ("X", "X_c", "X_hat", "Y"))
mu, sigma2, gamma, beta = array("mu", n), array("sigma2", n), array("gamma", d), array("beta", d)


def standardise(eps: Expr | int) -> Named:
    """Return the elementwise function (x, v) -> x / sqrt(v + eps)."""
    x, variance = scalar("x"), scalar("v")
    return named("standardise", x / sqrt(variance + eps), x, variance)


@catalogued
def layer_norm(eps: Expr | int = epsilon, *, scaled: bool = True, shifted: bool = True) -> Layer:
    """Return layer normalisation: standardise every row to mean 0 and variance near 1, then scale and shift it.

    Definition   mu = mean of the row, sigma^2 = mean of (x - mu)^2, y = gamma (x - mu) / sqrt(sigma^2 + eps) + beta;
                 without gamma unless `scaled`, without beta unless `shifted`
    Shapes       X (n, d), mu and sigma2 (n,), gamma and beta (d,), Y (n, d)
    Assumes      eps > 0; the variance divides by d
    Source       Ba, Kiros and Hinton (2016), equations 3 and 4; Groeneveld et al. (2024), OLMo, section 2.1, without
                 both
    Raises       ValueError for a shift without a scale
    """
    if shifted and not scaled:
        raise ValueError("layer norm: shifted=True needs scaled=True; a shift without a scale is in no model")
    let = Equations()
    let("mu")(RowMean(X))
    let("X_c")(X - ColumnBroadcast(mu, d))
    let("sigma2")(RowMean(square(X_c)))
    normed = let("X_hat" if scaled else "Y")(standardise(eps)(X_c, ColumnBroadcast(sigma2, d)))
    if not scaled:
        return Layer("standardisation", (X,), (), let, normed)
    product = Hadamard(RowBroadcast(gamma, n), normed)
    output = let("Y")(product + beta if shifted else product)
    if not shifted:
        return Layer("layer_norm_without_shift", (X,), (gamma,), let, output)
    return Layer("layer_norm", (X,), (gamma, beta), let, output)


def applied(to: Array) -> Array:
    """Return layer normalisation, with gamma and beta, of any matrix with d columns."""
    return part("layer_norm", layer_norm())(to, gamma=gamma, beta=beta)


def average(of: Expr) -> Expr:
    """Return the mean of an expression in j over the features."""
    return Sum(of, (j, 0, d - 1)) / d


@result
def definition() -> Derivation:
    """The entries of layer normalisation."""
    return derivation(
        "Definition of layer normalisation",
        claim(mu[i], step("definition", average(X[i, j]))),
        claim(sigma2[i], step("definition", average((X[i, j] - mu[i]) ** 2))),
        claim(X_hat[i, k], step("definition", (X[i, k] - mu[i]) / sqrt(sigma2[i] + epsilon))),
        claim(Y[i, k], step("definition", gamma[k] * X_hat[i, k] + beta[k])),
        about=layer_norm(),
        ranges={i: n, k: d},
        source="Ba, Kiros and Hinton (2016), equations 3 and 4",
    )


@result
def centred() -> Derivation:
    """The differences from the mean add up to 0."""
    return derivation(
        "The differences of a row to its mean have mean 0",
        claim(
            average(X_c[i, j]),
            step("definition", average(X[i, j] - mu[i])),
            step("linearity of sums", average(X[i, j]) - mu[i]),
            step("definition", 0),
        ),
        about=layer_norm(),
        ranges={i: n},
        source=BA,
    )


@result
def mean() -> Derivation:
    """Every normalised row has mean 0; gamma and beta set the mean of the output."""
    return derivation(
        "Every row of $X_hat$ has mean 0",
        claim(
            average(X_hat[i, j]),
            step("definition", average(X_c[i, j] / sqrt(sigma2[i] + epsilon))),
            step("linearity of sums", average(X_c[i, j]) / sqrt(sigma2[i] + epsilon)),
            step("definition", 0),
        ),
        claim(
            average(Y[i, j]),
            step("definition", average(gamma[j] * X_hat[i, j] + beta[j])),
            step("linearity of sums", average(gamma[j] * X_hat[i, j]) + average(beta[j])),
        ),
        about=layer_norm(),
        ranges={i: n},
        source=BA,
    )


@result
def variance() -> Derivation:
    """The variance of a normalised row: a mean of squares, which epsilon reduces."""
    spread = sigma2[i] + epsilon
    return derivation(
        "Every row of $X_hat$ has variance $sigma^2 / (sigma^2 + epsilon)$",
        claim(
            average(X_hat[i, j] ** 2),
            step("definition", average(X_c[i, j] ** 2 / spread)),
            step("linearity of sums", average(X_c[i, j] ** 2) / spread),
            step("definition", sigma2[i] / spread),
        ),
        claim(sigma2[i], step("bound", 0, ">=")),
        about=layer_norm(),
        ranges={i: n},
        source=BA,
    )


@result
def variance_is_not_1() -> Derivation:
    """The variance is below 1 because of epsilon, however small epsilon is."""
    spread = sigma2[i] + epsilon
    return derivation(
        "The variance of a row of $X_hat$ is less than 1, by $epsilon / (sigma^2 + epsilon)$",
        claim(
            sigma2[i] / spread,
            step("common denominator", 1 - epsilon / spread),
            step("bound", 1, "<", epsilon / spread),
        ),
        ranges={i: n},
        assuming=[Assumption(Ge(sigma2[i], 0), {i: n}, "a mean of squares")],
        source=BA,
    )


@result
def sphere() -> Derivation:
    """The normalised rows, of mean 0, are inside the sphere of radius sqrt(d), and near it."""
    spread = sigma2[i] + epsilon
    return derivation(
        "Every row of $X_hat$ is shorter than $sqrt(d)$, because of $epsilon$",
        claim(
            Sum(X_hat[i, j] ** 2, (j, 0, d - 1)),
            step("linearity of sums", d * sigma2[i] / spread),
            step("common denominator", d - d * epsilon / spread),
            step("bound", d, "<", d * epsilon / spread),
        ),
        about=layer_norm().equations[2:],  # for every X_c, not only for one that came from a mean
        ranges={i: n},
        source="Brody, Alon and Yahav (2023)",
    )


@result
def largest_deviation() -> Derivation:
    """One feature can deviate by at most sqrt(d - 1) standard deviations: the others balance it (Samuelson)."""
    others = (1 - KroneckerDelta(j, k)) * (1 - KroneckerDelta(l, k))
    # Lagrange's identity for the other d - 1 entries, which add up to -X_c[i, k]
    unequal = Sum(others * (X_c[i, j] - X_c[i, l]) ** 2, (j, 0, d - 1), (l, 0, d - 1)) / (2 * d)
    return derivation(
        "No entry of a row is further from the mean than $sqrt(d - 1)$ standard deviations",
        claim(X_c[i, k] ** 2, step("bound", (d - 1) * sigma2[i], "<=", unequal)),
        about=layer_norm(),
        ranges={i: n, k: d},
        source="Samuelson (1968)",
    )


@result
def variance_of_squares() -> Derivation:
    """The one-pass form of the variance, which cancels digits: some implementations lose accuracy by it."""
    return derivation(
        "The variance is the mean of the squares less the square of the mean",
        claim(
            sigma2[i],
            step("definition", average((X[i, j] - mu[i]) ** 2)),
            step("linearity of sums", average(X[i, j] ** 2) - 2 * mu[i] * average(X[i, j]) + mu[i] ** 2),
            step("definition", average(X[i, j] ** 2) - mu[i] ** 2),
        ),
        about=layer_norm(),
        ranges={i: n},
        source=BA,
    )


@result
def one_feature() -> Derivation:
    """With one feature the output is beta. With two, little more than the sign of their difference is left."""
    pair = array("X", n, 2)
    half = (pair[i, 0] - pair[i, 1]) / 2
    return derivation(
        "Of one feature layer normalisation leaves $beta$; of two, $(t, -t) / sqrt(t^2 + epsilon)$ with $t$ half "
        "their difference",
        claim(layer_norm().at(d=1).result(array("X", n, 1))[i, 0], step("algebra", array("beta", 1)[0])),
        claim(
            layer_norm().until("X_hat").at(d=2).result(pair)[i, 0],
            step("linearity of sums", half / sqrt(half**2 + epsilon)),
        ),
        ranges={i: n},
        source=BA,
    )
