"""Which weight of a module is which of a layer: names decide, and a module that they make wrong is refuted."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from derivations import layer
from derivations.activations.sigmoid import silu
from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import gated_feed_forward
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import relu
from derivations.language.layers.layer import Equations, Layer
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import d, d_in, n
from numeric.lifting import Verdict, lift, prove

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402 - nothing of this file runs without PyTorch
from torch.nn import functional as F  # noqa: E402

pytestmark = pytest.mark.peers


class Attention(nn.Module):
    """Attention of three heads with separate projections."""

    def __init__(self, change: str = "", key_bias: bool = True, value_bias: bool = True) -> None:
        super().__init__()
        self.change, self.heads, self.size = change, 3, 7
        self.q_proj, self.out_proj = nn.Linear(21, 21), nn.Linear(21, 21)
        self.k_proj, self.v_proj = nn.Linear(21, 21, bias=key_bias), nn.Linear(21, 21, bias=value_bias)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part(x).view(batch, length, self.heads, self.size).transpose(1, 2)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        if self.change == "keys for queries":
            q, k = k, q
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.size)
        if self.change == "scores transposed":  # it runs for as many keys as queries
            scores = scores.mT
        joined = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        return joined if self.change == "not projected" else self.out_proj(joined)


def heads(module: nn.Module, **names: str) -> Verdict:
    return prove(module, multi_head_attention(biases=True), {path.replace("__", "."): to for path, to in names.items()})


def test_separate_projections_are_attention() -> None:
    assert heads(Attention()).level == "proved"


@pytest.mark.parametrize("change", ["keys for queries", "scores transposed", "not projected"])
def test_a_module_is_refuted_with_its_weights_as_they_are_named(change: str) -> None:
    """Swapped keys and queries are attention under another reading of the weights, which nobody asked for."""
    verdict = heads(Attention(change))
    assert verdict.level == "refuted", str(verdict)
    assert verdict.counterexample is not None


def test_names_that_are_told_come_before_the_modules() -> None:
    told = {"q_proj__weight": "W_K", "q_proj__bias": "b_K", "k_proj__weight": "W_Q", "k_proj__bias": "b_Q"}
    assert heads(Attention("keys for queries"), **told).level == "proved"
    assert heads(Attention(), **told).level == "refuted"


def test_a_bias_that_the_module_lacks_may_have_any_entries() -> None:
    """Softmax is the same for keys with and without a bias; values are not."""
    lacking = heads(Attention(key_bias=False))
    assert lacking.level == "proved"
    assert "b_K as any entries" in lacking.readings
    assert heads(Attention(value_bias=False)).level == "refuted"


def test_a_module_whose_code_holds_the_number_of_heads_is_not_refuted() -> None:
    """No attribute tells that there are three heads: with 1 or 21 heads the module would differ from attention."""

    class Literal(Attention):
        def __init__(self) -> None:
            super().__init__()
            del self.heads, self.size

        def __getattr__(self, name: str):
            return {"heads": 3, "size": 7}.get(name) or super().__getattr__(name)

    assert heads(Literal()).level == "not followed"


class PackedAttention(nn.Module):
    """Attention with queries, keys and values in one weight."""

    def __init__(self, order: tuple[int, int, int]) -> None:
        super().__init__()
        self.order, self.heads, self.size = order, 3, 7
        self.qkv, self.proj = nn.Linear(21, 63), nn.Linear(21, 21)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).reshape(batch, length, 3, self.heads, self.size).permute(2, 0, 3, 1, 4).unbind(0)
        q, k, v = (parts[number] for number in self.order)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, width))


def test_parts_of_one_weight_stand_in_the_layers_order() -> None:
    assert heads(PackedAttention((0, 1, 2))).level == "proved"
    assert heads(PackedAttention((1, 0, 2))).level == "refuted"
    assert heads(PackedAttention((0, 2, 1))).level == "refuted"


class PackedGate(nn.Module):
    """A gated network whose first weight holds the gate and the other factor."""

    def __init__(self, name: str, gate: int) -> None:
        super().__init__()
        self.name, self.gate = name, gate
        self.add_module(name, nn.Linear(7, 22))
        self.last = nn.Linear(11, 7)

    def forward(self, x):
        halves = getattr(self, self.name)(x).chunk(2, dim=-1)
        return self.last(F.silu(halves[self.gate]) * halves[1 - self.gate])


def test_the_order_of_gate_and_factor_is_that_of_the_name_if_it_has_one() -> None:
    target = gated_feed_forward(silu, biases=True)
    assert [prove(PackedGate("gate_up_proj", gate), target).level for gate in (0, 1)] == ["proved", "refuted"]
    first, second = (prove(PackedGate("fc1", gate), target) for gate in (0, 1))
    assert first.level == second.level == "proved"
    assert "W_gate as part 1 of 2 of fc1.weight" in first.readings
    assert "W_gate as part 2 of 2 of fc1.weight" in second.readings


def test_a_result_of_another_shape_is_a_refutation() -> None:
    verdict = prove(nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 5), nn.Linear(5, 3)), feed_forward(relu))
    assert verdict.level in ("refuted", "not followed")

    class Unprojected(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w_1, self.w_2 = nn.Linear(5, 7), nn.Linear(7, 5)

        def forward(self, x):
            return torch.relu(self.w_1(x))

    verdict = prove(Unprojected(), feed_forward(relu))
    assert verdict.level == "refuted"
    assert "the result has the shape" in str(verdict)


def test_weight_and_bias_of_a_norm_are_not_exchanged() -> None:
    class Norm(nn.Module):
        def __init__(self, exchanged: bool) -> None:
            super().__init__()
            self.exchanged = exchanged
            self.weight, self.bias = nn.Parameter(torch.ones(7)), nn.Parameter(torch.zeros(7))

        def forward(self, x):
            pair = (self.bias, self.weight) if self.exchanged else (self.weight, self.bias)
            return F.layer_norm(x, (7,), *pair)

    assert [prove(Norm(exchanged), layer_norm()).level for exchanged in (False, True)] == ["proved", "refuted"]


def test_a_module_that_casts_its_input_is_run_in_that_type() -> None:
    class Norm(nn.LayerNorm):
        def forward(self, x):
            return F.layer_norm(x.to(torch.float32), self.normalized_shape, self.weight, self.bias, self.eps)

    class Wrong(Norm):
        def forward(self, x):
            return super().forward(x) * 2

    assert prove(Norm(7), layer_norm()).level == "proved"
    assert prove(Wrong(7), layer_norm()).level == "refuted"


@pytest.mark.parametrize("kind", [list, tuple, torch.Size])
def test_shapes_among_the_attributes_are_sizes(kind: Callable[..., object]) -> None:
    class Norm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shape = kind([7])
            self.weight, self.bias = nn.Parameter(torch.ones(7)), nn.Parameter(torch.zeros(7))

        def forward(self, x):
            assert tuple(self.shape) == x.shape[-len(self.shape) :]
            centred = x - x.mean(-1, keepdim=True)
            return self.weight * centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5) + self.bias

    module = Norm()
    assert prove(module, layer("layer_norm")).level == "proved"
    assert module.shape == kind([7])
    assert type(module.shape) is kind


class Shifted(nn.Module):
    """A linear map of what may be added to its input."""

    def __init__(self, sign: int = 1) -> None:
        super().__init__()
        self.map, self.sign = nn.Linear(5, 7), sign

    def forward(self, x, mask=None, added=None):
        return self.map(x if added is None else x + self.sign * added)


def shifted_layer() -> Layer:
    X, added, W, b, Y = (
        array("X", n, d_in),
        array("added", n, d_in),
        array("W", d_in, d),
        array("b", d),
        array("Y", n, d),
    )
    let = Equations()
    let("Y")((X + added) @ W + b)
    return Layer("shifted", (X, added), (W, b), let, Y)


def test_an_optional_parameter_gets_the_array_of_its_name() -> None:
    """Without it, both inputs would be read as one array, and the module refuted under that reading."""
    assert prove(Shifted(), shifted_layer()).level == "proved"
    assert prove(Shifted(-1), shifted_layer()).level == "refuted"


class Repeated(nn.Module):
    """A recurrent layer of three steps."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.rnn = nn.RNN(5, 7, batch_first=True, **options)

    def forward(self, x):
        return self.rnn(x)[0][:, -1]


