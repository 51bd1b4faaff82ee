r"""Positions inside the scores: attention with linear biases, and the position terms of other schemes.

Definition   ALiBi: S_ij = q_i . k_j / sqrt(d_k) - m (i - j) for the visible keys j <= i, A = softmax of S, O = A V
Result       only distances count; m j instead of -m (i - j) gives the same weights; a key one step further away
             has exp(-m) times the weight
Shapes       Q and K (n, d_k), V and O (n, d_v), S and A (n, n)
Assumes      slope m > 0; a causal mask
Source       Press, Smith and Lewis (2022), section 3
"""

from sympy import Lambda, exp, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import CausalMask, row_softmax
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.positions.positional_encoding import positional_encoding
from derivations.positions.rotary import rotary_embedding
from derivations.symbols import d_k, d_model, d_v, i, index, j, k, n, scalar

__all__ = ["alibi_attention", "learned_positions"]

TOPIC = "positional_encoding"
PRESS, DAI = "Press, Smith and Lewis (2022), section 3", "Dai et al. (2019), section 3.3"
Q, K, V = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v)
S, B, A = (array(name, n, n) for name in ("S", "B", "A"))
X, P, Z = (array(name, n, d_model) for name in ("X", "P", "Z"))
slope, s = scalar("slope", positive=True), index("s")
VISIBLE = CausalMask(n)


@catalogued
def alibi_attention() -> Layer:
    """Return causal attention whose scores fall linearly with the distance of the key; `slope` is a scalar.

    Definition   S = Q K^T / sqrt(d_k), B_ij = -slope (i - j), A = softmax of the rows of S + B over j <= i, O = A V
    Shapes       Q and K (n, d_k), V and O (n, d_v), S, B and A (n, n)
    Assumes      slope > 0; for head number t = 1, ..., h of a power of two Press et al. take 2^(-8 t/h)
    Source       Press, Smith and Lewis (2022), section 3
    """
    let = Equations()
    scores = let("S")(Q @ K.T / sqrt(d_k))
    bias = let("B")(distance_bias())
    weights = let("A")(row_softmax(scores + bias, VISIBLE))
    output = let("O")(weights @ V)
    return Layer("alibi_attention", (Q, K, V), (), let, output)


def distance_bias() -> Array:
    """Return the bias -slope (i - j)."""
    return Tabulated(Lambda((i, j), slope * (j - i)), n, n)


@catalogued
def learned_positions() -> Layer:
    """Return learned absolute positions: a row of a table added to each row.

    Definition   Z = X + P
    Shapes       X, P and Z (n, d_model)
    Source       Gehring, Auli, Grangier, Yarats and Dauphin (2017), section 3.1
    """
    let = Equations()
    output = let("Z")(X + P)
    return Layer("learned_positions", (X,), (P,), let, output)


BIASED = (Equation(B, distance_bias()), Equation(A, row_softmax(S + B, VISIBLE)))


@result
def alibi() -> Derivation:
    """The term of the query's own position is the same for all its keys, so softmax cancels it."""
    by_key = Tabulated(Lambda((i, j), slope * j), n, n)
    return derivation(
        "ALiBi: a bias linear in the distance gives the weights of a bias linear in the key's position",
        claim(B[i, j], step("definition", -slope * (i - j))),
        claim(B[i + s, j + s], step("definition", B[i, j])),
        claim(A[i, k], step("exponent", row_softmax(S + by_key, VISIBLE)[i, k])),
        about=BIASED,
        ranges={s: n, i: n - s, j: n - s, k: n},
        source=PRESS,
    )


@result
def alibi_ratio() -> Derivation:
    """How the weight of a key falls with its distance, for equal content."""
    both = VISIBLE[i, j] * VISIBLE[i, k]
    return derivation(
        "With ALiBi the weights of two visible keys compare by their scores and $exp(-slope)$ for each step of "
        "distance",
        claim(both * A[i, j], step("exponent", both * A[i, k] * exp(S[i, j] - S[i, k]) * exp(-slope * (k - j)))),
        about=BIASED,
        ranges={i: n, j: n, k: n},
        source=PRESS,
    )


@result
def absolute_scores_split() -> Derivation:
    """Positions added to the inputs give four terms in the scores: relative schemes replace the last three."""
    W_Q, W_K = array("W_Q", d_model, d_k), array("W_K", d_model, d_k)
    queries, keys = (X + P) @ W_Q, (X + P) @ W_K
    content, position = X @ W_Q, P @ W_Q
    return derivation(
        "Scores of inputs with added positions: content by content, content by position, and the two the other way",
        claim(
            queries @ keys.T,
            step("distributivity", (content + position) @ (X @ W_K + P @ W_K).T),
            step(
                "distributivity",
                content @ (X @ W_K).T + content @ (P @ W_K).T + position @ (X @ W_K).T + position @ (P @ W_K).T,
            ),
        ),
        source=DAI,
    )


@result
def learned_absolute() -> Derivation:
    """A learned table has one row for each position, and no row for positions beyond it."""
    return derivation(
        "Learned absolute positions have $n d_model$ parameters; sinusoidal, rotary and linear ones have none",
        claim(Count("parameters", learned_positions()), step("count", n * d_model)),
        claim(Count("parameters", positional_encoding()), step("count", 0)),
        claim(Count("parameters", rotary_embedding()), step("count", 0)),
        claim(Count("parameters", alibi_attention()), step("count", 0)),
        source="Gehring, Auli, Grangier, Yarats and Dauphin (2017), section 3.1",
    )


@result
def relative_bias() -> Derivation:
    """One learned number for each offset: all pairs of a query and a key at that distance share it."""
    r, moved = array("r", 2 * n - 1), Tabulated(Lambda((i, j), B[i, j] + scalar("c")), n, n)
    by_offset = Equation(B, Tabulated(Lambda((i, j), r[j - i + n - 1]), n, n))
    return derivation(
        "A learned bias for each offset $j - i$ depends on the offset alone, and softmax sees it up to a constant",
        claim(B[i, j], step("definition", r[j - i + n - 1])),
        claim(B[i + s, j + s], step("definition", B[i, j])),
        claim(row_softmax(S + moved)[i, k], step("exponent", A[i, k])),
        about=(by_offset, Equation(A, row_softmax(S + B))),
        ranges={s: n, i: n - s, j: n - s, k: n},
        source="Raffel et al. (2020), section 2.1",
    )
