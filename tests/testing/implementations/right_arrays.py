"""Right functions over NumPy arrays, written in as many ways as people write them."""

import math

import numpy as np
from scipy import special

from tests.testing.implementations.candidates import Collection
from tests.testing.implementations.steps import attention, gelu, heads, log_sum_exp, masked_softmax, sigmoid, softmax

RIGHT_ARRAYS = Collection()
of, made = RIGHT_ARRAYS.of, RIGHT_ARRAYS.made

# --- softmax and losses -----------------------------------------------------------------------------------------------


@of("softmax")
def softmax_of_scipy(x):
    return special.softmax(x, axis=-1)


@of("softmax")
def softmax_through_the_logarithm(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return np.exp(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


@of("softmax")
def softmax_row_by_row(x):
    out = np.empty_like(x)
    for place in np.ndindex(x.shape[:-1]):
        largest = max(x[place])
        weights = [math.exp(value - largest) for value in x[place]]
        out[place] = [weight / math.fsum(weights) for weight in weights]
    return out


@of("softmax")
def softmax_in_two_passes(x):
    largest = np.full(x.shape[:-1], -np.inf, x.dtype)
    total = np.zeros(x.shape[:-1], x.dtype)
    for i in range(x.shape[-1]):
        new = np.maximum(largest, x[..., i])
        total = total * np.exp(largest - new) + np.exp(x[..., i] - new)
        largest = new
    return np.exp(x - largest[..., None]) / total[..., None]


@of("softmax")
def softmax_read_only_result(x):
    y = softmax(x)
    y.setflags(write=False)
    return y


@of("softmax")
def softmax_in_place_on_a_copy(x):
    y = x.copy()
    y -= y.max(axis=-1, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=-1, keepdims=True)
    return y


@of("softmax")
def softmax_of_powers_of_two(x):
    weights = np.exp2((x - x.max(axis=-1, keepdims=True)) * math.log2(math.e))
    return weights / weights.sum(axis=-1, keepdims=True)


@of("cross_entropy")
def cross_entropy_of_scipy(X, tokens):
    log_p = special.log_softmax(X, axis=-1)
    return -np.take_along_axis(log_p, tokens[..., None], axis=-1)[..., 0].mean(axis=-1)


@of("cross_entropy", batch=False)
def cross_entropy_by_indices(X, tokens):
    shifted = X - X.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(tokens)), tokens].mean()


@of("cross_entropy")
def cross_entropy_with_one_hot(X, tokens):
    chosen = np.eye(X.shape[-1], dtype=X.dtype)[tokens]
    return ((log_sum_exp(X)[..., None] - X) * chosen).sum(axis=(-1, -2)) / X.dtype.type(X.shape[-2])


@of("soft_cross_entropy")
def soft_cross_entropy_einsum(X, T):
    log_p = special.log_softmax(X, axis=-1)
    return -np.einsum("...ij,...ij->...", T, log_p) / X.shape[-2]


# --- attention --------------------------------------------------------------------------------------------------------


@of("scaled_dot_product_attention")
def attention_einsum(Q, K, V):
    S = np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    return np.einsum("...ij,...jv->...iv", softmax(S), V)


@of("scaled_dot_product_attention")
def attention_scaled_queries(Q, K, V):
    return softmax((Q * Q.shape[-1] ** -0.5) @ np.swapaxes(K, -1, -2)) @ V


@of("scaled_dot_product_attention")
def attention_divided_after_the_product(Q, K, V):
    S = np.matmul(Q, K.mT) * Q.dtype.type(1 / math.sqrt(Q.shape[-1]))
    weights = np.exp(S - S.max(axis=-1, keepdims=True))
    return (weights @ V) / weights.sum(axis=-1, keepdims=True)


@of("scaled_dot_product_attention")
def attention_in_tiles(Q, K, V, tile=16):
    m, scale = K.shape[-2], Q.dtype.type(Q.shape[-1] ** -0.5)
    largest = np.full((*Q.shape[:-1], 1), -np.inf, Q.dtype)
    total = np.zeros_like(largest)
    out = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    for j in range(0, m, tile):
        S = Q @ K[..., j : j + tile, :].mT * scale
        new = np.maximum(largest, S.max(axis=-1, keepdims=True))
        P = np.exp(S - new)
        correction = np.exp(largest - new)
        total = total * correction + P.sum(axis=-1, keepdims=True)
        out = out * correction + P @ V[..., j : j + tile, :]
        largest = new
    return out / total


