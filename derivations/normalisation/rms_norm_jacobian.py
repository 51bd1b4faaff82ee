r"""The Jacobian of root mean square normalisation: which changes of a row it keeps, and which it loses.

Definition   x^ and r = sqrt(ms + eps) as in root mean square normalisation, y = gamma x^
Result       dy/dx = Diag(gamma)/r (I - x^ x^^T/d) within a row: only the direction of x is lost, up to epsilon
Shapes       X and Y (n, d), gamma (d,); the Jacobian of one row (d, d)
Assumes      eps > 0 unless a result says otherwise
Source       Zhang and Sennrich (2019), section 4.2
"""

from sympy import Derivative, KroneckerDelta, Lambda, Sum, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.language.results.statements import NullSpace, Rank, Span
from derivations.normalisation.layer_norm import X, X_hat, Y, average, gamma
from derivations.normalisation.layer_norm_jacobian import DERIVATIVES, GAMMA_NOT_0, table
from derivations.normalisation.rms_norm import NO_ROW_IS_0, ms, rms_norm, root
from derivations.symbols import d, epsilon, i, j, k, l, n

__all__: list[str] = []

TOPIC = "rms_norm"

JACOBIAN = "Zhang and Sennrich (2019), section 4.2"


@result
def jacobian() -> Derivation:
    """Within a row, the component along x^ is removed up to epsilon; the mean is kept."""
    within = (KroneckerDelta(k, l) - X_hat[i, k] * X_hat[i, l] / d) / root
    return derivation(
        "Jacobian of root mean square normalisation within a row, "
        "$Diag(gamma)/sqrt(ms + epsilon) (I - x_hat x_hat^T/d)$",
        claim(Derivative(ms[i], X[i, l]), step("chain rule", 2 * X[i, l] / d)),
        claim(
            Derivative(X_hat[i, k], X[i, l]),
            step("quotient rule", KroneckerDelta(k, l) / root - X[i, k] / (2 * root**3) * Derivative(ms[i], X[i, l])),
            step("derivative", KroneckerDelta(k, l) / root - X[i, k] * X[i, l] / (d * root**3)),
            step("definition", within),
        ),
        claim(Derivative(Y[i, k], X[i, l]), step("chain rule", gamma[k] * within)),
        about=rms_norm(),
        ranges={i: n, k: d, l: d},
        source=JACOBIAN,
    )


@result
def jacobian_along_the_input() -> Derivation:
    """The direction of the row itself is nearly lost: its image is not 0 only because of epsilon."""
    r2 = ms[i] + epsilon
    return derivation(
        "The Jacobian takes a row $x$ to $y epsilon / (ms + epsilon)$",
        claim(
            Sum(Derivative(Y[i, k], X[i, j]) * X[i, j], (j, 0, d - 1)),
            step("quotient rule", gamma[k] / root * (X[i, k] - X[i, k] * average(X[i, j] ** 2) / r2)),
            step("definition", gamma[k] / root * (X[i, k] - X[i, k] * ms[i] / r2)),
            step("common denominator", gamma[k] * X[i, k] / root * epsilon / r2),
            step("definition", Y[i, k] * epsilon / r2),
        ),
        about=rms_norm(),
        ranges={i: n, k: d},
        source=JACOBIAN,
    )


@result
def jacobian_null_space() -> Derivation:
    """With epsilon no direction is lost, if no gamma is 0."""
    jacobian = table(gamma[k] / root * (KroneckerDelta(k, l) - X_hat[i, k] * X_hat[i, l] / d))
    # Sherman-Morrison: (I - x^ x^^T/d)^-1 = I + x x^T/(d eps)
    inverse = table((KroneckerDelta(k, l) + X[i, k] * X[i, l] / (d * epsilon)) * root / gamma[l])
    return derivation(
        "The null space of the Jacobian is ${0}$, its rank $d$",
        claim(DERIVATIVES, step("quotient rule", jacobian)),
        claim(NullSpace(jacobian), step("null space", Span(), "=", inverse)),
        claim(Rank(jacobian), step("rank by trace", d, "=", inverse)),
        about=rms_norm(),
        ranges={i: n},
        assuming=[GAMMA_NOT_0],
        source=JACOBIAN,
    )


@result
def jacobian_null_space_without_epsilon() -> Derivation:
    """Without epsilon the direction of the row itself is lost: its length has no effect."""
    jacobian = table(gamma[k] / sqrt(ms[i]) * (KroneckerDelta(k, l) - X_hat[i, k] * X_hat[i, l] / d))
    nearly = table(KroneckerDelta(k, l) * sqrt(ms[i]) / gamma[l])
    row, share = (Tabulated(Lambda((k,), of), d) for of in (X[i, k], X[i, k] / (d * ms[i])))
    return derivation(
        "With $epsilon = 0$ the null space of the Jacobian is $span{x}$, its rank $d - 1$",
        claim(DERIVATIVES, step("quotient rule", jacobian)),
        claim(NullSpace(jacobian), step("null space", Span(row), "=", nearly, share)),
        claim(Rank(jacobian), step("rank by trace", d - 1, "=", nearly)),
        about=rms_norm(0),
        ranges={i: n},
        assuming=[GAMMA_NOT_0, NO_ROW_IS_0],
        source=JACOBIAN,
    )
