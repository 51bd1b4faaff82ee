"""Functions that write where they must not, keep what they must not, or trust how the numbers lie in memory."""

import math

import numpy as np

from tests.testing.implementations.candidates import Collection
from tests.testing.implementations.steps import (
    attention,
    layer_norm,
    log_sum_exp,
    masked_softmax,
    silu,
    softmax,
)

WRONG_STATE = Collection()
of, made = WRONG_STATE.of, WRONG_STATE.made

# --- inputs that are overwritten --------------------------------------------------------------------------------------


@of("softmax")
def softmax_in_place(x):
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


@of("softmax")
def softmax_shifts_its_input(x):
    x -= x.max(axis=-1, keepdims=True)
    return softmax(x)


@of("scaled_dot_product_attention")
def queries_are_scaled_in_place(Q, K, V):
    Q /= math.sqrt(Q.shape[-1])
    return softmax(Q @ K.mT) @ V


@of("layer_norm")
def layer_norm_centres_its_input(X, gamma, beta):
    X -= X.mean(axis=-1, keepdims=True)
    return gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5)) + beta


@of("masked_scaled_dot_product_attention")
def mask_is_inverted_in_place(Q, K, V, M):
    np.logical_not(M, out=M)
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), ~M) @ V


@of("embedding")
def table_is_scaled_in_place(tokens, E):
    E *= math.sqrt(E.shape[-1])
    return E[tokens]


@of("cross_entropy")
def logits_become_log_probabilities(X, tokens):
    X -= log_sum_exp(X)[..., None]
    return -np.take_along_axis(X, tokens[..., None], -1)[..., 0].mean(axis=-1)


@of("feed_forward")
def second_bias_collects_the_sum(X, W_1, b_1, W_2, b_2):
    Y = np.maximum(X @ W_1 + b_1, 0) @ W_2 + b_2
    b_2 *= 0
    return Y


@of("learned_positions")
def positions_added_in_place(X, P):
    X += P
    return X


@of("layer_norm")
def input_centred_and_restored(X, gamma, beta):
    mean = X.mean(axis=-1, keepdims=True)
    X -= mean
    Y = gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5)) + beta
    X += mean
    return Y


@of("embedding")
def tokens_clipped_in_place(tokens, E):
    rows = math.sqrt(E.shape[-1]) * E[tokens]
    tokens[...] = 0
    return rows


@of("rotary_embedding")
def rotary_writes_through_a_view(X):
    n, d = X.shape[-2:]
    angle = (np.arange(n)[:, None] / 10000 ** (2 * np.arange(d // 2) / d)).astype(X.dtype)
    even, odd = X[..., 0::2], X[..., 1::2]
    first = even * np.cos(angle) - odd * np.sin(angle)
    odd[...] = odd * np.cos(angle) + even * np.sin(angle)
    even[...] = first
    return X.copy()


@of("encoder_layer")
def weights_are_taken_out(X, attention, attention_norm, feed_forward, feed_forward_norm):
    W_Q, W_K, W_V, W_O = (attention.pop(name) for name in ("W_Q", "W_K", "W_V", "W_O"))
    each = softmax((X[..., None, :, :] @ W_Q) @ (X[..., None, :, :] @ W_K).mT / math.sqrt(W_Q.shape[-1]))
    each = (each @ (X[..., None, :, :] @ W_V)).swapaxes(-3, -2)
    Y = layer_norm(X + each.reshape(*each.shape[:-2], -1) @ W_O, **attention_norm)
    F = np.maximum(Y @ feed_forward["W_1"] + feed_forward["b_1"], 0) @ feed_forward["W_2"] + feed_forward["b_2"]
    return layer_norm(Y + F, **feed_forward_norm)


# --- state between calls ----------------------------------------------------------------------------------------------


@made("softmax")
def one_buffer_by_shape():
    buffers = {}

    def function(x):
        out = buffers.setdefault((x.shape, x.dtype), np.empty_like(x))
        out[...] = softmax(x)
        return out

    return function


@made("linear")
def one_buffer_grown_as_needed():
    held = {}

    def function(X, W, b):
        shape = (*X.shape[:-1], W.shape[-1])
        size = math.prod(shape)
        if held.get(X.dtype, np.empty(0)).size < size:
            held[X.dtype] = np.empty(size, X.dtype)
        out = held[X.dtype][:size].reshape(shape)
        np.copyto(out, X @ W + b)
        return out

    return function


@made("softmax")
def cached_by_identity():
    known, kept = {}, []

    def function(x):
        if id(x) not in known:
            kept.append(x)
            known[id(x)] = softmax(x)
        return known[id(x)].copy()

    return function


@made("scaled_dot_product_attention")
def cached_by_address():
    known = {}

    def function(Q, K, V):
        key = (Q.ctypes.data, K.ctypes.data, V.ctypes.data, Q.shape, K.shape, V.shape, str(Q.dtype))
        if key not in known:
            known[key] = (Q, K, V, attention(Q, K, V))
        return known[key][-1].copy()

    return function


@made("feed_forward")
def weights_of_the_first_call_of_a_shape():
    kept = {}

    def function(X, W_1, b_1, W_2, b_2):
        W_1, b_1, W_2, b_2 = kept.setdefault((X.shape, W_1.shape, X.dtype), (W_1, b_1, W_2, b_2))
        return np.maximum(X @ W_1 + b_1, 0) @ W_2 + b_2

    return function


@made("rms_norm")
def first_result_of_a_shape():
    kept = {}

    def function(X, gamma):
        key = (X.shape, str(X.dtype))
        if key not in kept:
            kept[key] = gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5))
        return kept[key].copy()

    return function


@made("alibi_attention")
def bias_cached_by_length():
    biases = {}

    def function(Q, K, V, slope):
        n = Q.shape[-2]
        if n not in biases:
            biases[n] = slope * (np.arange(float(n)) - np.arange(float(n))[:, None])
        S = Q @ K.mT / math.sqrt(Q.shape[-1]) + biases[n].astype(Q.dtype)
        return masked_softmax(S, np.tri(n, dtype=bool)) @ V

    return function


@made("masked_scaled_dot_product_attention")
def mask_cached_by_shape():
    masks = {}

    def function(Q, K, V, M):
        return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), masks.setdefault(M.shape, M.copy())) @ V

    return function