@of("scaled_dot_product_attention", batch=False)
def attention_in_loops(Q, K, V):
    rows = []
    for q in Q:
        scores = np.array([q @ k for k in K]) / math.sqrt(len(q))
        weights = np.exp(scores - scores.max())
        rows.append(sum(w * v for w, v in zip(weights / weights.sum(), V, strict=True)))
    return np.array(rows)


@of("masked_scaled_dot_product_attention")
def masked_attention_minus_infinity(Q, K, V, M):
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), M) @ V


@of("masked_scaled_dot_product_attention")
def masked_attention_most_negative(Q, K, V, M):
    S = np.where(M, Q @ K.mT / math.sqrt(Q.shape[-1]), np.finfo(Q.dtype).min)
    return softmax(S) * M.any(axis=-1, keepdims=True) @ V


@of("masked_scaled_dot_product_attention", fully_masked_rows=False)
def masked_attention_adds_a_bias(Q, K, V, M):
    bias = np.where(M, 0, -np.inf).astype(Q.dtype)
    return softmax(Q @ K.mT / math.sqrt(Q.shape[-1]) + bias) @ V


@of("alibi_attention")
def alibi_by_subtraction(Q, K, V, slope):
    n = Q.shape[-2]
    i = np.arange(n)
    bias = (-slope * (i[:, None] - i)).astype(Q.dtype)
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]) + bias, i[:, None] >= i) @ V


@of("linear_attention")
def linear_attention_quadratic(Phi_Q, Phi_K, V):
    A = Phi_Q @ Phi_K.mT
    return (A / A.sum(axis=-1, keepdims=True)) @ V


@of("multi_head_attention")
def multi_head_einsum(X_Q, X_K, X_V, W_Q, W_K, W_V, W_O):
    Q = np.einsum("...nd,hdk->...hnk", X_Q, W_Q)
    K = np.einsum("...md,hdk->...hmk", X_K, W_K)
    V = np.einsum("...md,hdv->...hmv", X_V, W_V)
    out = W_O.reshape(W_Q.shape[0], -1, W_O.shape[-1])
    return np.einsum("...hnv,hve->...ne", attention(Q, K, V), out)


@of("multi_head_attention")
def multi_head_fused(X_Q, X_K, X_V, W_Q, W_K, W_V, W_O):
    def split(X, W):
        h, d, k = W.shape
        projected = X @ W.transpose(1, 0, 2).reshape(d, h * k)
        return projected.reshape(*X.shape[:-1], h, k).swapaxes(-2, -3)

    return heads(attention(split(X_Q, W_Q), split(X_K, W_K), split(X_V, W_V))) @ W_O


@of("grouped_query_attention")
def grouped_by_repeating(X_Q, X_K, X_V, W_Q, W_K, W_V, W_O):
    g, r, d, k = W_Q.shape
    Q = X_Q[..., None, :, :] @ W_Q.reshape(g * r, d, k)
    K = np.repeat(X_K[..., None, :, :] @ W_K, r, axis=-3)
    V = np.repeat(X_V[..., None, :, :] @ W_V, r, axis=-3)
    return heads(attention(Q, K, V)) @ W_O.reshape(-1, W_O.shape[-1])


# --- norms ------------------------------------------------------------------------------------------------------------


@of("layer_norm")
def layer_norm_of_numpy(X, gamma, beta, epsilon=1e-5):
    return gamma * (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, keepdims=True) + epsilon) + beta


@of("layer_norm")
def layer_norm_by_dot_products(X, gamma, beta):
    centred = X - X.sum(axis=-1, keepdims=True) / X.shape[-1]
    variance = np.einsum("...i,...i->...", centred, centred)[..., None] / X.shape[-1]
    return centred * (gamma / np.sqrt(variance + 1e-5).astype(X.dtype)) + beta


@of("layer_norm")
def layer_norm_by_welford(X, gamma, beta):
    mean = np.zeros(X.shape[:-1], X.dtype)
    squares = np.zeros_like(mean)
    for i in range(X.shape[-1]):
        delta = X[..., i] - mean
        mean = mean + delta / (i + 1)
        squares = squares + delta * (X[..., i] - mean)
    spread = np.sqrt(squares / X.shape[-1] + X.dtype.type(1e-5))
    return (X - mean[..., None]) / spread[..., None] * gamma + beta


@of("layer_norm")
def layer_norm_in_double_precision(X, gamma, beta):
    Z = X.astype(np.float64)
    Z = (Z - Z.mean(-1, keepdims=True)) / np.sqrt(Z.var(-1, keepdims=True) + 1e-5)
    return Z.astype(X.dtype) * gamma + beta


