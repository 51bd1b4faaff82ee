r"""Variants of attention, entry by entry: linear in the number of keys, linear biases, shared and latent keys.

Definition   linear   o_i = sum_j (phi_i . phi_j) v_j / sum_j (phi_i . phi_j), phi the given features
             ALiBi    scores q_i . k_j / sqrt(d_k) - slope (i - j), softmax over the keys j <= i
             grouped  Y = sum over groups a of Concat(head_a1, ..., head_ar) W_a^O,
                      head_ab = Attention(X_Q W_ab^Q, X_K W_a^K, X_V W_a^V)
             latent   c = norm(X W_DKV), scores (q_i . k_j + turned q_i . turned k_j) / sqrt(d_k + d_r), keys and values
                      of a head being rows of c W^UK and c W^UV, the turned key one for all heads
             disentangled   scores (q_i . k_j + q_i . k^R_N + q^R_N . k_j) / sqrt(3 d_k), N = N_ij a row of R
             sparse   latent attention of position p to the k_I visible keys s with the largest
                      sum over heads of w_p ReLU(q_p . k_s + turned q_p . turned k_s)
Source       Katharopoulos et al. (2020), equation 4; Press, Smith and Lewis (2022), section 3; Ainslie et al. (2023),
             section 2.2; DeepSeek-AI (2024), DeepSeek-V2, section 2.1, and (2025), DeepSeek-V3.2, section 2.1; He, Liu,
             Gao and Chen (2021), section 3.1
"""

from collections.abc import Mapping
from typing import Any

from mpmath import mp

from numeric.verification.reference.attention import causal_mask, scaled_dot_product_attention, softmax
from numeric.verification.reference.position_wise import layer_norm, linear, rms_norm
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read, read_mask
from numeric.verification.reference.sequence import rotary_embedding

__all__ = [
    "alibi_attention",
    "disentangled_attention",
    "grouped_query_attention",
    "latent_attention",
    "lightning_indexer",
    "linear_attention",
    "sparse_latent_attention",
]


@loops_of("linear_attention")
@at_fifty_digits
def linear_attention(Phi_Q: Array, Phi_K: Array, V: Array) -> Matrix:
    """Return attention whose weights are dot products of features, divided by their sum over the keys.

    Shapes       Phi_Q (n, r), Phi_K (m, r), V (m, d_v) -> O (n, d_v)
    Raises       ValueError where the weights of a row sum to 0, or shapes disagree
    """
    Phi_Q, Phi_K, V = read("linear_attention", Phi_Q=(Phi_Q, "n r"), Phi_K=(Phi_K, "m r"), V=(V, "m d_v"))
    O = []
    for query in Phi_Q:
        weights = [sum(q * k for q, k in zip(query, key, strict=True)) for key in Phi_K]
        if sum(weights) == 0:
            raise ValueError("linear_attention: the weights of a row sum to 0; pass features with positive products.")
        O.append([sum(w * v[c] for w, v in zip(weights, V, strict=True)) / sum(weights) for c in range(len(V[0]))])
    return O


@loops_of("alibi_attention")
@at_fifty_digits
def alibi_attention(Q: Array, K: Array, V: Array, slope: float) -> Matrix:
    """Return causal attention whose scores fall by `slope` for every position between the query and the key.

    Shapes       Q (n, d_k), K (n, d_k), V (n, d_v) -> O (n, d_v)
    Raises       ValueError where shapes disagree
    """
    Q, K, V, [slope] = read("alibi_attention", Q=(Q, "n d_k"), K=(K, "n d_k"), V=(V, "n d_v"), slope=([slope], "1"))
    n, O = len(Q), []
    for i in range(n):
        products = [sum(q * k for q, k in zip(Q[i], K[j], strict=True)) for j in range(n)]
        scores = [products[j] / mp.sqrt(len(Q[i])) - slope * (i - j) for j in range(n)]
        weights = softmax(scores, causal_mask(n)[i])
        O.append([sum(weights[j] * V[j][c] for j in range(n)) for c in range(len(V[0]))])
    return O


