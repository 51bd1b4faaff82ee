"""A layer as in Llama, ours and PyTorch's: RMSNorm, grouped queries, rotary positions, causal mask, SwiGLU.

Shapes       X and Z (n, d_model); W_Q (g, r, d_model, d_k), W_K and W_V (g, d_model, d_k), W_O (g, r d_k, d_model)
Assumes      no biases; g groups of r heads of queries; column i of a head turns with column i + d_k/2
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sympy import Integer

from derivations.activations.sigmoid import silu
from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.description import Attention, Block, FeedForward, Norm, Rotary
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import CausalMask
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import d_model, n
from numeric.verification.conformance.drawing import Case, Plan, draw

__all__ = ["GROUPS", "HEADS", "SIZES", "drawn", "grouped_layer", "torch_grouped_layer"]

GROUPS, HEADS = 4, 4  # of keys and values; of queries in each group
SIZES = {"n": 256, "d_model": 1024, "d_ff": 2816}
EPSILON = 1e-5
BASE = 10_000.0
Weights = Mapping[str, Any]


def grouped_layer(groups: int = GROUPS, heads: int = HEADS, width: int = 64) -> Layer:
    """Return the layer: causal attention of grouped queries, then SwiGLU, an RMSNorm in front of each."""
    attention = Attention(Integer(heads), Integer(groups), d_k=Integer(width), d_v=Integer(width), positions=Rotary())
    block = block_layer(Block(attention, FeedForward(silu, gated=True, biases=False), Norm("rms")), Around(masked=True))
    X, let = array("X", n, d_model), Equations()
    mask = let("M")(CausalMask(n))
    Z = let("Z")(part("block", block)(X, mask))
    return Layer("grouped_layer", (X,), (), let, Z)


def drawn(layer: Layer, sizes: Mapping[str, int] = SIZES, dtype: str = "float32") -> Case:
    """Return random rows and weights for the layer."""
    return draw(layer, Plan(sizes, dtype))


def torch_grouped_layer(weights: Weights) -> Callable[[Any], Any]:
    """Return the layer as functions of PyTorch, with its own attention: from an array X to an array Z."""
    import torch
    import torch.nn.functional as F

    block = weights["block"]
    inner, network = block["self_attention"], block["feed_forward"]
    groups, heads, _, width = inner["W_Q"].shape
    count = groups * heads

    def linear(matrix: Any) -> Any:  # kept as PyTorch keeps it, y = x A^T
        return torch.from_numpy(np.ascontiguousarray(np.asarray(matrix).T))

    W_Q = linear(inner["W_Q"].transpose(2, 0, 1, 3).reshape(-1, count * width))
    W_K, W_V = (linear(inner[name].transpose(1, 0, 2).reshape(-1, groups * width)) for name in ("W_K", "W_V"))
    W_O = linear(inner["W_O"].reshape(count * width, -1))
    W_gate, W_up, W_down = (linear(network[name]) for name in ("W_gate", "W_up", "W_down"))
    norms = [torch.from_numpy(block[f"{name}_norm"]["gamma"]) for name in ("self_attention", "feed_forward")]
    angles: dict[int, Any] = {}

    def turned(x: Any) -> Any:
        cosine, sine = angles[x.shape[-2]]
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)

    def in_heads(x: Any, matrix: Any, number: int) -> Any:
        return F.linear(x, matrix).view(len(x), number, width).transpose(0, 1)

    def run(rows: Any) -> Any:
        x = torch.from_numpy(rows)
        if len(x) not in angles:
            step = BASE ** (-2 * torch.arange(width // 2, dtype=torch.float64) / width)
            angle = torch.arange(len(x), dtype=torch.float64)[:, None] * step
            angles[len(x)] = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
        with torch.no_grad():
            u = F.rms_norm(x, x.shape[-1:], norms[0], EPSILON)
            q, k = turned(in_heads(u, W_Q, count)), turned(in_heads(u, W_K, groups))
            v = in_heads(u, W_V, groups)
            mixed = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
            y = x + F.linear(mixed.transpose(0, 1).reshape(len(x), -1), W_O)
            w = F.rms_norm(y, y.shape[-1:], norms[1], EPSILON)
            return (y + F.linear(F.silu(F.linear(w, W_gate)) * F.linear(w, W_up), W_down)).numpy()

    return run
