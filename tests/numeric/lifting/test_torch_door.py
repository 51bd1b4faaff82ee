"""PyTorch: right functions and modules are proved, wrong ones refuted, and all are left as they were."""

import math

import pytest

from derivations import layer
from derivations.symbols import d, d_in, m, n, size
from derivations.testing import assert_proved
from numeric.lifting import NotFollowed, lift, prove, prove_same

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402 - nothing of this file runs without PyTorch
from torch.nn import functional as F  # noqa: E402

pytestmark = pytest.mark.peers

p = size("p")


def attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return scores.softmax(dim=-1) @ value


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (attention, "scaled_dot_product_attention"),
        (F.scaled_dot_product_attention, "scaled_dot_product_attention"),
        (lambda x, w, b: F.linear(x, w, b), "linear"),
        (lambda X, gamma, beta: F.layer_norm(X, X.shape[-1:], gamma, beta), "layer_norm"),
        (lambda x: torch.softmax(x, 0), "softmax"),
        (lambda x: torch.exp(x - torch.logsumexp(x, dim=0)), "softmax"),
        (lambda x, w1, b1, w2, b2: F.linear(torch.relu(F.linear(x, w1, b1)), w2, b2), "feed_forward"),
        (
            lambda X, g, eps=1e-6: X * torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + eps) * g,
            "rms_norm",
        ),
    ],
)
def test_functions_are_proved(function, name):
    assert assert_proved(function, name).level == "proved"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda Q, K, V: torch.softmax(Q @ K.T, -1) @ V, "scaled_dot_product_attention"),
        (lambda Q, K, V: torch.softmax(Q @ K.T / math.sqrt(Q.size(-1)), 0) @ V, "scaled_dot_product_attention"),
        (
            lambda X, g, b, eps=1e-5: g * (X - X.mean(-1, keepdim=True)) / (X.std(-1, keepdim=True) + eps) + b,
            "layer_norm",
        ),
        (lambda x: torch.softmax(x * 1.001, 0), "softmax"),
    ],
)
def test_wrong_functions_are_refuted(function, name):
    assert prove(function, layer(name)).level == "refuted"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x.view(x.size(0), -1, 2).transpose(1, 2).reshape(x.size(0), -1), lambda x: _pairs(x)),
        (lambda x: x.var(-1, keepdim=True), lambda x: (x - x.mean(-1, keepdim=True)).pow(2).sum(-1, keepdim=True)
         / (x.shape[-1] - 1)),
        (lambda x: torch.cat(x.chunk(2, -1)[::-1], -1), lambda x: torch.cat([x[:, p_(x) :], x[:, : p_(x)]], -1)),
        (lambda x: torch.einsum("ij,ik->jk", x, x), lambda x: x.mT @ x),
        (lambda x: torch.where(x > 0, x, 0.0), lambda x: x.clamp(min=0)),
        (lambda x: x.masked_fill(torch.tril(torch.ones(x.size(0), x.size(1))) == 0, 0.0), lambda x: x.tril()),
        (lambda x: (x > 9) * (x > 9) * x, lambda x: (x > 9) * x),
        (lambda x: torch.outer(x.sum(1), x.sum(0)), lambda x: x.sum(1)[:, None] * x.sum(0)),
    ],
)  # fmt: skip
def test_the_same_in_two_forms(one, other):
    verdict = prove_same(one, other, x=(n, 2 * p))
    assert verdict.level in ("proved", "unknown"), verdict
    assert verdict.level == "proved" or "n - 1" in verdict.reason or "p - 1" in verdict.reason


def p_(x):
    return x.shape[-1] // 2


def _pairs(x):
    return torch.cat([x[:, 0::2], x[:, 1::2]], -1)


def view_in_place(x):
    y = x + 1
    z = y.view(-1)
    y.mul_(2)
    return z


def argument_in_place(x):
    x.add_(1)
    return x * 2


def argument_in_place_by_operator(x):
    x += 1
    return x


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (view_in_place, "a write"),
        (argument_in_place, "a write"),
        (argument_in_place_by_operator, "a write"),
        (lambda x: x * torch.rand(1), "random"),
        (lambda x: F.dropout(x, 0.1), ""),
        (lambda x: x * x.sum().item(), "item()"),
        (lambda x: x if x.sum() > 0 else -x, "truth value"),
        (lambda x: torch.cummax(x, 0).values, "cummax"),
        (lambda x: (x > 9) @ (x > 9), "truth values"),
        (lambda x: x.squeeze(), "squeeze"),
        (lambda x: x.long(), ""),
        (lambda x: x.to(torch.int32), ""),
        (lambda x: x * torch.arange(5.0), ""),
        (lambda x: torch.from_numpy(x.numpy()) * 2, ""),
        (lambda x: x.detach().numpy() * 2, ""),
    ],
)
def test_what_is_not_followed_is_refused(function, named):
    with pytest.raises(NotFollowed, match=named or None):
        lift(function, x=(n, n))


def relu_in_place(x):
    y = x + 1
    F.relu(y, inplace=True)
    return y


def test_an_option_that_writes_in_place_writes():
    """No draw of the mandatory run may show it: a few normal numbers plus 1 are positive."""
    assert prove_same(relu_in_place, lambda x: x + 1, x=(n,)).level != "proved"
    assert prove_same(relu_in_place, lambda x: torch.relu(x + 1), x=(n,)).level == "proved"
    with pytest.raises(NotFollowed, match="a write into an argument"):
        lift(lambda x: F.silu(x, inplace=True), x=(n,))


