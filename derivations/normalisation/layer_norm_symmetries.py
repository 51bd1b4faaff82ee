r"""Invariances of layer normalisation, and maps that may be moved from one side of it to the other.

Definition   LayerNorm(X) = gamma (x - mu) / sqrt(sigma^2 + eps) + beta, row by row
Result       a shift of a row changes nothing, a factor a > 0 only turns eps into eps / a^2; gamma and beta may be moved
             into the next linear layer, the centring into the previous one
Shapes       X (n, d), gamma and beta (d,)
Assumes      eps > 0
Source       Ba, Kiros and Hinton (2016), section 5.1
"""

from sympy import Derivative, KroneckerDelta, Lambda, Sum, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowMean, square
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.normalisation.layer_norm import (
    BA,
    X,
    X_c,
    X_hat,
    Y,
    applied,
    average,
    beta,
    gamma,
    layer_norm,
    mu,
    sigma2,
)
from derivations.symbols import d, d_in, d_out, epsilon, i, index, j, k, l, n, scalar

__all__: list[str] = []

TOPIC = "layer_norm"

BRODY, ASHKBOOS = "Brody, Alon and Yahav (2023)", "Ashkboos et al. (2024), section 3.2"
a = scalar("a", positive=True)
Z, H = array("Z", n, d), array("H", n, d)
IDENTITY = Tabulated(Lambda((k, l), KroneckerDelta(k, l)), d, d)


@result
def shift_invariance() -> Derivation:
    """Adding one number to all entries of a row changes nothing."""
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
    """A factor a > 0 divides epsilon by a^2: without epsilon the factor would have no effect."""
    scaled = a * X
    return derivation(
        "$LayerNorm(a X; epsilon) = LayerNorm(X; epsilon / a^2)$ for every $a > 0$",
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
    """Every row is normalised separately: LN(X)_i is LN applied to the matrix whose only row is x_i."""
    alone = Tabulated(Lambda((j, k), X[i, k]), 1, d)
    return derivation(
        "Row $i$ of $LN(X)$ is $LN(x_i)$",
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
        "Row $i$ of $LN(X)$ does not depend on any other row of $X$",
        claim((1 - KroneckerDelta(i, p)) * Derivative(Y[i, k], X[p, l]), step("chain rule", 0)),
        about=layer_norm(),
        ranges={i: n, p: n, k: d, l: d},
        source=BA,
    )


@result
def twice() -> Derivation:
    """Normalising twice only repeats the effect of epsilon: normalised rows are divided by nearly 1."""
    spread = sigma2[i] + epsilon
    return derivation(
        "Normalising $X_hat$ again divides it by $sqrt(sigma^2 / (sigma^2 + epsilon) + epsilon)$, which is 1 "
        "when $epsilon = 0$",
        claim(RowMean(X_hat)[i], step("linearity of sums", 0)),
        claim(Z[i, k], step("linearity of sums", X_hat[i, k] / sqrt(sigma2[i] / spread + epsilon))),
        about=(*layer_norm().equations, Equation(Z, layer_norm().until("X_hat").result(X_hat))),
        ranges={i: n, k: d},
        source=BA,
    )


@result
def weights_may_shift_and_scale() -> Derivation:
    """A common shift of the columns of the previous matrix has no effect, and its scale only changes epsilon."""
    W, v, inputs = array("W", d_in, d), array("v", d_in), array("Z", n, d_in)
    scaled = Equation(H, layer_norm().until("X_hat").result(inputs @ (a * W)))
    return derivation(
        "$LayerNorm(Z (W + v 1^T)) = LayerNorm(Z W)$; a factor $a > 0$ on $W$ divides $epsilon$ by $a^2$",
        claim(applied(inputs @ (W + ColumnBroadcast(v, d))), step("linearity of sums", applied(inputs @ W))),
        claim(H[i, k], step("algebra", X_c[i, k] / sqrt(sigma2[i] + epsilon / a**2))),
        about=(Equation(X, inputs @ W), *layer_norm().equations, scaled),
        ranges={i: n, k: d},
        source="Ba, Kiros and Hinton (2016), section 5.1, table 1",
    )


@result
def affine_folds_into_weights() -> Derivation:
    """Scale and shift may be moved into the next linear layer; the norm itself may not."""
    W, b = array("W", d, d_out), array("b", d_out)
    scaled, shift = Hadamard(ColumnBroadcast(gamma, d_out), W), beta @ W
    return derivation(
        "$LayerNorm(X) W + b = X_hat (Diag(gamma) W) + (beta W + b)$",
        claim(Y @ W + b, step("matrix product", X_hat @ scaled + (shift + b))),
        about=layer_norm(),
        source=ASHKBOOS,
    )


@result
def centring_is_a_projection() -> Derivation:
    """Subtracting the mean is a product with a symmetric matrix, so the previous layer can absorb it."""
    centring = IDENTITY - Tabulated(Lambda((k, l), 1 / d), d, d)
    return derivation(
        "$X_c = X (I - 1 1^T/d)$, and $I - 1 1^T/d$ is a projection of trace $d - 1$",
        claim(X_c, step("matrix product", X @ centring)),
        claim(centring @ centring, step("linearity of sums", centring)),
        claim(centring.T, step("algebra", centring)),
        claim(Sum(centring[k, k], (k, 0, d - 1)), step("linearity of sums", d - 1)),
        about=layer_norm(),
        source=BRODY,
    )
