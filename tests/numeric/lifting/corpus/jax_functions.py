"""Functions over JAX arrays as people write them: right ones, wrong ones, and ones that no equation stands for.

`RIGHT` pairs a function with the layer that it is. `WRONG` pairs one realistic mistake with the layer that was meant.
`REFUSED` pairs a function that needs numbers with words of the refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn
from sympy import Rational, Symbol

from derivations.activations.sigmoid import sigmoid
from derivations.catalogue import layer
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Hadamard
from derivations.language.arrays.masks import CausalMask
from derivations.language.layers.layer import Equation, Equations, Layer
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import d_k, d_v, m, n, size
from tests.numeric.lifting.corpus.rows import looked_up

__all__ = ["GRADIENTS", "REFUSED", "RIGHT", "WRONG", "causal_attention", "glu_layer", "standardized"]

p = size("p")


# --- targets that the catalogue has under other names ---------------------------------------------------------------


def causal_attention() -> Layer:
    """Return attention with the causal mask."""
    masked = layer("masked_scaled_dot_product_attention").xreplace({m: n})
    (mask,) = (v for v in masked.inputs if v.kind == "boolean")
    inputs = [v for v in masked.inputs if v != mask]
    return Layer("causal_attention", inputs, (), [Equation(mask, CausalMask(n)), *masked.equations], masked.output)


def glu_layer() -> Layer:
    """Return the first half of each row times the sigmoid of the second half."""
    x, y = array("x", n, 2 * p), array("y", n, p)
    i, j = (Symbol(name, integer=True) for name in "ij")
    let = Equations()
    halves = [contraction((i, j), (n, p), (), 1, operand_of(x, (i, j + first))) for first in (0, p)]
    let("y")(Hadamard(halves[0], sigmoid(halves[1])))
    return Layer("gated_linear_unit", (x,), (), let, y)


def standardized() -> Layer:
    """Return layer norm without weights, with the epsilon of `jax.nn.standardize`."""
    whole = layer_norm(Rational(1, 100_000)).until("X_hat")
    return Layer("standardised", whole.inputs, (), whole.equations, whole.output)


def halves() -> Layer:
    """Return rotary embedding of halves of a width that is even."""
    return layer("rotary_embedding_halves").xreplace({d_k: 2 * p})


def of_layer(name: str) -> Callable[[], Layer]:
    """Return how a layer of the catalogue is made."""
    return lambda: layer(name)


# --- attention ------------------------------------------------------------------------------------------------------


def attention(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    weights = nn.softmax(scores, axis=-1)
    return weights @ v


def attention_by_math(q, k, v):
    return nn.softmax(jnp.einsum("nd,md->nm", q, k) / math.sqrt(q.shape[-1])) @ v


def attention_by_numpy(q, k, v):
    return nn.softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v


def attention_by_power(q, k, v):
    scores = jnp.matmul(q, jnp.transpose(k)) * q.shape[-1] ** -0.5
    scores = scores - scores.max(-1, keepdims=True)
    e = jnp.exp(scores)
    return e / e.sum(-1, keepdims=True) @ v


def attention_divided_last(q, k, v):
    e = jnp.exp(q @ k.T / q.shape[-1] ** 0.5)
    return e @ v / e.sum(-1, keepdims=True)


def attention_by_logsumexp(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return jnp.exp(scores - nn.logsumexp(scores, axis=-1, keepdims=True)) @ v


def attention_of_rows(q, k, v):
    return jax.vmap(lambda row: nn.softmax(k @ row / jnp.sqrt(row.shape[-1])) @ v)(q)


@jax.jit
def attention_in_jit(q, k, v):
    return attention(q, k, v)


def attention_branching(q, k, v):
    if q.shape[0] > k.shape[0]:
        return attention(q, k, v)
    return attention_divided_last(q, k, v)


def masked(q, k, v, mask):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return nn.softmax(jnp.where(mask, scores, -jnp.inf)) @ v


def masked_by_least(q, k, v, mask):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return nn.softmax(jnp.where(mask, scores, jnp.finfo(scores.dtype).min)) @ v


def masked_by_option(q, k, v, mask):
    return nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]), where=mask) @ v


def masked_by_sum(q, k, v, mask):
    return nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]) + (1.0 - mask) * -1e9) @ v


def causal(q, k, v):
    count = q.shape[0]
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones((count, count), dtype=bool)), scores, -1e9)
    return nn.softmax(scores, axis=-1) @ v


def causal_by_positions(q, k, v):
    i = jnp.arange(q.shape[0])
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return nn.softmax(jnp.where(i[:, None] >= i[None, :], scores, -jnp.inf), axis=-1) @ v


def causal_by_triangle(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    scores = scores + jnp.where(jnp.triu(jnp.ones_like(scores), k=1) > 0, -jnp.inf, 0.0)
    return nn.softmax(scores, axis=-1) @ v


def causal_by_sum(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return nn.softmax(scores + jnp.triu(jnp.full(scores.shape, -1e9), k=1), axis=-1) @ v


def causal_as_in_gpt_2(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    b = jnp.tril(jnp.ones_like(scores))
    return nn.softmax(scores * b - 1e10 * (1 - b), axis=-1) @ v


def alibi(q, k, v, slope):
    i = jnp.arange(q.shape[0])
    scores = q @ k.T / jnp.sqrt(q.shape[-1]) - slope * (i[:, None] - i[None, :])
    return nn.softmax(jnp.where(i[:, None] >= i[None, :], scores, -jnp.inf)) @ v


def heads(x_q, x_k, x_v, w_q, w_k, w_v, w_o, h):
    rows, columns = x_q.shape[0], x_k.shape[0]
    q = (x_q @ w_q).reshape(rows, h, -1).transpose(1, 0, 2)
    k = (x_k @ w_k).reshape(columns, h, -1).transpose(1, 0, 2)
    v = (x_v @ w_v).reshape(columns, h, -1).transpose(1, 0, 2)
    weights = nn.softmax(jnp.einsum("hnd,hmd->hnm", q, k) / jnp.sqrt(q.shape[-1]), axis=-1)
    return (weights @ v).transpose(1, 0, 2).reshape(rows, -1) @ w_o


def heads_by_einsum(x_q, x_k, x_v, w_q, w_k, w_v, w_o):
    q, k, v = (jnp.einsum("nd,hdk->hnk", x, w) for x, w in ((x_q, w_q), (x_k, w_k), (x_v, w_v)))
    weights = nn.softmax(jnp.einsum("hnk,hmk->hnm", q, k) / math.sqrt(q.shape[-1]))
    z = jnp.einsum("hnm,hmv->nhv", weights, v)
    return z.reshape(z.shape[0], -1) @ w_o


def heads_by_vmap(x_q, x_k, x_v, w_q, w_k, w_v, w_o):
    def head(q, k, v):
        return attention(x_q @ q, x_k @ k, x_v @ v)

    z = jax.vmap(head, out_axes=1)(w_q, w_k, w_v)
    return z.reshape(z.shape[0], -1) @ w_o


def heads_by_library(x_q, x_k, x_v, w_q, w_k, w_v, w_o):
    q, k, v = (jnp.einsum("nd,hdk->nhk", x, w) for x, w in ((x_q, w_q), (x_k, w_k), (x_v, w_v)))
    z = nn.dot_product_attention(q, k, v)
    return z.reshape(z.shape[0], -1) @ w_o


def halves_rotated(x):
    width = x.shape[1] // 2
    angles = jnp.arange(x.shape[0])[:, None] * 10000.0 ** (-jnp.arange(width) / width)
    c, s = jnp.cos(angles), jnp.sin(angles)
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1)


# --- normalisation --------------------------------------------------------------------------------------------------


def layer_normed(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + eps) * gamma + beta


def layer_normed_by_squares(x, gamma, beta, eps=1e-6):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.maximum(0.0, jnp.mean(jnp.square(x), axis=-1, keepdims=True) - jnp.square(mean))
    return (x - mean) * (jax.lax.rsqrt(variance + eps) * gamma) + beta


def layer_normed_by_library(x, gamma, beta):
    return nn.standardize(x, epsilon=1e-6) * gamma + beta


def rms_normed(x, gamma, eps=1e-6):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + eps) * gamma


def batch_normed(x, gamma, beta, eps=1e-5):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0) + eps) * gamma + beta


# --- networks, tables, losses ---------------------------------------------------------------------------------------


def feed_forward(x, w_1, b_1, w_2, b_2):
    hidden = nn.relu(x @ w_1 + b_1)
    return hidden @ w_2 + b_2


def feed_forward_in_checkpoint(x, w_1, b_1, w_2, b_2):
    return jax.checkpoint(lambda rows: jnp.maximum(jnp.dot(rows, w_1) + b_1, 0))(x) @ w_2 + b_2


def feed_forward_gelu(x, w_1, b_1, w_2, b_2):
    return nn.gelu(x @ w_1 + b_1, approximate=False) @ w_2 + b_2


def swiglu(x, w_gate, w_up, w_down):
    return (nn.silu(x @ w_gate) * (x @ w_up)) @ w_down


def recurrent(x, h_0, w, u, b):
    return jnp.tanh(x @ w + h_0 @ u + b)


def table_rows(tokens, E):
    return E[tokens]


def table_rows_taken(tokens, E):
    return jnp.take(E, tokens, axis=0)


def table_rows_scaled(tokens, E):
    return E[tokens] * jnp.sqrt(E.shape[-1])


def cross_entropy(logits, tokens):
    log_p = nn.log_softmax(logits)
    return -jnp.mean(log_p[jnp.arange(tokens.shape[0]), tokens])


def cross_entropy_along(logits, tokens):
    log_p = nn.log_softmax(logits, axis=-1)
    return -jnp.mean(jnp.take_along_axis(log_p, tokens[:, None], axis=-1))


def cross_entropy_one_hot(logits, tokens):
    targets = nn.one_hot(tokens, logits.shape[-1])
    return -(targets * nn.log_softmax(logits)).sum(-1).mean()


def soft_cross_entropy(logits, targets):
    return -jnp.mean(jnp.sum(targets * nn.log_softmax(logits), -1))


ATTENTION, MASKED, HEADS = (
    of_layer(name)
    for name in ("scaled_dot_product_attention", "masked_scaled_dot_product_attention", "multi_head_attention")
)
NORM, NETWORK = of_layer("layer_norm"), of_layer("feed_forward")

RIGHT: tuple[tuple[Callable[..., Any], Callable[[], Layer]], ...] = (
    (attention, ATTENTION),
    (attention_by_math, ATTENTION),
    (attention_by_numpy, ATTENTION),
    (attention_by_power, ATTENTION),
    (attention_divided_last, ATTENTION),
    (attention_by_logsumexp, ATTENTION),
    (attention_of_rows, ATTENTION),
    (attention_in_jit, ATTENTION),
    (attention_branching, ATTENTION),
    (masked, MASKED),
    (masked_by_least, MASKED),
    (masked_by_option, MASKED),
    (masked_by_sum, MASKED),
    (causal, causal_attention),
    (causal_by_positions, causal_attention),
    (causal_by_triangle, causal_attention),
    (causal_by_sum, causal_attention),
    (causal_as_in_gpt_2, causal_attention),
    (alibi, of_layer("alibi_attention")),
    (heads, HEADS),
    (heads_by_einsum, HEADS),
    (heads_by_vmap, HEADS),
    (heads_by_library, HEADS),
    (halves_rotated, halves),
    (layer_normed, NORM),
    (layer_normed_by_squares, NORM),
    (layer_normed_by_library, NORM),
    (rms_normed, of_layer("rms_norm")),
    (batch_normed, of_layer("batch_norm")),
    (feed_forward, NETWORK),
    (feed_forward_in_checkpoint, NETWORK),
    (feed_forward_gelu, of_layer("feed_forward_gelu")),
    (swiglu, of_layer("gated_feed_forward")),
    (recurrent, of_layer("recurrent_step")),
    (table_rows, looked_up),
    (table_rows_taken, looked_up),
    (table_rows_scaled, of_layer("embedding")),
    (cross_entropy, of_layer("cross_entropy")),
    (cross_entropy_along, of_layer("cross_entropy")),
    (cross_entropy_one_hot, of_layer("cross_entropy")),
    (soft_cross_entropy, of_layer("soft_cross_entropy")),
)


# --- gradients by JAX, and by hand ----------------------------------------------------------------------------------


def weights_gradient(x, w, g):
    return jax.vjp(lambda weights: x @ weights, w)[1](g)[0]


def weights_gradient_by_hand(x, w, g):
    return x.T @ g


def softmax_tangent(x, v):
    return jax.jvp(nn.softmax, (x,), (v,))[1]


def softmax_tangent_by_hand(x, v):
    y = nn.softmax(x)
    return y * (v - (y * v).sum(-1, keepdims=True))


def softmax_tangent_without_sum(x, v):
    return nn.softmax(x) * v


def loss_gradient(x, t):
    return jax.grad(lambda logits: -jnp.sum(t * nn.log_softmax(logits)))(x)


def loss_gradient_by_hand(x, t):
    return nn.softmax(x) * t.sum(-1, keepdims=True) - t


GRADIENTS: tuple[tuple[Callable[..., Any], Callable[..., Any], dict[str, Any], str], ...] = (
    (weights_gradient, weights_gradient_by_hand, {"x": (n, d_k), "w": (d_k, d_v), "g": (n, d_v)}, "proved"),
    (softmax_tangent, softmax_tangent_by_hand, {"x": (n, m), "v": (n, m)}, "proved"),
    (softmax_tangent, softmax_tangent_without_sum, {"x": (n, m), "v": (n, m)}, "refuted"),
    (loss_gradient, loss_gradient_by_hand, {"x": (n, m), "t": (n, m)}, "proved"),
)


# --- one mistake each -----------------------------------------------------------------------------------------------


def without_scale(q, k, v):
    return nn.softmax(q @ k.T) @ v


def scaled_by_width(q, k, v):
    return nn.softmax(q @ k.T / q.shape[-1]) @ v


def scaled_by_keys(q, k, v):
    return nn.softmax(q @ k.T / jnp.sqrt(k.shape[0])) @ v


def softmax_of_columns(q, k, v):
    return nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]), axis=0) @ v


def scaled_twice(q, k, v):
    return attention(q / jnp.sqrt(q.shape[-1]), k, v)


def scaled_after(q, k, v):
    return nn.softmax(q @ k.T) / jnp.sqrt(q.shape[-1]) @ v


def mask_inverted(q, k, v, mask):
    return nn.softmax(jnp.where(mask, -1e9, q @ k.T / jnp.sqrt(q.shape[-1]))) @ v


def mask_multiplied(q, k, v, mask):
    return nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]) * mask) @ v


def mask_after(q, k, v, mask):
    return (nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1])) * mask) @ v


def mask_too_small(q, k, v, mask):
    return nn.softmax(jnp.where(mask, q @ k.T / jnp.sqrt(q.shape[-1]), -1.0)) @ v


def causal_of_later(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return nn.softmax(jnp.where(jnp.triu(jnp.ones_like(scores)) > 0, scores, -1e9), axis=-1) @ v


def causal_one_more(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return nn.softmax(jnp.where(jnp.tril(jnp.ones_like(scores), k=1) > 0, scores, -1e9), axis=-1) @ v


def causal_one_less(q, k, v):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    return nn.softmax(jnp.where(jnp.tril(jnp.ones_like(scores), k=-1) > 0, scores, -1e9), axis=-1) @ v


def alibi_of_distance_ahead(q, k, v, slope):
    i = jnp.arange(q.shape[0])
    scores = q @ k.T / jnp.sqrt(q.shape[-1]) + slope * (i[:, None] - i[None, :])
    return nn.softmax(jnp.where(i[:, None] >= i[None, :], scores, -jnp.inf)) @ v


def heads_not_turned_back(x_q, x_k, x_v, w_q, w_k, w_v, w_o):
    q, k, v = (jnp.einsum("nd,hdk->hnk", x, w) for x, w in ((x_q, w_q), (x_k, w_k), (x_v, w_v)))
    z = nn.softmax(q @ jnp.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])) @ v
    return z.reshape(x_q.shape[0], -1) @ w_o


def heads_scaled_by_model(x_q, x_k, x_v, w_q, w_k, w_v, w_o):
    q, k, v = (jnp.einsum("nd,hdk->hnk", x, w) for x, w in ((x_q, w_q), (x_k, w_k), (x_v, w_v)))
    weights = nn.softmax(jnp.einsum("hnk,hmk->hnm", q, k) / math.sqrt(x_q.shape[-1]))
    z = jnp.einsum("hnm,hmv->nhv", weights, v)
    return z.reshape(z.shape[0], -1) @ w_o


def halves_rotated_back(x):
    width = x.shape[1] // 2
    angles = jnp.arange(x.shape[0])[:, None] * 10000.0 ** (-jnp.arange(width) / width)
    c, s = jnp.cos(angles), jnp.sin(angles)
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * c + b * s, b * c - a * s], -1)


def norm_with_n_minus_1(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) * gamma + beta


def norm_with_epsilon_outside(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + eps) * gamma + beta


def norm_of_columns(x, gamma, beta, eps=1e-5):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0) + eps) * gamma + beta


def norm_without_beta(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + eps) * gamma


def norm_without_mean(x, gamma, beta, eps=1e-5):
    return x / jnp.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta


def rms_of_sum(x, gamma, eps=1e-6):
    return x * jax.lax.rsqrt(jnp.sum(jnp.square(x), -1, keepdims=True) + eps) * gamma


def rms_of_one_plus(x, gamma, eps=1e-6):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + eps) * (1 + gamma)


def network_without_bias(x, w_1, b_1, w_2, b_2):
    return nn.relu(x @ w_1 + b_1) @ w_2


def network_of_gelu(x, w_1, b_1, w_2, b_2):
    return nn.gelu(x @ w_1 + b_1) @ w_2 + b_2


def network_without_activation(x, w_1, b_1, w_2, b_2):
    return (x @ w_1 + b_1) @ w_2 + b_2


def network_with_bias_after(x, w_1, b_1, w_2, b_2):
    return (nn.relu(x @ w_1) + b_1) @ w_2 + b_2


def gate_of_sigmoid(x, w_gate, w_up, w_down):
    return (nn.sigmoid(x @ w_gate) * (x @ w_up)) @ w_down


def gate_and_up_exchanged(x, w_gate, w_up, w_down):
    return (nn.silu(x @ w_up) * (x @ w_gate)) @ w_down


def loss_without_minus(logits, tokens):
    return jnp.mean(nn.log_softmax(logits)[jnp.arange(tokens.shape[0]), tokens])


def loss_summed(logits, tokens):
    return -jnp.sum(nn.log_softmax(logits)[jnp.arange(tokens.shape[0]), tokens])


def loss_of_probabilities(logits, tokens):
    return -jnp.mean(nn.softmax(logits)[jnp.arange(tokens.shape[0]), tokens])


def rows_of_next(tokens, E):
    return E[(tokens + 1) % E.shape[0]]


def state_transposed(x, h_0, w, u, b):
    return jnp.tanh(x @ w + u @ h_0 + b)


WRONG: tuple[tuple[Callable[..., Any], Callable[[], Layer]], ...] = (
    *((f, ATTENTION) for f in (without_scale, scaled_by_width, scaled_by_keys, softmax_of_columns, scaled_twice)),
    (scaled_after, ATTENTION),
    *((f, MASKED) for f in (mask_inverted, mask_multiplied, mask_after, mask_too_small)),
    *((f, causal_attention) for f in (causal_of_later, causal_one_more, causal_one_less)),
    (alibi_of_distance_ahead, of_layer("alibi_attention")),
    *((f, HEADS) for f in (heads_not_turned_back, heads_scaled_by_model)),
    (halves_rotated_back, halves),
    *((f, NORM) for f in (norm_with_n_minus_1, norm_with_epsilon_outside, norm_of_columns)),
    *((f, NORM) for f in (norm_without_beta, norm_without_mean)),
    *((f, of_layer("rms_norm")) for f in (rms_of_sum, rms_of_one_plus)),
    *((f, NETWORK) for f in (network_without_bias, network_of_gelu, network_without_activation)),
    (network_with_bias_after, NETWORK),
    *((f, of_layer("gated_feed_forward")) for f in (gate_of_sigmoid, gate_and_up_exchanged)),
    *((f, of_layer("cross_entropy")) for f in (loss_without_minus, loss_summed, loss_of_probabilities)),
    (rows_of_next, looked_up),
    (state_transposed, of_layer("recurrent_step")),
)


# --- what no equation stands for ------------------------------------------------------------------------------------

_calls = [0]
_TABLE = np.arange(66.0).reshape(6, 11)


def branch_on_entries(q, k, v):
    return attention(q, k, v) if q.sum() > 0 else v


def branch_that_is_caught(q, k, v):
    try:
        if q.sum() > 0:
            return v
    except Exception:
        pass
    return attention(q, k, v)


def refusal_that_is_caught(q, k, v):
    try:
        float(q.sum())
    except BaseException:
        return attention(q, k, v)
    return v


def size_as_number(q, k, v):
    return attention(q, k, v) * int(q.shape[0])


def loop_over_size(q, k, v):
    return jnp.stack([attention(q[i : i + 1], k, v)[0] for i in range(q.shape[0])])


def loop_over_rows(q, k, v):
    return jnp.stack([attention(row[None], k, v)[0] for row in q])


def conversion(q, k, v):
    return attention(np.asarray(q), k, v)


def scan(q, k, v):
    return jax.lax.scan(lambda c, row: (c, attention(row[None], k, v)[0]), 0.0, q)[1]


def random_numbers(q, k, v):
    return attention(q, k, v) + jax.random.normal(jax.random.key(0), v.shape[1:])


def sorted_keys(q, k, v):
    return attention(q, jnp.sort(k), v)


def largest_place(q, k, v):
    return attention(q, k, v) * jnp.argmax(v)


def write_in_place(q, k, v):
    return attention(q.at[3].set(0.0), k, v)


def cast_to_whole(q, k, v):
    return attention(q.astype(int), k, v)


def odd_half(q, k, v):
    width = q.shape[1] // 2
    return attention(q[:, :width], k[:, :width], v)


def table_of_numbers(q, k, v):
    return attention(q, k, v) * jnp.asarray(_TABLE)[0, 1]


def counted_calls(q, k, v):
    _calls[0] += 1
    return attention(q, k, v) * (1 if _calls[0] % 2 else 2)


def asks_who_runs_it(q, k, v):
    return attention(q, k, v) if isinstance(q, jax.core.Tracer) else 2 * attention(q, k, v)


def in_half_precision(q, k, v):
    return attention(q.astype(jnp.bfloat16), k, v)


@jax.custom_jvp
def logaddexp(a, b):
    """Another function under the name of one of JAX's."""
    return a + 2 * b


logaddexp.defjvp(lambda primals, tangents: (logaddexp(*primals), tangents[0] + 2 * tangents[1]))


def name_of_a_library(q, k, v):
    return attention(q, k, v) + logaddexp(q, q).sum()


REFUSED: tuple[tuple[Callable[..., Any], str], ...] = (
    (branch_on_entries, "a branch on the truth value"),
    (branch_that_is_caught, "a branch on the truth value"),
    (refusal_that_is_caught, "float()"),
    (size_as_number, "int() of n"),
    (loop_over_size, "index() of n"),
    (loop_over_rows, "a loop over the rows"),
    (conversion, "a conversion to numbers"),
    (scan, "size"),
    (random_numbers, "primitive random_seed has no rule"),
    (sorted_keys, "in which order the entries of an array stand"),
    (largest_place, "at which place the largest entry stands"),
    (write_in_place, "a write at 3"),
    (cast_to_whole, "a cast of real numbers to int64"),
    (odd_half, "d_k // 2 is not exact for all sizes"),
    (table_of_numbers, "a table of 66 numbers"),
    (counted_calls, "something else when it is called again"),
)
