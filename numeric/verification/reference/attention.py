r"""Softmax, scaled dot-product attention and multi-head attention, entry by entry.

Definition   y_i  = exp(x_i) / sum_j exp(x_j)
             A_ij = exp(q_i . k_j / sqrt(d_k)) / sum_l exp(q_i . k_l / sqrt(d_k)),   the sum over visible keys l
             o_i  = sum_j A_ij v_j
             MultiHead = Concat(head_1, ..., head_h) W^O,   head_i = Attention(X_Q W_i^Q, X_K W_i^K, X_V W_i^V)
Assumes      a mask is True where a key is visible; a row with no visible key has zero weights and zero output
Source       Vaswani et al. (2017), sections 3.2.1 (equation 1), 3.2.2 and 3.2.3; Bridle (1990) for softmax

The maximum is not subtracted: the exponents of mpmath are unbounded, so that the plain definition never overflows.

>>> from numeric.verification.reference import softmax
>>> softmax([3.0, 3.0, 3.0, 3.0])
[mpf('0.25'), mpf('0.25'), mpf('0.25'), mpf('0.25')]
"""

from mpmath import mp

from numeric.verification.reference.position_wise import linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, Vector, at_fifty_digits, read, read_mask

__all__ = [
    "attention_weights",
    "causal_mask",
    "multi_head_attention",
    "padding_mask",
    "scaled_dot_product_attention",
    "softmax",
]


@loops_of("softmax")
@at_fifty_digits
def softmax(x: Array, M: Array | None = None) -> Vector:
    """Return the softmax of a vector, over its visible entries where a mask is given.

    Definition   y_i = exp(x_i) / sum_j exp(x_j), j visible; y_i = 0 where i is hidden
    Shapes       x (n,), M (n,) -> y (n,)
    Source       Bridle (1990)
    Raises       ValueError on shapes that disagree and on numbers that are not finite
    """
    (x,) = read("softmax", x=(x, "n"))
    n = len(x)
    visible = read_mask("softmax", M, n)
    total = sum(mp.exp(x[j]) for j in range(n) if visible[j])
    return [mp.exp(x[i]) / total if visible[i] else mp.zero for i in range(n)]


@at_fifty_digits
def attention_weights(Q: Array, K: Array, M: Array | None = None) -> Matrix:
    """Return the weight of every key for every query.

    Definition   S_ij = sum_c Q_ic K_jc / sqrt(d_k);   row i of A is the softmax of row i of S over its visible keys
    Shapes       Q (n, d_k), K (m, d_k), M (n, m) -> A (n, m)
    Source       Vaswani et al. (2017), equation 1
    Raises       ValueError on shapes that disagree and on numbers that are not finite
    """
    Q, K = read("attention_weights", Q=(Q, "n d_k"), K=(K, "m d_k"))
    n, m, d_k = len(Q), len(K), len(K[0])
    visible = read_mask("attention_weights", M, n, m)
    S = [[sum(Q[i][c] * K[j][c] for c in range(d_k)) / mp.sqrt(d_k) for j in range(m)] for i in range(n)]
    return [softmax(S[i], visible[i]) for i in range(n)]


@loops_of("scaled_dot_product_attention", "masked_scaled_dot_product_attention")
@at_fifty_digits
def scaled_dot_product_attention(Q: Array, K: Array, V: Array, M: Array | None = None) -> Matrix:
    """Return for every query the average of the values, weighted by the attention weights.

    Definition   O_ie = sum_j A_ij V_je
    Shapes       Q (n, d_k), K (m, d_k), V (m, d_v), M (n, m) -> O (n, d_v)
    Source       Vaswani et al. (2017), equation 1
    Raises       ValueError on shapes that disagree and on numbers that are not finite
    """
    Q, K, V = read("scaled_dot_product_attention", Q=(Q, "n d_k"), K=(K, "m d_k"), V=(V, "m d_v"))
    n, m, d_v = len(Q), len(V), len(V[0])
    A = attention_weights(Q, K, M)
    return [[sum(A[i][j] * V[j][e] for j in range(m)) for e in range(d_v)] for i in range(n)]


@loops_of("multi_head_attention", "masked_multi_head_attention", "multi_head_attention_with_biases")
@at_fifty_digits
def multi_head_attention(
    X_Q: Array,
    X_K: Array,
    X_V: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array,
    b_Q: Array | None = None,
    b_K: Array | None = None,
    b_V: Array | None = None,
    b_O: Array | None = None,
    M: Array | None = None,
) -> Matrix:
    """Return the concatenated heads, times the output projection.

    Definition   head_i = Attention(X_Q W_i^Q + b_i^Q, X_K W_i^K + b_i^K, X_V W_i^V + b_i^V);
                 entry e of head i is column i d_v + e of the concatenation (i, e from 0), which W^O multiplies
    Shapes       X_Q (n, d_model), X_K, X_V (m, d_model), W_Q, W_K (h, d_model, d_k), W_V (h, d_model, d_v),
                 W_O (h d_v, d_model), b_Q, b_K (h, d_k), b_V (h, d_v), b_O (d_model,), M (n, m) -> (n, d_model)
    Assumes      an omitted bias is zero; one mask serves all heads
    Source       Vaswani et al. (2017), section 3.2.2
    Raises       ValueError on shapes that disagree and on numbers that are not finite
    """
    X_Q, X_K, X_V, W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O = read(
        "multi_head_attention",
        X_Q=(X_Q, "n d_model"), X_K=(X_K, "m d_model"), X_V=(X_V, "m d_model"),
        W_Q=(W_Q, "h d_model d_k"), W_K=(W_K, "h d_model d_k"), W_V=(W_V, "h d_model d_v"),
        W_O=(W_O, "h*d_v d_model"),
        b_Q=(b_Q, "h d_k"), b_K=(b_K, "h d_k"), b_V=(b_V, "h d_v"), b_O=(b_O, "d_model"),
    )  # fmt: skip
    n, h, d_v = len(X_Q), len(W_V), len(W_V[0][0])
    heads = [
        scaled_dot_product_attention(
            linear(X_Q, W_Q[i], b_Q and b_Q[i]),
            linear(X_K, W_K[i], b_K and b_K[i]),
            linear(X_V, W_V[i], b_V and b_V[i]),
            M,
        )
        for i in range(h)
    ]
    concatenated = [[heads[i][r][e] for i in range(h) for e in range(d_v)] for r in range(n)]
    return linear(concatenated, W_O, b_O)


def causal_mask(n: int) -> list[list[bool]]:
    """Return the mask with which a position sees itself and the earlier positions.

    Definition   M_ij is True iff j <= i
    Shapes       (n, n)
    Source       Vaswani et al. (2017), section 3.2.3
    """
    return [[j <= i for j in range(n)] for i in range(n)]


def padding_mask(visible: Array, n: int) -> list[list[bool]]:
    """Return the mask with which each of n queries sees the keys that are not padding.

    Definition   M_ij = visible_j
    Shapes       visible (m,) -> (n, m)
    Raises       ValueError where an entry is not a Boolean
    """
    keys = read_mask("padding_mask", visible, len(visible))
    return [list(keys) for _ in range(n)]
