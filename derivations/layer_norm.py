r"""Layer normalisation: mean, variance and symmetries of what it returns, its Jacobian.

Definition   mu_i = mean of row i, sigma_i^2 = mean of (x_ij - mu_i)^2,
             x^_ij = (x_ij - mu_i) / sqrt(sigma_i^2 + eps), y_ij = gamma_j x^_ij + beta_j
Result       every row of x^ has mean 0 and variance sigma^2 / (sigma^2 + eps), a little less than 1
Shapes       X (n, d), mu and sigma2 (n,), gamma and beta (d,), Y (n, d)
Assumes      eps > 0; the variance divides by d
Source       Ba, Kiros and Hinton (2016)
"""

from sympy import Derivative, Expr, Ge, KroneckerDelta, Lambda, Sum, sqrt

from derivations.language.arrangements import Tabulated
from derivations.language.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.expression import Array, ColumnBroadcast, RowBroadcast, array
from derivations.language.functions import Hadamard, Named, RowMean, named, square
from derivations.language.layer import Equations, Layer, part
from derivations.symbols import d, epsilon, i, index, j, k, l, n, scalar

__all__ = ["layer_norm", "standardise"]

BA = "Ba, Kiros and Hinton (2016)"
X, X_c, X_hat, Y = (array(name, n, d) for name in ("X", "X_c", "X_hat", "Y"))
mu, sigma2, gamma, beta = array("mu", n), array("sigma2", n), array("gamma", d), array("beta", d)


def standardise(eps: Expr) -> Named:
    """Return the elementwise function (x, v) -> x / sqrt(v + eps)."""
    x, variance = scalar("x"), scalar("v")
    return named("standardise", x / sqrt(variance + eps), x, variance)


def layer_norm(eps: Expr = epsilon) -> Layer:
    """Return layer normalisation: every row brought to mean 0 and variance near 1, then scaled and shifted.

    Definition   mu = mean of the row, sigma^2 = mean of (x - mu)^2, y = gamma (x - mu) / sqrt(sigma^2 + eps) + beta
    Shapes       X (n, d), mu and sigma2 (n,), gamma and beta (d,), Y (n, d)
    Assumes      eps > 0; the variance divides by d
    Source       Ba, Kiros and Hinton (2016), equations 3 and 4
    """
    let = Equations()
    let("mu")(RowMean(X))
    let("X_c")(X - ColumnBroadcast(mu, d))
    let("sigma2")(RowMean(square(X_c)))
    let("X_hat")(standardise(eps)(X_c, ColumnBroadcast(sigma2, d)))
    let("Y")(Hadamard(RowBroadcast(gamma, n), X_hat) + beta)
    return Layer("layer_norm", (X,), (gamma, beta), let, Y)


def applied(to: Array) -> Array:
    """Return layer normalisation, with gamma and beta, of any matrix with d columns."""
    return part("layer_norm", layer_norm())(to, gamma=gamma, beta=beta)


def average(of: Expr) -> Expr:
    """Return the mean of an expression in j over the features."""
    return Sum(of, (j, 0, d - 1)) / d


