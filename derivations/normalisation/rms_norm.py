r"""Root mean square normalisation: layer normalisation without its mean.

Definition   ms_i = mean of x_ij^2, x^_ij = x_ij / sqrt(ms_i + eps), y_ij = gamma_j x^_ij
Result       every row of x^ has mean square ms / (ms + eps), a little less than 1; LayerNorm(X) is RMSNorm of the
             centred X, plus beta
Shapes       X (n, d), ms (n,), gamma (d,), Y (n, d)
Assumes      eps > 0 unless a result says otherwise
Source       Zhang and Sennrich (2019)
"""

from sympy import Derivative, Eq, Expr, Gt, KroneckerDelta, Lambda, Sum, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowMean, square
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.normalisation.layer_norm import X, X_hat, Y, average, beta, gamma, layer_norm, standardise
from derivations.normalisation.layer_norm import applied as layer_normed
from derivations.symbols import d, d_out, epsilon, i, index, j, k, l, n, scalar

__all__ = ["rms_norm"]

ZHANG = "Zhang and Sennrich (2019), equation 4"
SECTION, INVARIANCE = "Zhang and Sennrich (2019), section 4", "Zhang and Sennrich (2019), section 4.1"
Q_hat, K_hat, ms_Q, ms_K = array("Q_hat", n, d), array("K_hat", n, d), array("ms_Q", n), array("ms_K", n)
ms = array("ms", n)
root, a = sqrt(ms[i] + epsilon), scalar("a", positive=True)
NO_ROW_IS_0 = Assumption(Gt(Sum(X[i, j] ** 2, (j, 0, d - 1)), 0), {i: n}, "no row is 0")


@catalogued
def rms_norm(eps: Expr | int = epsilon, *, scaled: bool = True) -> Layer:
    """Return root mean square normalisation: divide every row to mean square near 1, then scale it.

    Definition   ms = mean of x^2 in the row, y = gamma x / sqrt(ms + eps); without gamma unless `scaled`
    Shapes       X (n, d), ms (n,), gamma (d,), Y (n, d)
    Assumes      eps > 0; with eps = 0 no row is 0
    Source       Zhang and Sennrich (2019), equation 4, which has eps = 0
    """
    let = Equations()
    let("ms")(RowMean(square(X)))
    normed = let("X_hat" if scaled else "Y")(standardise(eps)(X, ColumnBroadcast(ms, d)))
    if not scaled:
        return Layer("rms_norm_without_scale", (X,), (), let, normed)
    let("Y")(Hadamard(RowBroadcast(gamma, n), X_hat))
    return Layer("rms_norm", (X,), (gamma,), let, Y)


def applied(to: Array, eps: Expr | int = epsilon) -> Array:
    """Return root mean square normalisation, with gamma, of any matrix with d columns."""
    return part("rms_norm", rms_norm(eps))(to, gamma=gamma)


@result
def definition() -> Derivation:
    """The entries of root mean square normalisation."""
    return derivation(
        "Definition of root mean square normalisation",
        claim(ms[i], step("definition", average(X[i, j] ** 2))),
        claim(X_hat[i, k], step("definition", X[i, k] / root)),
        claim(Y[i, k], step("definition", gamma[k] * X_hat[i, k])),
        about=rms_norm(),
        ranges={i: n, k: d},
        source=ZHANG,
    )


@result
def mean_square() -> Derivation:
    """Every normalised row is on a sphere whose radius is a little smaller than sqrt(d)."""
    return derivation(
        "Every row of $X_hat$ has mean square $ms / (ms + epsilon)$: less than 1, by $epsilon / (ms + epsilon)$",
        claim(
            average(X_hat[i, j] ** 2),
            step("definition", average(X[i, j] ** 2 / (ms[i] + epsilon))),
            step("linearity of sums", average(X[i, j] ** 2) / (ms[i] + epsilon)),
            step("definition", ms[i] / (ms[i] + epsilon)),
            step("common denominator", 1 - epsilon / (ms[i] + epsilon)),
            step("bound", 1, "<", epsilon / (ms[i] + epsilon)),
        ),
        claim(Sum(X_hat[i, j] ** 2, (j, 0, d - 1)), step("linearity of sums", d - d * epsilon / (ms[i] + epsilon))),
        about=rms_norm(),
        ranges={i: n},
        source=SECTION,
    )


