r"""More about the weights: ratios, temperature, equal scores, one key, and the sum that they maximise.

Result       A_ij / A_il = exp(S_ij - S_il); dO_i/dS_ij = A_ij (v_j - O_i); mean score plus entropy is log-sum-exp
Shapes       S and A (n, m), V (m, d_v), O (n, d_v)
Assumes      no mask
Source       Vaswani et al. (2017), section 3.2.1
"""

from sympy import Derivative, Eq, Ge, Gt, KroneckerDelta, exp, log, sqrt

from derivations.attention.attention import EQUATION_1, SECTION, A, K, O, Q, S, V, attention, c, over_keys
from derivations.language.arrays.expression import RowBroadcast, array
from derivations.language.arrays.functions import RowMean, row_softmax
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_v, i, j, k, l, m, n, scalar

__all__: list[str] = []

TOPIC = "attention"

softmax_of_scores = (attention.equation("A"),)
mixture = (attention.equation("A"), attention.equation("O"))


@result
def weight_ratio() -> Derivation:
    """The ratio of two weights depends only on their scores, not on other keys."""
    return derivation(
        "The ratio of two weights depends on the difference of the two keys alone",
        claim(
            A[i, j] / A[i, l],
            step("definition", exp(S[i, j]) / exp(S[i, l])),
            step("exponent", exp(S[i, j] - S[i, l])),
            step("matrix product", exp((Q @ (K.T))[i, j] / sqrt(d_k) - (Q @ (K.T))[i, l] / sqrt(d_k))),
        ),
        about=attention,
        ranges={i: n, j: m, l: m},
        source=EQUATION_1,
    )


@result
def temperature() -> Derivation:
    """The divisor of the scores is a temperature, sqrt(d_k) in attention; a higher one moves ratios towards 1."""
    tau = scalar("tau", positive=True)
    let = Equations()
    A = let("A")(row_softmax(S / tau))
    return derivation(
        "At the temperature $tau$ the ratio of two weights is $exp((S_ij - S_il) / tau)$",
        claim(
            A[i, j] / A[i, l],
            step("definition", exp(S[i, j] / tau) / exp(S[i, l] / tau)),
            step("exponent", exp((S[i, j] - S[i, l]) / tau)),
        ),
        claim(
            row_softmax(Q @ K.T / tau) @ V,
            step("assumption", attention.result(Q, K, V)),
            given=(Assumption(Eq(tau, sqrt(d_k))),),
        ),
        about=[*let],
        ranges={i: n, j: m, l: m},
        source=SECTION,
    )


@result
def order_of_weights() -> Derivation:
    """The key with the higher score has the higher weight."""
    gap = exp(S[i, j]) - exp(S[i, l])
    return derivation(
        "A key whose score is at least that of another has at least its weight",
        claim(A[i, j], step("bound", A[i, l], ">=", gap / over_keys(exp(S[i, k]), k))),
        about=softmax_of_scores,
        ranges={i: n, j: m, l: m},
        assuming=[Assumption(Ge(S[i, j] - S[i, l], 0), {}, "the score of key $j$ is at least that of key $l$")],
        source=EQUATION_1,
    )


@result
def uniform_weights() -> Derivation:
    """If all scores of a query are equal, its output is the mean of the values."""
    u, key = scalar("u"), array("k", d_k)
    same = Assumption(Eq(S[i, l], u), {l: m}, "all scores of query $i$ are the same")
    return derivation(
        "Equal scores give the weights $1 / m$ and the mean of the values",
        claim(A[i, j], step("assumption", 1 / m), given=(same,)),
        claim(O[i, c], step("assumption", over_keys(V[j, c], j) / m), given=(same,)),
        claim(attention.result(Q, RowBroadcast(key, m), V)[i], step("algebra", RowMean(V.T))),
        about=mixture,
        ranges={i: n, j: m, c: d_v},
        source=EQUATION_1,
    )


@result
def one_key() -> Derivation:
    """With only one key, every output is its value."""
    key, value = array("K", 1, d_k), array("V", 1, d_v)
    return derivation(
        "With one key every output is its value, whatever the queries are",
        claim(attention.at(m=1).result(Q, key, value), step("algebra", RowBroadcast(value[0], n))),
        source=EQUATION_1,
    )


@result
def free_energy() -> Derivation:
    """The mean score and the entropy of the weights add up to the log-sum-exp of the scores.

    For other weights the sum is smaller, by their relative entropy to A_i.
    """
    B = array("B", n, m)
    positive = Assumption(Gt(B[i, l], 0), {l: m}, "$B_i$ holds positive weights")
    summing = Assumption(Eq(over_keys(B[i, l]), 1), {}, "the weights $B_i$ sum to 1")
    # log A_ij = S_ij - highest
    highest = log(over_keys(exp(S[i, l])))
    return derivation(
        "Mean score plus entropy of the weights is $log sum_l exp(S_il)$",
        claim(
            over_keys(A[i, j] * S[i, j], j) - over_keys(A[i, j] * log(A[i, j]), j),
            step("exponent", highest),
        ),
        claim(
            over_keys(B[i, j] * S[i, j], j) - over_keys(B[i, j] * log(B[i, j]), j),
            step("assumption", highest - over_keys(B[i, j] * (log(B[i, j]) - log(A[i, j])), j)),
            given=(positive, summing),
        ),
        about=softmax_of_scores,
        ranges={i: n},
        source="Wainwright and Jordan (2008), section 3.6",
    )


# --- derivatives ----------------------------------------------------------------------------------------------------


@result
def score_jacobian() -> Derivation:
    """A higher score moves the output towards the value of its key."""
    return derivation(
        "Derivative of an output by a score: $A_ij (v_j - o_i)$",
        claim(
            Derivative(O[i, c], S[i, j]),
            step("chain rule", over_keys(A[i, l] * (KroneckerDelta(j, l) - A[i, j]) * V[l, c])),
            step("Kronecker delta", A[i, j] * (V[j, c] - over_keys(A[i, l] * V[l, c]))),
            step("definition", A[i, j] * (V[j, c] - O[i, c])),
        ),
        about=mixture,
        ranges={i: n, j: m, c: d_v},
        source=EQUATION_1,
    )


@result
def query_jacobian() -> Derivation:
    """The derivative of an output with respect to its query is Cov(values, keys) / sqrt(d_k) under its weights."""
    covariance = over_keys(A[i, j] * (V[j, c] - O[i, c]) * K[j, k], j)
    return derivation(
        "Derivative of an output by a query: the covariance of values and keys under the weights, over $sqrt(d_k)$",
        claim(Derivative(O[i, c], Q[l, k]), step("chain rule", KroneckerDelta(i, l) * covariance / sqrt(d_k))),
        about=attention,
        ranges={i: n, l: n, c: d_v, k: d_k},
        source=EQUATION_1,
    )


@result
def key_jacobian() -> Derivation:
    """A key moves every output, in proportion to its weight and to the difference of its value from the output."""
    return derivation(
        "Derivative of an output by a key: $A_ij (v_j - o_i) q_i / sqrt(d_k)$",
        claim(Derivative(O[i, c], K[j, k]), step("chain rule", A[i, j] * (V[j, c] - O[i, c]) * Q[i, k] / sqrt(d_k))),
        about=attention,
        ranges={i: n, j: m, c: d_v, k: d_k},
        source=EQUATION_1,
    )
