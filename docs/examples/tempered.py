"""Attention whose every query has an inverse temperature of its own, learned by a vector w.

Definition   beta_i = squareplus(q_i . w);   A = softmax of the rows of beta_i S_i, with S = Q K^T / sqrt(d_k)
Result       dA_ij/dbeta_i = A_ij (S_ij - the mean score of row i), so a larger beta raises the mean score
Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), w (d_k,), beta (n,)
"""

from sympy import Derivative, Sum, sqrt

from derivations.language import (
    ColumnBroadcast,
    Derivation,
    Equations,
    Hadamard,
    Layer,
    array,
    claim,
    derivation,
    named,
    row_softmax,
    step,
)
from derivations.symbols import d_k, d_v, i, j, l, m, n, scalar

x = scalar("x")
squareplus = named("squareplus", (x + sqrt(x**2 + 4)) / 2, x)  # positive, as a temperature must be


def tempered_attention() -> Layer:
    """Attention with an inverse temperature for each query."""
    Q, K, V, w = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), array("w", d_k)
    let = Equations()
    z = let("z")(Q @ w)
    beta = let("beta")(squareplus(z))
    S = let("S")(Q @ K.T / sqrt(d_k))
    A = let("A")(row_softmax(Hadamard(ColumnBroadcast(beta, m), S)))
    return Layer("tempered_attention", (Q, K, V), (w,), let, let("O")(A @ V))


S, beta = array("S", n, m), array("beta", n)
weights = Equations()
A = weights("A")(row_softmax(Hadamard(ColumnBroadcast(beta, m), S)))
mean = Sum(A[i, l] * S[i, l], (l, 0, m - 1))


def slope() -> Derivation:
    """A weight grows with beta where its score is above the mean of its row."""
    return derivation(
        "The slope of a weight in the inverse temperature",
        claim(
            Derivative(A[i, j], beta[i]),
            step("quotient rule", A[i, j] * S[i, j] - A[i, j] * mean),
            step("algebra", A[i, j] * (S[i, j] - mean)),
        ),
        about=weights,
        ranges={i: n, j: m},
    )


def mean_score_rises() -> Derivation:
    """The slope of the mean score is the variance of the scores of the row."""
    square = Sum(A[i, l] * S[i, l] ** 2, (l, 0, m - 1))
    return derivation(
        "A larger inverse temperature never lowers the mean score of a row",
        claim(
            Derivative(mean, beta[i]),
            step("derivative", square - mean**2),
            step("bound", 0, ">=", Sum(A[i, j] * (S[i, j] - mean) ** 2, (j, 0, m - 1))),
        ),
        about=weights,
        ranges={i: n},
    )


def squareplus_slope() -> Derivation:
    """The slope is squareplus itself, divided by sqrt(x^2 + 4)."""
    value = squareplus.formula(x)
    return derivation(
        "Derivative of squareplus",
        claim(
            Derivative(value, x),
            step("chain rule", (1 + x / sqrt(x**2 + 4)) / 2),
            step("algebra", value / sqrt(x**2 + 4)),
        ),
        source="Barron (2021)",
    )