@result
def scale_invariance() -> Derivation:
    """Without epsilon a factor a > 0 has no effect; otherwise it divides epsilon by a^2."""
    let = Equations()
    scaled = standardise(0)(a * X, ColumnBroadcast(RowMean(square(a * X)), d))
    Z = let("Z")(Hadamard(RowBroadcast(gamma, n), scaled))
    return derivation(
        "$RMSNorm(a X) = RMSNorm(X)$ for every $a > 0$ when $epsilon = 0$; in general $a$ divides $epsilon$ by $a^2$",
        claim(
            Z[i, k],
            step("definition", gamma[k] * a * X[i, k] / sqrt(average((a * X[i, j]) ** 2))),
            step("linearity of sums", gamma[k] * X[i, k] / sqrt(ms[i])),
            given=(NO_ROW_IS_0,),
        ),
        claim(
            applied(a * X)[i, k],
            step("definition", gamma[k] * a * X[i, k] / sqrt(a**2 * ms[i] + epsilon)),
            step("algebra", gamma[k] * X[i, k] / sqrt(ms[i] + epsilon / a**2)),
            step("definition", applied(X, epsilon / a**2)[i, k]),
        ),
        about=[*rms_norm().equations, *let],
        ranges={i: n, k: d},
        source=INVARIANCE,
    )


@result
def scale_defect() -> Derivation:
    """The effect of epsilon: multiplying a row by a > 0 multiplies its output by a known factor."""
    ratio = (ms[i] + epsilon) / (ms[i] + epsilon / a**2)
    return derivation(
        "$RMSNorm(a X) / RMSNorm(X) = sqrt((ms + epsilon) / (ms + epsilon / a^2))$, which is 1 only for $a = 1$",
        claim(
            applied(a * X)[i, k],
            step("definition", gamma[k] * X[i, k] / sqrt(ms[i] + epsilon / a**2)),
            step("algebra", gamma[k] * X[i, k] / root * sqrt(ratio)),
            step("definition", Y[i, k] * sqrt(ratio)),
        ),
        claim(ratio - 1, step("common denominator", epsilon * (1 - 1 / a**2) / (ms[i] + epsilon / a**2))),
        about=rms_norm(),
        ranges={i: n, k: d},
        source=INVARIANCE,
    )


@result
def unit_vector() -> Derivation:
    """Without epsilon the normalised row is the unit vector of the row times sqrt(d)."""
    return derivation(
        "Without $epsilon$, $X_hat$ is the row divided by its length, times $sqrt(d)$",
        claim(
            X_hat[i, k],
            step("definition", X[i, k] / sqrt(ms[i])),
            step("algebra", sqrt(d) * X[i, k] / sqrt(Sum(X[i, j] ** 2, (j, 0, d - 1)))),
        ),
        about=rms_norm(0),
        ranges={i: n, k: d},
        assuming=[NO_ROW_IS_0],
        source=SECTION,
    )


@result
def query_key_bound() -> Derivation:
    """Scores of normalised queries and keys are bounded, for any weights."""
    score = Sum(Q_hat[i, j] * K_hat[l, j], (j, 0, d - 1))
    unlike, alike = (Sum((Q_hat[i, j] + sign * K_hat[l, j]) ** 2, (j, 0, d - 1)) / 2 for sign in (-1, 1))
    # d - q . k = |q - k|^2 / 2 + d - (|q|^2 + |k|^2) / 2, where |q|^2 = d - d eps / (ms_Q + eps)
    short = d / 2 * epsilon * (1 / (ms_Q[i] + epsilon) + 1 / (ms_K[l] + epsilon))
    let = Equations()
    for rows, squares in ((array("Q", n, d), ms_Q), (array("K", n, d), ms_K)):
        let(squares.name)(RowMean(square(rows)))
        let(f"{rows.name}_hat")(standardise(epsilon)(rows, ColumnBroadcast(squares, d)))
    return derivation(
        "The dot product of a normalised query and a normalised key lies between $-d$ and $d$",
        claim(score, step("bound", d, "<=", unlike + short)),
        claim(score, step("bound", -d, ">=", alike + short)),
        about=tuple(let),
        ranges={i: n, l: n},
        source="Henry, Dachapally, Pawar and Chen (2020), section 3",
    )


