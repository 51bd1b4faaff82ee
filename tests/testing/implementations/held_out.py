"""Functions that the checks were not developed on: wrong along a part of an axis alone, right after a rearrangement."""

import math

import numpy as np

from tests.testing.implementations.candidates import Collection
from tests.testing.implementations.steps import silu

WRONG_ALONG_AXES, RIGHT_REARRANGED = Collection(), Collection()
wrong, right = WRONG_ALONG_AXES.of, RIGHT_REARRANGED.of


def _weights(S, largest):
    E = np.exp(S - largest)
    return E / E.sum(axis=-1, keepdims=True)


def _log_sum(X, largest):
    return largest[..., 0] + np.log(np.exp(X - largest).sum(axis=-1))


@wrong("softmax")
def largest_of_the_last_16(x):
    return _weights(x, x[..., -16:].max(axis=-1, keepdims=True))


@wrong("softmax")
def largest_of_every_second(x):
    return _weights(x, x[..., ::2].max(axis=-1, keepdims=True))


@wrong("softmax")
def larger_of_first_and_last(x):
    return _weights(x, np.maximum(x[..., :1], x[..., -1:]))


@wrong("softmax")
def largest_of_the_first_200(x):
    return _weights(x, x[..., :200].max(axis=-1, keepdims=True))


@wrong("scaled_dot_product_attention")
def attention_by_the_largest_of_64(Q, K, V):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    return _weights(S, S[..., :64].max(axis=-1, keepdims=True)) @ V


@wrong("scaled_dot_product_attention")
def attention_by_the_largest_of_the_first_row(Q, K, V):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    return _weights(S, S[..., :1, :].max(axis=-1, keepdims=True)) @ V


@wrong("cross_entropy")
def loss_by_the_largest_of_64(X, tokens):
    z = _log_sum(X, X[..., :64].max(axis=-1, keepdims=True))
    return (z - np.take_along_axis(X, tokens[..., None], -1)[..., 0]).mean(axis=-1)


@wrong("soft_cross_entropy")
def soft_loss_by_the_largest_of_100(X, T):
    log_p = X - _log_sum(X, X[..., -100:].max(axis=-1, keepdims=True))[..., None]
    return -(T * log_p).sum(axis=-1).mean(axis=-1)


@wrong("layer_norm")
def variance_of_the_first_300(X, gamma, beta):
    centred = X - X.mean(axis=-1, keepdims=True)
    spread = (centred[..., :300] ** 2).mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt(spread + X.dtype.type(1e-5)) + beta


@wrong("batch_norm_inference")
def folded_with_epsilon_outside(X, gamma, beta, m, v):
    s = gamma / (np.sqrt(v) + X.dtype.type(1e-5))
    return X * s + (beta - m * s)


@wrong("batch_norm_inference")
def folded_without_the_mean_scaled(X, gamma, beta, m, v):
    return X * (gamma / np.sqrt(v + X.dtype.type(1e-5))) + (beta - m)


@right("batch_norm_inference")
def folded(X, gamma, beta, m, v):
    s = gamma / np.sqrt(v + X.dtype.type(1e-5))
    return X * s + (beta - m * s)


@right("batch_norm_inference")
def folded_into_a_matrix(X, gamma, beta, m, v):
    s = gamma / np.sqrt(v + X.dtype.type(1e-5))
    return X @ np.diag(s) + (beta - m * s)


@right("batch_norm_inference")
def by_the_reciprocal_root(X, gamma, beta, m, v):
    s = (v + X.dtype.type(1e-5)) ** -0.5
    return (X * s - m * s) * gamma + beta


@right("batch_norm")
def statistics_folded(X, gamma, beta):
    mean = X.mean(axis=-2, keepdims=True)
    s = gamma / np.sqrt(((X - mean) ** 2).mean(axis=-2, keepdims=True) + X.dtype.type(1e-5))
    return X * s + (beta - mean * s)


@right("rms_norm")
def scale_first(X, gamma):
    return X * (gamma / np.sqrt((X * X).mean(axis=-1, keepdims=True) + X.dtype.type(1e-5)))


@right("linear")
def bias_as_a_row(X, W, b):
    ones = np.ones((*X.shape[:-1], 1), X.dtype)
    return np.concatenate([X, ones], axis=-1) @ np.concatenate([W, b[None]])


@right("softmax")
def largest_of_chunks(x):
    largest = x[..., :1]
    for first in range(0, x.shape[-1], 50):
        largest = np.maximum(largest, x[..., first : first + 50].max(axis=-1, keepdims=True))
    return _weights(x, largest)


@right("softmax")
def through_the_logarithm(x):
    return np.exp(x - _log_sum(x, x.max(axis=-1, keepdims=True))[..., None])


@right("scaled_dot_product_attention")
def keys_scaled(Q, K, V):
    S = Q @ (K / math.sqrt(Q.shape[-1])).mT
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return (E @ V) / E.sum(axis=-1, keepdims=True)


@right("cross_entropy")
def loss_of_shifted_rows(X, tokens):
    shifted = X - X.max(axis=-1, keepdims=True)
    chosen = np.take_along_axis(shifted, tokens[..., None], -1)[..., 0]
    return (np.log(np.exp(shifted).sum(axis=-1)) - chosen).mean(axis=-1)


@right("gated_feed_forward")
def both_products_at_once(X, W_gate, W_up, W_down):
    gate, up = np.split(X @ np.concatenate([W_gate, W_up], axis=-1), 2, axis=-1)
    return (silu(gate) * up) @ W_down
