"""gpt-oss of the library `transformers` beside its equations here: parameters, and scores from the same weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from derivations.architectures.composition import build
from derivations.architectures.hugging_face import read_config
from derivations.costs.counts import count
from numeric.codegen.compile import compile_layer
from numeric.runtime.structure import weight_tree
from tests.numeric.verification.agreement.test_loaded_models import exactly, tokens

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.peers, pytest.mark.slow]

WIDTH, HEADS, GROUPS, EACH, HIDDEN, EXPERTS, VOCAB = 12, 4, 2, 6, 7, 5, 23


def library() -> Any:
    """A small model with random weights, sinks and biases too."""
    config = transformers.GptOssConfig(
        num_hidden_layers=3, num_local_experts=EXPERTS, num_experts_per_tok=2, vocab_size=VOCAB, hidden_size=WIDTH,
        intermediate_size=HIDDEN, head_dim=EACH, num_attention_heads=HEADS, num_key_value_heads=GROUPS,
        sliding_window=3, max_position_embeddings=64, swiglu_limit=1.5, pad_token_id=0,
        rope_parameters={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                         "truncate": False, "rope_theta": 100.0},
    )  # fmt: skip
    model = transformers.GptOssForCausalLM(config).eval()
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        parameter.data.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.get_default_dtype()))
    model.set_experts_implementation("eager")
    model.set_attn_implementation("eager")
    return model


def weights_of(block: Any) -> dict[str, Any]:
    """The weights of one layer of the library, by the names and in the shapes of the equations."""
    state = {name: value.detach().numpy() for name, value in block.state_dict().items()}

    def heads(letter: str, kind: str, *axes: int) -> Any:
        value = state[f"self_attn.{letter}_proj.{kind}"]
        if kind == "bias":
            return value.reshape(*axes, EACH)
        return np.moveaxis(value.T.reshape(WIDTH, *axes, EACH), 0, -2)

    of_each, experts = HEADS // GROUPS, {name.partition("experts.")[2]: state[name] for name in state}
    return {
        "self_attention": {
            **{f"W_{x.upper()}": heads(x, "weight", *axes) for x, axes in QKV.items()},
            **{f"b_{x.upper()}": heads(x, "bias", *axes) for x, axes in QKV.items()},
            "sinks": state["self_attn.sinks"].reshape(GROUPS, of_each, 1),
            "W_O": state["self_attn.o_proj.weight"].T.reshape(GROUPS, of_each * EACH, WIDTH),
            "b_O": state["self_attn.o_proj.bias"],
        },
        "experts": {
            "W_router": state["mlp.router.weight"].T,
            "b_router": state["mlp.router.bias"],
            "W_gate": experts["gate_up_proj"][..., ::2],
            "W_up": experts["gate_up_proj"][..., 1::2],
            "b_gate": experts["gate_up_proj_bias"][..., ::2],
            "b_up": experts["gate_up_proj_bias"][..., 1::2],
            "W_down": experts["down_proj"],
            "b_down": experts["down_proj_bias"],
        },
        "self_attention_norm": {"gamma": state["input_layernorm.weight"]},
        "feed_forward_norm": {"gamma": state["post_attention_layernorm.weight"]},
    }


QKV: dict[str, tuple[int, ...]] = {"q": (GROUPS, HEADS // GROUPS), "k": (GROUPS,), "v": (GROUPS,)}


def test_the_equations_are_those_of_the_library(tmp_path: Path) -> None:
    library()  # what the library imports late is imported here, where float32 is itself
    given = tokens(2, 9)
    with exactly():
        theirs = library()
        with torch.no_grad():
            expected = theirs(torch.tensor(given)).logits.numpy()
    theirs.save_pretrained(tmp_path)
    model = read_config(tmp_path)
    found = count(model, seq=9).json()
    assert found["parameters"]["total"] == sum(parameter.numel() for parameter in theirs.parameters())
    layer = build(model.architecture)
    compiled = compile_layer(layer)
    blocks = iter(map(weights_of, theirs.model.layers))
    stack: dict[str, Any] = {"final_norm": {"gamma": theirs.model.norm.weight.detach().numpy()}}
    for name, part in weight_tree(compiled.layer).parts["decoder"].parts.items():
        if part.count is not None:
            several = [each for each in part.parts if each.startswith("block_")]
            times = int(part.count.xreplace(model.values))
            stack[name] = [{b: next(blocks) for b in several} if several else next(blocks) for _ in range(times)]
    head = {"E": theirs.model.embed_tokens.weight, "W_head": theirs.lm_head.weight.T}
    sizes = {size.name: model.values[size] for size in compiled.sizes}
    scores = compiled(given, **{name: each.detach().numpy() for name, each in head.items()}, decoder=stack, **sizes)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-10)
    assert np.ptp(expected, axis=-1).min() > 0.01


def test_the_release_has_its_size_as_it_is_stored(tmp_path: Path) -> None:
    """The 20B release: 20.9 billion parameters in 13.76 GB, experts in blocks of 32, all else in bfloat16."""
    config = transformers.GptOssConfig(num_hidden_layers=24, num_local_experts=32, dtype="bfloat16").to_dict()
    config |= {"architectures": ["GptOssForCausalLM"], "experts_per_token": 4, "initial_context_length": 4096}
    kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": kept}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    found = count(read_config(tmp_path)).json()
    assert found["parameters"]["total"] == 20914757184
    assert found["memory"]["weights_bytes"] == 13761264768
