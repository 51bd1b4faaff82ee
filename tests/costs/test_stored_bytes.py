"""Bytes of weights as they are stored: beside tensors that are packed here by hand, and modules of the library."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from derivations.architectures.hugging_face import model_of
from derivations.costs.counts import count

WIDTH, HEADS, GROUPS, EACH, HIDDEN, VOCAB, LAYERS = 64, 6, 3, 32, 96, 13, 5
LLAMA: dict[str, Any] = {
    **{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": WIDTH, "intermediate_size": HIDDEN},
    **{"num_attention_heads": HEADS, "num_key_value_heads": GROUPS, "head_dim": EACH, "num_hidden_layers": LAYERS},
    **{"vocab_size": VOCAB, "tie_word_embeddings": False, "torch_dtype": "float16"},
}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 7}
MIXTRAL["num_experts_per_tok"] = 2
QUERIES, KEYS = HEADS * EACH, GROUPS * EACH
LINEAR = [  # inputs and outputs of the modules of a layer
    *[("q_proj", WIDTH, QUERIES), ("k_proj", WIDTH, KEYS), ("v_proj", WIDTH, KEYS), ("o_proj", QUERIES, WIDTH)],
    *[("gate_proj", WIDTH, HIDDEN), ("up_proj", WIDTH, HIDDEN), ("down_proj", HIDDEN, WIDTH)],
]
OUTSIDE = 2 * VOCAB * WIDTH + WIDTH + LAYERS * 2 * WIDTH  # table, head and norms


def gptq(inputs: int, outputs: int, bits: int, group: int) -> Iterator[Any]:
    """The arrays of AutoGPTQ: numbers packed along the inputs, zeros along the outputs."""
    groups = -(-inputs // group)
    yield np.zeros((inputs // 32 * bits, outputs), np.int32)
    yield np.zeros((groups, outputs // 32 * bits), np.int32)
    yield np.zeros((groups, outputs), np.float16)
    yield np.zeros(inputs, np.int32)


def awq(inputs: int, outputs: int, bits: int, group: int) -> Iterator[Any]:
    """The arrays of AutoAWQ: numbers packed along the outputs."""
    yield np.zeros((inputs, outputs // (32 // bits)), np.int32)
    yield np.zeros((inputs // group, outputs // (32 // bits)), np.int32)
    yield np.zeros((inputs // group, outputs), np.float16)


def eight_bits(inputs: int, outputs: int) -> Iterator[Any]:
    yield np.zeros((outputs, inputs), np.int8)
    yield np.zeros(outputs, np.float32)


def four_bits(inputs: int, outputs: int, *, twice: bool) -> Iterator[Any]:
    """The arrays of bitsandbytes: two numbers in a byte, a scale for 64 of them, scales of 256 scales."""
    numbers = np.zeros(inputs * outputs, np.uint8)
    scales = numbers[::64]
    yield numbers[::2]
    yield scales if twice else scales.astype(np.float32)
    if twice:
        yield scales[::256].astype(np.float32)


def size_of(arrays: Iterator[Any]) -> int:
    return sum(int(array.nbytes) for array in arrays)


def weights(config: dict[str, Any], **quantisation: Any) -> int:
    found = count(model_of({**config, "quantization_config": quantisation}, "packed"), seq=7).json()
    assert isinstance(found["memory"]["weights_bytes"], int), found["assumptions"]
    return int(found["memory"]["weights_bytes"])


# --- packed here by hand --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("group", [32, 64, -1])
def test_gptq(bits: int, group: int) -> None:
    packed = sum(size_of(gptq(i, o, bits, i if group == -1 else group)) for _, i, o in LINEAR)
    found = weights(LLAMA, quant_method="gptq", bits=bits, group_size=group, desc_act=True, sym=False)
    assert found == LAYERS * packed + 2 * OUTSIDE


def test_gptq_of_experts_leaves_routers_as_they_are() -> None:
    packed = sum(size_of(gptq(i, o, 4, 32)) for _, i, o in LINEAR[:4])
    packed += 7 * sum(size_of(gptq(i, o, 4, 32)) for _, i, o in LINEAR[4:])
    found = weights(MIXTRAL, quant_method="gptq", bits=4, group_size=32)
    assert found == LAYERS * (packed + 2 * 7 * WIDTH) + 2 * OUTSIDE


def test_blocks_of_32_with_a_scale_each_hold_experts_alone() -> None:
    """As the release of gpt-oss stores them: 16 bytes and a scale of 8 bits; attention, router and head stay."""
    asked = {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]}
    shapes = [(WIDTH, HIDDEN), (WIDTH, HIDDEN), (HIDDEN, WIDTH)]
    blocks = (np.zeros((7, o, i // 32, 16), np.uint8) for i, o in shapes)
    scales = (np.zeros((7, o, i // 32), np.uint8) for i, o in shapes)
    attention = sum(i * o for _, i, o in LINEAR[:4])
    packed = size_of(blocks) + size_of(scales)
    assert weights(MIXTRAL, **asked) == LAYERS * (packed + 2 * attention + 2 * 7 * WIDTH) + 2 * OUTSIDE
    odd = {**MIXTRAL, "intermediate_size": 33}  # a block that is not full is stored whole
    rows = 7 * (2 * 33 * (WIDTH // 32) + WIDTH * 2) * 17
    assert weights(odd, **asked) == LAYERS * (rows + 2 * attention + 2 * 7 * WIDTH) + 2 * OUTSIDE


def test_awq_leaves_out_what_is_listed_and_the_head() -> None:
    packed = {name: size_of(awq(i, o, 4, 32)) for name, i, o in LINEAR}
    asked = {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm", "zero_point": True}
    assert weights(LLAMA, **asked) == LAYERS * sum(packed.values()) + 2 * OUTSIDE
    packed["o_proj"] = 2 * QUERIES * WIDTH
    found = weights(LLAMA, **asked, modules_to_not_convert=["o_proj"])
    assert found == LAYERS * sum(packed.values()) + 2 * OUTSIDE


@pytest.mark.parametrize("twice", [True, False])
def test_four_bits(twice: bool) -> None:
    packed = LAYERS * sum(size_of(four_bits(i, o, twice=twice)) for _, i, o in LINEAR)
    asked = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": twice}
    assert weights(LLAMA, **asked, bnb_4bit_quant_type="nf4") == packed + 2 * OUTSIDE


def test_eight_bits_and_a_list_without_the_head() -> None:
    packed = LAYERS * sum(size_of(eight_bits(i, o)) for _, i, o in LINEAR)
    asked = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    assert weights(LLAMA, **asked) == packed + 2 * OUTSIDE
    head = size_of(eight_bits(WIDTH, VOCAB))
    with_head = weights(LLAMA, **asked, llm_int8_skip_modules=["model.layers.1.mlp", "model.layers.3.self_attn.q_proj"])
    plain = [(1, i, o) for _, i, o in LINEAR[4:]] + [(3, *LINEAR[0][1:])]
    kept = sum(2 * i * o - size_of(eight_bits(i, o)) for _, i, o in plain)
    assert with_head == packed + kept + head + 2 * (OUTSIDE - VOCAB * WIDTH)


def test_a_number_of_a_layer_is_no_beginning_of_another() -> None:
    """Layer 1 is left out, and layers 10 to 13 are not."""
    config = {**LLAMA, "num_hidden_layers": 13}
    asked = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    one = sum(2 * i * o - size_of(eight_bits(i, o)) for _, i, o in LINEAR)
    left = weights(config, **asked, llm_int8_skip_modules=["model.layers.1", "lm_head"])
    assert left - weights(config, **asked) == one
    everywhere = weights(config, **asked, llm_int8_skip_modules=["model.layers.*.self_attn", "lm_head"])
    assert everywhere - weights(config, **asked) == 13 * sum(
        2 * i * o - size_of(eight_bits(i, o)) for _, i, o in LINEAR[:4]
    )


def test_layers_that_are_left_out_are_counted_in_their_order() -> None:
    """Of kinds that follow each other irregularly, layer 2 is the one that is named."""
    kinds = ["full_attention", "sliding_attention", "sliding_attention", "full_attention", "full_attention"]
    qwen = {**LLAMA, "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "layer_types": kinds}
    qwen |= {"use_sliding_window": True, "sliding_window": 3}
    asked = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    one = sum(2 * i * o - size_of(eight_bits(i, o)) for _, i, o in LINEAR)
    for number in range(LAYERS):
        left = weights(qwen, **asked, llm_int8_skip_modules=[f"model.layers.{number}", "lm_head"])
        assert left - weights(qwen, **asked) == one


@pytest.mark.parametrize("kind", ["phi3", "deepseek_v3"])
def test_weights_that_are_stored_side_by_side_share_their_scales(kind: str) -> None:
    """Blocks of 5 outputs lie across the weights that one tensor holds."""
    if kind == "phi3":
        config = {**LLAMA, "model_type": kind, "architectures": ["Phi3ForCausalLM"], "sliding_window": None}
        modules = [(WIDTH, QUERIES + 2 * KEYS), (QUERIES, WIDTH), (WIDTH, 2 * HIDDEN), (HIDDEN, WIDTH)]
        rest = OUTSIDE
    else:
        sizes = {"q_lora_rank": 11, "kv_lora_rank": 7, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2, "v_head_dim": 9}
        config = {k: v for k, v in LLAMA.items() if k not in ("num_key_value_heads", "head_dim")} | sizes
        config |= {"model_type": kind, "architectures": ["DeepseekV3ForCausalLM"], "first_k_dense_replace": LAYERS}
        config |= {"n_routed_experts": 8, "n_group": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 5}
        config |= {"rope_scaling": None}
        modules = [(WIDTH, 11), (11, HEADS * 5), (WIDTH, 9), (7, HEADS * 12), (HEADS * 9, WIDTH)]
        modules += [(WIDTH, HIDDEN), (WIDTH, HIDDEN), (HIDDEN, WIDTH)]
        rest = OUTSIDE + LAYERS * (11 + 7)
    packed = sum(i * o + 4 * -(-i // 7) * -(-o // 5) for i, o in modules)
    found = weights(config, quant_method="fp8", weight_block_size=[5, 7], activation_scheme="dynamic")
    assert found == LAYERS * packed + 2 * rest


# --- modules of the library -----------------------------------------------------------------------------------------

FP8 = [
    ({"weight_block_size": (5, 7), "activation_scheme": "dynamic"}, None),
    ({"weight_block_size": (5, 7), "activation_scheme": "static"}, ["lm_head", "model.layers.1.self_attn"]),
    ({"weight_block_size": None, "activation_scheme": "dynamic"}, ["o_proj", "lm_head"]),
]


@pytest.mark.peers
@pytest.mark.parametrize(("asked", "kept"), FP8)
@pytest.mark.parametrize("family", ["Llama", "Qwen3", "Gemma2", "Phi3"])
def test_fp8_has_the_bytes_of_the_modules_of_the_library(
    tmp_path: Path, family: str, asked: dict[str, Any], kept: list[str] | None
) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    fp8 = pytest.importorskip("transformers.integrations.finegrained_fp8")
    sizes = {name: value for name, value in LLAMA.items() if isinstance(value, int)}
    sizes |= {"pad_token_id": 0, "hidden_size": 66}
    config = getattr(transformers, f"{family}Config")(**sizes, dtype="bfloat16")
    with torch.device("meta"):
        theirs = getattr(transformers, f"{family}ForCausalLM")(config).to(torch.bfloat16)
    quantisation = transformers.FineGrainedFP8Config(**asked, modules_to_not_convert=kept)
    fp8.replace_with_fp8_linear(theirs, kept or ["lm_head"], quantisation)
    expected = sum(parameter.numel() * parameter.element_size() for parameter in theirs.parameters())
    theirs.config.architectures = [type(theirs).__name__]
    theirs.config.save_pretrained(tmp_path)
    ours = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    quantised = {key: value for key, value in quantisation.to_dict().items() if value is not None}
    quantised["weight_block_size"] = asked["weight_block_size"] and list(asked["weight_block_size"])
    assert weights(ours, **quantised) == expected


# --- types, and what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "dtype", "each"),
    [
        ({"torch_dtype": "float32"}, "float32", 4),
        ({"dtype": "float32", "torch_dtype": "float32"}, "float32", 4),
        ({"torch_dtype": "torch.float16"}, "float16", 2),
        ({"torch_dtype": "float8_e4m3fn"}, "float8", 1),
        ({"torch_dtype": "auto"}, "bfloat16", 2),
        ({"torch_dtype": None}, "bfloat16", 2),
    ],
)
def test_numbers_have_the_type_that_the_configuration_gives(given: dict[str, Any], dtype: str, each: int) -> None:
    found = count(
        model_of({**LLAMA, "torch_dtype": None, **given} if "dtype" not in given else {**LLAMA, **given}, "llama"),
        seq=7,
    ).json()
    assert found["memory"]["dtype"] == dtype
    assert found["memory"]["weights_bytes"] == each * found["parameters"]["total"]
    assert found["memory"]["kv_cache_bytes_per_token"] == each * LAYERS * 2 * KEYS
    assert any("no type of numbers is given" in text for text in found["assumptions"]) == (dtype == "bfloat16")


@pytest.mark.parametrize(
    ("quantisation", "reason"),
    [
        ({"quant_method": "compressed-tensors", "format": "pack-quantized"}, '"compressed-tensors" stores are not'),
        ({"quant_method": "hqq"}, '"hqq" stores are not known'),
        ({"bits": 4}, "quant_method null"),
        ({"quant_method": "gptq", "bits": 5, "group_size": 128}, "quantization_config.bits is 5"),
        ({"quant_method": "gptq", "group_size": 128}, "gives no bits"),
        ({"quant_method": "gptq", "bits": 4, "group_size": "x"}, 'group_size is "x"'),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "checkpoint_format": "marlin"}, '"marlin"'),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"-:.*": {}}}, "dynamic"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemv"}, '"gemv"'),
        ({"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}, "scale_fmt"),
        ({"quant_method": "fp8", "flux": 3}, "'flux' = 3 is not understood and may change sizes"),
        (
            {"quant_method": "fp8", "weight_block_size": None, "modules_to_not_convert": ["(a+)+$"]},
            "not a name with stars",
        ),
        ({"quant_method": "fp8", "weight_block_size": None, "modules_to_not_convert": "lm_head"}, "a list is needed"),
        ({"quant_method": "fp8", "activation_scheme": "dynamic"}, "gives no weight_block_size"),
        ({"quant_method": "gptq", "bits": 4}, "gives no group_size"),
        ({"quant_method": "bitsandbytes"}, "give load_in_8bit or load_in_4bit"),
    ],
)
def test_bytes_that_are_not_known_are_refused_with_the_reason(quantisation: dict[str, Any], reason: str) -> None:
    counts = count(model_of({**LLAMA, "quantization_config": quantisation}, "packed"), seq=7)
    found = counts.json(symbolic=True)
    assert found["memory"]["weights_bytes"] is None
    assert found["symbolic"]["memory"]["weights_bytes"] is None
    assert any(reason in text and "\n" not in text for text in found["assumptions"])
    assert found["parameters"]["total"] == count(model_of(LLAMA, "plain")).json()["parameters"]["total"]
    with pytest.raises(ValueError, match="packed: "):
        counts.number(counts.weights_bytes)


def test_a_family_whose_names_are_not_known_is_refused() -> None:
    config = {
        **{"model_type": "vit", "architectures": ["ViTModel"], "hidden_size": 15, "num_attention_heads": 5},
        **{"num_hidden_layers": 3, "intermediate_size": 7, "image_size": 14, "patch_size": 7, "num_channels": 5},
        "quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True},
    }
    found = count(model_of(config, "vit")).json()
    assert found["memory"]["weights_bytes"] is None
    assert any("names of its tensors, or their axes, are not known" in text for text in found["assumptions"])


def test_a_type_that_is_asked_for_sizes_every_number() -> None:
    config = {**LLAMA, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32}}
    found = count(model_of(config, "packed"), seq=7, dtype="float32").json()
    assert found["memory"]["weights_bytes"] == 4 * found["parameters"]["total"]
    assert found["memory"]["weights_stored"] == "float32"
