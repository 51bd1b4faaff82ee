"""The same encoder layer in PyTorch and JAX: forward, and forward with the backward pass.

Shapes       weights nested as those of `derivations.transformer.encoder.encoder_layer`; X, dZ and Z (batch, n, d_model)
Assumes      PyTorch is its own `nn.TransformerEncoderLayer` without dropout; JAX is the textbook's equations, compiled.
             Gradients are handed back nested as the weights, as arrays
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.benchmarks.encoder_peers import EPSILON, packed

__all__ = [
    "away_from_kinks",
    "jax_forward",
    "jax_training_step",
    "torch_forward",
    "torch_layer",
    "torch_training_step",
]

Weights = Mapping[str, Any]
NEAR = 0.05  # how far the bias of a hidden unit may be moved
NORMS = {"norm1": "attention_norm", "norm2": "feed_forward_norm"}


def torch_layer(weights: Weights, dtype: Any = np.float32) -> Any:
    """Return the layer as a module of PyTorch with the given weights; it keeps a linear layer as y = x A^T + b."""
    import torch

    flat = packed(weights, dtype)
    attention, network = flat["attention"], flat["feed_forward"]
    (d_model, d_ff), h = network["W_1"].shape, len(weights["attention"]["W_Q"])
    arrays = {
        "self_attn.in_proj_weight": np.concatenate([attention[f"W_{name}"].T for name in "QKV"]),
        "self_attn.in_proj_bias": np.concatenate([attention[f"b_{name}"] for name in "QKV"]),
        "self_attn.out_proj.weight": attention["W_O"].T,
        "self_attn.out_proj.bias": attention["b_O"],
        "linear1.weight": network["W_1"].T,
        "linear1.bias": network["b_1"],
        "linear2.weight": network["W_2"].T,
        "linear2.bias": network["b_2"],
    }
    for norm, name in NORMS.items():
        arrays |= {f"{norm}.weight": flat[name]["gamma"], f"{norm}.bias": flat[name]["beta"]}
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    number_type = tensors["linear1.bias"].dtype
    module = torch.nn.TransformerEncoderLayer(
        d_model, h, d_ff, 0.0, layer_norm_eps=EPSILON, batch_first=True, dtype=number_type
    )
    module.load_state_dict(tensors)
    return module.eval()


def torch_forward(weights: Weights, X: Any, *, fast: bool) -> Callable[[], Any]:
    """Return the forward pass of PyTorch, eager, with its fast path or without."""
    import torch

    module, rows = torch_layer(weights), torch.from_numpy(X)

    def run() -> Any:
        torch.backends.mha.set_fastpath_enabled(fast)
        with torch.no_grad():
            return module(rows).numpy()

    return run


def away_from_kinks(weights: Weights, X: Any) -> dict[str, Any]:
    """Return the weights with b_1 moved so that no hidden entry is close to 0, where ReLU has no derivative.

    Definition   of every hidden unit, 0 is put into the middle of the widest gap between its entries near 0; else an
                 entry that rounding takes over 0 would change its gradient from all to nothing
    """
    import torch

    module, seen = torch_layer(weights, np.float64), []
    module.linear1.register_forward_hook(lambda layer, given, H: seen.append(H.numpy()))
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad():
        module(torch.from_numpy(X.astype(np.float64)))
    columns = np.sort(seen[0].reshape(-1, seen[0].shape[-1]), axis=0)
    middles, gaps = (columns[1:] + columns[:-1]) / 2, np.diff(columns, axis=0)
    widest = np.where(abs(middles) < NEAR, gaps, 0).argmax(axis=0)
    moves = np.take_along_axis(middles, widest[None], axis=0)[0] * (np.abs(columns).min(axis=0) < NEAR)
    network = weights["feed_forward"]
    return {**weights, "feed_forward": {**network, "b_1": (network["b_1"] - moves).astype(np.float32)}}


def torch_training_step(weights: Weights, X: Any, dZ: Any) -> Callable[[], Any]:
    """Return forward and backward of PyTorch, eager: the gradients by the input and by every weight."""
    import torch

    module, rows, of_output = torch_layer(weights, X.dtype), torch.from_numpy(X).requires_grad_(), torch.from_numpy(dZ)

    def run() -> Any:
        module.zero_grad(set_to_none=True)
        rows.grad = None
        module(rows).backward(of_output)
        return lambda: (rows.grad.numpy(), _arranged(module))

    return run


def _arranged(module: Any) -> dict[str, Any]:
    """Return the gradients that a module holds, nested as our weights."""
    grad = {name: each.grad.numpy() for name, each in module.named_parameters()}
    d_model, h = module.linear1.in_features, module.self_attn.num_heads
    matrices = np.split(grad["self_attn.in_proj_weight"], 3)
    vectors = np.split(grad["self_attn.in_proj_bias"], 3)
    attention = {f"W_{name}": w.reshape(h, -1, d_model).mT for name, w in zip("QKV", matrices, strict=True)}
    attention |= {f"b_{name}": b.reshape(h, -1) for name, b in zip("QKV", vectors, strict=True)}
    attention |= {"W_O": grad["self_attn.out_proj.weight"].T, "b_O": grad["self_attn.out_proj.bias"]}
    network = {f"W_{k}": grad[f"linear{k}.weight"].T for k in (1, 2)} | {
        f"b_{k}": grad[f"linear{k}.bias"] for k in (1, 2)
    }
    norms = {name: {"gamma": grad[f"{norm}.weight"], "beta": grad[f"{norm}.bias"]} for norm, name in NORMS.items()}
    return {"attention": attention, "feed_forward": network, **norms}


def jax_forward(weights: Weights, X: Any) -> Callable[[], Any]:
    """Return the forward pass of JAX, compiled once."""
    import jax
    import jax.numpy as jnp

    given = jax.tree.map(jnp.asarray, packed(weights))
    rows, compiled = jnp.asarray(X), jax.jit(_jax_layer(len(weights["attention"]["W_Q"])))
    return lambda: np.asarray(compiled(rows, given))


def jax_training_step(weights: Weights, X: Any, dZ: Any) -> Callable[[], Any]:
    """Return forward and backward of JAX, compiled once: the gradients by the input and by every weight."""
    import jax
    import jax.numpy as jnp

    h = len(weights["attention"]["W_Q"])
    given = jax.tree.map(jnp.asarray, packed(weights))
    rows, of_output = jnp.asarray(X), jnp.asarray(dZ)
    step = jax.jit(lambda X, w, dZ: jax.vjp(_jax_layer(h), X, w)[1](dZ))

    def run() -> Any:
        dX, gradients = jax.block_until_ready(step(rows, given, of_output))
        return lambda: (np.asarray(dX), _split(jax.tree.map(np.asarray, gradients), h))

    return run


def _jax_layer(h: int) -> Callable[[Any, Any], Any]:
    import jax
    import jax.numpy as jnp

    def layer_norm(X: Any, gamma: Any, beta: Any) -> Any:
        mean, variance = X.mean(axis=-1, keepdims=True), X.var(axis=-1, keepdims=True)
        return gamma * (X - mean) / jnp.sqrt(variance + EPSILON) + beta

    def forward(X: Any, weights: Any) -> Any:
        attention, network = weights["attention"], weights["feed_forward"]
        batch, n, d_model = X.shape

        def heads(name: str) -> Any:
            projected = X @ attention[f"W_{name}"] + attention[f"b_{name}"]
            return projected.reshape(batch, n, h, -1).swapaxes(1, 2)

        Q, K, V = map(heads, "QKV")
        O = jax.nn.softmax(Q @ K.mT / np.sqrt(Q.shape[-1]).astype(np.float32)) @ V
        A = O.swapaxes(1, 2).reshape(batch, n, d_model) @ attention["W_O"] + attention["b_O"]
        Y = layer_norm(X + A, **weights["attention_norm"])
        F = jax.nn.relu(Y @ network["W_1"] + network["b_1"]) @ network["W_2"] + network["b_2"]
        return layer_norm(Y + F, **weights["feed_forward_norm"])

    return forward


def _split(gradients: Any, h: int) -> dict[str, Any]:
    """Return gradients of weights side by side as those of heads."""
    attention = dict(gradients["attention"])
    for name in "QKV":
        attention[f"W_{name}"] = np.stack(np.split(attention[f"W_{name}"], h, axis=-1))
        attention[f"b_{name}"] = attention[f"b_{name}"].reshape(h, -1)
    return {**gradients, "attention": attention}
