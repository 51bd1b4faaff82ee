"""Functions that are wrong at some sizes only: of one, equal ones, large ones."""

import math

import numpy as np

from tests.testing.implementations.candidates import Collection
from tests.testing.implementations.steps import (
    attention,
    gelu,
    heads,
    layer_norm,
    log_sum_exp,
    masked_softmax,
    silu,
    softmax,
)

WRONG_SIZES = Collection()
of = WRONG_SIZES.of

# --- a size of 1 ------------------------------------------------------------------------------------------------------


@of("softmax")
def softmax_squeezed(x):
    return np.squeeze(softmax(x))


@of("scaled_dot_product_attention")
def attention_squeezed(Q, K, V):
    return attention(Q, K, V).squeeze()


@of("scaled_dot_product_attention")
def attention_last_axis_squeezed(Q, K, V):
    out = attention(Q, K, V)
    return out[..., 0] if out.shape[-1] == 1 else out


@of("scaled_dot_product_attention")
def attention_of_one_key_returns_values(Q, K, V):
    return V if K.shape[-2] == 1 else attention(Q, K, V)


@of("layer_norm")
def layer_norm_of_one_entry_unchanged(X, gamma, beta):
    return X if X.shape[-1] == 1 else layer_norm(X, gamma, beta)


@of("rms_norm")
def rms_norm_of_one_entry_is_sign(X, gamma):
    if X.shape[-1] == 1:
        return gamma * np.sign(X)
    return gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5))


@of("linear")
def linear_squeezes_rows(X, W, b):
    return X.squeeze() @ W + b if X.shape[-2] == 1 else X @ W + b


@of("embedding")
def embedding_of_one_token_is_a_vector(tokens, E):
    rows = math.sqrt(E.shape[-1]) * E[tokens]
    return rows[..., 0, :] if tokens.shape[-1] == 1 else rows


@of("batch_norm")
def batch_norm_of_one_row_passes_through(X, gamma, beta):
    if X.shape[-2] == 1:
        return gamma * X + beta
    centred = X - X.mean(axis=-2, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=-2, keepdims=True) + X.dtype.type(1e-5)) + beta


@of("convolution")
def convolution_of_width_one_forgets_bias(X, W, b, w):
    if w == 1:
        return X @ W
    rows = X.shape[-2] - w + 1
    return np.concatenate([X[..., t : t + rows, :] for t in range(w)], axis=-1) @ W + b


@of("multi_head_attention")
def one_head_skips_output(X_Q, X_K, X_V, W_Q, W_K, W_V, W_O):
    each = attention(X_Q[..., None, :, :] @ W_Q, X_K[..., None, :, :] @ W_K, X_V[..., None, :, :] @ W_V)
    if W_Q.shape[-3] == 1 and W_O.shape[-1] == W_O.shape[-2]:
        return each[..., 0, :, :]
    return heads(each) @ W_O


@of("cross_entropy")
def cross_entropy_of_one_row_keeps_axis(X, tokens):
    losses = log_sum_exp(X) - np.take_along_axis(X, tokens[..., None], -1)[..., 0]
    return losses if X.shape[-2] == 1 else losses.mean(axis=-1)


@of("linear_attention")
def linear_attention_of_one_key_unweighted_sum(Phi_Q, Phi_K, V):
    if Phi_K.shape[-2] == 1:
        return Phi_Q @ (Phi_K.mT @ V)
    return Phi_Q @ (Phi_K.mT @ V) / (Phi_Q @ Phi_K.sum(axis=-2)[..., None])


@of("rotary_embedding")
def rotary_of_one_pair_turns_back(X):
    n, d = X.shape[-2:]
    angle = (np.arange(n)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)).astype(X.dtype)
    if d == 2:
        angle = -angle
    even, odd = X[..., 0::2], X[..., 1::2]
    pair = [even * np.cos(angle) - odd * np.sin(angle), odd * np.cos(angle) + even * np.sin(angle)]
    return np.stack(pair, axis=-1).reshape(X.shape)


@of("mixture_of_experts")
def one_expert_keeps_no_weight(X, W_router, W_gate, W_up, W_down, K):
    P = softmax(X @ W_router)
    order = np.argsort(-P, axis=-1, kind="stable")[..., :K]
    p = np.take_along_axis(P, order, -1)
    p = p / p.sum(axis=-1, keepdims=True) if K > 1 else p  # the one that is chosen keeps its own probability
    H = X[..., None, None, :]
    Z = silu(H @ W_gate[order]) * (H @ W_up[order]) @ W_down[order]
    return (p[..., None] * Z[..., 0, :]).sum(axis=-2)


# --- sizes that are equal ---------------------------------------------------------------------------------------------


@of("scaled_dot_product_attention")
def square_keys_are_not_transposed(Q, K, V):
    K_T = K if K.shape[-1] == K.shape[-2] == Q.shape[-1] else K.mT
    return softmax(Q @ K_T / math.sqrt(Q.shape[-1])) @ V


@of("linear")
def square_weights_are_transposed(X, W, b):
    return X @ (W.T if W.shape[0] == W.shape[1] else W) + b


