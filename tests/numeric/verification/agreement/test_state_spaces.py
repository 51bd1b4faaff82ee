"""State spaces against the library's path without kernels: outputs of whole mixers from random weights, in float64.

The library computes some parts in float32 whatever the model's type; here it is kept from that.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sympy import Integer, Rational

from derivations.language.layers.layer import Layer
from derivations.recurrences import (
    gated_delta_net,
    gated_recurrence,
    kimi_delta_attention,
    selective_state_space,
    short_convolution,
    state_space_heads,
)
from derivations.recurrences.time_mixing import channel_mixing, time_mixing
from numeric import compile_layer
from tests.numeric.verification.agreement.float64 import exactly

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.peers

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "vocab_size": 7, "pad_token_id": 0}
HEADS = {"state_size": 3, "num_heads": 8, "head_dim": 4, "n_groups": 2, "chunk_size": 3}


@pytest.fixture(autouse=True)
def in_float64() -> Iterator[None]:
    """Keep numbers in float64 where the library asks for float32."""
    with exactly():
        yield


def mixer_of(name: str, **fields: Any) -> Any:
    """Return the first mixer of a model of the library, with random weights."""
    torch.manual_seed(3)
    config = transformers.CONFIG_MAPPING[name](**SIZES, **fields)
    model = transformers.AutoModel.from_config(config).eval()
    block = model.layers[0]
    names = ("mixer", "conv", "linear_attn", "temporal_block", "self_attn")
    mixer = next(getattr(block, each) for each in names if hasattr(block, each))
    for parameter in mixer.parameters():
        parameter.data = torch.randn_like(parameter) / 2
    return mixer


def rows() -> Any:
    return torch.tensor(np.random.default_rng(0).normal(size=(2, 7, SIZES["hidden_size"])))


def array(tensor: Any) -> Any:
    return tensor.detach().numpy()


def agree(ours: Any, theirs: Any) -> None:
    theirs = theirs[0] if isinstance(theirs, tuple) else theirs
    np.testing.assert_allclose(ours, array(theirs), rtol=0, atol=1e-10)
    assert abs(ours).max() > 0.01


def selective_weights(mixer: Any) -> dict[str, Any]:
    d, r, s = mixer.intermediate_size, mixer.time_step_rank, mixer.ssm_state_size
    into, of_states = array(mixer.in_proj.weight).T, array(mixer.x_proj.weight).T
    return {
        "W_U": into[:, :d],
        "W_Z": into[:, d:],
        "K_V": array(mixer.conv1d.weight)[:, 0].T,
        "b_K_V": array(mixer.conv1d.bias),
        "W_P": of_states[:, :r],
        "W_B": of_states[:, r : r + s],
        "W_C": of_states[:, r + s :],
        "W_Delta": array(mixer.dt_proj.weight).T,
        "b_Delta": array(mixer.dt_proj.bias),
        "A": array(mixer.A_log),
        "D": array(mixer.D),
        "W_O": array(mixer.out_proj.weight).T,
    }


@pytest.mark.parametrize(("name", "norms"), [("mamba", "none"), ("falcon_mamba", "plain")])
def test_the_selective_state_space_is_that_of_the_library(name: str, norms: Any) -> None:
    mixer, x = mixer_of(name, state_size=3, time_step_rank=5, conv_kernel=3), rows()
    ours = compile_layer(selective_state_space(norms=norms))(array(x), **selective_weights(mixer))
    agree(ours, mixer(x))


def test_state_space_heads_are_those_of_the_library() -> None:
    """The library computes chunks of 3 positions, here all positions follow one another."""
    mixer, x = mixer_of("mamba2", **HEADS), rows()
    d, s = mixer.intermediate_size, mixer.n_groups * mixer.ssm_state_size
    parts = np.split(array(mixer.in_proj.weight).T, np.cumsum([d, d, s, s]), axis=1)
    weights = dict(zip(("W_Z", "W_U", "W_J", "W_K", "W_T"), parts, strict=True))
    kernels = np.split(array(mixer.conv1d.weight)[:, 0].T, np.cumsum([d, s]), axis=1)
    biases = np.split(array(mixer.conv1d.bias), np.cumsum([d, s]))
    for letter, kernel, bias in zip("VBC", kernels, biases, strict=True):
        weights |= {f"K_{letter}": kernel, f"b_K_{letter}": bias}
    weights |= {"A": array(mixer.A_log), "D": array(mixer.D), "b_Delta": array(mixer.dt_bias)}
    weights |= {"G_norm": {"gamma": array(mixer.norm.weight)}, "W_O": array(mixer.out_proj.weight).T}
    ours = compile_layer(state_space_heads())(array(x), **weights, g_S=2, r_S=4, d_S=4, d_state=3)
    agree(ours, mixer(x))


def test_the_short_convolution_is_that_of_the_library() -> None:
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 5, "layer_types": ["conv"] * 2}
    mixer, x = mixer_of("lfm2", **heads), rows()
    B, C, V = np.split(array(mixer.in_proj.weight).T, 3, axis=1)
    ours = compile_layer(short_convolution())(
        array(x), W_B=B, W_C=C, W_V=V, K_T=array(mixer.conv.weight)[:, 0].T, W_O=array(mixer.out_proj.weight).T
    )
    agree(ours, mixer(x))


def test_the_gated_recurrence_is_that_of_the_library() -> None:
    mixer = mixer_of("recurrent_gemma", num_attention_heads=4, intermediate_size=6, lru_width=12)
    x, unit = rows(), mixer.rg_lru
    linear = {"Z": mixer.linear_y, "U": mixer.linear_x, "O": mixer.linear_out}
    weights = {f"W_{name}": array(module.weight).T for name, module in linear.items()}
    weights |= {f"b_{name}": array(module.bias) for name, module in linear.items()}
    weights |= {"K_V": array(mixer.conv_1d.weight)[:, 0].T, "b_K_V": array(mixer.conv_1d.bias)}
    weights |= {"W_I": array(unit.input_gate_weight), "b_I": array(unit.input_gate_bias).reshape(-1)}
    weights |= {"W_R": array(unit.recurrent_gate_weight), "b_R": array(unit.recurrent_gate_bias).reshape(-1)}
    ours = compile_layer(gated_recurrence())(array(x), **weights, A=array(unit.recurrent_param))
    agree(ours, mixer(x, torch.arange(7)[None], None, use_cache=False))


def by_head(matrix: Any, heads: int) -> Any:
    """Return a stored map as one matrix for each head."""
    rows = array(matrix).T
    return np.moveaxis(rows.reshape(len(rows), heads, -1), 1, 0)


DELTA = {
    "layer_types": ["linear_attention"] * 2,
    "linear_conv_kernel_dim": 3,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 5,
    "linear_value_head_dim": 7,
}


def delta_weights(mixer: Any, projected: dict[str, Any], norm: Any, output: Any) -> dict[str, Any]:
    """Return the weights of a Gated DeltaNet, given its products by their names here."""
    widths = [2 * 5, 2 * 5, 6 * 7]
    kernels = np.split(array(mixer.conv1d.weight)[:, 0].T, np.cumsum(widths)[:-1], axis=1)
    return {
        **{f"W_{name}": by_head(matrix, 2) for name, matrix in projected.items()},
        **{f"K_{name}": kernel for name, kernel in zip("QKV", kernels, strict=True)},
        "b_Delta": array(mixer.dt_bias),
        "A": array(mixer.A_log),
        "G_norm": {"gamma": array(norm.weight)},
        "W_O": array(output.weight).T,
    }


def test_the_gated_delta_net_is_that_of_the_library() -> None:
    """The library computes chunks of 64 positions, in which it solves a triangular system."""
    mixer, x = mixer_of("qwen3_5_text", **DELTA), rows()
    Q, K, V = mixer.in_proj_qkv.weight.split([10, 10, 42])
    projected = {"Q": Q, "K": K, "V": V, "Z": mixer.in_proj_z.weight, "B": mixer.in_proj_b.weight}
    weights = delta_weights(mixer, {**projected, "T": mixer.in_proj_a.weight}, mixer.norm, mixer.out_proj)
    agree(compile_layer(gated_delta_net())(array(x), **weights, v_D=7), mixer(x))


def test_what_is_corrected_may_be_doubled() -> None:
    both = {"layer_types": ["linear_attention", "full_attention"], "num_attention_heads": 4}
    mixer, x = mixer_of("olmo_hybrid", **DELTA | both), rows()
    named = {"Q": "q", "K": "k", "V": "v", "Z": "g", "B": "b", "T": "a"}
    projected = {name: getattr(mixer, f"{letter}_proj").weight for name, letter in named.items()}
    weights = delta_weights(mixer, projected, mixer.o_norm, mixer.o_proj)
    layer = gated_delta_net(scale=Integer(2), eps=Rational(1, 10**5))
    agree(compile_layer(layer)(array(x), **weights, v_D=7), mixer(x))


def test_kimi_delta_attention_is_that_of_the_library() -> None:
    sizes = {"linear_num_heads": 3, "linear_head_dim": 5, "linear_conv_kernel_dim": 3}
    mixer, x = mixer_of("kimi_linear", layer_types=["linear_attention"] * 2, **sizes), rows()
    kernels = np.split(array(mixer.conv1d.weight)[:, 0].T, 3, axis=1)
    weights = {f"W_{name}": by_head(getattr(mixer, f"{name.lower()}_proj").weight, 3) for name in "QKV"}
    weights |= {f"K_{name}": kernel for name, kernel in zip("QKV", kernels, strict=True)}
    gate, plain = mixer.forget_gate, {"B": mixer.b_proj, "U": mixer.g_a_proj, "Z": mixer.g_b_proj, "O": mixer.o_proj}
    plain |= {"F": gate.f_a_proj, "T": gate.f_b_proj}
    weights |= {f"W_{name}": array(module.weight).T for name, module in plain.items()}
    weights |= {"A": array(gate.A_log).reshape(-1), "b_Delta": array(gate.dt_bias)}
    weights |= {"G_norm": {"gamma": array(mixer.o_norm.weight)}}
    layer = kimi_delta_attention(eps=Rational(1, 10**5))
    agree(compile_layer(layer)(array(x), **weights), mixer(x))


def test_the_comparison_can_fail() -> None:
    mixer, x = mixer_of("mamba", state_size=3), rows()
    weights = selective_weights(mixer)
    weights["A"] = weights["A"] + 0.001
    with pytest.raises(AssertionError):
        agree(compile_layer(selective_state_space())(array(x), **weights), mixer(x))


RWKV = {"mu_R": "time_mix_receptance", "mu_K": "time_mix_key", "W_R": "receptance", "W_K": "key", "W_V": "value"}
OVER_TIME = {"mu_V": "time_mix_value", "W_O": "output", "c": "time_decay", "u": "time_first"}


@pytest.mark.parametrize(
    ("module", "layer", "names", "close"),
    [
        ("RwkvSelfAttention", time_mixing(), RWKV | OVER_TIME, 1e-6),  # the library takes keys in float32
        ("RwkvFeedForward", channel_mixing(), RWKV, 1e-12),
    ],
)
def test_rows_are_mixed_as_there(module: str, layer: Layer, names: dict[str, str], close: float) -> None:
    from transformers.models.rwkv import modeling_rwkv

    config = transformers.RwkvConfig(hidden_size=7, attention_hidden_size=5, intermediate_size=11, num_hidden_layers=1)
    with exactly(), torch.no_grad():
        theirs = getattr(modeling_rwkv, module)(config)
        for parameter in theirs.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape))
        rows = torch.randn(2, 6, 7)
        expected = theirs(rows)[0].numpy()
    found = {ours: getattr(theirs, name) for ours, name in names.items()}
    weights = {ours: each.weight.mT if hasattr(each, "weight") else each.flatten() for ours, each in found.items()}
    ours = compile_layer(layer)(rows.numpy(), **{name: each.detach().numpy() for name, each in weights.items()})
    np.testing.assert_allclose(ours, expected, rtol=0, atol=close)
    assert abs(ours[:, 1:] - ours[:, :-1]).max() > 0.01
