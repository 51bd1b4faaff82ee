r"""The Jacobian of layer normalisation: which changes of a row it keeps, and which it loses.

Definition   x^ and s = sqrt(sigma^2 + eps) as in layer normalisation, y = gamma x^ + beta
Result       dy/dx = Diag(gamma)/s (I - 1 1^T/d - x^ x^^T/d) within a row: the constant direction is lost, and the
             direction of x^ up to epsilon
Shapes       X and Y (n, d), gamma and beta (d,); the Jacobian of one row (d, d)
Assumes      eps > 0 unless a result says otherwise
Source       Xu, Sun, Zhang, Zhao and Lin (2019)
"""

from sympy import Derivative, Expr, Gt, Integer, KroneckerDelta, Lambda, Ne, Sum, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import NullSpace, Rank, Span, SpectralNorm
from derivations.normalisation.layer_norm import BA, X, X_c, X_hat, Y, average, beta, gamma, layer_norm, mu, sigma2
from derivations.symbols import d, epsilon, i, j, k, l, n

__all__: list[str] = []

TOPIC = "layer_norm"

JACOBIAN = "Xu, Sun, Zhang, Zhao and Lin (2019)"
v, deviation = array("v", d), sqrt(sigma2[i] + epsilon)
IDENTITY = Tabulated(Lambda((k, l), KroneckerDelta(k, l)), d, d)
ONES = Tabulated(Lambda((k,), Integer(1)), d)
SCALE = Tabulated(Lambda((k, l), KroneckerDelta(k, l) * gamma[k]), d, d)  # Diag(gamma)


def table(of: Expr) -> Array:
    """Return the matrix with the given entry in row k, column l."""
    return Tabulated(Lambda((k, l), of), d, d)


bare, projected = sqrt(sigma2[i]), KroneckerDelta(k, l) - 1 / d - X_hat[i, k] * X_hat[i, l] / d
DERIVATIVES = table(Derivative(Y[i, k], X[i, l]))
GAMMA_NOT_0 = Assumption(Ne(gamma[k], 0), {k: d}, "no feature is switched off")


@result
def jacobian() -> Derivation:
    """Within a row, the components along 1 and x^ are removed (the latter up to epsilon)."""
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
        source=JACOBIAN,
    )


@result
def jacobian_matrix() -> Derivation:
    """The Jacobian of one row as a matrix: two projections, divided by s, then the scale."""
    derivatives = Tabulated(Lambda((k, l), Derivative(Y[i, k], X[i, l])), d, d)
    mean_part, row_part = (Tabulated(Lambda((k, l), of), d, d) for of in (1 / d, X_hat[i, k] * X_hat[i, l] / d))
    return derivation(
        "Jacobian of layer normalisation as a matrix, "
        "$Diag(gamma)/sqrt(sigma^2 + epsilon) (I - 1 1^T/d - x_hat x_hat^T/d)$",
        claim(derivatives, step("quotient rule", 1 / deviation * (SCALE @ (IDENTITY - mean_part - row_part)))),
        about=layer_norm(),
        ranges={i: n},
        source=JACOBIAN,
    )


@result
def jacobian_directions() -> Derivation:
    """Two directions are special: the constant one is lost, the direction of x^ survives only through epsilon."""
    slope, spread = Derivative(Y[i, k], X[i, j]), sigma2[i] + epsilon
    return derivation(
        "The Jacobian takes $1$ to 0, $x - mu$ to $gamma x_hat epsilon / (sigma^2 + epsilon)$, and leaves all "
        "else but for $gamma/sqrt(sigma^2 + epsilon)$",
        claim(Sum(slope, (j, 0, d - 1)), step("quotient rule", 0)),
        claim(
            Sum(slope * X_c[i, j], (j, 0, d - 1)),
            step("quotient rule", gamma[k] * X_c[i, k] / deviation * (1 - average(X_c[i, j] ** 2) / spread)),
            step("definition", gamma[k] * X_c[i, k] / deviation * (1 - sigma2[i] / spread)),
            step("common denominator", gamma[k] * X_hat[i, k] * epsilon / spread),
        ),
        claim(
            Sum(slope * v[j], (j, 0, d - 1)),
            step(
                "quotient rule",
                gamma[k] / deviation * (v[k] - average(v[j]) - X_hat[i, k] * average(X_hat[i, j] * v[j])),
            ),
        ),
        about=layer_norm(),
        ranges={i: n, k: d},
        source=JACOBIAN,
    )


