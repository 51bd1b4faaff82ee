"""The layers of the catalogue in PyTorch and JAX: their own functions where they have them, else the obvious lines.

Definition   a peer takes a library and the arguments of the compiled layer by name, as arrays of that library
Assumes      each library runs as a user would run it: PyTorch eagerly and without gradients, JAX under `jax.jit`
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.benchmarks.accuracy_libraries import LIBRARIES

__all__ = ["PEERS", "peer"]


def peer(library: str, name: str, arguments: Mapping[str, Any]) -> Any:
    """Return what a library gives for a layer, as a NumPy array."""
    return LIBRARIES[library].run(PEERS[name], arguments)


# The layers


def masked_softmax(L: Any, x: Any, M: Any) -> Any:
    return L.softmax(L.where(M, x, L.infinity))


def soft_cross_entropy(L: Any, X: Any, T: Any) -> Any:
    return -(T * L.log_softmax(X)).sum(-1).mean()


def low_rank_adaptation(L: Any, X: Any, W: Any, b: Any, A: Any, B: Any, alpha: float) -> Any:
    return X @ W + alpha / B.shape[0] * ((X @ A) @ B) + b


def linear_attention(L: Any, Phi_Q: Any, Phi_K: Any, V: Any) -> Any:
    return (Phi_Q @ (Phi_K.mT @ V)) / (Phi_Q @ Phi_K.sum(0))[:, None]


def alibi_attention(L: Any, Q: Any, K: Any, V: Any, slope: float) -> Any:
    back = L.arange(Q.shape[-2])[:, None] - L.arange(K.shape[-2])[None, :]
    S = Q @ K.mT / math.sqrt(Q.shape[-1]) - slope * back
    return L.softmax(L.where(back >= 0, S, L.infinity)) @ V


def multi_head_attention(
    L: Any, X_Q: Any, X_K: Any, X_V: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, M: Any = None, **biases: Any
) -> Any:
    Q, K, V = (
        X @ W + (biases[b][:, None] if b in biases else 0)
        for X, W, b in ((X_Q, W_Q, "b_Q"), (X_K, W_K, "b_K"), (X_V, W_V, "b_V"))
    )
    heads = L.attention(Q, K, V, M)
    return heads.swapaxes(0, 1).reshape(X_Q.shape[0], -1) @ W_O + biases.get("b_O", 0)


def grouped_query_attention(
    L: Any, X_Q: Any, X_K: Any, X_V: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, M: Any = None
) -> Any:
    g, r, d_model, d_k = W_Q.shape
    Q = (X_Q @ W_Q.reshape(g * r, d_model, d_k)).reshape(g, r, -1, d_k)
    heads = [L.attention(Q[a], (X_K @ W_K[a])[None], (X_V @ W_V[a])[None], M) for a in range(g)]
    wide = [head.swapaxes(0, 1).reshape(X_Q.shape[0], -1) for head in heads]
    return sum(wide[a] @ W_O[a] for a in range(g))


def feed_forward(L: Any, X: Any, W_1: Any, b_1: Any, W_2: Any, b_2: Any, activation: str = "relu") -> Any:
    return getattr(L, activation)(X @ W_1 + b_1) @ W_2 + b_2


def gated_feed_forward(L: Any, X: Any, W_gate: Any, W_up: Any, W_down: Any, **biases: Any) -> Any:
    gate, up, down = (biases.get(name, 0) for name in ("b_gate", "b_up", "b_down"))
    return (L.silu(X @ W_gate + gate) * (X @ W_up + up)) @ W_down + down


def batch_norm_inference(L: Any, X: Any, gamma: Any, beta: Any, m: Any, v: Any, epsilon: float = 1e-5) -> Any:
    return gamma * (X - m) / (v + epsilon) ** 0.5 + beta


def angles(L: Any, n: int, width: int) -> Any:
    return L.arange(n)[:, None] * L.exp(L.arange(0, width, 2) * (-math.log(10000.0) / width))


def positional_encoding(L: Any, n: int, d_model: int) -> Any:
    angle = angles(L, n, d_model)
    return L.stack([L.sin(angle), L.cos(angle)], -1).reshape(n, d_model)


def rotary_embedding(L: Any, X: Any) -> Any:
    angle, (even, odd) = angles(L, *X.shape), (X[:, ::2], X[:, 1::2])
    turned = even * L.cos(angle) - odd * L.sin(angle), even * L.sin(angle) + odd * L.cos(angle)
    return L.stack(turned, -1).reshape(X.shape)


def rotary_embedding_halves(L: Any, X: Any) -> Any:
    return turned_halves(L, X, angles(L, *X.shape))


def rotary_embedding_axes(L: Any, X: Any, p_0: Any, p_1: Any, w_1: int) -> Any:
    n, half = X.shape[0], X.shape[-1] // 2
    frequencies = angles(L, 2, 2 * half)[1]  # of the second position, which is 1
    angle = L.cat([p_0[:, None] * frequencies[:w_1], p_1[:, None] * frequencies[w_1:]], -1).reshape(n, half)
    return turned_halves(L, X, angle)


def turned_halves(L: Any, X: Any, angle: Any) -> Any:
    half = X.shape[-1] // 2
    first, second = X[:, :half], X[:, half:]
    return L.cat([first * L.cos(angle) - second * L.sin(angle), first * L.sin(angle) + second * L.cos(angle)], -1)


def convolution(L: Any, X: Any, W: Any, b: Any, w: int) -> Any:
    return L.cat([X[t : X.shape[0] - w + 1 + t] for t in range(w)], -1) @ W + b


def encoder_layer(
    L: Any, X: Any, attention: Any, attention_norm: Any, feed_forward: Any, feed_forward_norm: Any, M: Any = None,
    epsilon: float = 1e-5, activation: str = "relu",
) -> Any:  # fmt: skip
    Y = L.layer_norm(X + multi_head_attention(L, X, X, X, M=M, **attention), **attention_norm, eps=epsilon)
    return L.layer_norm(Y + _network(L, Y, feed_forward, activation), **feed_forward_norm, eps=epsilon)


def _network(L: Any, X: Any, weights: Any, activation: str = "relu") -> Any:
    return feed_forward(L, X, **weights, activation=activation)


def pre_norm_layer(
    L: Any, X: Any, attention_norm: Any, self_attention: Any, feed_forward_norm: Any, feed_forward: Any,
    epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    Z = L.layer_norm(X, **attention_norm, eps=epsilon)
    Y = X + multi_head_attention(L, Z, Z, Z, **self_attention)
    return Y + _network(L, L.layer_norm(Y, **feed_forward_norm, eps=epsilon), feed_forward, "gelu")


def decoder_layer(
    L: Any, X: Any, memory: Any, M: Any, self_attention: Any, self_attention_norm: Any, cross_attention: Any,
    cross_attention_norm: Any, feed_forward: Any, feed_forward_norm: Any, epsilon: float = 1e-5,
) -> Any:  # fmt: skip
    Y = L.layer_norm(X + multi_head_attention(L, X, X, X, M=M, **self_attention), **self_attention_norm, eps=epsilon)
    C = multi_head_attention(L, Y, memory, memory, **cross_attention)
    U = L.layer_norm(Y + C, **cross_attention_norm, eps=epsilon)
    return L.layer_norm(U + _network(L, U, feed_forward), **feed_forward_norm, eps=epsilon)


def encoder(L: Any, X: Any, layers: Any, **given: Any) -> Any:
    for weights in layers:
        X = encoder_layer(L, X, **weights, **given)
    return X


def decoder(L: Any, X: Any, memory: Any, M: Any, layers: Any, **given: Any) -> Any:
    for weights in layers:
        X = decoder_layer(L, X, memory, M, **weights, **given)
    return X


def transformer_logits(L: Any, source: Any, target: Any, E: Any, encoder: Any, decoder: Any) -> Any:
    n, d_model = target.shape[0], E.shape[1]
    memory = E[source] * math.sqrt(d_model) + positional_encoding(L, source.shape[0], d_model)
    for weights in encoder["layers"]:
        memory = encoder_layer(L, memory, **weights)
    Y = E[target] * math.sqrt(d_model) + positional_encoding(L, n, d_model)
    M = L.arange(n)[:, None] >= L.arange(n)[None, :]
    for weights in decoder["layers"]:
        Y = decoder_layer(L, Y, memory, M, **weights)
    return Y @ E.mT


PEERS: Mapping[str, Callable[..., Any]] = {
    "softmax": lambda L, x: L.softmax(x),
    "masked_softmax": masked_softmax,
    "log_sum_exp": lambda L, X: L.log_sum_exp(X),
    "gelu": lambda L, X: L.gelu(X),
    "cross_entropy": lambda L, X, tokens: L.cross_entropy(X, tokens),
    "soft_cross_entropy": soft_cross_entropy,
    "linear": lambda L, X, W, b: X @ W + b,
    "low_rank_adaptation": low_rank_adaptation,
    "scaled_dot_product_attention": lambda L, Q, K, V: L.attention(Q, K, V),
    "masked_scaled_dot_product_attention": lambda L, Q, K, V, M: L.attention(Q, K, V, M),
    "linear_attention": linear_attention,
    "alibi_attention": alibi_attention,
    "multi_head_attention": multi_head_attention,
    "masked_multi_head_attention": multi_head_attention,
    "multi_head_attention_with_biases": multi_head_attention,
    "grouped_query_attention": grouped_query_attention,
    "masked_grouped_query_attention": grouped_query_attention,
    "convolution": convolution,
    "recurrent_step": lambda L, x, h_0, W, U, b: L.tanh(x @ W + h_0 @ U + b),
    "feed_forward": feed_forward,
    "feed_forward_gelu": partial(feed_forward, activation="gelu"),
    "gated_feed_forward": gated_feed_forward,
    "gated_feed_forward_with_biases": gated_feed_forward,
    "layer_norm": lambda L, X, gamma, beta, epsilon=1e-5: L.layer_norm(X, gamma, beta, epsilon),
    "rms_norm": lambda L, X, gamma, epsilon=1e-5: L.rms_norm(X, gamma, epsilon),
    "batch_norm": lambda L, X, gamma, beta, epsilon=1e-5: L.batch_norm(X, gamma, beta, epsilon),
    "batch_norm_inference": batch_norm_inference,
    "positional_encoding": positional_encoding,
    "learned_positions": lambda L, X, P: X + P[: X.shape[0]],
    "patch_embedding": lambda L, U, W, b: U @ W + b,
    "class_token": lambda L, X, c: L.cat([c.reshape(1, -1), X], 0),
    "rotary_embedding": rotary_embedding,
    "rotary_embedding_axes": rotary_embedding_axes,
    "rotary_embedding_halves": rotary_embedding_halves,
    "embedding": lambda L, tokens, E: E[tokens] * math.sqrt(E.shape[1]),
    "dropout": lambda L, X, D, rate: L.where(D, X / (1 - rate), 0.0),
    "encoder_layer": encoder_layer,
    "pre_norm_layer": pre_norm_layer,
    "encoder": encoder,
    "decoder_layer": decoder_layer,
    "decoder": decoder,
    "transformer": lambda L, **given: L.softmax(transformer_logits(L, **given)),
    "transformer_loss": lambda L, labels, **given: L.cross_entropy(transformer_logits(L, **given), labels),
}
