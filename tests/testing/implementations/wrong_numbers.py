"""Functions that are wrong for some numbers only: large, tiny, cancelling, tied, hidden, or of another type."""

import math

import numpy as np
from scipy import special

from tests.testing.implementations.candidates import Collection
from tests.testing.implementations.steps import (
    attention,
    gelu,
    heads,
    layer_norm,
    log_sum_exp,
    masked_softmax,
    sigmoid,
    silu,
    softmax,
)

WRONG_NUMBERS = Collection()
of = WRONG_NUMBERS.of

# --- norms ------------------------------------------------------------------------------------------------------------


@of("layer_norm")
def variance_from_squares(X, gamma, beta):
    mean = X.mean(axis=-1, keepdims=True)
    variance = (X**2).mean(axis=-1, keepdims=True) - mean**2
    return gamma * (X - mean) / np.sqrt(variance + X.dtype.type(1e-5)) + beta


@of("layer_norm")
def variance_from_squares_clipped(X, gamma, beta):
    mean = X.mean(axis=-1, keepdims=True)
    variance = np.maximum((X**2).mean(axis=-1, keepdims=True) - mean**2, 0)
    return gamma * (X - mean) / np.sqrt(variance + X.dtype.type(1e-5)) + beta


@of("batch_norm")
def batch_variance_from_squares(X, gamma, beta):
    mean = X.mean(axis=-2, keepdims=True)
    variance = np.abs((X * X).mean(axis=-2, keepdims=True) - mean * mean)
    return gamma * (X - mean) / np.sqrt(variance + X.dtype.type(1e-5)) + beta


@of("layer_norm")
def epsilon_outside_the_root(X, gamma, beta):
    centred = X - X.mean(axis=-1, keepdims=True)
    return gamma * centred / (centred.std(axis=-1, keepdims=True) + X.dtype.type(1e-5)) + beta


@of("rms_norm")
def epsilon_of_another_library(X, gamma):
    return gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-6))


@of("rms_norm")
def no_epsilon(X, gamma):
    ms = (X**2).mean(axis=-1, keepdims=True)
    return gamma * X / np.sqrt(np.where(ms == 0, 1, ms).astype(X.dtype))


@of("layer_norm")
def gamma_taken_positive(X, gamma, beta):
    return layer_norm(X, np.abs(gamma), beta)


# --- large and small --------------------------------------------------------------------------------------------------


@of("softmax")
def scores_clipped_at_500(x):
    return softmax(np.clip(x, -500, 500))


@of("softmax")
def small_weights_are_dropped(x):
    y = softmax(x)
    return np.where(y < 1e-12, 0, y).astype(x.dtype)


@of("softmax")
def a_little_is_added_below(x):
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / (weights.sum(axis=-1, keepdims=True) + x.dtype.type(1e-8))


@of("cross_entropy")
def logarithm_of_the_softmax(X, tokens):
    p = np.take_along_axis(softmax(X), tokens[..., None], -1)[..., 0]
    return -np.log(p).mean(axis=-1)


@of("cross_entropy")
def probabilities_clipped(X, tokens):
    p = np.take_along_axis(softmax(X), tokens[..., None], -1)[..., 0]
    return -np.log(np.maximum(p, X.dtype.type(1e-20))).mean(axis=-1)


@of("cross_entropy")
def log_sum_exp_unshifted(X, tokens):
    z = np.log(np.exp(X).sum(axis=-1))
    return (z - np.take_along_axis(X, tokens[..., None], -1)[..., 0]).mean(axis=-1)


@of("recurrent_step")
def tanh_from_exponentials(x, h_0, W, U, b):
    a = (x[..., None, :] @ W)[..., 0, :] + (h_0[..., None, :] @ U)[..., 0, :] + b
    return (np.exp(a) - np.exp(-a)) / (np.exp(a) + np.exp(-a))


@of("gated_feed_forward")
def sigmoid_overflows(X, W_gate, W_up, W_down):
    P = X @ W_gate
    return (P * np.exp(P) / (1 + np.exp(P)) * (X @ W_up)) @ W_down