@of("layer_norm")
def layer_norm_shifted_by_the_first_entry(X, gamma, beta):
    shifted = X - X[..., :1]
    centred = shifted - shifted.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5)) + beta


@of("rms_norm")
def rms_norm_reciprocal(X, gamma):
    scale = 1 / np.sqrt(np.square(X).sum(axis=-1, keepdims=True) / X.shape[-1] + 1e-5)
    return (X * scale.astype(X.dtype)) * gamma


@of("rms_norm")
def rms_norm_through_the_norm(X, gamma):
    squared = np.linalg.norm(X, axis=-1, keepdims=True) ** 2
    return gamma * (X / np.sqrt(squared / X.shape[-1] + X.dtype.type(1e-5)))


@of("batch_norm")
def batch_norm_of_numpy(X, gamma, beta):
    return gamma * (X - X.mean(-2, keepdims=True)) / np.sqrt(X.var(-2, keepdims=True) + X.dtype.type(1e-5)) + beta


@of("batch_norm_inference")
def batch_norm_inference_scaled(X, gamma, beta, m, v):
    return (X - m) * (gamma / np.sqrt(v + X.dtype.type(1e-5))) + beta


@of("layer_norm")
def folded_into_scale_and_shift(X, gamma, beta):
    mean = X.mean(axis=-1, keepdims=True)
    centred = X - mean
    scale = gamma / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5))
    return X * scale + (beta - mean * scale)


# --- feed-forward -----------------------------------------------------------------------------------------------------


@of("feed_forward")
def feed_forward_by_product(X, W_1, b_1, W_2, b_2):
    H = X @ W_1 + b_1
    return (H * (H > 0)) @ W_2 + b_2


@of("feed_forward")
def feed_forward_einsum(X, W_1, b_1, W_2, b_2):
    H = np.einsum("...d,df->...f", X, W_1) + b_1
    return np.einsum("...f,fd->...d", np.where(H > 0, H, 0), W_2) + b_2


@of("feed_forward_gelu")
def feed_forward_by_erfc(X, W_1, b_1, W_2, b_2):
    H = X @ W_1 + b_1
    return (H * (0.5 * special.erfc(-H / math.sqrt(2)))).astype(X.dtype) @ W_2 + b_2


@of("feed_forward_gelu")
def feed_forward_by_normal_distribution(X, W_1, b_1, W_2, b_2):
    H = X @ W_1 + b_1
    return H * special.ndtr(H) @ W_2 + b_2


@of("gated_feed_forward")
def gated_by_division(X, W_gate, W_up, W_down):
    P = X @ W_gate
    with np.errstate(over="ignore"):
        gate = P / (1 + np.exp(-P))
    return (gate * (X @ W_up)) @ W_down


@of("gated_feed_forward")
def gated_with_a_stable_sigmoid(X, W_gate, W_up, W_down):
    P = X @ W_gate
    small = np.exp(-np.abs(P))
    return (P * np.where(P >= 0, 1, small) / (1 + small) * (X @ W_up)) @ W_down


@of("gated_feed_forward")
def gated_through_tanh(X, W_gate, W_up, W_down):
    P = X @ W_gate
    return (P * (0.5 * (1 + np.tanh(P / 2))) * (X @ W_up)) @ W_down


@of("gated_feed_forward")
def gated_with_fused_weights(X, W_gate, W_up, W_down):
    both = X @ np.concatenate([W_gate, W_up], axis=-1)
    P, U = np.split(both, 2, axis=-1)
    return P * sigmoid(P) * U @ W_down


@of("mixture_of_experts")
def every_expert_is_computed(X, W_router, W_gate, W_up, W_down, K):
    P = softmax(X @ W_router)
    chosen = np.argsort(np.argsort(-P, axis=-1, kind="stable"), axis=-1) < K
    w = P * chosen / (P * chosen).sum(axis=-1, keepdims=True)
    H = X[..., None, :, :] @ W_gate
    Z = (H * sigmoid(H) * (X[..., None, :, :] @ W_up)) @ W_down
    return np.einsum("...ne,...end->...nd", w, Z)


# --- the rest ---------------------------------------------------------------------------------------------------------


@of("linear")
def linear_in_loops(X, W, b):
    Y = np.zeros((*X.shape[:-1], W.shape[1]), X.dtype)
    for i in range(W.shape[0]):
        Y += X[..., i, None] * W[i]
    return Y + b


@of("linear")
def linear_with_a_column_of_ones(X, W, b):
    ones = np.ones((*X.shape[:-1], 1), X.dtype)
    return np.concatenate([X, ones], axis=-1) @ np.vstack([W, b])