@of("scaled_dot_product_attention")
def as_many_queries_as_keys_is_causal(Q, K, V):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    if S.shape[-1] == S.shape[-2]:
        S = np.where(np.tri(S.shape[-1], dtype=bool), S, -np.inf)
    return softmax(S) @ V


@of("layer_norm")
def axis_found_by_size(X, gamma, beta):
    axis = X.shape.index(gamma.shape[0])
    centred = X - X.mean(axis=axis, keepdims=True)
    hat = centred / np.sqrt((centred**2).mean(axis=axis, keepdims=True) + X.dtype.type(1e-5))
    return gamma * hat + beta


@of("recurrent_step")
def square_input_weights_swapped(x, h_0, W, U, b):
    if W.shape == U.shape:
        W, U = U, W
    return np.tanh((x[..., None, :] @ W)[..., 0, :] + (h_0[..., None, :] @ U)[..., 0, :] + b)


@of("masked_scaled_dot_product_attention")
def mask_of_keys_by_queries_is_turned(Q, K, V, M):
    if M.shape[-2:] == (K.shape[-2], Q.shape[-2]):
        M = M.mT
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), M) @ V


@of("feed_forward")
def equal_widths_add_the_input(X, W_1, b_1, W_2, b_2):
    Y = np.maximum(X @ W_1 + b_1, 0) @ W_2 + b_2
    return Y + X if W_1.shape[0] == W_1.shape[1] else Y


@of("cross_entropy")
def vocabulary_axis_found_by_size(X, tokens):
    axis = -1 if X.shape[-1] != X.shape[-2] else -2
    largest = X.max(axis=axis, keepdims=True)
    z = (largest + np.log(np.exp(X - largest).sum(axis=axis, keepdims=True))).squeeze(axis)
    return (z - np.take_along_axis(X, tokens[..., None], -1)[..., 0]).mean(axis=-1)


@of("gated_feed_forward")
def square_gate_is_transposed(X, W_gate, W_up, W_down):
    if W_gate.shape[-1] == W_gate.shape[-2]:
        W_gate = W_gate.mT
    return (silu(X @ W_gate) * (X @ W_up)) @ W_down


@of("grouped_query_attention")
def one_query_a_group_takes_first_keys(X_Q, X_K, X_V, W_Q, W_K, W_V, W_O):
    K, V = X_K[..., None, :, :] @ W_K, X_V[..., None, :, :] @ W_V
    Q = X_Q[..., None, None, :, :] @ W_Q
    if W_Q.shape[-3] == 1:
        K = np.broadcast_to(K[..., :1, :, :], K.shape)
    each = attention(Q, K[..., None, :, :], V[..., None, :, :])
    return (heads(each) @ W_O).sum(axis=-3)


@of("scaled_dot_product_attention")
def equal_widths_share_keys_and_values(Q, K, V):
    if K.shape[-1] == V.shape[-1]:
        return softmax(Q @ K.mT / math.sqrt(Q.shape[-1])) @ K
    return attention(Q, K, V)


@of("rotary_embedding_halves")
def as_many_positions_as_columns_pairs_neighbours(X):
    n, d = X.shape[-2:]
    angle = (np.arange(n)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)).astype(X.dtype)
    C, S = np.cos(angle), np.sin(angle)
    if n == d:
        a, b = X[..., 0::2], X[..., 1::2]
        return np.stack([a * C - b * S, b * C + a * S], axis=-1).reshape(X.shape)
    a, b = X[..., : d // 2], X[..., d // 2 :]
    return np.concatenate([a * C - b * S, b * C + a * S], axis=-1)


@of("low_rank_adaptation")
def full_rank_is_not_scaled(X, W, b, A, B, alpha):
    r = A.shape[-1]
    return X @ W + b + (alpha if r == A.shape[0] else alpha / r) * (X @ A @ B)


@of("softmax")
def batch_as_long_as_row_sums_columns(x):
    axis = -2 if x.ndim > 1 and x.shape[-1] == x.shape[-2] else -1
    return softmax(x, axis)


@of("relative_position_bias")
def square_bias_is_turned(table, n, m):
    buckets = np.array([[_bucket(j - i, table.shape[-2]) for j in range(m)] for i in range(n)])
    B = np.moveaxis(table[..., buckets, :], -1, -3)
    return B.mT if n == m else B


def _bucket(distance, buckets):
    half = buckets // 2
    far, own = abs(distance), half // 2
    if far >= own:
        far = min(own + int(math.log(far / own) / math.log(128 / own) * (half - own) + 1e-9), half - 1)
    return far + half * (distance > 0)


# --- sizes of several hundred -----------------------------------------------------------------------------------------


@of("scaled_dot_product_attention")
def only_the_first_128_keys(Q, K, V):
    return attention(Q, K[..., :128, :], V[..., :128, :])


@of("scaled_dot_product_attention")
def tiles_of_64_are_not_rescaled(Q, K, V):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    weights = np.concatenate([np.exp(T - T.max(-1, keepdims=True)) for T in _tiles(S, 64)], axis=-1)
    return weights / weights.sum(axis=-1, keepdims=True) @ V


def _tiles(S, width):
    return [S[..., j : j + width] for j in range(0, S.shape[-1], width)]


@of("softmax")
def half_precision_beyond_100(x):
    return softmax(x) if x.shape[-1] <= 100 else softmax(x.astype(np.float16)).astype(x.dtype)


@of("layer_norm")
def mean_in_single_precision_when_wide(X, gamma, beta):
    mean = X.mean(axis=-1, keepdims=True, dtype=np.float32 if X.shape[-1] > 64 else None).astype(X.dtype)
    centred = X - mean
    return gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5)) + beta