@of("feed_forward")
def rectifier_stops_at_6(X, W_1, b_1, W_2, b_2):
    return np.clip(X @ W_1 + b_1, 0, 6) @ W_2 + b_2


@of("feed_forward_gelu")
def gelu_by_tanh(X, W_1, b_1, W_2, b_2):
    H = X @ W_1 + b_1
    inner = math.sqrt(2 / math.pi) * (H + 0.044715 * H**3)
    return (0.5 * H * (1 + np.tanh(inner))) @ W_2 + b_2


@of("feed_forward_gelu")
def gelu_is_zero_below_minus_4(X, W_1, b_1, W_2, b_2):
    H = X @ W_1 + b_1
    return np.where(H < -4, 0, gelu(H)).astype(X.dtype) @ W_2 + b_2


@of("linear")
def input_clipped_at_1000(X, W, b):
    return np.clip(X, -1000, 1000) @ W + b


@of("linear")
def tiny_entries_are_zero(X, W, b):
    return np.where(np.abs(X) < 1e-6, 0, X).astype(X.dtype) @ W + b


@of("learned_positions")
def rounded_to_12_digits(X, P):
    return np.round(X + P, 12)


@of("scaled_dot_product_attention")
def scores_capped(Q, K, V):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    return softmax(200 * np.tanh(S / 200)) @ V if np.abs(S).max() > 50 else attention(Q, K, V)


@of("linear_attention")
def denominator_with_epsilon(Phi_Q, Phi_K, V):
    total = Phi_Q @ Phi_K.sum(axis=-2)[..., None]
    return Phi_Q @ (Phi_K.mT @ V) / (total + Phi_Q.dtype.type(1e-6))


@of("softmax")
def exponential_by_its_series(x):
    z = x - x.max(axis=-1, keepdims=True)
    series = sum(z**k / math.factorial(k) for k in range(25))
    weights = np.where(z > -1.5, series, np.exp(z)).astype(x.dtype) if x.dtype == np.float32 else np.exp(z)
    weights = np.where((z < -30), 0, weights)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(x.dtype)


@of("low_rank_adaptation")
def alpha_is_an_integer(X, W, b, A, B, alpha):
    return X @ W + b + int(alpha) / A.shape[-1] * (X @ A @ B)


@of("rotary_embedding_halves")
def base_of_another_model(X):
    n, d = X.shape[-2:]
    angle = (np.arange(n)[:, None] / 500000 ** (2 * np.arange(d // 2) / d)).astype(X.dtype)
    a, b = X[..., : d // 2], X[..., d // 2 :]
    C, S = np.cos(angle), np.sin(angle)
    return np.concatenate([a * C - b * S, b * C + a * S], axis=-1)


# --- ties, hidden entries, marked tokens ------------------------------------------------------------------------------


@of("mixture_of_experts")
def ties_go_to_the_last(X, W_router, W_gate, W_up, W_down, K):
    P = softmax(X @ W_router)
    order = P.shape[-1] - 1 - np.argsort(-P[..., ::-1], axis=-1, kind="stable")[..., :K]
    p = np.take_along_axis(P, order, -1)
    H = X[..., None, None, :]
    Z = silu(H @ W_gate[order]) * (H @ W_up[order]) @ W_down[order]
    return (p[..., None] / p.sum(axis=-1)[..., None, None] * Z[..., 0, :]).sum(axis=-2)


@of("masked_scaled_dot_product_attention")
def hidden_scores_of_minus_10000(Q, K, V, M):
    S = np.where(M, Q @ K.mT / math.sqrt(Q.shape[-1]), -1e4).astype(Q.dtype)
    return (softmax(S) * M.any(axis=-1, keepdims=True)).astype(Q.dtype) @ V


@of("masked_scaled_dot_product_attention")
def largest_over_hidden_keys_too(Q, K, V, M):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    weights = np.exp(S - S.max(axis=-1, keepdims=True)) * M
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total).astype(Q.dtype) @ V


@of("masked_scaled_dot_product_attention")
def hidden_rows_are_uniform(Q, K, V, M):
    return softmax(np.where(M, Q @ K.mT / math.sqrt(Q.shape[-1]), -1e30).astype(Q.dtype)) @ V


@of("masked_scaled_dot_product_attention")
def all_visible_takes_a_short_way(Q, K, V, M):
    if M.all():
        return softmax(Q @ K.mT) @ V
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), M) @ V


@of("masked_scaled_dot_product_attention")
def mask_of_the_first_in_the_batch(Q, K, V, M):
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), M[(0,) * (M.ndim - 2)]) @ V


