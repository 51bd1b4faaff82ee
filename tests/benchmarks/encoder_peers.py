"""One post-norm encoder layer as people write it in NumPy: the products alone, as in a textbook, tuned by hand.

Definition   Y = LayerNorm(X + MultiHead(X)), Z = LayerNorm(Y + W_2 max(0, W_1 Y + b_1) + b_2), biases everywhere
Shapes       X and Z (batch, n, d_model); weights nested as those of `derivations.transformer.encoder.encoder_layer`
Assumes      d_k = d_v = d_model / h; whoever wants weights laid out in another way does so before the clock runs
"""

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

__all__ = [
    "SHAPES",
    "EncoderShape",
    "packed",
    "products",
    "random_input",
    "random_weights",
    "side_by_side",
    "textbook",
    "tuned",
]

Weights = Mapping[str, Any]
Forward = Callable[[Any], Any]
EPSILON = 1e-5


@dataclass(frozen=True)
class EncoderShape:
    """The sizes of one encoder layer and its input."""

    batch: int
    n: int
    d_model: int
    h: int
    d_ff: int

    def __str__(self) -> str:
        return ", ".join(map(str, astuple(self)))


SHAPES = (
    EncoderShape(1, 128, 512, 8, 2048),
    EncoderShape(8, 128, 512, 8, 2048),
    EncoderShape(1, 1024, 768, 12, 3072),
    EncoderShape(1, 4096, 512, 8, 2048),
)


