r"""Scaled dot-product attention: its scores, weights and outputs.

Definition   S = Q K^T / sqrt(d_k), A = softmax of the rows of S, O = A V
Result       O_i = sum_j A_ij v_j with A_ij > 0 and sum_j A_ij = 1: a convex combination of the values
Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), S and A (n, m), O (n, d_v), mask M (n, m)
Source       Vaswani et al. (2017), section 3.2.1, equation 1
"""

from sympy import Derivative, Eq, Expr, Ge, Gt, KroneckerDelta, Lambda, Le, Rational, Sum, Symbol, exp, sqrt

from derivations.language.arrays.arrangements import Explicit, Tabulated
from derivations.language.arrays.expression import Array, array, mask_array
from derivations.language.arrays.functions import RowSum, row_softmax
from derivations.language.arrays.shapes import total
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.results.statements import Conformable, Rank
from derivations.symbols import d_k, d_model, d_v, i, index, j, k, l, m, n, scalar

__all__ = ["scaled_dot_product_attention"]

EQUATION_1 = "Vaswani et al. (2017), equation 1"
SECTION = "Vaswani et al. (2017), section 3.2.1"
DECODER = "Vaswani et al. (2017), section 3.2.3"
Q, K, V, M = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), mask_array("M", n, m)
S, A, O = array("S", n, m), array("A", n, m), array("O", n, d_v)
queries, keys, values = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v)  # of n positions, to one another
X, Y = array("X", n, d_model), array("Y", m, d_model)
W_Q, W_K, W_V = array("W_Q", d_model, d_k), array("W_K", d_model, d_k), array("W_V", d_model, d_v)
c = index("c")  # a column of V


@catalogued("masked_scaled_dot_product_attention", masked=True)
@catalogued
def scaled_dot_product_attention(*, masked: bool = False) -> Layer:
    """Return scaled dot-product attention, with a mask of visible keys when `masked`.

    Definition   S = Q K^T / sqrt(d_k), A = softmax of the rows of S, O = A V
    Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), mask M (n, m), O (n, d_v)
    Assumes      a row of M with no visible key gives a row of zeros
    Source       Vaswani et al. (2017), equation 1
    """
    let = Equations()
    scores = let("S")(Q @ K.T / sqrt(d_k))
    weights = let("A")(row_softmax(scores, M if masked else None))
    output = let("O")(weights @ V)
    if masked:
        return Layer("masked_scaled_dot_product_attention", (Q, K, V, M), (), let, output)
    return Layer("scaled_dot_product_attention", (Q, K, V), (), let, output)


attention = scaled_dot_product_attention()
masked_attention = scaled_dot_product_attention(masked=True)


def over_keys(of: Expr, key: Symbol = l) -> Expr:
    """Return the sum of an expression over all keys."""
    return Sum(of, (key, 0, m - 1))


def dot(query: Expr, key: Expr) -> Expr:
    """Return the dot product of the query and the key with the given numbers."""
    p = index("p")  # not k, which names the keys
    return Sum(Q[query, p] * K[key, p], (p, 0, d_k - 1))


def visible(row: Expr, mask: Array) -> Assumption:
    """Return the assumption that a query sees a key."""
    return Assumption(Gt(Sum(mask[row, l], (l, 0, total(mask.shape[1]) - 1)), 0), {i: n}, "every query sees a key")


# --- scores ---------------------------------------------------------------------------------------------------------


@result
def definition() -> Derivation:
    """Attention as one formula, and the entries of the output."""
    weights = exp(S[i, j]) / over_keys(exp(S[i, l]))
    return derivation(
        "Definition of scaled dot-product attention",
        claim(
            O,
            step("definition", A @ V),
            step("definition", row_softmax(S) @ V),
            step("definition", row_softmax(Q @ K.T / sqrt(d_k)) @ V),
        ),
        claim(
            O[i, c],
            step("definition", over_keys(A[i, j] * V[j, c], j)),
            step("definition", over_keys(weights * V[j, c], j)),
        ),
        about=attention,
        ranges={i: n, c: d_v},
        source=EQUATION_1,
    )


