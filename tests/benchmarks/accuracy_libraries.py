"""What the peers of the accuracy table are written with: the functions of PyTorch and of JAX under one name each."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

from numeric.verification.conformance.drawing import mapped

__all__ = ["LIBRARIES"]


class Torch:
    """PyTorch, by its own functions."""

    relu, gelu, silu, sigmoid = F.relu, F.gelu, F.silu, torch.sigmoid
    where, exp, sin, cos, cat, arange, stack = (
        torch.where, torch.exp, torch.sin, torch.cos, torch.cat, torch.arange, torch.stack)  # fmt: skip
    infinity = -torch.inf
    softmax = staticmethod(partial(F.softmax, dim=-1))
    log_softmax = staticmethod(partial(F.log_softmax, dim=-1))
    log_sum_exp = staticmethod(partial(torch.logsumexp, dim=-1))
    tanh = torch.tanh

    @staticmethod
    def attention(Q: Any, K: Any, V: Any, M: Any = None) -> Any:
        return F.scaled_dot_product_attention(Q, K, V, attn_mask=M)

    @staticmethod
    def layer_norm(X: Any, gamma: Any, beta: Any, eps: float) -> Any:
        return F.layer_norm(X, X.shape[-1:], gamma, beta, eps)

    @staticmethod
    def rms_norm(X: Any, gamma: Any, eps: float) -> Any:
        return F.rms_norm(X, X.shape[-1:], gamma, eps)

    @staticmethod
    def batch_norm(X: Any, gamma: Any, beta: Any, eps: float) -> Any:
        return F.batch_norm(X, None, None, gamma, beta, training=True, eps=eps)

    @staticmethod
    def cross_entropy(X: Any, tokens: Any) -> Any:
        return F.cross_entropy(X, tokens)

    @staticmethod
    def run(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        with torch.no_grad():
            given = mapped(arguments, lambda _, each: torch.from_numpy(np.ascontiguousarray(each)))
            return function(Torch, **given).numpy()


class Jax:
    """JAX, by its own functions; its norms are two lines of `jax.numpy`, with the variance of `jnp.var`."""

    relu, gelu, silu, sigmoid = jax.nn.relu, partial(jax.nn.gelu, approximate=False), jax.nn.silu, jax.nn.sigmoid
    where, exp, sin, cos, cat, arange, stack = (
        jnp.where, jnp.exp, jnp.sin, jnp.cos, jnp.concatenate, jnp.arange, jnp.stack)  # fmt: skip
    infinity = -jnp.inf
    softmax, log_softmax = jax.nn.softmax, jax.nn.log_softmax
    log_sum_exp = staticmethod(partial(jax.nn.logsumexp, axis=-1))
    tanh = jnp.tanh

    @staticmethod
    def attention(Q: Any, K: Any, V: Any, M: Any = None) -> Any:
        S = Q @ K.mT / math.sqrt(Q.shape[-1])
        return jax.nn.softmax(S if M is None else jnp.where(M, S, -jnp.inf)) @ V

    @staticmethod
    def layer_norm(X: Any, gamma: Any, beta: Any, eps: float, axis: int = -1) -> Any:
        mean, variance = X.mean(axis, keepdims=True), X.var(axis, keepdims=True)
        return gamma * (X - mean) / jnp.sqrt(variance + eps) + beta

    @staticmethod
    def rms_norm(X: Any, gamma: Any, eps: float) -> Any:
        return gamma * X / jnp.sqrt(jnp.square(X).mean(-1, keepdims=True) + eps)

    @staticmethod
    def batch_norm(X: Any, gamma: Any, beta: Any, eps: float) -> Any:
        return Jax.layer_norm(X, gamma, beta, eps, axis=0)

    @staticmethod
    def cross_entropy(X: Any, tokens: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(X), tokens[:, None], axis=-1).mean()

    @staticmethod
    def run(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        numbers = {name: value for name, value in arguments.items() if isinstance(value, int | float)}
        arrays = {name: value for name, value in arguments.items() if name not in numbers}
        given = mapped(arrays, lambda _, each: jnp.asarray(each.astype(np.int32) if each.dtype.kind == "i" else each))
        return np.asarray(jax.jit(partial(function, Jax, **numbers))(**given))


LIBRARIES: Mapping[str, Any] = {"torch": Torch, "jax": Jax}