def test_a_sum_of_masks_is_their_disjunction():
    assert prove_same(lambda x: ((x > 9) + (x > 9)) * x, lambda x: 2 * (x > 9) * x, x=(n,)).level != "proved"


def test_modules():
    torch.manual_seed(0)
    assert assert_proved(nn.Linear(5, 7), "linear").level == "proved"
    assert assert_proved(nn.LayerNorm(5), "layer_norm").level == "proved"
    assert assert_proved(nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 5)), "feed_forward").level == "proved"


def test_wrong_modules():
    torch.manual_seed(0)
    wrong = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 5), nn.ReLU())
    assert prove(wrong, layer("feed_forward")).level != "proved"


def test_a_module_is_left_as_it_was():
    module = nn.Linear(5, 7)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    module.train()
    kind, names, training = module.weight.dtype, list(vars(module)), module.training
    lift(module, input=(n, d_in), sizes={d_in: 5, m: 7})
    prove(module, layer("linear"))
    assert (module.in_features, module.out_features, type(module.in_features)) == (5, 7, int)
    assert (module.weight.dtype, list(vars(module)), module.training) == (kind, names, training)
    assert all(bool((value == before[name]).all()) for name, value in module.state_dict().items())
    assert isinstance(module.weight, nn.Parameter)


class CausalSelfAttention(nn.Module):
    """All heads in one matrix, a buffer for the mask: the form that small decoders have."""

    def __init__(self, width, heads, block, scaled=True, causal=True):
        super().__init__()
        self.heads, self.width, self.scaled, self.causal = heads, width, scaled, causal
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.register_buffer("visible", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

    def forward(self, x):
        batch, length, width = x.size()
        q, k, v = self.qkv(x).split(self.width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1)
        if self.scaled:
            scores = scores / math.sqrt(k.size(-1))
        if self.causal:
            scores = scores.masked_fill(self.visible[:, :, :length, :length] == 0, float("-inf"))
        y = F.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).contiguous().view(batch, length, width))


def test_causal_self_attention():
    torch.manual_seed(0)
    verdict = assert_proved(CausalSelfAttention(21, 3, 11), "masked_multi_head_attention")
    assert verdict.level == "proved"
    assert any("causal mask" in reading for reading in verdict.readings)


@pytest.mark.parametrize("wrong", [{"scaled": False}, {"causal": False}])
def test_wrong_causal_self_attention(wrong):
    torch.manual_seed(0)
    verdict = prove(CausalSelfAttention(21, 3, 11, **wrong), layer("masked_multi_head_attention"))
    assert verdict.level in ("refuted", "not followed")


def test_squeezing_an_axis_that_may_have_one_place_is_not_proved_to_keep_it():
    verdict = prove_same(lambda x: x.squeeze(1) * 2, lambda x: x + x, x=(n, d))
    assert verdict.level != "proved" or verdict.assumed


def test_functions_of_the_normal_distribution_and_of_logits():
    assert prove_same(lambda x: x * torch.special.ndtr(x), F.gelu, x=(n, d)).level == "proved"
    assert prove_same(lambda x: x * torch.special.ndtr(2 * x), F.gelu, x=(n, d)).level == "refuted"
    loss = lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction="none")  # noqa: E731 - it is one of three
    assert prove_same(loss, lambda x, y: -y * F.logsigmoid(x) - (1 - y) * F.logsigmoid(-x), x=(n,), y=(n,)).level == (
        "proved"
    )
    assert prove_same(loss, lambda x, y: -y * F.logsigmoid(x), x=(n,), y=(n,)).level == "refuted"
    summed = lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction="sum")  # noqa: E731 - it is one of three
    assert prove_same(summed, lambda x, y: loss(x, y).sum(), x=(n,), y=(n,)).level == "proved"
    assert prove_same(summed, lambda x, y: loss(x, y).mean(), x=(n,), y=(n,)).level == "refuted"
    weighted = lambda x, y: F.binary_cross_entropy_with_logits(x, y, weight=y)  # noqa: E731 - it is one of three
    assert prove_same(weighted, summed, x=(n,), y=(n,)).level != "proved"


def test_selu_and_arrays_that_are_broadcast_together():
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    assert prove_same(
        lambda x: F.selu(x), lambda x: scale * (x.clamp(min=0) + alpha * (torch.exp(x.clamp(max=0)) - 1)), x=(n,)
    ).level == ("proved")
    assert prove_same(
        lambda x: F.selu(x), lambda x: x.clamp(min=0) + alpha * (torch.exp(x.clamp(max=0)) - 1), x=(n,)
    ).level == ("refuted")
    both = lambda x, y: torch.add(*torch.broadcast_tensors(x, y))  # noqa: E731 - it is one of two
    assert prove_same(both, lambda x, y: x + y, x=(n, d), y=(d,)).level == "proved"
    assert prove_same(both, lambda x, y: x - y, x=(n, d), y=(d,)).level == "refuted"


def test_two_functions_are_called_with_arrays_of_one_library():
    """A deviation divides by n - 1 in PyTorch and by n elsewhere: what is compared with what must not mix them."""

    def of_either(x):
        return x.std(0)

    def of_numpy(x):
        return x.std(0, ddof=1)

    verdict = prove_same(of_either, of_numpy, x=(n, d))
    assert verdict.level == "refuted"
    assert prove_same(of_numpy, of_either, x=(n, d)).level == "refuted"
