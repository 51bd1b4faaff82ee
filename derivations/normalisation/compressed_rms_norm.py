r"""Compressed root mean square normalisation: rows of mean 0 without their last entry, which the others determine.

Definition   ms_i = (sum of x_ij^2 + (sum of x_ij)^2) / (d + 1), x^_ij = x_ij / sqrt(ms_i + eps), y_ij = gamma_j x^_ij
Result       ms is the mean square of the row with minus its sum appended: the layer is RMSNorm, and LayerNorm, of rows
             of d + 1 entries and mean 0, of which d are kept
Shapes       X (n, d), ms (n,), gamma (d,), Y (n, d)
Assumes      eps > 0
Source       Jiang, Gu, Zhu and Pan (2023)
"""

from dataclasses import replace

from sympy import Derivative, Expr, Integer, KroneckerDelta, Sum, sqrt

from derivations.language.arrays.columns import ColumnConcatenation
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowMean, RowSum, square
from derivations.language.counting.costs import Count
from derivations.language.differentiation.claims import whole_claims
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.normalisation.layer_norm import X, X_hat, Y, gamma, standardise
from derivations.symbols import d, epsilon, i, j, k, l, n, scalar

__all__ = ["compressed_rms_norm"]

JIANG = "Jiang, Gu, Zhu and Pan (2023), section 3.2"
ms, total, squares = array("ms", n), array("total", n), array("squares", n)
root, a = sqrt(ms[i] + epsilon), scalar("a", positive=True)


@catalogued
def compressed_rms_norm(eps: Expr | int = epsilon) -> Layer:
    """Return RMS normalisation of rows of mean 0, given and returned without their last entry (CRMSNorm).

    Definition   total and squares = sum of x and of x^2 in the row,
                 ms = (squares + total^2) / (d + 1), y = gamma x / sqrt(ms + eps)
    Shapes       X (n, d), total, squares and ms (n,), gamma (d,), Y (n, d)
    Assumes      eps > 0; with eps = 0 no row is 0
    Source       Jiang, Gu, Zhu and Pan (2023), section 3.2, without gamma
    """
    let = Equations()
    let("total")(RowSum(X))
    let("squares")(RowSum(square(X)))
    let("ms")((squares + square(total)) / (d + 1))
    let("X_hat")(standardise(eps)(X, ColumnBroadcast(ms, d)))
    let("Y")(Hadamard(RowBroadcast(gamma, n), X_hat))
    return Layer("compressed_rms_norm", (X,), (gamma,), let, Y)


def applied(to: Array, eps: Expr | int = epsilon) -> Array:
    """Return compressed root mean square normalisation, with gamma, of any matrix with d columns."""
    return part("compressed_rms_norm", compressed_rms_norm(eps))(to, gamma=gamma)


@result
def definition() -> Derivation:
    """The entries of compressed root mean square normalisation."""
    sums = Sum(X[i, j] ** 2, (j, 0, d - 1)), Sum(X[i, j], (j, 0, d - 1))
    return derivation(
        "Definition of compressed root mean square normalisation",
        claim(ms[i], step("definition", (sums[0] + sums[1] ** 2) / (d + 1))),
        claim(Y[i, k], step("definition", gamma[k] * X[i, k] / root)),
        about=compressed_rms_norm(),
        ranges={i: n, k: d},
        source=JIANG,
    )


@result
def last_entry() -> Derivation:
    """A row of mean 0 is determined by all its entries but one."""
    whole = ColumnConcatenation(X, ColumnBroadcast(-total, Integer(1)))
    return derivation(
        "A row with minus its sum appended has mean 0 and mean square $ms$",
        claim(RowMean(whole)[i], step("linearity of sums", 0)),
        claim(RowMean(square(whole))[i], step("linearity of sums", ms[i])),
        about=compressed_rms_norm(),
        ranges={i: n},
        source=JIANG,
    )


@result
def scale_invariance() -> Derivation:
    """A factor a > 0 on the input has the same effect as dividing epsilon by a^2."""
    return derivation(
        "$CRMSNorm(a X)$ is $CRMSNorm(X)$ with $epsilon / a^2$",
        claim(
            applied(a * X)[i, k],
            step("definition", gamma[k] * a * X[i, k] / sqrt(a**2 * ms[i] + epsilon)),
            step("algebra", gamma[k] * X[i, k] / sqrt(ms[i] + epsilon / a**2)),
            step("definition", applied(X, epsilon / a**2)[i, k]),
        ),
        about=compressed_rms_norm(),
        ranges={i: n, k: d},
        source=JIANG,
    )


@result
def jacobian() -> Derivation:
    """The rank-one term of the Jacobian contains each entry of the row plus the sum of the row."""
    along = (X[i, l] + total[i]) / root
    return derivation(
        "Jacobian of compressed root mean square normalisation within a row",
        claim(Derivative(ms[i], X[i, l]), step("chain rule", 2 * (X[i, l] + total[i]) / (d + 1))),
        claim(
            Derivative(Y[i, k], X[i, l]),
            step("chain rule", gamma[k] / root * (KroneckerDelta(k, l) - X_hat[i, k] * along / (d + 1))),
        ),
        about=compressed_rms_norm(),
        ranges={i: n, k: d, l: d},
        source=JIANG,
    )


@result
def gradient() -> Derivation:
    """The backward pass is the derivative with respect to the input and to gamma."""
    return replace(
        whole_claims(compressed_rms_norm()),
        title="The gradient of compressed root mean square normalisation",
        source=JIANG,
    )


@result
def cost() -> Derivation:
    """One parameter less than RMSNorm of the whole row."""
    return derivation(
        "CRMSNorm has $d$ parameters",
        claim(Count("parameters", compressed_rms_norm()), step("count", d)),
        source=JIANG,
    )
