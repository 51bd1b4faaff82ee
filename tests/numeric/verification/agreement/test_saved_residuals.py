"""What is counted as kept against what PyTorch's automatic differentiation is seen to keep, byte by byte.

Every tensor that is packed for the backward pass is looked at, each storage once, parameters left out; the layers are
written here, as the papers describe them, in bfloat16. What is kept of each row by a norm is told by its shape.
"""

import pytest

from derivations.attention.grouped_query import g, grouped_query_attention, r
from derivations.costs.memory import pre_norm_layer
from derivations.feed_forward.gated import gated_feed_forward
from derivations.language.arrays.expression import array
from derivations.language.counting.memory_counts import saved_residuals
from derivations.language.layers.layer import Equations, Layer, part
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d_ff, d_k, d_model, d_v, h, n
from derivations.transformer.encoder import encoder_layer

torch = pytest.importorskip("torch", reason="the peers tests compare with PyTorch")
pytestmark = pytest.mark.peers

functional = torch.nn.functional
NUMBER = torch.bfloat16
SHAPES = [(2, 7, 33, 3), (3, 11, 26, 13), (1, 5, 21, 7)]  # batch, positions, width, heads


def parameter(*shape):
    return torch.nn.Parameter(0.1 * torch.randn(*shape, dtype=NUMBER))