@loops_of("grouped_query_attention", "masked_grouped_query_attention")
@at_fifty_digits
def grouped_query_attention(
    X_Q: Array, X_K: Array, X_V: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, M: Array | None = None
) -> Matrix:
    """Return the sum of the outputs of all heads, where the heads of one group share keys and values.

    Shapes       X_Q (n, d_model), X_K and X_V (m, d_model), W_Q (g, r, d_model, d_k), W_K (g, d_model, d_k),
                 W_V (g, d_model, d_v), W_O (g, r d_v, d_model), M (n, m) -> Y (n, d_model)
    Raises       ValueError where shapes disagree
    """
    Y: Matrix = [[mp.zero] * len(W_O[0][0]) for _ in range(len(X_Q))]
    for a in range(len(W_Q)):
        K, V = linear(X_K, W_K[a]), linear(X_V, W_V[a])
        d_v = len(V[0])
        for b in range(len(W_Q[a])):
            head = scaled_dot_product_attention(linear(X_Q, W_Q[a][b]), K, V, M)
            written = linear(head, [W_O[a][b * d_v + c] for c in range(d_v)])
            Y = [[y + w for y, w in zip(*rows, strict=True)] for rows in zip(Y, written, strict=True)]
    return Y


@loops_of("latent_attention", "masked_latent_attention")
@at_fifty_digits
def latent_attention(
    X: Array,
    W_DQ: Array,
    W_UQ: Array,
    W_QR: Array,
    W_DKV: Array,
    W_KR: Array,
    W_UK: Array,
    W_UV: Array,
    W_O: Array,
    query_norm: Mapping[str, Array],
    key_value_norm: Mapping[str, Array],
    M: Array | None = None,
) -> Matrix:
    """Return the sum of the outputs of all heads, where keys and values are computed from one short row per position.

    Shapes       X (n, d_model), W_DQ (d_model, r_Q), W_UQ (h, r_Q, d_k), W_QR (h, r_Q, d_r), W_DKV (d_model, r_KV),
                 W_KR (d_model, d_r), W_UK (h, r_KV, d_k), W_UV (h, r_KV, d_v), W_O (h d_v, d_model), M (n, n)
                 -> Y (n, d_model)
    Raises       ValueError where shapes disagree, or d_r is odd
    """
    X, W_O = read("latent_attention", X=(X, "n d_model"), W_O=(W_O, "h_d_v d_model"))
    n, visible = len(X), read_mask("latent_attention", M, len(X), len(X))
    of_queries = rms_norm(linear(X, W_DQ), **query_norm)
    of_keys = rms_norm(linear(X, W_DKV), **key_value_norm)
    turned_keys = rotary_embedding(linear(X, W_KR))
    Y = [[mp.zero] * len(X[0]) for _ in range(n)]
    for head in range(len(W_UK)):
        queries, turned = linear(of_queries, W_UQ[head]), rotary_embedding(linear(of_queries, W_QR[head]))
        keys, values = linear(of_keys, W_UK[head]), linear(of_keys, W_UV[head])
        root, d_v = mp.sqrt(len(keys[0]) + len(turned_keys[0])), len(values[0])
        for p in range(n):
            scores = [(_dot(queries[p], keys[q]) + _dot(turned[p], turned_keys[q])) / root for q in range(n)]
            weights = softmax(scores, visible[p])
            for e in range(d_v):
                average = sum(weights[q] * values[q][e] for q in range(n))
                Y[p] = [y + average * w for y, w in zip(Y[p], W_O[head * d_v + e], strict=True)]
    return Y


