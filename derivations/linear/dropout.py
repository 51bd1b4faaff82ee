r"""Dropout: its mask as an input of the layer, and the effect of a random mask on means and variances.

Definition   Y = X o D / (1 - rate), with D the mask of kept entries
Result       E[Y_ik] = E[X_ik];   Var(Y_ik) = Var(X_ik) + rate / (1 - rate) E[X_ik^2]
Shapes       X and D (n, d_model), Y (n, d_model)
Assumes      0 < rate < 1; where D is random: D_ik is 1 with probability 1 - rate, else 0, independently of all else
Source       Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov (2014)
"""

from collections.abc import Sequence

from sympy import Derivative, Eq, Expr, KroneckerDelta, Lt, Sum

from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import Hadamard, MaskConjunction, relu
from derivations.language.arrays.scalars import Expectation, Variance
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.linear.linear import linear
from derivations.symbols import d_model, d_out, i, j, k, l, n, scalar

__all__ = ["dropout", "rate"]

SRIVASTAVA = "Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov (2014), section "
rate = scalar("rate", positive=True)
keep = 1 - rate
X, Y, D = array("X", n, d_model), array("Y", n, d_model), mask_array("D", n, d_model)
R = array("R", n, d_model)  # the mask as random numbers, each 0 or 1
W, b, y = array("W", d_model, d_out), array("b", d_out), array("y", n)
E, Var = Expectation, Variance
BELOW_1 = Assumption(Lt(rate, 1))


def scaled(mask: Array) -> Array:
    """Return X after dropout with a mask: X o mask / (1 - rate)."""
    return Hadamard(X, mask) / keep


@catalogued
def dropout() -> Layer:
    """Return inverted dropout.

    Definition   Y = X o D / (1 - rate), with D the mask of kept entries
    Shapes       X and D (n, d_model), Y (n, d_model)
    Assumes      0 < rate < 1
    Source       Srivastava et al. (2014), section 10
    """
    let = Equations()
    let("Y")(scaled(D))
    return Layer("dropout", (X, D), (), let, Y)


def total(of: Expr) -> Expr:
    """Return the sum of an expression in k over the features."""
    return Sum(of, (k, 0, d_model - 1))


def moment(of: Expr, value: Expr, text: str) -> Assumption:
    """Return the assumption that a product has the given expectation, at all indices."""
    sizes = {i: n, k: d_model, l: d_model, j: d_out}
    return Assumption(Eq(E(of), value, evaluate=False), {s: sizes[s] for s in sizes if of.has(s)}, text)


BERNOULLI = (
    moment(R[i, k], keep, "$R_ik$ is 1 with probability $1 - rate$"),
    moment(R[i, k] ** 2, keep, "and 0 otherwise, so that it is its own square"),
)
PAIRS = moment(
    R[i, k] * R[i, l],
    keep**2 + KroneckerDelta(k, l) * (keep - keep**2),
    "different entries of the mask are independent",
)


def independent(*others: Expr) -> Sequence[Assumption]:
    """Return the assumption that the mask is independent of some expressions in i and k."""
    return [moment(R[i, k] * other, E(R[i, k]) * E(other), "the mask is drawn independently") for other in others]


SQUARE = moment(R[i, k] ** 2 * X[i, k] ** 2, E(R[i, k] ** 2) * E(X[i, k] ** 2), "the mask is drawn independently")


@result
def definition() -> Derivation:
    """Kept entries grow by the factor 1 / (1 - rate); dropped entries become 0."""
    return derivation(
        "Definition of dropout, entry by entry",
        claim(Y, step("definition", Hadamard(X, D) / (1 - rate))),
        claim(Y[i, k], step("definition", D[i, k] * X[i, k] / (1 - rate))),
        about=dropout(),
        ranges={i: n, k: d_model},
        assuming=[BELOW_1],
        source=SRIVASTAVA + "10",
    )


@result
def jacobian() -> Derivation:
    """In the backward pass, the cotangent is multiplied by the same mask and the same factor."""
    return derivation(
        "Jacobian of dropout: the mask again",
        claim(
            Derivative(Y[i, k], X[j, l]),
            step("derivative", D[i, k] / keep * Derivative(X[i, k], X[j, l])),
            step("derivative", KroneckerDelta(i, j) * KroneckerDelta(k, l) * D[i, k] / keep),
        ),
        about=dropout(),
        ranges={i: n, k: d_model, j: n, l: d_model},
        assuming=[BELOW_1],
        source=SRIVASTAVA + "5.1",
    )


@result
def composition() -> Derivation:
    """Two dropouts in a row keep the entries that both masks keep; the probabilities of keeping multiply."""
    second = scalar("rate_2", positive=True)
    first_mask, second_mask = mask_array("D_1", n, d_model), mask_array("D_2", n, d_model)
    return derivation(
        "Dropout after dropout is dropout with both masks, which keeps with probability $(1 - rate) (1 - rate_2)$",
        claim(
            Hadamard(scaled(first_mask), second_mask) / (1 - second),
            step("algebra", Hadamard(X, MaskConjunction(first_mask, second_mask)) / (keep * (1 - second))),
        ),
        assuming=[BELOW_1, Assumption(Lt(second, 1))],
    )


@result
def commutes_with_relu() -> Derivation:
    """A factor that is 0 or positive commutes with ReLU, so dropout may come before it or after it."""
    return derivation(
        "ReLU after dropout is dropout after ReLU",
        claim(relu(scaled(D)), step("indicator", Hadamard(relu(X), D) / keep)),
        assuming=[BELOW_1],
    )