@of("masked_scaled_dot_product_attention")
def triangular_mask_taken_as_strict(Q, K, V, M):
    n, m = M.shape[-2:]
    if n == m and n > 1 and (np.tri(n, dtype=bool) == M).all():
        M = M & ~np.eye(n, dtype=bool) | (np.arange(n) == 0)[:, None] & np.eye(n, dtype=bool)
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), M) @ V


@of("masked_multi_head_attention")
def hidden_everywhere_returns_input(X_Q, X_K, X_V, M, W_Q, W_K, W_V, W_O):
    if not M.any():
        return X_Q
    S = (X_Q[..., None, :, :] @ W_Q) @ (X_K[..., None, :, :] @ W_K).mT / math.sqrt(W_Q.shape[-1])
    return heads(masked_softmax(S, M[..., None, :, :]) @ (X_V[..., None, :, :] @ W_V)) @ W_O


@of("cross_entropy")
def token_zero_is_padding(X, tokens):
    losses = log_sum_exp(X) - np.take_along_axis(X, tokens[..., None], -1)[..., 0]
    real = tokens != 0
    return ((losses * real).sum(axis=-1) / np.maximum(real.sum(axis=-1), 1)).astype(X.dtype)


@of("embedding")
def last_token_is_padding(tokens, E):
    rows = math.sqrt(E.shape[-1]) * E[tokens]
    return np.where((tokens == E.shape[-2] - 1)[..., None], 0, rows).astype(E.dtype)


@of("linear")
def zero_rows_lose_the_bias(X, W, b):
    return X @ W + b * X.any(axis=-1, keepdims=True)


@of("softmax")
def equal_entries_are_one_hot(x):
    if x.shape[-1] > 1 and (x == x[..., :1]).all():
        return (np.arange(x.shape[-1]) == 0) * np.ones_like(x)
    return softmax(x)


@of("rms_norm")
def zero_rows_become_one(X, gamma):
    hat = X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5))
    return np.where((X == 0).all(axis=-1, keepdims=True), 1, gamma * hat).astype(X.dtype)


@of("batch_norm_inference")
def no_spread_is_not_divided(X, gamma, beta, m, v):
    spread = np.where(v == 0, 1, np.sqrt(v + X.dtype.type(1e-5))).astype(X.dtype)
    return gamma * (X - m) / spread + beta


# --- types of the result ----------------------------------------------------------------------------------------------


@of("linear")
def complex_result(X, W, b):
    return (X @ W + b).astype(np.result_type(X.dtype, np.complex64))


@of("softmax")
def object_result(x):
    return softmax(x).astype(object)


@of("scaled_dot_product_attention")
def wide_result_when_long(Q, K, V):
    out = attention(Q, K, V)
    return out if Q.shape[-2] < 50 else out.astype(np.float64)


@of("feed_forward")
def list_result(X, W_1, b_1, W_2, b_2):
    return (np.maximum(X @ W_1 + b_1, 0) @ W_2 + b_2).tolist()


@of("gated_feed_forward_with_biases")
def single_precision_inside(X, W_gate, b_gate, W_up, b_up, W_down, b_down):
    P = (X @ W_gate + b_gate).astype(np.float32)
    return ((P * sigmoid(P)).astype(X.dtype) * (X @ W_up + b_up)) @ W_down + b_down


@of("feed_forward_gelu")
def erf_in_single_precision(X, W_1, b_1, W_2, b_2):
    H = X @ W_1 + b_1
    phi = (1 + special.erf((H / math.sqrt(2)).astype(np.float32)).astype(H.dtype)) / 2
    return (H * phi).astype(X.dtype) @ W_2 + b_2
