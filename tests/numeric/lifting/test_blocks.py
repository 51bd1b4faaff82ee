"""Whole layers in NumPy: heads by reshapes, a whole encoder layer, masks inside; by way of equal intermediates."""

from __future__ import annotations

from typing import Any

import numpy as np

from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layer
from numeric.lifting import prove


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def norm(x: Any, g: Any, b: Any, eps: float = 1e-5) -> Any:
    mu = x.mean(-1, keepdims=True)
    var = ((x - mu) ** 2).mean(-1, keepdims=True)
    return g * (x - mu) / np.sqrt(var + eps) + b


def attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, h: Any, causal: bool = False) -> Any:
    n = x.shape[0]

    def heads(y: Any) -> Any:
        return y.reshape(n, h, -1).transpose(1, 0, 2)

    q, k, v = heads(x @ wq), heads(x @ wk), heads(x @ wv)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    return (softmax(scores) @ v).transpose(1, 0, 2).reshape(n, -1) @ wo


def causal_attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, h: Any) -> Any:
    return attention(x, wq, wk, wv, wo, h, causal=True)


def swapped_heads(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, h: Any) -> Any:
    n = x.shape[0]
    q, k, v = ((x @ w).reshape(h, n, -1) for w in (wq, wk, wv))
    return (softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])) @ v).reshape(n, -1) @ wo


def encoder(
    X: Any,
    wq: Any,
    wk: Any,
    wv: Any,
    wo: Any,
    g1: Any,
    b1: Any,
    w1: Any,
    c1: Any,
    w2: Any,
    c2: Any,
    g2: Any,
    b2: Any,
    h: Any,
) -> Any:
    x = norm(X + attention(X, wq, wk, wv, wo, h), g1, b1)
    return norm(x + np.maximum(x @ w1 + c1, 0) @ w2 + c2, g2, b2)


def test_heads_by_reshapes_are_multi_head_attention() -> None:
    assert prove(attention, multi_head_attention()).level == "proved"
    assert prove(causal_attention, multi_head_attention(masked=True)).level == "proved"


def test_heads_cut_from_the_rows_are_not() -> None:
    assert prove(swapped_heads, multi_head_attention()).level == "refuted"


def test_an_encoder_layer_is_proved_by_its_intermediates() -> None:
    verdict = prove(encoder, layer("encoder_layer"))
    assert verdict.level == "proved" and len(verdict.evidence) > 5