class RootMeanSquare(torch.autograd.Function):
    """Root mean square normalisation as one operation, which keeps its input and one number for each row."""

    @staticmethod
    def forward(context, x, gamma):
        inverse = (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        context.save_for_backward(x, inverse, gamma)
        return gamma * x * inverse

    @staticmethod
    def backward(context, gradient):
        x, inverse, gamma = context.saved_tensors
        normed, scaled = x * inverse, gradient * gamma
        return inverse * (scaled - normed * (scaled * normed).mean(-1, keepdim=True)), (gradient * normed).sum((0, 1))


class Dropped(torch.autograd.Function):
    """Dropout with a mask of one byte for each entry."""

    @staticmethod
    def forward(context, x):
        mask = torch.rand(x.shape) > 0.25
        context.save_for_backward(mask)
        return x * mask / 0.75

    @staticmethod
    def backward(context, gradient):
        (mask,) = context.saved_tensors
        return gradient * mask / 0.75


def bytes_kept(function, *arguments, parameters=()):
    """The bytes of all storages that one forward pass keeps, and those of what it keeps for each row."""
    seen = {}
    own = {p.untyped_storage().data_ptr() for p in parameters}

    def pack(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            seen[tensor.untyped_storage().data_ptr()] = tensor  # held, so that no other takes its place
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        function(*arguments)
    rows = [t for t in seen.values() if t.ndim >= 2 and t.shape[-1] == 1]
    return sum(t.untyped_storage().nbytes() for t in seen.values()), sum(t.untyped_storage().nbytes() for t in rows)


def attention(q, k, v, dropping):
    weights = functional.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return (Dropped.apply(weights) if dropping else weights) @ v


def pre_norm(width, heads):
    """The layer of Korthikanti et al. (2022), figure 2, as a function, and its parameters."""
    norms = [parameter(width) for _ in range(4)]
    weights = [(parameter(width, width), parameter(width)) for _ in range(4)]
    weights += [(parameter(4 * width, width), parameter(4 * width)), (parameter(width, 4 * width), parameter(width))]

    def split(x):
        return x.unflatten(-1, (heads, width // heads)).transpose(-2, -3)

    def layer(x, dropping):
        drop = Dropped.apply if dropping else lambda y: y
        normed = functional.layer_norm(x, (width,), *norms[:2])
        q, k, v = (split(functional.linear(normed, *w)) for w in weights[:3])
        joined = attention(q, k, v, dropping).transpose(-2, -3).flatten(-2)
        y = x + drop(functional.linear(joined, *weights[3]))
        normed = functional.layer_norm(y, (width,), *norms[2:])
        hidden = functional.gelu(functional.linear(normed, *weights[4]))
        return y + drop(functional.linear(hidden, *weights[5]))

    return layer, [*norms, *(p for pair in weights for p in pair)]


@pytest.mark.parametrize("dropping", [True, False])
@pytest.mark.parametrize(("batch", "positions", "width", "heads"), SHAPES)
def test_a_pre_norm_layer_keeps_the_bytes_that_are_counted(batch, positions, width, heads, dropping):
    layer, parameters = pre_norm(width, heads)
    x = torch.randn(batch, positions, width, dtype=NUMBER, requires_grad=True)
    seen, rows = bytes_kept(layer, x, dropping, parameters=parameters)
    each = width // heads
    sizes = {n: positions, d_model: width, h: heads, d_k: each, d_v: each, d_ff: 4 * width}
    saved = saved_residuals(pre_norm_layer(dropping=dropping), batch=batch)
    assert saved.bytes().xreplace(sizes) == seen - rows
    assert saved.bytes(bytes_per_statistic=2).xreplace(sizes) == seen


@pytest.mark.parametrize(("batch", "positions", "width", "heads"), SHAPES)
def test_recomputed_attention_keeps_the_bytes_that_are_counted(batch, positions, width, heads, monkeypatch):
    checkpoint = torch.utils.checkpoint.checkpoint
    plain = attention

    def recomputed(q, k, v, dropping):
        return checkpoint(plain, q, k, v, dropping, use_reentrant=True)

    monkeypatch.setitem(globals(), "attention", recomputed)
    layer, parameters = pre_norm(width, heads)
    x = torch.randn(batch, positions, width, dtype=NUMBER, requires_grad=True)
    seen, rows = bytes_kept(layer, x, True, parameters=parameters)
    each = width // heads
    sizes = {n: positions, d_model: width, h: heads, d_k: each, d_v: each, d_ff: 4 * width}
    saved = saved_residuals(pre_norm_layer(), batch=batch, recomputed=["attention"])
    assert seen - rows == 34 * batch * positions * width
    assert saved.bytes().xreplace(sizes) == seen - rows


# --- other layers ---------------------------------------------------------------------------------------------------


def test_a_post_norm_layer_keeps_the_bytes_that_are_counted():
    batch, positions, width, heads, inner = 2, 7, 33, 3, 13
    own = [parameter(*s) for s in [(width, width)] * 4 + [(inner, width), (inner,), (width, inner), (width,)]]
    norms = [parameter(width) for _ in range(4)]

    def split(x):
        return x.unflatten(-1, (heads, width // heads)).transpose(-2, -3)

    def layer(x):
        q, k, v = (split(functional.linear(x, w)) for w in own[:3])
        attended = functional.linear(attention(q, k, v, False).transpose(-2, -3).flatten(-2), own[3])
        y = functional.layer_norm(x + attended, (width,), *norms[:2])
        hidden = functional.relu(functional.linear(y, *own[4:6]))
        return functional.layer_norm(y + functional.linear(hidden, *own[6:]), (width,), *norms[2:])

    x = torch.randn(batch, positions, width, dtype=NUMBER, requires_grad=True)
    seen, rows = bytes_kept(layer, x, parameters=[*own, *norms])
    each = width // heads
    sizes = {n: positions, d_model: width, h: heads, d_k: each, d_v: each, d_ff: inner}
    saved = saved_residuals(encoder_layer(), batch=batch)
    assert saved.bytes().xreplace(sizes) == seen - rows
    assert saved.bytes(bytes_per_statistic=2).xreplace(sizes) == seen


def gated_layer():
    """A pre-norm layer with root mean square norms, grouped queries and a gated network."""
    X = array("X", n, d_model)
    let = Equations()
    L = let("L")(part("attention_norm", rms_norm())(X))
    A = let("A")(part("attention", grouped_query_attention())(L, L, L))
    Y = let("Y")(X + A)
    M = let("M")(part("feed_forward_norm", rms_norm())(Y))
    F = let("F")(part("feed_forward", gated_feed_forward())(M))
    return Layer("gated_layer", (X,), (), let, let("Z")(Y + F))


@pytest.mark.parametrize(("groups", "each_group"), [(3, 2), (1, 5), (2, 1)])
def test_a_gated_layer_with_grouped_queries_keeps_the_bytes_that_are_counted(groups, each_group):
    batch, positions, width, each, inner = 2, 7, 11, 3, 13
    wide = groups * each_group * each
    shapes = [(wide, width), (groups * each, width), (groups * each, width), (width, wide)]
    shapes += [(inner, width), (inner, width), (width, inner), (width,), (width,)]
    W_Q, W_K, W_V, W_O, W_gate, W_up, W_down, first, second = own = [parameter(*s) for s in shapes]

    def layer(x):
        normed = RootMeanSquare.apply(x, first)
        q = functional.linear(normed, W_Q).unflatten(-1, (groups, each_group, each)).permute(0, 2, 3, 1, 4)
        k, v = (functional.linear(normed, w).unflatten(-1, (groups, each)).transpose(1, 2) for w in (W_K, W_V))
        rows = q.flatten(2, 3)  # the queries of a group one below the other: its keys are read once
        head = attention(rows, k, v, False).unflatten(2, (each_group, positions))
        y = x + functional.linear(head.permute(0, 3, 1, 2, 4).flatten(2), W_O)
        normed = RootMeanSquare.apply(y, second)
        hidden = functional.silu(functional.linear(normed, W_gate)) * functional.linear(normed, W_up)
        return y + functional.linear(hidden, W_down)

    x = torch.randn(batch, positions, width, dtype=NUMBER, requires_grad=True)
    seen, rows = bytes_kept(layer, x, parameters=own)
    sizes = {n: positions, d_model: width, g: groups, r: each_group, d_k: each, d_v: each, d_ff: inner}
    saved = saved_residuals(gated_layer(), batch=batch)
    assert saved.bytes().xreplace(sizes) == seen - rows
    assert saved.bytes(bytes_per_statistic=2).xreplace(sizes) == seen


def test_one_tensor_more_is_seen():
    x = torch.randn(2, 7, 11, dtype=NUMBER, requires_grad=True)
    once, _ = bytes_kept(lambda x: functional.gelu(x), x)
    twice, _ = bytes_kept(lambda x: functional.gelu(2 * x) * x, x)
    assert once == 2 * 2 * 7 * 11
    assert twice == 3 * once
