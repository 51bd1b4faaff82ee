r"""Symmetries of attention: the order of its keys, offsets of scores and keys, a common rotation.

Result       SelfAttention(P X) = P SelfAttention(X); Attention(Q, P K, P V) = Attention(Q, K, V); one vector added to
             every key changes nothing, one added to every value is added to every output
Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), P (n, n) or (m, m)
Assumes      P a permutation matrix; with a mask, every query sees a key
Source       Vaswani et al. (2017), section 3.2.1
"""

from sympy import Eq, Expr, Function, KroneckerDelta, Lambda, exp

from derivations.attention.attention import (
    EQUATION_1,
    SECTION,
    W_K,
    W_Q,
    W_V,
    K,
    Q,
    S,
    V,
    X,
    Y,
    attention,
    keys,
    masked_attention,
    over_keys,
    queries,
    values,
    visible,
)
from derivations.language.arrays.arrangements import Concatenate, Tabulated
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.layers.layer import Equation, Equations
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_v, i, index, j, l, m, n, size

__all__: list[str] = []

TOPIC = "attention"

NAMAZIFAR = "Namazifar, Hazarika and Hakkani-Tur (2023)"
sigma = Function("sigma", integer=True)
b_Q, b_K, b_V = array("b_Q", d_k), array("b_K", d_k), array("b_V", d_v)


# --- order ----------------------------------------------------------------------------------------------------------


def permutation(size: Expr) -> Equation:
    """Return the definition of the permutation matrix P: row i of P X is row sigma(i) of X."""
    return Equation(array("P", size, size), Tabulated(Lambda((i, j), KroneckerDelta(sigma(i), j)), size, size))


def self_attention(positions: Array, *mask: Array) -> Array:
    """Return attention of positions to one another, with the three projections."""
    layer = masked_attention if mask else attention
    return layer.result(positions @ W_Q, positions @ W_K, positions @ W_V, *mask)


@result
def permutation_equivariance() -> Derivation:
    """Without positions and masks self-attention ignores order; a mask is permuted too, from M to P M P^T."""
    P, mask, moved = array("P", n, n), mask_array("M", n, n), mask_array("M_sigma", n, n)
    return derivation(
        "$SelfAttention(P X) = P SelfAttention(X)$, and with a mask $SelfAttention(P X, P M P^T) = P "
        "SelfAttention(X, M)$",
        claim(
            self_attention(P @ X),
            step("associativity", attention.result(P @ queries, P @ keys, P @ values)),
            step("reindexing", P @ attention.result(queries, keys, values)),
            step("definition", P @ self_attention(X)),
        ),
        claim(
            self_attention(P @ X, moved),
            step("associativity", masked_attention.result(P @ queries, P @ keys, P @ values, moved)),
            step("reindexing", P @ masked_attention.result(queries, keys, values, mask)),
            step("definition", P @ self_attention(X, mask)),
            given=(visible(i, mask), visible(sigma(i), mask)),
        ),
        claim(P @ mask @ P.T, step("Kronecker delta", moved)),
        about=(
            permutation(n),
            Equation(moved, Tabulated(Lambda((i, j), mask[sigma(i), sigma(j)]), n, n)),
            Equation(queries, X @ W_Q),
            Equation(keys, X @ W_K),
            Equation(values, X @ W_V),
        ),
        bijections=[("sigma", "sigma_inverse", n)],
        source=SECTION,
    )


@result
def key_value_permutation() -> Derivation:
    """Keys and values are a set of pairs: another order gives the same output."""
    P = array("P", m, m)
    return derivation(
        "Attention does not change when keys and values are permuted together",
        claim(attention.result(Q, P @ K, P @ V), step("reindexing", attention.result(Q, K, V))),
        about=(permutation(m),),
        bijections=[("sigma", "sigma_inverse", m)],
        source=EQUATION_1,
    )


@result
def repeated_keys() -> Derivation:
    """Attention is a mean: repeating every key and value r times does not change it."""
    copies, copy = size("r"), index("a")

    def repeated(rows: Array) -> Array:
        return Concatenate(rows.T, copy, copies).T

    return derivation(
        "Attention does not change when every key and value is repeated the same number of times",
        claim(
            attention.result(Q, repeated(K), repeated(V)),
            step("constant summand", attention.result(Q, K, V)),
        ),
        source=EQUATION_1,
    )


# --- offsets --------------------------------------------------------------------------------------------------------


@result
def query_offset() -> Derivation:
    """A number added to all scores of a query cancels: the maximum of each row may be subtracted."""
    t = array("t", n)
    let = Equations()
    A = let("A")(row_softmax(Tabulated(Lambda((i, j), S[i, j] + t[i]), n, m)))
    return derivation(
        "The weights do not change when each query adds a number of its own to all of its scores",
        claim(
            A[i, j],
            step("definition", exp(S[i, j] + t[i]) / over_keys(exp(S[i, l] + t[i]))),
            step("exponent", exp(S[i, j]) / over_keys(exp(S[i, l]))),
        ),
        about=[*let],
        ranges={i: n, j: m},
        source=EQUATION_1,
    )


@result
def key_offset() -> Derivation:
    """One vector a added to every key adds q_i . a / sqrt(d_k) to all scores of query i, which cancels."""
    a = array("a", d_k)
    return derivation(
        "Attention does not change when one vector is added to every key",
        claim(attention.result(Q, K + a, V), step("exponent", attention.result(Q, K, V))),
        source=NAMAZIFAR,
    )


@result
def key_bias_cancels() -> Derivation:
    """The key bias has no effect, for any biases of queries and values. The query bias does have an effect."""
    biased = attention.result(X @ W_Q + b_Q, Y @ W_K + b_K, Y @ W_V + b_V)
    return derivation(
        "The bias of the key projection has no effect on attention",
        claim(biased, step("exponent", attention.result(X @ W_Q + b_Q, Y @ W_K, Y @ W_V + b_V))),
        source=NAMAZIFAR,
    )


@result
def value_offset() -> Derivation:
    """The weights sum to 1, so a bias of the values is a bias of the output."""
    return derivation(
        "A vector added to every value is added to every output",
        claim(attention.result(Q, K, V + b_V), step("distributivity", attention.result(Q, K, V) + b_V)),
        claim(
            attention.result(X @ W_Q, Y @ W_K, Y @ W_V + b_V),
            step("distributivity", attention.result(X @ W_Q, Y @ W_K, Y @ W_V) + b_V),
        ),
        source=NAMAZIFAR,
    )


# --- bases ----------------------------------------------------------------------------------------------------------


@result
def rotation_invariance() -> Derivation:
    """Queries and keys occur only in dot products: an orthogonal matrix may rotate both."""
    R, identity = array("R", d_k, d_k), array("I", d_k, d_k)
    orthogonal = Assumption(Eq(identity[i, j], KroneckerDelta(i, j)), {i: d_k, j: d_k}, "$I = R R^T$ is the identity")
    return derivation(
        "Scores do not change when an orthogonal matrix turns queries and keys alike",
        claim((Q @ R) @ (K @ R).T, step("transpose of a product", Q @ (R @ R.T) @ K.T)),
        claim(Q @ identity @ K.T, step("assumption", Q @ K.T), given=(orthogonal,)),
        source=EQUATION_1,
    )