@result
def mean_preserved() -> Derivation:
    """The factor 1 / (1 - rate) compensates for the dropped entries: the mean does not change."""
    return derivation(
        "Dropout keeps the mean",
        claim(
            E(scaled(R)[i, k]),
            step("linearity of expectation", E(R[i, k] * X[i, k]) / keep),
            step("moments", E(R[i, k]) * E(X[i, k]) / keep),
            step("moments", E(X[i, k])),
        ),
        ranges={i: n, k: d_model},
        assuming=[BELOW_1, *BERNOULLI, *independent(X[i, k])],
        source=SRIVASTAVA + "10",
    )


@result
def variance() -> Derivation:
    """The variance grows with the mean square of the input; all of it comes from the mask if the input is fixed."""
    fixed = moment(X[i, k] ** 2, E(X[i, k]) ** 2, "the input is not random")
    return derivation(
        "Variance after dropout: $Var(X) + rate / (1 - rate) E[X^2]$, all of it new where the input is not random",
        claim(
            Var(scaled(R)[i, k]),
            step("variance", (E(R[i, k] ** 2 * X[i, k] ** 2) - E(R[i, k] * X[i, k]) ** 2) / keep**2),
            step("moments", E(X[i, k] ** 2) / keep - E(X[i, k]) ** 2),
            step("variance", Var(X[i, k]) + rate / keep * E(X[i, k] ** 2)),
        ),
        claim(Var(scaled(R)[i, k]), step("moments", rate / keep * E(X[i, k]) ** 2), given=(fixed,)),
        ranges={i: n, k: d_model},
        assuming=[BELOW_1, *BERNOULLI, *independent(X[i, k]), SQUARE],
        source=SRIVASTAVA + "10",
    )


@result
def norm() -> Derivation:
    """The mean square of a row grows by 1 / (1 - rate): later layers see longer rows in training than in inference."""
    return derivation(
        "Dropout multiplies the expected squared norm of a row by $1 / (1 - rate)$",
        claim(
            E(total(scaled(R)[i, k] ** 2)),
            step("linearity of expectation", total(E(R[i, k] ** 2 * X[i, k] ** 2)) / keep**2),
            step("moments", total(E(X[i, k] ** 2)) / keep),
        ),
        ranges={i: n},
        assuming=[BELOW_1, *BERNOULLI, SQUARE],
        source="Li, Chen, Hu and Yang (2019), section 3",
    )


@result
def kept_entries() -> Derivation:
    """The number of kept entries of a row is a binomial variable."""
    count = total(R[i, k])
    return derivation(
        "The number of entries that dropout keeps in a row: mean and variance",
        claim(
            E(count),
            step("linearity of expectation", total(E(R[i, k]))),
            step("moments", d_model * keep),
        ),
        claim(
            Var(count),
            step("variance", E(count**2) - E(count) ** 2),
            step("moments", d_model * rate * keep),
        ),
        ranges={i: n},
        assuming=[BERNOULLI[0], PAIRS],
        source=SRIVASTAVA + "4",
    )


@result
def linear_mean() -> Derivation:
    """Expectation and affine map commute: the mean of the output is the output for the full input."""
    full = linear().result(X, W=W, b=b)
    return derivation(
        "The expected output of a linear layer after dropout is its output without dropout",
        claim(
            E(linear().result(scaled(R), W=W, b=b)[i, j]),
            step("linearity of expectation", total(E(R[i, k] * X[i, k] * W[k, j])) / keep + E(b[j])),
            step("moments", total(E(X[i, k] * W[k, j])) + E(b[j])),
            step("linearity of expectation", E(full[i, j])),
        ),
        ranges={i: n, j: d_out},
        assuming=[BELOW_1, BERNOULLI[0], *independent(X[i, k] * W[k, j])],
        source=SRIVASTAVA + "4",
    )


@result
def inference_equals_expectation() -> Derivation:
    """The original form multiplies by 1 - rate at inference, not in training; the inverted form does not need this."""
    return derivation(
        "Without the division the expected output is $(1 - rate) X$, the output at inference; with it, $X$ itself",
        claim(
            E(Hadamard(X, R)[i, k]),
            step("moments", E(R[i, k]) * E(X[i, k])),
            step("moments", E((keep * X)[i, k])),
        ),
        claim(keep * scaled(D), step("algebra", Hadamard(X, D))),
        claim(E(scaled(R)[i, k]), step("moments", E(X[i, k]))),
        ranges={i: n, k: d_model},
        assuming=[BELOW_1, BERNOULLI[0], *independent(X[i, k])],
        source=SRIVASTAVA + "4",
    )


@result
def is_ridge_penalty() -> Derivation:
    """Averaged over masks, the squared error of a linear prediction has a penalty on weights, feature by feature."""
    w = array("w", d_model)
    error, without = y[i] - (scaled(R) @ w)[i], y[i] - (X @ w)[i]
    pairs = moment(
        R[i, k] * R[i, l] * X[i, k] * w[k] * X[i, l] * w[l],
        E(R[i, k] * R[i, l]) * E(X[i, k] * w[k] * X[i, l] * w[l]),
        "the mask is drawn independently",
    )
    return derivation(
        "The expected squared error of linear regression after dropout: the error without it, plus a ridge penalty",
        claim(
            E(error**2),
            # the entries of the mask are independent with mean 1 - rate: the variances of the terms add up
            step("moments", E(without**2) + rate / keep * total(E(X[i, k] ** 2 * w[k] ** 2))),
        ),
        ranges={i: n},
        assuming=[BELOW_1, BERNOULLI[0], PAIRS, *independent(y[i] * X[i, k] * w[k]), pairs],
        source=SRIVASTAVA + "9.1",
    )
