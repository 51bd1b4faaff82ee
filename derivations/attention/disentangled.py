r"""Disentangled attention: scores of content with content, of content with distance, and of distance with content.

Definition   Q_i, K_i, V_i = X W_i^Q, X W_i^K, X W_i^V; for the rows R of distances K_i^R = R W_i^KR, Q_i^R = R W_i^QR;
             S_i,pq = (q_p . k_q + q_p . k^R_N + k_q . q^R_N) / sqrt(3 d_k), N = N_pq the number of their distance;
             head_i = softmax(S_i) V_i, Y = Concat(head_1, ..., head_h) W^O
Result       scores of content and distance added up, without that of distance with distance; products with all rows of
             R come first, so that the two new terms cost 4 n buckets d_k operations for each head, linear in n
Shapes       X and Y (n, d_model), R (buckets, d_model), N (n, n), C_i and P_i (n, buckets), S_i (n, n)
Assumes      every distance has a row, 0 <= N_pq < buckets
Source       He, Liu, Gao and Chen (2021), DeBERTa, section 3.1; N_pq in both terms as in the released code
"""

from sympy import Ge, Sum, sqrt

from derivations.attention.multi_head import W_K, W_O, W_Q, W_V, b_K, b_O, b_Q, b_V
from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.expression import array, require, token_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.selection import Pick
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer, part
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import d_k, d_model, d_v, h, i, index, n, size

__all__ = ["buckets", "disentangled_attention", "disentangled_head"]

TOPIC = "multi_head"

HE = "He, Liu, Gao and Chen (2021), DeBERTa, section 3.1"
buckets = size("buckets")  # rows of the table of distances
X, R, N = array("X", n, d_model), array("R", buckets, d_model), token_array("N", n, n)
W_KR, W_QR = array("W_KR", h, d_model, d_k), array("W_QR", h, d_model, d_k)
b_KR, b_QR = array("b_KR", h, d_k), array("b_QR", h, d_k)
p, q, c = index("p"), index("q"), index("c")  # a position, that of a key; a column of a head


def disentangled_head(*, by_keys: bool = True, by_queries: bool = True) -> Layer:
    """Return one head: scores from content and the rows of distances, weights, and the weighted sum of values.

    Definition   C = Q K_R^T, P = K Q_R^T, S_pq = (q_p . k_q + C_pN + P_qN) / sqrt(t d_k) with N = N_pq, for t terms;
                 A = softmax of the rows of S, O = A V
    Shapes       Q and K (n, d_k), V and O (n, d_v), K_R and Q_R (buckets, d_k), N (n, n), C and P (n, buckets)
    """
    require(by_keys or by_queries, lambda: "disentangled attention: a term of distances is needed, by keys or queries")
    Q, K, V = array("Q", n, d_k), array("K", n, d_k), array("V", n, d_v)
    K_R, Q_R = array("K_R", buckets, d_k), array("Q_R", buckets, d_k)
    let = Equations()
    terms = [Q @ K.T]
    if by_keys:
        terms.append(Pick(let("C")(Q @ K_R.T), N))
    if by_queries:
        terms.append(Pick(let("P")(K @ Q_R.T), N.T).T)
    S = let("S")(sum(terms[1:], terms[0]) / sqrt(len(terms) * d_k))
    O = let("O")(let("A")(row_softmax(S)) @ V)
    return Layer("disentangled_head", (Q, K, V, *([K_R] * by_keys), *([Q_R] * by_queries), N), (), let, O)


@catalogued
def disentangled_attention(
    *, biases: bool = False, shared: bool = False, by_keys: bool = True, by_queries: bool = True
) -> Layer:
    """Return attention with h heads whose scores depend on content and, in separate terms, on distance.

    When `shared`, distances are projected as content is: W_i^KR = W_i^K and W_i^QR = W_i^Q. `by_keys` has the term of
    content with distance, q_p . k^R_N, and `by_queries` that of distance with content; the scores are divided by
    sqrt(t d_k) for t terms.

    Definition   as in the docstring of the module
    Shapes       X and Y (n, d_model), R (buckets, d_model), N (n, n), W_Q, W_K, W_KR and W_QR (h, d_model, d_k),
                 W_V (h, d_model, d_v), W_O (h d_v, d_model); biases b_Q, b_K, b_KR, b_QR (h, d_k), b_V (h, d_v), b_O
    Source       He, Liu, Gao and Chen (2021), DeBERTa, equations 2 to 4
    """
    of_keys, of_queries = ((W_K, b_K), (W_Q, b_Q)) if shared else ((W_KR, b_KR), (W_QR, b_QR))
    rows = [("Q", X, W_Q, b_Q), ("K", X, W_K, b_K), ("V", X, W_V, b_V)]
    rows += [*([("K_R", R, *of_keys)] * by_keys), *([("Q_R", R, *of_queries)] * by_queries)]
    heads, let = (i, h), Equations()
    projected = [let(name, over=heads)(Z @ W[i] + b[i] if biases else Z @ W[i])[i] for name, Z, W, b in rows]
    attend = part("attention", disentangled_head(by_keys=by_keys, by_queries=by_queries))
    head = let("head", over=heads)(attend(*projected, N))
    Z = let("Z")(Concatenate(head[i], i, h))
    Y = let("Y")(Z @ W_O + b_O if biases else Z @ W_O)
    weights = dict.fromkeys(each for _, _, *both in [*rows, ("Y", Z, W_O, b_O)] for each in both[: 1 + biases])
    return Layer("disentangled_attention", (X, R, N), tuple(weights), let, Y)


one_head = disentangled_head()
scores = one_head.until("S")
Q, K, _, K_R, Q_R, _ = one_head.inputs
S = one_head.equation("S").variable
IN_TABLE = (
    Assumption(Ge(N[p, q], 0, evaluate=False), {p: n, q: n}, "buckets count from 0"),
    Assumption(Ge(buckets - 1 - N[p, q], 0, evaluate=False), {p: n, q: n}, "every distance has a bucket"),
)


@result
def disentangled_scores() -> Derivation:
    """A score adds three dot products. A fourth, of distance with distance, would make it a dot product of two sums."""
    query, key, by_key, by_query = Q[p, c], K[q, c], K_R[N[p, q], c], Q_R[N[p, q], c]
    over, root = (c, 0, d_k - 1), sqrt(3 * d_k)
    return derivation(
        "Scores of disentangled attention: content with content, content with distance, distance with content",
        claim(
            S[p, q],
            step("definition", Sum(query * key + query * by_key + key * by_query, over) / root),
            step("algebra", Sum((query + by_query) * (key + by_key) - by_query * by_key, over) / root),
        ),
        about=scores,
        ranges={p: n, q: n},
        assuming=IN_TABLE,
        source=HE,
    )


@result
def disentangled_costs() -> Derivation:
    """The two products with all rows of the table cost as many FLOPs as 2 * buckets more keys would in Q K^T."""
    whole, shared = disentangled_attention(), disentangled_attention(shared=True)
    plain = h * d_model * (2 * d_k + 2 * d_v)
    return derivation(
        "Costs of disentangled attention: two more matrices for each head unless they are shared, and products with "
        "the table of distances",
        claim(Count("parameters", whole), step("count", plain + 2 * h * d_model * d_k)),
        claim(Count("parameters", shared), step("count", plain)),
        claim(Count("FLOPs", scores), step("count", 2 * n**2 * d_k + 4 * n * buckets * d_k + 3 * n**2)),
        source=HE,
    )