def random_weights(shape: EncoderShape, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Return weights in float32: products keep the size of entries, gains are near 1."""
    rng = np.random.default_rng(seed)
    d_model, h, d_ff = shape.d_model, shape.h, shape.d_ff
    d_k = d_model // h

    def matrix(*lengths: int) -> Any:
        return (rng.standard_normal(lengths, np.float32) / np.sqrt(lengths[-2])).astype(np.float32)

    def vector(*lengths: int, around: float = 0.0) -> Any:
        return (around + 0.1 * rng.standard_normal(lengths, np.float32)).astype(np.float32)

    attention = {name: matrix(h, d_model, d_k) for name in ("W_Q", "W_K", "W_V")} | {"W_O": matrix(d_model, d_model)}
    attention |= {name: vector(h, d_k) for name in ("b_Q", "b_K", "b_V")} | {"b_O": vector(d_model)}
    network = {"W_1": matrix(d_model, d_ff), "b_1": vector(d_ff), "W_2": matrix(d_ff, d_model), "b_2": vector(d_model)}
    norms = [{"gamma": vector(d_model, around=1.0), "beta": vector(d_model)} for _ in range(2)]
    return {
        "attention": attention,
        "attention_norm": norms[0],
        "feed_forward": network,
        "feed_forward_norm": norms[1],
    }


def random_input(shape: EncoderShape, seed: int = 1) -> Any:
    """Return rows with standard normal entries."""
    return np.random.default_rng(seed).standard_normal((shape.batch, shape.n, shape.d_model), np.float32)


def side_by_side(heads: Any) -> Any:
    """Return the weights of all heads as one matrix, or one vector: (h, d_model, d_k) becomes (d_model, h d_k)."""
    return np.concatenate(list(heads), axis=-1)


def packed(weights: Weights, dtype: Any = np.float32) -> dict[str, dict[str, Any]]:
    """Return the weights with those of all heads side by side, as most code keeps them."""
    flat = {part: {name: w.astype(dtype) for name, w in own.items()} for part, own in weights.items()}
    of_heads = ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
    return flat | {"attention": flat["attention"] | {name: side_by_side(flat["attention"][name]) for name in of_heads}}


def products(shape: EncoderShape, seed: int = 2) -> Callable[[], None]:
    """Return the matrix products of the layer and nothing else, on operands of the right shapes."""
    rng = np.random.default_rng(seed)
    batch, n, d, h, d_ff = astuple(shape)
    lengths = ((batch, n, d), (d, 3 * d), (batch, h, n, d // h), (batch, h, n, n), (d, d), (d, d_ff), (d_ff, d))
    X, W_QKV, Q, A, W_O, W_1, W_2 = (rng.standard_normal(each, np.float32) for each in lengths)

    def run() -> None:
        X @ W_QKV
        Q @ Q.mT
        A @ Q
        X @ W_O
        (X @ W_1) @ W_2

    return run


def textbook(weights: Weights, dtype: Any = np.float32) -> Forward:
    """Return the layer as teaching code has it: equation by equation, one head after the other."""
    h = len(weights["attention"]["W_Q"])
    weights = packed(weights, dtype)
    attention, network = weights["attention"], weights["feed_forward"]
    scale = np.sqrt(attention["W_Q"].shape[-1] // h).astype(dtype)

    def softmax(S: Any) -> Any:
        exponentials = np.exp(S - np.max(S, axis=-1, keepdims=True))
        return exponentials / np.sum(exponentials, axis=-1, keepdims=True)

    def layer_norm(X: Any, gamma: Any, beta: Any) -> Any:
        mean, variance = np.mean(X, axis=-1, keepdims=True), np.var(X, axis=-1, keepdims=True)
        return gamma * (X - mean) / np.sqrt(variance + EPSILON) + beta

    def forward(X: Any) -> Any:
        projected = (X @ attention[f"W_{name}"] + attention[f"b_{name}"] for name in "QKV")
        split = (np.split(each, h, axis=-1) for each in projected)
        heads = [softmax(Q @ K.swapaxes(-1, -2) / scale) @ V for Q, K, V in zip(*split, strict=True)]
        A = np.concatenate(heads, axis=-1) @ attention["W_O"] + attention["b_O"]
        Y = layer_norm(X + A, **weights["attention_norm"])
        F = np.maximum(0, Y @ network["W_1"] + network["b_1"]) @ network["W_2"] + network["b_2"]
        return layer_norm(Y + F, **weights["feed_forward_norm"])

    return forward


def tuned(weights: Weights) -> Forward:
    """Return the layer as it is written for speed: one product for Q, K and V, all heads at once, in place throughout.

    The scale is part of the weights of Q, and rows are divided by their sums after the product with V.
    """
    attention, network = weights["attention"], weights["feed_forward"]
    first, second = weights["attention_norm"], weights["feed_forward_norm"]
    h, d_model, d_k = attention["W_Q"].shape
    scales = np.repeat(np.array([d_k**-0.5, 1, 1], np.float32), h * d_k)
    W, b = (scales * side_by_side([side_by_side(attention[f"{kind}_{name}"]) for name in "QKV"]) for kind in "Wb")

    def normalise(X: Any, gamma: Any, beta: Any) -> Any:
        X -= X.mean(axis=-1, keepdims=True)
        variance = np.einsum("...d,...d->...", X, X)
        variance /= np.float32(d_model)
        variance += np.float32(EPSILON)
        X /= np.sqrt(variance, out=variance)[..., None]
        X *= gamma
        X += beta
        return X

    def forward(X: Any) -> Any:
        batch, n, _ = X.shape
        wide = X @ W
        wide += b
        Q, K, V = wide.reshape(batch, n, 3, h, d_k).transpose(2, 0, 3, 1, 4)
        S = Q @ K.mT
        S -= S.max(axis=-1, keepdims=True)
        np.exp(S, out=S)
        O = S @ V
        O /= S.sum(axis=-1, keepdims=True)
        Y = O.swapaxes(1, 2).reshape(batch, n, d_model) @ attention["W_O"]
        Y += attention["b_O"]
        Y += X
        Y = normalise(Y, **first)
        H = Y @ network["W_1"]
        H += network["b_1"]
        np.maximum(H, 0, out=H)
        Z = H @ network["W_2"]
        Z += network["b_2"]
        Z += Y
        return normalise(Z, **second)

    return forward