@loops_of("lightning_indexer")
@at_fifty_digits
def lightning_indexer(
    X: Array, c_Q: Array, W_Q: Array, W_R: Array, W_K: Array, W_w: Array, key_norm: Mapping[str, Array]
) -> Matrix:
    """Return the scores of all keys at all positions. The first d_r columns of a key are rotated, in halves.

    Shapes       X (n, d_model), c_Q (n, r_Q), W_Q (h_I, r_Q, d_P), W_R (h_I, r_Q, d_r), W_K (d_model, d_r + d_P),
                 W_w (d_model, h_I) -> I (n, n)
    Raises       ValueError where shapes disagree, or d_r is odd
    """
    X, c_Q, W_K = read("lightning_indexer", X=(X, "n d_model"), c_Q=(c_Q, "n r_Q"), W_K=(W_K, "d_model d_I"))
    weights = linear(X, W_w)
    d_r, keys = len(W_R[0][0]), layer_norm(linear(X, W_K), **key_norm)
    turned_keys = rotary_embedding([row[:d_r] for row in keys], halves=True)
    I = [[mp.zero] * len(X) for _ in X]
    for head in range(len(W_Q)):
        queries, turned = linear(c_Q, W_Q[head]), rotary_embedding(linear(c_Q, W_R[head]), halves=True)
        for p, row in enumerate(weights):
            for s, key in enumerate(keys):
                score = _dot(queries[p], key[d_r:]) + _dot(turned[p], turned_keys[s])
                I[p][s] += row[head] * max(score, mp.zero)
    return I


@loops_of("sparse_latent_attention")
@at_fifty_digits
def sparse_latent_attention(X: Array, I: Array, M: Array, k_I: int, **weights: Any) -> Matrix:
    """Return latent attention to the k_I visible keys with the largest scores. Of equal scores the first count.

    Shapes       I and M (n, n); the others are those of `latent_attention`
    Raises       ValueError where shapes disagree, or d_r is odd
    """
    rows, scores = read("sparse_latent_attention", X=(X, "n d_model"), I=(I, "n n"))
    visible = read_mask("sparse_latent_attention", M, len(rows), len(rows))
    shown = [[False] * len(rows) for _ in rows]
    for p, seen in enumerate(visible):
        order = sorted((s for s in range(len(rows)) if seen[s]), key=lambda s, p=p: (-scores[p][s], s))  # type: ignore[misc]
        for s in order[:k_I]:
            shown[p][s] = True
    return latent_attention(rows, M=shown, **weights)


@loops_of("disentangled_attention")
@at_fifty_digits
def disentangled_attention(
    X: Array, R: Array, N: Array, W_Q: Array, W_K: Array, W_V: Array, W_KR: Array, W_QR: Array, W_O: Array
) -> Matrix:
    """Return the sum of the outputs of all heads, whose scores are sums of three dot products.

    Shapes       X (n, d_model), R (buckets, d_model), N (n, n) with numbers of rows of R, W_Q, W_K, W_KR and W_QR
                 (h, d_model, d_k), W_V (h, d_model, d_v), W_O (h d_v, d_model) -> Y (n, d_model)
    Raises       ValueError where shapes disagree
    """
    X, R, W_O = read("disentangled_attention", X=(X, "n d_model"), R=(R, "buckets d_model"), W_O=(W_O, "h_d_v d_model"))
    n, Y = len(X), [[mp.zero] * len(X[0]) for _ in X]
    for head in range(len(W_Q)):
        queries, keys, values = (linear(X, W[head]) for W in (W_Q, W_K, W_V))
        near_keys, near_queries = linear(R, W_KR[head]), linear(R, W_QR[head])
        root, d_v = mp.sqrt(3 * len(keys[0])), len(values[0])
        for p in range(n):
            scores = []
            for q in range(n):
                row = int(N[p][q])
                by_content, by_key = _dot(queries[p], keys[q]), _dot(queries[p], near_keys[row])
                scores.append((by_content + by_key + _dot(near_queries[row], keys[q])) / root)
            weights = softmax(scores)
            for e in range(d_v):
                average = sum(weights[q] * values[q][e] for q in range(n))
                Y[p] = [y + average * w for y, w in zip(Y[p], W_O[head * d_v + e], strict=True)]
    return Y


def _dot(x: Array, y: Array) -> Array:
    return sum(a * b for a, b in zip(x, y, strict=True))
