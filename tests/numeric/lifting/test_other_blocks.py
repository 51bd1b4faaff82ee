"""Blocks whose weights are stored in other ways: gains less one, norms of queries and keys, joined parts; defects."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from derivations.architectures.block_of import block_of
from derivations.architectures.hugging_face import model_of
from numeric.lifting import Verdict, prove

pytestmark = pytest.mark.peers

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {
    "hidden_size": 60,
    "intermediate_size": 11,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
    "vocab_size": 13,
    "num_hidden_layers": 2,
    "attn_implementation": "eager",
    "pad_token_id": 0,
}


def block(family: str, number: int = 0) -> tuple[Any, Any]:
    """Return a decoder layer of a family, and the layer of its configuration."""
    config = getattr(transformers, f"{family}Config")(**SIZES, **({} if family == "Phi3" else {"head_dim": 10}))
    code = import_module(f"transformers.models.{family.lower()}.modeling_{family.lower()}")
    target = block_of(model_of(json.loads(config.to_json_string(use_diff=False)), "model"))
    return getattr(code, f"{family}DecoderLayer")(config, number).eval(), target


@pytest.mark.parametrize(
    ("family", "reading"),
    [
        ("Gemma", "self_attention_norm.gamma as 1 + input_layernorm.weight"),
        ("Qwen3", "self_attention.group.query_norm.gamma as self_attn.q_norm.weight"),
        ("Phi3", "d_k as 2*d_k_half"),
    ],
)
def test_weights_that_are_stored_in_another_way_are_read(family: str, reading: str) -> None:
    verdict = prove(*block(family))
    assert verdict.level == "proved", str(verdict)
    assert reading in verdict.readings


def members(*changed: int) -> Verdict:
    """Return the verdict about four layers with weights of their own, of which some have another epsilon."""
    layers = torch.nn.ModuleList([block("Llama", number)[0] for number in range(4)])
    for number in changed:
        layers[number].input_layernorm.variance_epsilon = 0.01
    return prove(layers, block("Llama")[1])


def test_a_list_of_layers_is_proved_member_by_member() -> None:
    verdict = members()
    assert verdict.level == "proved"
    assert "ModuleList of 4 LlamaDecoderLayer" in str(verdict)


def test_a_member_with_another_state_is_refuted() -> None:
    """The weights and the code are those of its neighbours; the number that its norm adds is not."""
    verdict = members(2)
    assert verdict.level == "refuted"
    assert "of which member 2" in str(verdict)


def _outputs(part: Any, change: Callable[[Any], Any]) -> None:
    """Let a part of a module return something else."""
    before = part.forward
    part.forward = lambda *given, **more: change(before(*given, **more))


def _cut(x: Any, *order: int) -> Any:
    parts = x[..., :60], x[..., 60:90], x[..., 90:]
    return torch.cat([parts[number] for number in order], dim=-1)


def _plain_gain(module: Any) -> None:
    norm = module.input_layernorm
    norm.forward = lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + norm.eps) * norm.weight


DEFECTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "one norm with a plain gain": ("Gemma", _plain_gain),
    "another activation": ("Gemma", lambda m: setattr(m.mlp, "act_fn", torch.nn.ReLU())),
    "scores divided by the width": ("Gemma", lambda m: setattr(m.self_attn, "scaling", 1 / 10)),
    "queries not normed": ("Qwen3", lambda m: setattr(m.self_attn.q_norm, "forward", lambda x: x)),
    "keys normed as queries": ("Qwen3", lambda m: setattr(m.self_attn.k_norm, "forward", m.self_attn.q_norm.forward)),
    "another epsilon for queries": ("Qwen3", lambda m: setattr(m.self_attn.q_norm, "variance_epsilon", 0.01)),
    "values that are keys": ("Phi3", lambda m: _outputs(m.self_attn.qkv_proj, lambda x: _cut(x, 0, 1, 1))),
    "gate and factor in the other order": (
        "Phi3",
        lambda m: _outputs(m.mlp.gate_up_proj, lambda x: torch.cat([x[..., 11:], x[..., :11]], dim=-1)),
    ),
    "a norm left out": ("Phi3", lambda m: setattr(m.post_attention_layernorm, "forward", lambda x: x)),
}


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_refuted(defect: str) -> None:
    family, change = DEFECTS[defect]
    module, target = block(family)
    change(module)
    assert prove(module, target).level == "refuted"


def neox() -> tuple[Any, Any]:
    """Return a layer of GPT-NeoX, whose norms read the same array, and the layer of its configuration."""
    sizes = {name: size for name, size in SIZES.items() if name != "num_key_value_heads"}
    config = transformers.GPTNeoXConfig(**sizes, rotary_pct=1.0)
    code = import_module("transformers.models.gpt_neox.modeling_gpt_neox")
    target = block_of(model_of(json.loads(config.to_json_string(use_diff=False)), "model"))
    return code.GPTNeoXLayer(config, 0).eval(), target


def test_norms_of_one_array_share_what_they_compute() -> None:
    assert prove(*neox()).level == "proved"


def test_a_refutation_names_the_array_and_the_line() -> None:
    module, target = neox()
    module.mlp.act = torch.nn.ReLU()
    verdict = prove(module, target)
    assert verdict.level == "refuted"
    assert "it does not compute feed_forward.G of block: line" in str(verdict)
    assert "modeling_gpt_neox.py, in forward" in str(verdict)


def test_sines_come_first_where_the_code_says_so() -> None:
    config = transformers.GPTJConfig(n_embd=60, n_head=6, n_inner=11, n_layer=2, rotary_dim=10, vocab_size=13)
    code = import_module("transformers.models.gptj.modeling_gptj")
    target = block_of(model_of(json.loads(config.to_json_string(use_diff=False)), "model"))
    assert prove(code.GPTJBlock(config, 0).eval(), target).level == "proved"


def test_a_memory_has_the_axes_of_the_batch() -> None:
    sizes = {"encoder_ffn_dim": 11, "decoder_ffn_dim": 13, "encoder_attention_heads": 6, "decoder_attention_heads": 6}
    config = transformers.BartConfig(d_model=60, vocab_size=17, max_position_embeddings=19, **sizes)
    code = import_module("transformers.models.bart.modeling_bart")
    target = block_of(model_of(json.loads(config.to_json_string(use_diff=False)), "model"))
    verdict = prove(code.BartDecoderLayer(config, 0).eval(), target)
    assert verdict.level == "proved"


class OwnTables(torch.nn.Module):
    """A block that computes its angles from a buffer."""

    def __init__(self, base: float) -> None:
        super().__init__()
        self.block, self.target = block("Llama")
        self.head_dim = 10
        self.register_buffer("inv_freq", 1 / base ** (torch.arange(0, 10, 2).float() / 10))

    def forward(self, x: Any) -> Any:
        angles = torch.outer(torch.arange(x.shape[1]).to(self.inv_freq.dtype), self.inv_freq)
        whole = torch.cat((angles, angles), dim=-1)
        return self.block(x, position_embeddings=(whole.cos()[None], whole.sin()[None]))


@pytest.mark.parametrize(("base", "level"), [(10000.0, "proved"), (500.0, "refuted")])
def test_frequencies_in_a_buffer_are_read_as_powers(base: float, level: str) -> None:
    module = OwnTables(base)
    assert prove(module, module.target).level == level