@result
def scores() -> Derivation:
    """One product of matrices computes all n m dot products."""
    return derivation(
        "Entry $(i, j)$ of $Q K^T$ is the dot product of query $i$ and key $j$",
        claim(Q @ K.T, step("matrix product", Tabulated(Lambda((i, j), dot(i, j)), n, m))),
        claim((Q @ K.T)[i], step("row of a product", K @ Q[i])),
        claim(S[i, j], step("definition", dot(i, j) / sqrt(d_k))),
        about=attention,
        ranges={i: n, j: m},
        source=EQUATION_1,
    )


@result
def swap_query_key() -> Derivation:
    """Transposing Q K^T swaps queries and keys. The product Q K is defined only if d_k = m."""
    over_positions = Tabulated(Lambda((k, l), Sum(Q[i, k] * keys[i, l], (i, 0, n - 1))), d_k, d_k)
    return derivation(
        "The transpose of $Q K^T$ is $K Q^T$; $Q K$ conforms only if $d_k = m$",
        claim((Q @ K.T).T, step("transpose of a product", K @ Q.T)),
        claim(Conformable(Q, K), step("shape", Eq(d_k, m), "iff")),
        claim(Q.T @ keys, step("matrix product", over_positions)),
        source=EQUATION_1,
    )


@result
def bilinear_form() -> Derivation:
    """Self-attention compares positions by X W_Q W_K^T X^T; that is X X^T only if W_Q W_K^T = I, so d_k >= d_model."""
    B = array("B", d_model, d_model)
    identity = Eq(B[i, j], KroneckerDelta(i, j))
    return derivation(
        "The scores of self-attention are the bilinear form $X W_Q W_K^T X^T$",
        claim(
            (X @ W_Q) @ (X @ W_K).T,
            step("transpose of a product", (X @ W_Q) @ (W_K.T @ X.T)),
            step("associativity", X @ (W_Q @ W_K.T) @ X.T),
        ),
        claim(
            X @ B @ X.T,
            step("assumption", X @ X.T),
            given=(Assumption(identity, {i: d_model, j: d_model}, "$B = W_Q W_K^T$ is the identity"),),
        ),
        claim(Rank(W_Q @ W_K.T), step("rank of a product", d_k, "<=")),
        source=SECTION,
    )


# --- weights --------------------------------------------------------------------------------------------------------


@result
def weights() -> Derivation:
    """The weight of key j for query i, with another index l for the sum over all keys."""
    return derivation(
        "Attention weights: softmax of the scores of one query, over all keys",
        claim(
            A[i, j],
            step("definition", exp(S[i, j]) / over_keys(exp(S[i, l]))),
            step("matrix product", exp(dot(i, j) / sqrt(d_k)) / over_keys(exp(dot(i, l) / sqrt(d_k)))),
        ),
        about=attention,
        ranges={i: n, j: m},
        source=EQUATION_1,
    )


@result
def scalar_softmax_is_one() -> Derivation:
    """A softmax needs all scores of a query: the softmax of one score is 1, for every score."""
    alone, one = Tabulated(Lambda((l,), S[i, j]), 1), Tabulated(Lambda((l,), 1), 1)
    share = exp(S[i, j]) / Sum(exp(S[i, j]), (k, 0, 0))
    return derivation(
        "Softmax of one score alone is 1",
        claim(
            row_softmax(alone),
            step("definition", Tabulated(Lambda((l,), share), 1)),
            step("constant summand", one),
        ),
        about=attention,
        ranges={i: n, j: m},
        source=EQUATION_1,
    )


@result
def weights_between_0_and_1() -> Derivation:
    """Every key has a positive weight, which is below 1 if there are at least two keys."""
    rest = over_keys((1 - KroneckerDelta(j, l)) * A[i, l])
    return derivation(
        "Attention weights lie between 0 and 1, and below 1 when there are two keys or more",
        claim(A[i, j], step("bound", 0, ">")),
        claim(A[i, j], step("bound", 1, "<=", rest)),
        claim(A[i, j], step("bound", 1, "<", rest), given=(Assumption(Ge(m, 2)),)),
        about=attention,
        ranges={i: n, j: m},
        source=EQUATION_1,
    )


@result
def weights_sum_to_one() -> Derivation:
    """The weights of one query add up to 1."""
    share = exp(S[i, j])
    whole = over_keys(exp(S[i, l]))
    return derivation(
        "The attention weights of a query sum to 1",
        claim(
            over_keys(A[i, j], j),
            step("definition", over_keys(share / whole, j)),
            step("linearity of sums", over_keys(share, j) / whole),
            step("algebra", 1),
        ),
        about=attention,
        ranges={i: n},
        source=EQUATION_1,
    )


