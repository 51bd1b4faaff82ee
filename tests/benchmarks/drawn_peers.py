"""A drawn layer as people write it: in NumPy and JAX by one text, and in PyTorch with its own functions.

Definition   attention of heads side by side, grouped queries, rotation of halves, a causal mask; layer or RMS norm in
             front of or behind each sub-layer; ReLU, exact GELU or SwiGLU
Shapes       X, memory and Z (batch, n, d_model); weights as `flat` returns them: matrices of all heads side by side
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.benchmarks.drawn_shapes import DrawnShape

__all__ = ["EPSILON", "flat", "in_arrays", "in_torch"]

EPSILON, BASE = 1e-5, 10_000.0
Weights = Mapping[str, Any]
Forward = Callable[..., Any]


def flat(weights: Weights, dtype: Any = np.float32) -> dict[str, dict[str, Any]]:
    """Return the weights of a layer by sub-layer, those of heads as one matrix (d_model, h d_k), or one vector."""
    found = {}
    for name, own in weights["block"].items():
        arrays = {key: np.asarray(w).astype(dtype) for key, w in own.items()}
        if "W_O" in arrays:
            heads = [key for key in arrays if key[-1] in "QKV"]
            arrays |= {key: _side_by_side(arrays[key], key.startswith("W")) for key in heads}
            arrays["W_O"] = arrays["W_O"].reshape(-1, arrays["W_O"].shape[-1])
        found[name] = arrays
    return found


def _side_by_side(heads: Any, is_matrix: bool) -> Any:
    if not is_matrix:
        return heads.reshape(-1)
    columns = np.moveaxis(heads, -2, 0)  # (d_model, groups, heads, d_k), or without groups
    return np.ascontiguousarray(columns.reshape(len(columns), -1))


def _angles(n: int, width: int) -> Any:
    return np.arange(n)[:, None] * BASE ** (-2 * np.arange(width // 2) / width)


def in_arrays(shape: DrawnShape, weights: Weights, xp: Any, erf: Callable[[Any], Any]) -> Forward:
    """Return the layer over arrays of a library such as NumPy; `weights` are those of `flat`, as its arrays."""
    width, repeats = shape.d_model // shape.h, shape.h // shape.groups

    def norm(x: Any, gamma: Any, beta: Any = None) -> Any:
        if beta is None:
            return gamma * x / xp.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON)
        c = x - x.mean(axis=-1, keepdims=True)
        return gamma * c / xp.sqrt((c * c).mean(axis=-1, keepdims=True) + EPSILON) + beta

    def turned(x: Any) -> Any:
        if shape.kind != "llama":
            return x
        angle = _angles(x.shape[-2], width)
        cosine, sine = (xp.asarray(each.astype(x.dtype)) for each in (np.cos(angle), np.sin(angle)))
        one, other = x[..., : width // 2], x[..., width // 2 :]
        return xp.concatenate([one * cosine - other * sine, other * cosine + one * sine], axis=-1)

    def attend(x: Any, source: Any, own: Weights, causal: bool) -> Any:
        def heads(rows: Any, name: str) -> Any:
            y = rows @ own[f"W_{name}"]
            y = y + own[f"b_{name}"] if f"b_{name}" in own else y
            return y.reshape(*y.shape[:-1], -1, width).swapaxes(-2, -3)

        Q, K, V = turned(heads(x, "Q")), turned(heads(source, "K")), heads(source, "V")
        K, V = (xp.repeat(each, repeats, axis=-3) for each in (K, V))
        S = Q @ K.swapaxes(-1, -2) / width**0.5
        if causal:
            S = xp.where(np.tri(*S.shape[-2:], dtype=bool), S, -np.inf)
        E = xp.exp(S - S.max(axis=-1, keepdims=True))
        O = (E @ V / E.sum(axis=-1, keepdims=True)).swapaxes(-2, -3)
        Y = O.reshape(*x.shape[:-1], -1) @ own["W_O"]
        return Y + own["b_O"] if "b_O" in own else Y

    def network(x: Any, own: Weights) -> Any:
        if shape.activation == "swiglu":
            H = x @ own["W_gate"]
            return (H / (1 + xp.exp(-H)) * (x @ own["W_up"])) @ own["W_down"]
        H = x @ own["W_1"] + own["b_1"]
        G = xp.maximum(H, 0) if shape.activation == "relu" else H * (1 + erf(H / 2**0.5)) / 2
        return G @ own["W_2"] + own["b_2"]

    def forward(weights: Weights, X: Any, memory: Any = None) -> Any:
        return _residual(shape, weights, norm, attend, network)(X, memory)

    return lambda *inputs: forward(weights, *inputs)


def _residual(shape: DrawnShape, weights: Weights, norm: Any, attend: Any, network: Any) -> Forward:
    """Return the sub-layers one after another, with their norms and residual sums."""

    def forward(x: Any, memory: Any = None) -> Any:
        steps = [("self_attention", lambda u: attend(u, u, weights["self_attention"], shape.causal))]
        if memory is not None:
            steps.append(("cross_attention", lambda u: attend(u, memory, weights["cross_attention"], False)))
        steps.append(("feed_forward", lambda u: network(u, weights["feed_forward"])))
        for name, inner in steps:
            of = weights[f"{name}_norm"]
            x = x + inner(norm(x, **of)) if shape.order == "pre" else norm(x + inner(x), **of)
        return x

    return forward


def in_torch(shape: DrawnShape, weights: Weights) -> Forward:
    """Return the layer over tensors, with PyTorch's own attention, norms and activations."""
    import torch
    import torch.nn.functional as F

    def kept(name: str, w: Any) -> Any:  # PyTorch keeps the matrix of a linear layer transposed
        return torch.from_numpy(np.ascontiguousarray(w.T if name.startswith("W") else w))

    own = {part: {name: kept(name, w) for name, w in arrays.items()} for part, arrays in weights.items()}
    width, of_groups = shape.d_model // shape.h, shape.groups != shape.h
    angle = _angles(shape.n, width)
    cosine, sine = (torch.from_numpy(each.astype(np.float32)) for each in (np.cos(angle), np.sin(angle)))

    def norm(x: Any, gamma: Any, beta: Any = None) -> Any:
        if beta is None:
            return F.rms_norm(x, x.shape[-1:], gamma, EPSILON)
        return F.layer_norm(x, x.shape[-1:], gamma, beta, EPSILON)

    def turned(x: Any) -> Any:
        if shape.kind != "llama":
            return x
        one, other = x.chunk(2, dim=-1)
        return torch.cat([one * cosine - other * sine, other * cosine + one * sine], dim=-1)

    def attend(x: Any, source: Any, own: Weights, causal: bool) -> Any:
        def heads(rows: Any, name: str) -> Any:
            y = F.linear(rows, own[f"W_{name}"], own.get(f"b_{name}"))
            return y.view(*y.shape[:-1], -1, width).transpose(-2, -3)

        Q, K, V = turned(heads(x, "Q")), turned(heads(source, "K")), heads(source, "V")
        O = F.scaled_dot_product_attention(Q, K, V, is_causal=causal, enable_gqa=of_groups)
        return F.linear(O.transpose(-2, -3).reshape(*x.shape[:-1], -1), own["W_O"], own.get("b_O"))

    def network(x: Any, own: Weights) -> Any:
        if shape.activation == "swiglu":
            return F.linear(F.silu(F.linear(x, own["W_gate"])) * F.linear(x, own["W_up"]), own["W_down"])
        H = F.linear(x, own["W_1"], own["b_1"])
        return F.linear(F.relu(H) if shape.activation == "relu" else F.gelu(H), own["W_2"], own["b_2"])

    return _residual(shape, own, norm, attend, network)