def last_state(nonlinearity: Callable[[Any], Any]) -> Any:
    """Return the state after three steps, written out."""

    def written(x, W, U, b_x, b_h):
        h = np.zeros((x.shape[0], U.shape[0]))
        for step in range(3):
            h = nonlinearity(x[:, step] @ W.T + b_x + h @ U.T + b_h)
        return h

    shapes = {"x": (n, 3, 5), "W": (7, 5), "U": (7, 7), "b_x": (7,), "b_h": (7,)}
    lifted = lift(written, **shapes).layer
    return Layer("last_state", lifted.inputs[:1], lifted.inputs[1:], lifted.equations, lifted.output)


def test_a_recurrent_layer_is_followed_step_by_step() -> None:
    """Its weights stand in a list of the module too."""
    names = {"rnn.weight_ih_l0": "W", "rnn.weight_hh_l0": "U", "rnn.bias_ih_l0": "b_x", "rnn.bias_hh_l0": "b_h"}
    assert prove(Repeated(), last_state(np.tanh), names).level == "proved"
    relu_of = last_state(lambda x: np.maximum(x, 0))
    assert prove(Repeated(nonlinearity="relu"), relu_of, names).level == "proved"
    assert prove(Repeated(), relu_of, names).level == "refuted"


def test_a_variance_that_a_module_holds_is_at_least_that_of_a_norm() -> None:
    """The condition is that of the layer itself: a root has a value, and is no divisor 0."""

    def written(x, gamma, beta, mu, var):
        return (x - mu) / np.sqrt(var + 1e-5) * gamma + beta

    lifted = lift(written, x=(n, d), **dict.fromkeys(("gamma", "beta", "mu", "var"), (d,))).layer
    norm = Layer("norm", lifted.inputs[:1], lifted.inputs[1:], lifted.equations, lifted.output)
    assert prove(nn.BatchNorm1d(7), norm).level == "proved"