@result
def jacobian_trace() -> Derivation:
    """The number of remaining directions: d - 2 when eps = 0; epsilon keeps a part of one more."""
    within = 1 - 1 / d - X_hat[i, k] ** 2 / d
    return derivation(
        "The trace of $I - 1 1^T/d - x_hat x_hat^T/d$ is $d - 2 + epsilon / (sigma^2 + epsilon)$",
        claim(
            Sum(deviation * Derivative(X_hat[i, k], X[i, k]), (k, 0, d - 1)),
            step("quotient rule", Sum(within, (k, 0, d - 1))),
            step("linearity of sums", d - 1 - average(X_hat[i, j] ** 2)),
            step("definition", d - 1 - sigma2[i] / (sigma2[i] + epsilon)),
            step("common denominator", d - 2 + epsilon / (sigma2[i] + epsilon)),
        ),
        about=layer_norm(),
        ranges={i: n},
        source=JACOBIAN,
    )


@result
def parameter_derivatives() -> Derivation:
    """The derivative with respect to the scale is the normalised entry, and with respect to the shift it is 1."""
    return derivation(
        "Derivatives of layer normalisation by $gamma$ and $beta$",
        claim(Derivative(Y[i, k], gamma[l]), step("derivative", KroneckerDelta(k, l) * X_hat[i, k])),
        claim(Derivative(Y[i, k], beta[l]), step("derivative", KroneckerDelta(k, l))),
        about=layer_norm(),
        ranges={i: n, k: d, l: d},
        source=BA,
    )


@result
def jacobian_null_space() -> Derivation:
    """Only the constant vectors are lost, if epsilon is positive and no gamma is 0."""
    matrix = table(gamma[k] / deviation * projected)
    # Sherman-Morrison: (I - x^ x^^T/d)^-1 = I + X_c X_c^T/(d eps), as x^ = X_c/s
    inverse = table((KroneckerDelta(k, l) + X_c[i, k] * X_c[i, l] / (d * epsilon)) * deviation / gamma[l])
    return derivation(
        "The null space of the Jacobian is $span{1}$, its rank $d - 1$",
        claim(DERIVATIVES, step("quotient rule", matrix)),
        claim(NullSpace(matrix), step("null space", Span(ONES), "=", inverse, ONES / d)),
        claim(Rank(matrix), step("rank by trace", d - 1, "=", inverse)),
        about=layer_norm(),
        ranges={i: n},
        assuming=[GAMMA_NOT_0],
        source=JACOBIAN,
    )


@result
def jacobian_null_space_without_epsilon() -> Derivation:
    """Without epsilon the direction x^ is lost, too: a row and its multiples about the mean have the same output."""
    matrix, inverse = table(gamma[k] / bare * projected), table(KroneckerDelta(k, l) * bare / gamma[l])
    hat, share = (Tabulated(Lambda((k,), of), d) for of in (X_hat[i, k], X_hat[i, k] / d))
    return derivation(
        "With $epsilon = 0$ and a positive variance the null space of the Jacobian is $span{1, x_hat}$, its rank "
        "$d - 2$",
        claim(DERIVATIVES, step("quotient rule", matrix)),
        claim(NullSpace(matrix), step("null space", Span(ONES, hat), "=", inverse, ONES / d, share)),
        claim(Rank(matrix), step("rank by trace", d - 2, "=", inverse)),
        about=layer_norm(0),
        ranges={i: n},
        assuming=[GAMMA_NOT_0, Assumption(Gt(sigma2[i], 0), {i: n}, "no row is constant")],
        source=JACOBIAN,
    )


@result
def jacobian_bounds() -> Derivation:
    """Two projections do not lengthen a vector: no change grows by more than 1/s, apart from gamma."""
    square, u = Sum(v[k] ** 2, (k, 0, d - 1)), [v[each] - average(v[j]) for each in (k, l)]
    between = Sum((X_hat[i, k] * u[1] - X_hat[i, l] * u[0]) ** 2, (k, 0, d - 1), (l, 0, d - 1)) / (2 * d)
    # lost = v^T v - v^T P v and kept = v^T v + v^T P v, both sums of squares
    lost = (Sum(v[k], (k, 0, d - 1)) ** 2 + Sum(X_hat[i, k] * v[k], (k, 0, d - 1)) ** 2) / d
    kept = square + epsilon / (sigma2[i] + epsilon) * Sum(u[0] ** 2, (k, 0, d - 1)) + between
    return derivation(
        "The norm of $I - 1 1^T/d - x_hat x_hat^T/d$ is at most 1: the Jacobian lengthens nothing by more than "
        "$max |gamma| / sqrt(sigma^2 + epsilon)$",
        claim(SpectralNorm(table(projected)), step("quadratic form", 1, "<=", v, lost, kept)),
        about=layer_norm(),
        ranges={i: n},
        source="Xiong et al. (2020), lemma 3",
    )
