"""Wrong functions over PyTorch and JAX: values, gradients, inputs and state."""

import math

import pytest

from tests.testing.implementations.candidates import Collection

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy

WRONG_TENSORS = Collection()
of, made = WRONG_TENSORS.of, WRONG_TENSORS.made


@of("softmax", arrays="torch")
def torch_softmax_squeezed(x):
    return torch.softmax(x, -1).squeeze()


@of("softmax", arrays="torch")
def torch_shift_in_place_without_gradient(x):
    with torch.no_grad():
        x -= x.max(-1, keepdim=True).values
    return torch.softmax(x, -1)


@of("layer_norm", arrays="torch")
def torch_variance_from_squares(X, gamma, beta):
    mean = X.mean(-1, keepdim=True)
    variance = (X * X).mean(-1, keepdim=True) - mean * mean
    return gamma * (X - mean) / torch.sqrt(variance.clamp(min=0) + 1e-5) + beta


@of("scaled_dot_product_attention", arrays="torch")
def torch_causal_when_square(Q, K, V):
    causal = Q.shape[-2] == K.shape[-2]
    return torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=causal)


@of("scaled_dot_product_attention", arrays="torch")
def torch_first_256_keys(Q, K, V):
    K, V = K[..., :256, :], V[..., :256, :]
    return torch.softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), -1) @ V


@of("linear", arrays="torch")
def torch_bias_without_gradient(X, W, b):
    return X @ W + b.detach()


@made("linear", arrays="torch")
def torch_one_buffer():
    held = {}

    def function(X, W, b):
        if torch.is_grad_enabled() and X.requires_grad:
            return X @ W + b
        Y = X @ W + b
        out = held.setdefault((Y.shape, Y.dtype), torch.empty_like(Y))
        return out.copy_(Y)

    return function


class _HalfBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        if y.shape[-1] == 1:
            return g
        return y * (g - (g * y).sum(-1, keepdim=True))


@of("softmax", arrays="torch")
def torch_gradient_of_one_entry(x):
    return _HalfBackward.apply(x)


@of("rms_norm", arrays="torch")
def torch_statistics_detached(X, gamma):
    scale = torch.rsqrt((X * X).mean(-1, keepdim=True) + 1e-5)
    return gamma * X * scale.detach()


@of("feed_forward", arrays="torch")
def torch_rectifier_in_place_on_input(X, W_1, b_1, W_2, b_2):
    Y = torch.relu(X @ W_1 + b_1) @ W_2 + b_2
    b_2.data.zero_()
    return Y


@of("embedding", arrays="torch")
def torch_padding_row(tokens, E):
    return math.sqrt(E.shape[-1]) * torch.nn.functional.embedding(tokens, E, padding_idx=0)


@of("gated_feed_forward", arrays="torch")
def torch_bfloat16_inside(X, W_gate, W_up, W_down):
    gate = torch.nn.functional.silu((X @ W_gate).bfloat16()).to(X.dtype)
    return (gate * (X @ W_up)) @ W_down


@of("softmax", arrays="torch")
def torch_memory_order(x):
    plain = torch.as_strided(x, x.shape, torch.empty(x.shape).stride())
    return torch.softmax(plain, -1)


@of("softmax", arrays="jax")
def jax_softmax_squeezed(x):
    return jnp.squeeze(jax.nn.softmax(x, -1))


@of("rms_norm", arrays="jax")
def jax_stopped_scale(X, gamma):
    return gamma * X * jax.lax.stop_gradient(1 / jnp.sqrt((X * X).mean(-1, keepdims=True) + 1e-5))


@of("layer_norm", arrays="jax")
def jax_variance_from_squares(X, gamma, beta):
    mean = X.mean(-1, keepdims=True)
    variance = jnp.maximum((X * X).mean(-1, keepdims=True) - mean**2, 0)
    return gamma * (X - mean) / jnp.sqrt(variance + 1e-5) + beta


@of("scaled_dot_product_attention", arrays="jax")
def jax_square_scores_are_turned(Q, K, V):
    S = Q @ K.mT / math.sqrt(Q.shape[-1])
    S = S.mT if S.shape[-1] == S.shape[-2] else S
    return jax.nn.softmax(S, -1) @ V


@of("linear", arrays="jax")
def jax_half_precision_when_wide(X, W, b):
    if X.shape[-1] > 100:
        return (X.astype(jnp.bfloat16) @ W.astype(jnp.bfloat16)).astype(X.dtype) + b
    return X @ W + b


@of("cross_entropy", arrays="jax")
def jax_clipped_probabilities(X, tokens):
    p = jnp.take_along_axis(jax.nn.softmax(X, -1), tokens[..., None], -1)[..., 0]
    return -jnp.log(jnp.clip(p, 1e-15, 1)).mean(-1)
