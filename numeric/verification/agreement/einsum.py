"""The forward pass written by hand in float64: index notation instead of equations, without the compiler.

Definition   memory = Encoder(sqrt(d_model) E[source] + PE),   Z = Decoder(sqrt(d_model) E[target] + PE, memory),
             logits = Z E^T;   every sub-layer x -> LayerNorm(x + Sublayer(x))
Shapes       source (m,), target (n,) -> logits (n, vocab); weights nested as those of `numeric.Transformer`
Assumes      ReLU, attention without biases, no padding, eps = 1e-5; a norm after a stack where its weights are given
Source       Vaswani et al. (2017), sections 3.1 to 3.5

The weights may have any number type. The computation is in float64; for the base model it takes about a second.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["logits", "probabilities"]

EPSILON = 1e-5


def probabilities(source: Any, target: Any, weights: Mapping[str, Any]) -> Any:
    """Return the probabilities of the next token after each target position.

    Shapes       source (m,), target (n,) -> (n, vocab)
    """
    return _softmax(logits(source, target, weights))


def logits(source: Any, target: Any, weights: Mapping[str, Any]) -> Any:
    """Return the logits of the next token after each target position.

    Shapes       source (m,), target (n,) -> (n, vocab)
    """
    weights = _doubled(weights)
    E = weights["E"]
    memory = _embedded(source, E)
    for layer in weights["encoder"]["layers"]:
        memory = _norm(memory + _attention(memory, memory, **layer["attention"]), **layer["attention_norm"])
        memory = _norm(memory + _network(memory, **layer["feed_forward"]), **layer["feed_forward_norm"])
    if "final_norm" in weights["encoder"]:
        memory = _norm(memory, **weights["encoder"]["final_norm"])
    Z = _embedded(target, E)
    for layer in weights["decoder"]["layers"]:
        Z = _norm(Z + _attention(Z, Z, **layer["self_attention"], causal=True), **layer["self_attention_norm"])
        Z = _norm(Z + _attention(Z, memory, **layer["cross_attention"]), **layer["cross_attention_norm"])
        Z = _norm(Z + _network(Z, **layer["feed_forward"]), **layer["feed_forward_norm"])
    if "final_norm" in weights["decoder"]:
        Z = _norm(Z, **weights["decoder"]["final_norm"])
    return np.einsum("nd,vd->nv", Z, E, optimize=True)


def _doubled(weights: Any) -> Any:
    if isinstance(weights, Mapping):
        return {name: _doubled(value) for name, value in weights.items()}
    if isinstance(weights, list):
        return [_doubled(value) for value in weights]
    return weights.astype(np.float64)


def _embedded(tokens: Any, E: Any) -> Any:
    """Return sqrt(d_model) E[tokens] plus sines in the even and cosines in the odd columns."""
    n, d_model = len(tokens), E.shape[1]
    X = E[tokens] * d_model**0.5
    angle = np.outer(np.arange(n), np.exp(-np.log(10000) * np.arange(0, d_model, 2) / d_model))
    X[:, 0::2] += np.sin(angle)
    X[:, 1::2] += np.cos(angle)
    return X


def _attention(X: Any, memory: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, causal: bool = False) -> Any:
    """Return the sum over heads of softmax(X W_Q (memory W_K)^T / sqrt(d_k)) memory W_V W_O."""
    h, _, d_v = W_V.shape
    Q = np.einsum("nd,hdk->hnk", X, W_Q, optimize=True)
    K = np.einsum("md,hdk->hmk", memory, W_K, optimize=True)
    V = np.einsum("md,hdv->hmv", memory, W_V, optimize=True)
    blocks = W_O.reshape(h, d_v, -1)  # blocks of rows: head i is multiplied by rows i d_v, ..., (i + 1) d_v - 1
    later = np.triu(np.ones((len(X), len(memory)), dtype=bool), 1) & causal
    Y = np.zeros((len(X), blocks.shape[-1]))
    for i in range(h):
        S = np.einsum("nk,mk->nm", Q[i], K[i], optimize=True) / W_Q.shape[-1] ** 0.5
        A = _softmax(np.where(later, -np.inf, S))
        head = np.einsum("nm,mv->nv", A, V[i], optimize=True)
        Y += np.einsum("nv,vd->nd", head, blocks[i], optimize=True)
    return Y


def _network(X: Any, W_1: Any, b_1: Any, W_2: Any, b_2: Any) -> Any:
    H = np.einsum("nd,df->nf", X, W_1, optimize=True) + b_1
    return np.einsum("nf,fd->nd", np.where(H > 0, H, 0.0), W_2, optimize=True) + b_2


def _norm(X: Any, gamma: Any, beta: Any) -> Any:
    centred = X - X.mean(axis=1, keepdims=True)
    variance = np.einsum("nd,nd->n", centred, centred)[:, None] / X.shape[1]
    return centred / np.sqrt(variance + EPSILON) * gamma + beta


def _softmax(S: Any) -> Any:
    weights = np.exp(S - S.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