# --- output ---------------------------------------------------------------------------------------------------------


@result
def weighted_sum() -> Derivation:
    """Every output is a mean of the value vectors, weighted by the attention of its query."""
    pair, five = array("V", 2, d_v), array("V", 5, d_v)
    tenth, half = Rational(1, 10), Rational(1, 2)
    two_words = Explicit([[tenth, 9 * tenth], [half, half]])
    one_word = Explicit([[tenth, 0, 7 * tenth, 2 * tenth, 0]])
    return derivation(
        "Row $i$ of the output is the sum of the values $v_j$, weighted by $A_ij$; two examples",
        claim(
            O[i],
            step("row of a product", A[i] @ V),
            step("matrix product", Tabulated(Lambda((c,), over_keys(A[i, j] * V[j, c], j)), d_v)),
        ),
        claim(RowSum(two_words), step("algebra", Tabulated(Lambda((c,), 1), 2))),
        claim(RowSum(one_word), step("algebra", Tabulated(Lambda((c,), 1), 1))),
        claim((two_words @ pair)[0], step("row of a product", tenth * pair[0] + 9 * tenth * pair[1])),
        claim((two_words @ pair)[1], step("row of a product", half * pair[0] + half * pair[1])),
        claim(
            (one_word @ five)[0],
            step("row of a product", tenth * five[0] + 7 * tenth * five[2] + 2 * tenth * five[3]),
        ),
        about=attention,
        ranges={i: n},
        source=EQUATION_1,
    )


@result
def convex_hull() -> Derivation:
    """Every output is in the convex hull of the values: a half-space that contains all values contains it too."""
    w, u = array("w", d_v), scalar("u")
    # u - w . O_i, because the weights add up to 1
    room = over_keys(A[i, j] * (u - (V @ w)[j]), j)
    return derivation(
        "Every output is a convex combination of the values: where $w . v_j <= u$ for all $j$, $w . o_i <= u$",
        claim(O[i, c], step("definition", over_keys(A[i, j] * V[j, c], j))),
        claim(A[i, j], step("bound", 0, ">=")),
        claim(over_keys(A[i, j], j), step("algebra", 1)),
        claim(
            (O @ w)[i],
            step("bound", u, "<=", room),
            given=(Assumption(Le((V @ w)[j], u), {j: m}, "all values lie in one half-space"),),
        ),
        about=attention,
        ranges={i: n, j: m, c: d_v},
        source=EQUATION_1,
    )


@result
def linear_in_values() -> Derivation:
    """The weights do not depend on V: attention is linear in the values, and its derivatives are the weights."""
    U = array("U", m, d_v)
    a, b = scalar("a"), scalar("b")
    return derivation(
        "Attention is linear in the values",
        claim(
            attention.result(Q, K, a * V + b * U),
            step("definition", A @ (a * V + b * U)),
            step("distributivity", a * (A @ V) + b * (A @ U)),
            step("definition", a * attention.result(Q, K, V) + b * attention.result(Q, K, U)),
        ),
        claim(Derivative(O[i, c], V[j, l]), step("derivative", A[i, j] * KroneckerDelta(c, l))),
        about=attention,
        ranges={i: n, j: m, c: d_v, l: d_v},
        source=EQUATION_1,
    )


# --- two sequences ---------------------------------------------------------------------------------------------------


@result
def cross_attention() -> Derivation:
    """Queries from one sequence X (n positions), keys and values from another Y (m positions): n outputs."""
    weights = exp(dot(i, j) / sqrt(d_k)) / over_keys(exp(dot(i, l) / sqrt(d_k)))
    return derivation(
        "Cross attention: $n$ queries and $m$ keys give an $n x m$ matrix of weights and $n$ outputs of size $d_v$",
        claim(O, step("definition", row_softmax((X @ W_Q) @ (Y @ W_K).T / sqrt(d_k)) @ (Y @ W_V))),
        claim(A[i, j], step("definition", weights)),
        claim(O[i, c], step("matrix product", over_keys(weights * V[j, c], j))),
        about=[Equation(Q, X @ W_Q), Equation(K, Y @ W_K), Equation(V, Y @ W_V), *attention.equations],
        ranges={i: n, j: m, c: d_v},
        source=DECODER,
    )