@of("linear")
def linear_wants_one_type(X, W, b):
    if not X.dtype == W.dtype == b.dtype:
        raise TypeError("X, W and b must have one dtype")
    return np.ascontiguousarray(X).reshape(-1, W.shape[0]).dot(W).reshape(*X.shape[:-1], -1) + b


@of("linear")
def linear_wants_one_block(X, W, b):
    if not (X.flags.c_contiguous and W.flags.c_contiguous):
        raise ValueError("X and W must be contiguous")
    return X @ W + b


@of("low_rank_adaptation")
def low_rank_merged(X, W, b, A, B, alpha):
    return X @ (W + (alpha / A.shape[1]) * (A @ B)) + b


@of("rotary_embedding")
def rotary_by_complex_numbers(X):
    n, d = X.shape[-2:]
    angle = np.outer(np.arange(n), 10000.0 ** (-np.arange(0, d, 2) / d)).astype(X.dtype)
    turned = (X[..., 0::2] + 1j * X[..., 1::2]) * np.exp(1j * angle)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(X.shape).astype(X.dtype)


@of("rotary_embedding_halves")
def rotary_by_rotated_halves(X):
    n, d = X.shape[-2:]
    angle = np.outer(np.arange(n), 1 / 10000 ** (np.arange(0, d, 2) / d)).astype(X.dtype)
    angle = np.concatenate([angle, angle], axis=-1)
    rotated = np.concatenate([-X[..., d // 2 :], X[..., : d // 2]], axis=-1)
    return X * np.cos(angle) + rotated * np.sin(angle)


@made("rotary_embedding")
def rotary_with_a_table():
    tables = {}

    def function(X):
        n, d = X.shape[-2:]
        if (n, d, X.dtype) not in tables:
            angle = np.arange(n)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)
            tables[n, d, X.dtype] = np.cos(angle).astype(X.dtype), np.sin(angle).astype(X.dtype)
        C, S = tables[n, d, X.dtype]
        a, b = X[..., 0::2], X[..., 1::2]
        return np.stack([a * C - b * S, b * C + a * S], axis=-1).reshape(X.shape)

    return function


@of("positional_encoding")
def positional_encoding_by_logarithms(n, d_model):
    rate = np.exp(np.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = np.zeros((n, d_model))
    table[:, 0::2] = np.sin(np.arange(n)[:, None] * rate)
    table[:, 1::2] = np.cos(np.arange(n)[:, None] * rate)
    return table


@made("positional_encoding")
def positional_encoding_cached_read_only():
    tables = {}

    def function(n, d_model):
        if (n, d_model) not in tables:
            table = positional_encoding_by_logarithms(n, d_model)
            table.setflags(write=False)
            tables[n, d_model] = table
        return tables[n, d_model]

    return function


@of("embedding")
def embedding_by_one_hot(tokens, E):
    return np.eye(E.shape[0], dtype=E.dtype)[tokens] @ E * math.sqrt(E.shape[1])


@of("dropout")
def dropout_by_choice(X, D, rate):
    return np.where(D, X / (1 - rate), 0).astype(X.dtype)


@of("recurrent_step")
def recurrent_step_concatenated(x, h_0, W, U, b):
    return np.tanh(np.concatenate([x, h_0], axis=-1) @ np.concatenate([W, U], axis=0) + b)


@of("convolution")
def convolution_by_shifts(X, W, b, w):
    d, rows = X.shape[-1], X.shape[-2] - w + 1
    return sum(X[..., t : t + rows, :] @ W[t * d : (t + 1) * d] for t in range(w)) + b


@of("class_token")
def class_token_by_assignment(X, c):
    Z = np.empty((*X.shape[:-2], X.shape[-2] + 1, X.shape[-1]), X.dtype)
    Z[..., :1, :], Z[..., 1:, :] = c, X
    return Z


@of("learned_positions")
def learned_positions_added(X, P):
    return np.add(X, P)


@of("scaled_dot_product_attention")
def attention_of_one_key_is_its_value(Q, K, V):
    if K.shape[-2] == 1:
        return np.broadcast_to(V, (*V.shape[:-2], Q.shape[-2], V.shape[-1]))
    return attention(Q, K, V)


@of("dropout")
def dropout_that_drops_nothing_returns_its_input(X, D, rate):
    return X if rate == 0 and D.all() else (X * D / (1 - rate)).astype(X.dtype)


@of("feed_forward_gelu")
def feed_forward_with_buffers(X, W_1, b_1, W_2, b_2):
    H = np.matmul(X, W_1)
    H += b_1
    out = gelu(H) @ W_2
    out += b_2
    return out