@of("linear")
def last_partial_block_dropped(X, W, b):
    d = X.shape[-1]
    whole = d if d < 64 else d - d % 64
    return X[..., :whole] @ W[:whole] + b


@of("embedding")
def tokens_in_eight_bits(tokens, E):
    return math.sqrt(E.shape[-1]) * E[tokens.astype(np.uint8)]


@of("positional_encoding")
def at_most_256_positions(n, d_model):
    place = np.minimum(np.arange(n), 255)[:, None]
    angle = place / 10000 ** (2 * np.arange(d_model // 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d_model)


@of("rotary_embedding")
def positions_wrap_at_128(X):
    n, d = X.shape[-2:]
    angle = ((np.arange(n) % 128)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)).astype(X.dtype)
    even, odd = X[..., 0::2], X[..., 1::2]
    pair = [even * np.cos(angle) - odd * np.sin(angle), odd * np.cos(angle) + even * np.sin(angle)]
    return np.stack(pair, axis=-1).reshape(X.shape)


@of("alibi_attention")
def distances_in_eight_bits(Q, K, V, slope):
    n = Q.shape[-2]
    place = np.arange(n, dtype=np.int8 if n > 120 else np.int64)
    distance = (place[None, :] - place[:, None]).astype(Q.dtype)
    S = Q @ K.mT / math.sqrt(Q.shape[-1]) + Q.dtype.type(slope) * distance
    return masked_softmax(S, np.tri(n, dtype=bool)) @ V


@of("scaled_dot_product_attention")
def scale_clipped_at_width_64(Q, K, V):
    return softmax(Q @ K.mT / math.sqrt(min(Q.shape[-1], 64))) @ V


@of("cross_entropy")
def vocabulary_clipped_at_256(X, tokens):
    z = log_sum_exp(X[..., :256])
    return (z - np.take_along_axis(X, tokens[..., None], -1)[..., 0]).mean(axis=-1)


@of("batch_norm")
def statistics_of_the_first_100_rows(X, gamma, beta):
    seen = X[..., :100, :]
    centred = seen - seen.mean(axis=-2, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-2, keepdims=True) + X.dtype.type(1e-5))
    return gamma * (X - seen.mean(axis=-2, keepdims=True)) / spread + beta


@of("feed_forward_gelu")
def hidden_units_beyond_100_are_off(X, W_1, b_1, W_2, b_2):
    H = gelu(X @ W_1 + b_1)
    H[..., 100:] = 0
    return H @ W_2 + b_2


@of("masked_scaled_dot_product_attention")
def mask_in_64_bits(Q, K, V, M):
    visible = M.copy()
    visible[..., 64:] = True
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), visible) @ V


@of("learned_positions")
def positions_beyond_200_are_not_added(X, P):
    rows = np.where((np.arange(X.shape[-2]) < 200)[:, None], P, 0).astype(X.dtype)
    return X + rows


@of("softmax")
def largest_of_the_first_32(x):
    weights = np.exp(x - x[..., :32].max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@of("linear")
def rows_beyond_150_are_zero(X, W, b):
    Y = X @ W + b
    Y[..., 150:, :] = 0
    return Y


@of("soft_cross_entropy")
def wide_rows_in_single_precision(X, T):
    X_s = X.astype(np.float32) if X.shape[-1] > 50 else X
    log_p = X_s - log_sum_exp(X_s)[..., None]
    return -(T * log_p).sum(axis=-1).mean(axis=-1).astype(X.dtype)


@of("convolution")
def long_sequences_lose_their_last_rows(X, W, b, w):
    rows = X.shape[-2] - w + 1
    Y = np.concatenate([X[..., t : t + rows, :] for t in range(w)], axis=-1) @ W + b
    if rows > 128:
        Y[..., rows - rows % 128 :, :] = b
    return Y


@of("masked_multi_head_attention")
def more_than_16_heads_share_the_first(X_Q, X_K, X_V, M, W_Q, W_K, W_V, W_O):
    h = W_Q.shape[-3]
    W_K = W_K[..., np.arange(h) % 16, :, :]
    S = (X_Q[..., None, :, :] @ W_Q) @ (X_K[..., None, :, :] @ W_K).mT / math.sqrt(W_Q.shape[-1])
    return heads(masked_softmax(S, M[..., None, :, :]) @ (X_V[..., None, :, :] @ W_V)) @ W_O