@result
def layer_norm_is_rms_norm_of_centred() -> Derivation:
    """LayerNorm subtracts the mean, applies RMSNorm and adds beta. On rows of mean 0 the two differ only by beta."""
    centred = X - ColumnBroadcast(RowMean(X), d)
    no_mean = Assumption(Eq(Sum(X[i, j], (j, 0, d - 1)), 0, evaluate=False), {i: n}, "every row has mean 0")
    return derivation(
        "$LayerNorm(X) = RMSNorm(X - mean) + beta$; $LayerNorm(X) = RMSNorm(X) + beta$ on rows of mean 0",
        claim(layer_normed(X), step("definition", applied(centred) + beta)),
        claim(layer_normed(X), step("assumption", applied(X) + beta), given=(no_mean,)),
        source=SECTION,
    )


@result
def mean_is_kept() -> Derivation:
    """Unlike LayerNorm, RMSNorm keeps the mean of a row, divided like every entry: a shift changes the output."""
    return derivation(
        "The mean of a row of $X_hat$ is the mean of the row, divided by $sqrt(ms + epsilon)$",
        claim(average(X_hat[i, j]), step("linearity of sums", average(X[i, j]) / root)),
        about=rms_norm(),
        ranges={i: n},
        source=SECTION,
    )


@result
def odd() -> Derivation:
    """The negated row gives the negated result."""
    return derivation(
        "$RMSNorm(-X) = -RMSNorm(X)$",
        claim(applied(-X), step("algebra", -applied(X))),
        source=SECTION,
    )


@result
def orthogonal_maps_pass() -> Derivation:
    """A rotation of the features may come before the norm or after it, without gamma: it changes no length."""
    Q = array("Q", d, d)
    same_length = Eq(*(Sum(rows.entry(i, j) ** 2, (j, 0, d - 1)) for rows in (X @ Q, X)))
    orthogonal = Assumption(same_length, {i: n}, "$Q$ is orthogonal: it keeps the length of every row")
    bare = rms_norm().until("X_hat")
    return derivation(
        "For an orthogonal $Q$, $X Q / rms(X Q) = (X / rms(X)) Q$",
        claim(RowMean(square(X @ Q)), step("assumption", ms)),
        claim(bare.result(X @ Q), step("assumption", X_hat @ Q)),
        about=bare,
        assuming=[orthogonal],
        source="Ashkboos et al. (2024), section 3.1",
    )


@result
def gamma_folds_into_weights() -> Derivation:
    """The scale may be multiplied into the rows of the next matrix."""
    W = array("W", d, d_out)
    folded = Hadamard(ColumnBroadcast(gamma, d_out), W)
    return derivation(
        "$RMSNorm(X) W = X_hat (Diag(gamma) W)$",
        claim(Y @ W, step("matrix product", X_hat @ folded)),
        about=rms_norm(),
        source="Ashkboos et al. (2024), section 3.2",
    )


@result
def per_position() -> Derivation:
    """Every row is normalised separately: the output does not depend on other rows."""
    p, alone = index("p"), Tabulated(Lambda((j, k), X[i, k]), 1, d)
    return derivation(
        "Row $i$ of $RMSNorm(X)$ is $RMSNorm(x_i)$",
        claim(Y[i, k], step("definition", applied(alone)[0, k])),
        claim((1 - KroneckerDelta(i, p)) * Derivative(Y[i, k], X[p, l]), step("chain rule", 0)),
        about=rms_norm(),
        ranges={i: n, p: n, k: d, l: d},
        source=SECTION,
    )


@result
def cost() -> Derivation:
    """RMSNorm has no beta, and does not subtract a mean."""
    return derivation(
        "RMSNorm has $d$ parameters, layer normalisation $2 d$; it saves $beta$, the mean and the difference to it",
        claim(Count("parameters", rms_norm()), step("count", d)),
        claim(Count("parameters", layer_norm()), step("count", 2 * d)),
        claim(Count("FLOPs", rms_norm()), step("count", 4 * n * d + 3 * n)),
        claim(Count("FLOPs", layer_norm()) - Count("FLOPs", rms_norm()), step("count", 3 * n * d + n)),
        source=SECTION,
    )
