"""Right functions over PyTorch and JAX."""

import math

import pytest

from tests.testing.implementations.candidates import Collection

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy
F = torch.nn.functional

RIGHT_TENSORS = Collection()
of = RIGHT_TENSORS.of


@of("softmax", arrays="torch")
def torch_softmax(x):
    return F.softmax(x, dim=-1)


@of("softmax", arrays="torch")
def torch_softmax_with_a_detached_shift(x):
    weights = torch.exp(x - x.max(dim=-1, keepdim=True).values.detach())
    return weights / weights.sum(dim=-1, keepdim=True)


@of("scaled_dot_product_attention", arrays="torch")
def torch_attention(Q, K, V):
    return F.scaled_dot_product_attention(Q, K, V)


@of("masked_scaled_dot_product_attention", arrays="torch", fully_masked_rows=False)
def torch_masked_attention(Q, K, V, M):
    S = (Q @ K.transpose(-1, -2) / math.sqrt(Q.size(-1))).masked_fill(~M, float("-inf"))
    return torch.softmax(S, dim=-1) @ V


@of("masked_scaled_dot_product_attention", arrays="torch")
def torch_hidden_rows_cleared(Q, K, V, M):
    S = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(~M, -float("inf"))
    return torch.nan_to_num(torch.softmax(S, -1)) @ V


@of("layer_norm", arrays="torch")
def torch_layer_norm(X, gamma, beta):
    return F.layer_norm(X, X.shape[-1:], gamma, beta, 1e-5)


@of("rms_norm", arrays="torch")
def torch_rms_norm(X, gamma):
    return gamma * (X * torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + 1e-5))


@of("feed_forward", arrays="torch")
def torch_feed_forward(X, W_1, b_1, W_2, b_2):
    return F.linear(F.relu(F.linear(X, W_1.T, b_1)), W_2.T, b_2)


@of("feed_forward_gelu", arrays="torch")
def torch_feed_forward_gelu(X, W_1, b_1, W_2, b_2):
    return F.gelu(X @ W_1 + b_1) @ W_2 + b_2


@of("gated_feed_forward", arrays="torch")
def torch_gated(X, W_gate, W_up, W_down):
    return (F.silu(X @ W_gate) * (X @ W_up)) @ W_down


@of("cross_entropy", arrays="torch", batch=False)
def torch_cross_entropy(X, tokens):
    return F.cross_entropy(X, tokens)


@of("embedding", arrays="torch")
def torch_embedding(tokens, E):
    return F.embedding(tokens, E) * math.sqrt(E.shape[-1])


@of("linear", arrays="torch")
def torch_linear_by_views(X, W, b):
    return (X.view(-1, X.shape[-1]) @ W + b).view(*X.shape[:-1], W.shape[-1])


@of("rotary_embedding", arrays="torch")
def torch_rotary(X):
    n, d = X.shape[-2:]
    angle = torch.outer(torch.arange(n), 10000 ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)).to(X.dtype)
    a, b = X[..., 0::2], X[..., 1::2]
    turned = torch.stack([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], dim=-1)
    return turned.flatten(-2)


@of("softmax", arrays="jax")
def jax_softmax(x):
    return jax.nn.softmax(x, axis=-1)


@of("scaled_dot_product_attention", arrays="jax")
def jax_attention(Q, K, V):
    S = jnp.einsum("...id,...jd->...ij", Q, K) / math.sqrt(Q.shape[-1])
    return jax.nn.softmax(S, axis=-1) @ V


@of("layer_norm", arrays="jax")
def jax_layer_norm(X, gamma, beta):
    mean = X.mean(axis=-1, keepdims=True)
    return gamma * (X - mean) * jax.lax.rsqrt(X.var(axis=-1, keepdims=True) + 1e-5) + beta


@of("rms_norm", arrays="jax")
def jax_rms_norm(X, gamma):
    return X * jax.lax.rsqrt(jnp.mean(jnp.square(X), axis=-1, keepdims=True) + 1e-5) * gamma


@of("cross_entropy", arrays="jax")
def jax_cross_entropy(X, tokens):
    log_p = jax.nn.log_softmax(X, axis=-1)
    return -jnp.take_along_axis(log_p, tokens[..., None], axis=-1)[..., 0].mean(axis=-1)


@of("gated_feed_forward", arrays="jax")
def jax_gated(X, W_gate, W_up, W_down):
    return (jax.nn.silu(X @ W_gate) * (X @ W_up)) @ W_down


@of("feed_forward_gelu", arrays="jax")
def jax_feed_forward_gelu(X, W_1, b_1, W_2, b_2):
    return jax.nn.gelu(X @ W_1 + b_1, approximate=False) @ W_2 + b_2