@result
def definition() -> Derivation:
    """Layer normalisation, entry by entry."""
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
    """The differences to the mean add up to 0."""
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
    """Every normalised row has mean 0; the mean of the output is set by gamma and beta."""
    return derivation(
        "Every row of X_hat has mean 0",
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
    """The variance of a normalised row: a mean of squares, from which epsilon takes its part."""
    spread = sigma2[i] + epsilon
    return derivation(
        "Every row of X_hat has variance sigma^2 / (sigma^2 + eps)",
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
    """Epsilon makes the difference, however small it is."""
    spread = sigma2[i] + epsilon
    return derivation(
        "The variance of a row of X_hat is less than 1, by eps / (sigma^2 + eps)",
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
def shift_invariance() -> Derivation:
    """A number of its own added to every row changes nothing."""
    c = array("c", n)
    shifted = X + ColumnBroadcast(c, d)
    return derivation(
        "Layer normalisation does not change when a number is added to all entries of a row",
        claim(
            X[i, k] + c[i] - average(X[i, j] + c[i]),
            step("linearity of sums", X[i, k] - average(X[i, j])),
            step("definition", X_c[i, k]),
        ),
        claim(applied(shifted), step("linearity of sums", Y)),
        about=layer_norm(),
        ranges={i: n, k: d},
        source="Ba, Kiros and Hinton (2016), section 5.1",
    )


@result
def scale_invariance() -> Derivation:
    """A factor a > 0 divides epsilon by a^2: with no epsilon the factor would not be seen at all."""
    a = scalar("a", positive=True)
    scaled = a * X
    return derivation(
        "LayerNorm(a X; eps) = LayerNorm(X; eps / a^2) for every a > 0",
        claim(RowMean(scaled), step("linearity of sums", a * mu)),
        claim(RowMean(square(scaled - ColumnBroadcast(a * mu, d))), step("linearity of sums", a**2 * sigma2)),
        claim(
            applied(scaled)[i, k],
            step("definition", gamma[k] * a * X_c[i, k] / sqrt(a**2 * sigma2[i] + epsilon) + beta[k]),
            step("algebra", gamma[k] * X_c[i, k] / sqrt(sigma2[i] + epsilon / a**2) + beta[k]),
            step("definition", layer_norm(epsilon / a**2).result(X)[i, k]),
        ),
        about=layer_norm(),
        ranges={i: n, k: d},
        source="Ba, Kiros and Hinton (2016), section 5.1",
    )


@result
def per_position() -> Derivation:
    """Every row is normalised by itself: LN(X)_i is LN applied to the matrix whose only row is x_i."""
    alone = Tabulated(Lambda((j, k), X[i, k]), 1, d)
    return derivation(
        "Row i of LN(X) is LN(x_i)",
        claim(
            Y[i, k],
            step(
                "definition",
                gamma[k] * (X[i, k] - average(X[i, j])) / sqrt(average(X_c[i, j] ** 2) + epsilon) + beta[k],
            ),
            step("algebra", applied(alone)[0, k]),
        ),
        about=layer_norm(),
        ranges={i: n, k: d},
        source=BA,
    )


@result
def positions_do_not_interact() -> Derivation:
    """No entry of row i changes when another row of the input changes."""
    p = index("p")
    return derivation(
        "Row i of LN(X) does not depend on any other row of X",
        claim((1 - KroneckerDelta(i, p)) * Derivative(Y[i, k], X[p, l]), step("chain rule", 0)),
        about=layer_norm(),
        ranges={i: n, p: n, k: d, l: d},
        source=BA,
    )


@result
def jacobian() -> Derivation:
    """Within a row, what lies along the constant vector and along x^ is taken away (the latter up to epsilon)."""
    s = sqrt(sigma2[i] + epsilon)
    return derivation(
        "Jacobian of layer normalisation within a row",
        claim(Derivative(mu[i], X[i, l]), step("derivative", 1 / d)),
        claim(Derivative(sigma2[i], X[i, l]), step("chain rule", 2 * X_c[i, l] / d)),
        claim(
            Derivative(X_hat[i, k], X[i, l]),
            step(
                "quotient rule",
                Derivative(X_c[i, k], X[i, l]) / s - X_c[i, k] / (2 * s**3) * Derivative(sigma2[i], X[i, l]),
            ),
            step("derivative", (KroneckerDelta(k, l) - 1 / d) / s - X_c[i, k] * X_c[i, l] / (d * s**3)),
            step("definition", (KroneckerDelta(k, l) - 1 / d - X_hat[i, k] * X_hat[i, l] / d) / s),
        ),
        claim(
            Derivative(Y[i, k], X[i, l]),
            step("chain rule", gamma[k] * (KroneckerDelta(k, l) - 1 / d - X_hat[i, k] * X_hat[i, l] / d) / s),
        ),
        about=layer_norm(),
        ranges={i: n, k: d, l: d},
        source="Xu, Sun, Zhang, Zhao and Lin (2019)",
    )