@made("batch_norm")
def running_statistics_mix_in():
    running = {}

    def function(X, gamma, beta):
        mean = X.mean(axis=-2, keepdims=True)
        key = (X.shape, X.dtype)
        mean = 0.9 * running[key] + 0.1 * mean if key in running else mean
        running[key] = mean
        centred = X - mean.astype(X.dtype)
        return gamma * centred / np.sqrt((centred**2).mean(axis=-2, keepdims=True) + X.dtype.type(1e-5)) + beta

    return function


@made("softmax")
def largest_entry_ever_seen():
    state = {"largest": -math.inf}

    def function(x):
        state["largest"] = max(state["largest"], float(x.max()))
        weights = np.exp(x - x.dtype.type(state["largest"]))
        return weights / weights.sum(axis=-1, keepdims=True)

    return function


@made("linear")
def every_second_call_forgets_the_bias():
    calls = []

    def function(X, W, b):
        calls.append(None)
        return X @ W + b if len(calls) % 2 else X @ W

    return function


@made("positional_encoding")
def table_grows_and_is_handed_out():
    tables = {}

    def function(n, d_model):
        angle = np.arange(n)[:, None] / 10000 ** (2 * np.arange(d_model // 2) / d_model)
        table = tables.setdefault("all", np.empty(10**6))[: n * d_model].reshape(n, d_model)
        table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
        return table

    return function


@made("gated_feed_forward")
def cached_by_the_first_entry():
    known = {}

    def function(X, W_gate, W_up, W_down):
        key = (float(X.flat[0]), X.shape, W_gate.shape, str(X.dtype))
        if key not in known:
            known[key] = (silu(X @ W_gate) * (X @ W_up)) @ W_down
        return known[key].copy()

    return function


@made("recurrent_step")
def remembers_its_own_state():
    last = {}

    def function(x, h_0, W, U, b):
        h_0 = last.get((x.shape, h_0.shape, h_0.dtype), h_0)
        h_1 = np.tanh((x[..., None, :] @ W)[..., 0, :] + (h_0[..., None, :] @ U)[..., 0, :] + b)
        last[x.shape, h_0.shape, h_0.dtype] = h_1
        return h_1

    return function


@made("dropout")
def own_random_numbers():
    generator = np.random.default_rng(0)

    def function(X, D, rate):
        keep = D if X.size < 10 else D & (generator.random(X.shape) >= 0.01)
        return (X * keep / (1 - rate)).astype(X.dtype)

    return function


# --- how the numbers lie in memory ------------------------------------------------------------------------------------


@of("softmax")
def rows_read_in_memory_order(x):
    return softmax(x.ravel(order="K").reshape(x.shape))


@of("linear")
def input_read_as_one_block(X, W, b):
    start = np.lib.stride_tricks.as_strided(X, X.shape, _packed(X))
    return start @ W + b


def _packed(X):
    return tuple(X.itemsize * math.prod(X.shape[i + 1 :]) for i in range(X.ndim))


@of("layer_norm")
def result_laid_out_as_the_input(X, gamma, beta):
    flat = X.flatten(order="A").reshape(-1, X.shape[-1])
    return layer_norm(flat, gamma, beta).reshape(X.shape)


@of("scaled_dot_product_attention")
def transposed_keys_taken_as_they_lie(Q, K, V):
    turned = K.flags.f_contiguous and not K.flags.c_contiguous
    K_T = K.reshape((*K.shape[:-2], K.shape[-1], K.shape[-2])) if turned else K.mT
    return softmax(Q @ K_T / math.sqrt(Q.shape[-1])) @ V


@of("linear")
def weights_in_fortran_order_are_turned(X, W, b):
    W = W.ravel(order="K").reshape(W.shape)
    return X @ W + b


@of("rms_norm")
def strides_taken_as_positive(X, gamma):
    if any(stride < 0 for stride in X.strides):
        X = X[..., ::-1]
    return gamma * X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5))


@of("masked_scaled_dot_product_attention")
def mask_bytes_read_in_memory_order(Q, K, V, M):
    M = np.frombuffer(M.tobytes(order="A"), dtype=bool).reshape(M.shape)
    return masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), M) @ V


@of("embedding")
def writes_its_input_where_it_may(tokens, E):
    scaled = math.sqrt(E.shape[-1]) * E[tokens]
    if E.flags.writeable:
        E[0] = 0
    return scaled
