"""Configurations as they are released become descriptions; what is not understood is an error that names the field."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from sympy import Rational, log, sqrt

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.description import Alibi, Block, Experts, Model, Norm, Rotary
from derivations.architectures.hugging_face import FAMILIES, model_of, read_config
from derivations.architectures.hugging_face.readers.joined import JOINED
from derivations.architectures.hugging_face.readers.plain import Decoder, Windows
from derivations.architectures.hugging_face.readers.plain_decoders import DECODERS
from derivations.architectures.hugging_face.readers.recurrent_decoders import RECURRENT_DECODERS
from derivations.architectures.reading import ConfigError
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

CONFIGURATIONS = json.loads((Path(__file__).parent / "configurations.json").read_text(encoding="utf-8"))


def config(name: str, **changes: object) -> dict[str, object]:
    """Return a released configuration with some fields changed, or left out where the change is ..."""
    changed = CONFIGURATIONS[name]["config"] | changes
    return {field: value for field, value in changed.items() if value is not ...}


def read(name: str, **changes: object) -> Model:
    return model_of(config(name, **changes), name)


def blocks(model: Model, side: str = "decoder") -> list[Block]:
    """Return the layers of a stack one by one."""
    stack = getattr(model.architecture, side)
    return [block for run in stack.runs for _ in range(model.values[run.count]) for block in run.blocks]


def parameters(model: Model) -> int:
    return int(sum(parameters_by_component(build(model.architecture)).values()).subs(model.values))


# --- what is read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_released_model_has_as_many_parameters_as_its_weights(name: str) -> None:
    assert parameters(read(name)) == CONFIGURATIONS[name]["total"]


# whose configurations are compared with the library's own models alone, in tests/numeric/verification/agreement
RELATIVES = [
    "afmoe",
    "albert",
    "altclip_vision_model",
    "audioflamingo3_encoder",
    "bert-generation",
    "biogpt",
    "blenderbot",
    "blenderbot-small",
    "camembert",
    "chinese_clip_text_model",
    "chinese_clip_vision_model",
    "clip",
    "clip_text_model",
    "clip_vision_model",
    "clipseg_text_model",
    "clipseg_vision_model",
    "codegen",
    "data2vec-audio",
    "data2vec-text",
    "dbrx",
    "deberta-v2",
    "deepseek_v2",
    "deepseek_v32",
    "deit",
    "dinov2",
    "dinov2_with_registers",
    "dinov3_vit",
    "electra",
    "emu3_text_model",
    "ernie",
    "eurobert",
    "falcon_h1",
    "falcon_mamba",
    "gemma3n_text",
    "gemma4_text",
    "glm4_moe_lite",
    "glm4v_moe_text",
    "glm4v_text",
    "glm_image_text",
    "glm_moe_dsa",
    "glm_ocr_text",
    "gpt_bigcode",
    "gpt_neo",
    "hubert",
    "granite4_vision_text",
    "granite_docling_text",
    "ijepa",
    "jamba",
    "jina_embeddings_v3",
    "kimi_k2",
    "kimi_linear",
    "llama4_text",
    "m2m_100",
    "mamba",
    "mamba2",
    "marian",
    "mbart",
    "megatron-bert",
    "metaclip_2",
    "metaclip_2_text_model",
    "metaclip_2_vision_model",
    "minicpm3",
    "ministral3",
    "mistral4",
    "modernbert",
    "modernbert-decoder",
    "mpnet",
    "mpt",
    "mt5",
    "mvp",
    "nemotron_h",
    "nomic_bert",
    "openai-gpt",
    "owlv2_text_model",
    "owlv2_vision_model",
    "owlvit_text_model",
    "owlvit_vision_model",
    "paddleocr_vl_text",
    "pegasus",
    "plbart",
    "qwen2_5_vl_text",
    "qwen2_audio_encoder",
    "qwen2_vl_text",
    "qwen3_vl_moe_text",
    "qwen3_vl_text",
    "recurrent_gemma",
    "roberta-prelayernorm",
    "sarvam_mla",
    "siglip",
    "siglip2_text_model",
    "siglip_text_model",
    "siglip_vision_model",
    "unispeech",
    "unispeech-sat",
    "splinter",
    "vaultgemma",
    "vit_msn",
    "voxtral_encoder",
    "wav2vec2",
    "wavlm",
    "xclip_text_model",
    "xglm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "youtu",
]


def test_every_other_family_has_a_released_configuration() -> None:
    released = {each["config"]["model_type"] for each in CONFIGURATIONS.values()}
    # one that has none is an entry of `DECODERS`, or a line in `RELATIVES` here
    assert set(FAMILIES) - released == {*RELATIVES, *DECODERS, *JOINED, *RECURRENT_DECODERS} - released


def test_numbers_and_names() -> None:
    model = read("llama-3.1-8b")
    groups, of_each = size("g"), size("r")
    wanted = {d_model: 4096, d_k: 128, d_v: 128, groups: 8, of_each: 4, d_ff: 14336}
    assert wanted.items() <= model.values.items()
    (block,) = model.architecture.decoder.runs[0].blocks
    assert block.norm == Norm("rms", Rational(1, 10**5))
    assert block.attention.positions.base == 500000
    assert dict(block.attention.positions.scaling)["factor"] == 8


def test_every_size_of_a_layer_has_a_number() -> None:
    for name in CONFIGURATIONS:
        model = read(name)
        left = {each for each in build(model.architecture).sizes if each.name not in ("n", "m", "reach")}
        assert left <= set(model.values), name


def test_the_file_is_named_after_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "seven"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config("gpt2")), encoding="utf-8")
    assert read_config(folder).name == read_config(folder / "config.json").name == "seven"
    with pytest.raises(ConfigError, match=r"seven/config\.json: n_embd is -7"):
        (folder / "config.json").write_text(json.dumps(config("gpt2", n_embd=-7)), encoding="utf-8")
        read_config(folder / "config.json")


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("llama-2-7b", {"rope_scaling": ..., "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}),
        ("llama-2-7b", {"num_key_value_heads": ...}),
        ("llama-2-7b", {"head_dim": 128, "rope_theta": 10000}),
        ("gpt2", {"n_ctx": ..., "hidden_size": 768, "num_attention_heads": 12, "n_inner": 3072}),
        ("gpt2", {"n_positions": ...}),
        ("gpt2", {"torch_dtype": "float16", "dtype": "float16", "architectures": None}),
        ("pythia-1.4b", {"rotary_pct": ..., "rotary_emb_base": ..., "attention_bias": True}),
        ("falcon-7b", {"num_ln_in_parallel_attn": 1, "ffn_hidden_size": 4 * 4544}),
        ("bloom-560m", {"n_embed": ..., "hidden_size": 1024, "num_attention_heads": ..., "n_head": 16}),
        ("t5-small", {"num_decoder_layers": 6, "feed_forward_proj": "relu", "tie_word_embeddings": True}),
        ("qwen2.5-7b", {"layer_types": ["full_attention"] * 28, "sliding_window": None}),
        (
            "gemma-3-1b",
            {"layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 4 + ["sliding_attention"] * 2},
        ),
        (
            "gemma-3-1b",
            {
                "rope_theta": ...,
                "rope_local_base_freq": ...,
                "rope_parameters": {
                    "full_attention": {"rope_type": "default", "rope_theta": 1000000.0},
                    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                },
            },
        ),
        ("qwen3-30b-a3b", {"num_experts": ..., "num_local_experts": 128}),
        ("deepseek-v3", {"num_nextn_predict_layers": ..., "num_mtp_layers": 1, "qk_head_dim": 192, "head_dim": 64}),
    ],
)
def test_another_spelling_says_the_same(name: str, spelling: dict[str, object]) -> None:
    ours, other = read(name), read(name, **spelling)
    assert other.architecture == ours.architecture
    assert other.values == ours.values


@pytest.mark.parametrize(
    ("name", "change", "difference"),
    [
        ("gpt2", {"n_inner": 7 * 768}, 12 * 3 * 768 * (2 * 768 + 1)),
        ("llama-2-7b", {"tie_word_embeddings": True}, -32000 * 4096),
        ("llama-2-7b", {"attention_bias": True}, 32 * 4 * 4096),
        ("llama-2-7b", {"head_dim": 64}, -32 * 4 * 4096 * 2048),
        ("bert-base-uncased", {"architectures": ["BertModel"]}, 109482240 - 109514298),
        ("bert-base-uncased", {"type_vocab_size": 5}, 3 * 768),
        ("opt-350m", {"word_embed_proj_dim": 1024}, 50272 * 512 - 2 * 512 * 1024),
        ("t5-small", {"architectures": ["T5EncoderModel"]}, -60506624 + 35330816),
        ("flan-t5-small", {"tie_word_embeddings": True}, -32128 * 512),
        ("deepseek-v3", {"q_lora_rank": None}, 61 * (7168 * 128 * 192 - 1536 * (7168 + 128 * 192 + 1))),
        ("qwen3-30b-a3b", {"mlp_only_layers": [0, 47]}, 2 * (3 * 2048 * (6144 - 128 * 768) - 128 * 2048)),
        ("vit", {"architectures": ["ViTForImageClassification"], "num_labels": 7}, 7 * 769 - 769 * 768),
        ("vit", {"image_size": [224, 32]}, (14 * 2 - 14 * 14) * 768),
    ],
)
def test_a_field_changes_what_it_names(name: str, change: dict[str, object], difference: int) -> None:
    assert parameters(read(name, **change)) - CONFIGURATIONS[name]["total"] == difference


def test_layers_of_two_kinds_alternate() -> None:
    assert [block.attention.window is None for block in blocks(read("gemma-2-9b"))] == [False, True] * 21
    windows = [block.attention.window is None for block in blocks(read("gemma-3-1b"))]
    assert windows == [number % 6 == 5 for number in range(26)]
    bases = {(b.attention.window is None, b.attention.positions.base) for b in blocks(read("gemma-3-1b"))}
    assert bases == {(True, 1000000), (False, 10000)}
    used = read("qwen2.5-7b", use_sliding_window=True, max_window_layers=5)
    assert [block.attention.window is None for block in blocks(used)] == [number < 5 for number in range(28)]


def test_layers_with_experts_stand_where_the_fields_say() -> None:
    def sparse(name: str, **changes: object) -> list[bool]:
        return [isinstance(block.feed_forward, Experts) for block in blocks(read(name, **changes))]

    assert sparse("deepseek-v3") == [number >= 3 for number in range(61)]
    assert sparse("mixtral") == [True] * 32
    listed = sparse("qwen3-30b-a3b", decoder_sparse_step=3, mlp_only_layers=[2, 8])
    assert listed == [number % 3 == 2 and number not in (2, 8) for number in range(48)]


def test_layers_one_by_one_are_the_layers_in_runs() -> None:
    listed = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"] * 3 + [
        "full_attention"
    ] * 14
    model = read("gemma-2-9b", num_hidden_layers=26, layer_types=listed)
    assert [block.attention.window is None for block in blocks(model)] == [each == "full_attention" for each in listed]


def test_orders_and_positions() -> None:
    order = {name: blocks(read(name))[0].order for name in ("gpt2", "gpt-j", "opt-350m", "falcon-rw-1b", "gemma-2-9b")}
    assert order == {
        "gpt2": "pre",
        "gpt-j": "parallel",
        "opt-350m": "post",
        "falcon-rw-1b": "pre",
        "gemma-2-9b": "sandwich",
    }
    assert isinstance(blocks(read("falcon-rw-1b"))[0].attention.positions, Alibi)
    assert blocks(read("gpt-j"))[0].attention.positions == Rotary(size("d_rotary"), halves=False)
    assert blocks(read("gpt-j"))[0].one_norm and not blocks(read("pythia-1.4b"))[0].one_norm
    assert read("pythia-1.4b").values[size("d_rotary")] == 32
    assert read("roberta-base").architecture.encoder.embedding.first_position == 2
    assert read("bart-base").architecture.decoder.embedding.positions == size("positions") + 2


def test_scales_of_scores() -> None:
    assert blocks(read("t5-small"))[0].attention.score_scale == 1
    assert blocks(read("gemma-2-9b", query_pre_attn_scalar=144))[0].attention.score_scale == Rational(1, 12)
    stretched = blocks(read("deepseek-v3"))[0].attention.score_scale
    assert stretched == (1 + log(40) / 10) ** 2 / sqrt(d_k + size("d_rotary"))
    assert blocks(read("deepseek-v3", rope_scaling=None))[0].attention.score_scale == 1 / sqrt(d_k + size("d_rotary"))


def test_head_of_t5() -> None:
    assert read("t5-small").architecture.head.scale == 1 / sqrt(d_model)
    assert read("flan-t5-small").architecture.head.scale == 1
    assert not read("flan-t5-small").architecture.head.tied


def test_what_is_assumed_is_said() -> None:
    assert "architectures is not given: GPT2LMHeadModel" in read("gpt2", architectures=...).assumptions
    assert (
        "sliding_window is not given: 4096, the default of the family"
        in read("mistral-7b-v0.3", sliding_window=...).assumptions
    )
    assert any("num_nextn_predict_layers" in each for each in read("deepseek-v3").assumptions)
    assert read("llama-2-7b").assumptions == ()


# --- what is refused ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wrong:
    """A change of a released configuration, and what the error has to say."""

    name: str
    change: dict[str, object]
    says: str


REFUSED = [
    Wrong(
        "bert-base-uncased",
        {"model_type": "chinese_clip_text_model", "architectures": ..., "is_decoder": True},
        "is_decoder is true",
    ),
    *(
        Wrong("bert-base-uncased", {"model_type": "deberta-v2", "architectures": ..., **given}, why)
        for given, why in (
            ({"conv_kernel_size": 3, "conv_act": "gelu"}, "conv_kernel_size is 3, which changes the architecture"),
            ({"pos_att_type": "p2c|p2p"}, 'pos_att_type is "p2c|p2p"; of c2p and p2c'),
            ({"pos_att_type": 3}, "pos_att_type is 3; of c2p and p2c"),
            ({"relative_attention": True}, "pos_att_type is null; rows of distances"),
            (
                {"relative_attention": True, "pos_att_type": ["c2p"], "share_att_key": True},
                "rows of distances that are stored or projected would not be read",
            ),
            (
                {"relative_attention": True, "pos_att_type": "p2c|c2p", "position_buckets": 3},
                "position_buckets is 3; from 4 up to 2 (max_relative_positions - 2)",
            ),
            (
                {"relative_attention": True, "pos_att_type": "p2c", "position_buckets": 8, "max_relative_positions": 5},
                "position_buckets is 8; from 4",
            ),
            ({"norm_rel_ebd": "layer_norm"}, "norm_rel_ebd is a norm of the rows of distances"),
            ({"embedding_size": 128}, "embedding_size is 128, which changes the architecture"),
            ({"pooler_hidden_size": 128}, "pooler_hidden_size is 128, which changes the architecture"),
            ({"is_decoder": True}, "is_decoder is true"),
        )
    ),
    Wrong("gpt2", {"model_type": "gpt-2"}, 'model_type is "gpt-2", an unknown family of models; did you mean gpt2'),
    Wrong("gpt2", {"model_type": ...}, "model_type is missing"),
    Wrong("gpt2", {"model_type": ["gpt2"]}, "model_type is"),
    Wrong("gpt2", {"architectures": ["GPT2DoubleHeadsModel"]}, "architectures is"),
    Wrong("gpt2", {"architectures": "GPT2LMHeadModel"}, "architectures is"),
    Wrong("gpt2", {"add_cross_attention": True}, "add_cross_attention is true, which changes the architecture"),
    Wrong("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is true"),
    Wrong("gpt2", {"pruned_heads": {"1": [0]}}, "pruned_heads"),
    Wrong("gpt2", {"per_layer_config": {"0": {"n_inner": 5}}}, "per_layer_config"),
    Wrong("gpt2", {"activation_function": "snake"}, 'activation_function is "snake", which is not known'),
    Wrong("gpt2", {"activation_function": ["gelu"]}, "activation_function is"),
    Wrong("gpt2", {"n_embd": 770}, "n_embd is 770, which is not a multiple of n_head, 12"),
    Wrong("gpt2", {"n_embd": ...}, "n_embd is missing"),
    Wrong("gpt2", {"n_layer": 0}, "n_layer is 0"),
    Wrong("gpt2", {"n_layer": -2}, "n_layer is -2"),
    Wrong("gpt2", {"n_layer": 12.0}, "n_layer is 12.0"),
    Wrong("gpt2", {"n_layer": "12"}, 'n_layer is "12"'),
    Wrong("gpt2", {"n_layer": True}, "n_layer is true"),
    Wrong("gpt2", {"n_layer": None}, "n_layer is null"),
    Wrong("gpt2", {"n_layer": 10**15 + 1}, "n_layer is 1000000000000001"),
    Wrong("gpt2", {"n_inner": "4"}, 'n_inner is "4"'),
    Wrong("gpt2", {"n_ctx": 2048}, "n_positions and n_ctx"),
    Wrong("gpt2", {"hidden_size": 1024}, "n_embd and hidden_size are the same size and have different values"),
    Wrong("gpt2", {"layer_norm_epsilon": 0}, "layer_norm_epsilon is 0"),
    Wrong("gpt2", {"tie_word_embeddings": "no"}, 'tie_word_embeddings is "no"'),
    Wrong("gpt2", {"attention_type": "linear"}, 'attention_type = "linear" is not understood and may change'),
    Wrong(
        "gpt2", {"n_head_": 12}, "n_head_ = 12 is not understood and may change the architecture; did you mean n_head"
    ),
    Wrong("bert-base-uncased", {"position_embedding_type": "relative_key"}, "position_embedding_type is"),
    Wrong("bert-base-uncased", {"architectures": ["BertForMaskedLM", "BertModel"]}, "architectures is"),
    Wrong("bert-base-uncased", {"embedding_size": 128}, "embedding_size is 128"),
    Wrong("distilbert-sst2", {"num_labels": 3}, "num_labels is 3, and id2label has 2 labels"),
    Wrong("roberta-base", {"max_position_embeddings": 2}, "max_position_embeddings is 2"),
    Wrong("gpt-j", {"rotary_dim": 300}, "rotary positions turn pairs of columns, not 300 of the 256"),
    Wrong("gpt-j", {"rotary_dim": 7}, "rotary positions turn pairs of columns, not 7 of the 256"),
    Wrong("pythia-1.4b", {"rotary_pct": 1.5}, "partial_rotary_factor is 3/2"),
    Wrong("opt-350m", {"layer_norm_elementwise_affine": False}, "layer_norm_elementwise_affine is false"),
    Wrong("bloom-560m", {"apply_residual_connection_post_layernorm": True}, "apply_residual_connection_post_layernorm"),
    Wrong("falcon-7b", {"new_decoder_architecture": True, "parallel_attn": False}, "parallel_attn is false"),
    Wrong("falcon-7b", {"num_ln_in_parallel_attn": 2}, "num_ln_in_parallel_attn is 2"),
    Wrong("falcon-7b", {"new_decoder_architecture": True, "num_kv_heads": 8}, "the number of heads is 71"),
    Wrong("falcon-7b", {"alibi": True}, "alibi is true, and heads share keys and values"),
    Wrong("t5-small", {"feed_forward_proj": "gated-snake"}, 'feed_forward_proj is "snake"'),
    Wrong("t5-small", {"feed_forward_proj": 3}, "feed_forward_proj is 3"),
    Wrong("t5-small", {"is_encoder_decoder": False}, "is_encoder_decoder is false"),
    Wrong("bart-base", {"num_hidden_layers": 7}, "num_hidden_layers is 7"),
    Wrong("bart-base", {"tie_word_embeddings": False}, "tie_word_embeddings is false"),
    Wrong(
        "bart-base",
        {"decoder_attention_heads": 7},
        "768, which is not a multiple of decoder_attention_heads",
    ),
    Wrong("bart-base", {"normalize_before": True}, "normalize_before is true"),
    Wrong("whisper-small", {"encoder_ffn_dim": ...}, "encoder_ffn_dim is missing"),
    Wrong("llama-2-7b", {"num_key_value_heads": 5}, "the number of heads is 32, which is not a multiple of"),
    Wrong("llama-2-7b", {"hidden_size": 4097}, "4097, which is not a multiple of num_attention_heads, 32"),
    Wrong("llama-2-7b", {"head_dim": 7}, "rotary positions turn pairs of columns"),
    Wrong("llama-3.1-8b", {"rope_scaling": {"rope_type": "spiral"}}, 'rope_parameters.rope_type is "spiral"'),
    Wrong("llama-3.1-8b", {"rope_scaling": {"rope_type": "linear", "turns": 3}}, "rope_parameters.turns"),
    Wrong("llama-3.1-8b", {"rope_scaling": {"rope_type": "linear", "factor": -1}}, "rope_parameters.factor is -1"),
    Wrong("llama-3.1-8b", {"rope_scaling": 8}, "rope_scaling is 8"),
    Wrong("llama-3.1-8b", {"partial_rotary_factor": 0.5}, "partial_rotary_factor is 1/2"),
    Wrong("mistral-7b-v0.3", {"sliding_window": 0}, "sliding_window is 0"),
    Wrong("mixtral", {"num_experts_per_tok": 9}, "num_experts_per_tok is 9, more than the 8 experts"),
    Wrong(
        "qwen2.5-7b",
        {"layer_types": ["full_attention"] * 27},
        "layer_types has 27 entries, and num_hidden_layers is 28",
    ),
    Wrong("qwen2.5-7b", {"layer_types": ["sliding_attention"] * 28}, "layer_types has layers with a window"),
    Wrong("qwen2.5-7b", {"layer_types": ["linear_attention"] * 28}, 'layer_types has "linear_attention"'),
    Wrong("qwen2.5-7b", {"use_mrope": True}, "use_mrope is true"),
    Wrong("qwen3-30b-a3b", {"mlp_only_layers": [48]}, "mlp_only_layers has 48"),
    Wrong("qwen3-30b-a3b", {"mlp_only_layers": 0}, "mlp_only_layers is 0"),
    Wrong("gemma-2-9b", {"hidden_act": "relu"}, "hidden_act is"),
    Wrong("gemma-2-9b", {"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000"),
    Wrong("gemma-3-1b", {"use_bidirectional_attention": True}, "use_bidirectional_attention is true"),
    Wrong(
        "gemma-3-1b",
        {"rope_parameters": {"full_attention": {}, "sliding_attention": 3}},
        "rope_parameters.sliding_attention is 3",
    ),
    Wrong("gemma-3-4b-it", {"text_config": ...}, "text_config is missing"),
    Wrong("gemma-3-4b-it", {"text_config": {"model_type": "gemma3_text", "hidden_size": "x"}}, "text_config: "),
    Wrong("deepseek-v3", {"scoring_func": "softmax"}, 'scoring_func is "softmax"'),
    Wrong("deepseek-v3", {"head_dim": 128}, "head_dim is 128"),
    Wrong("deepseek-v3", {"n_group": 7}, "n_routed_experts is 256, which is not a multiple of n_group, 7"),
    Wrong("deepseek-v3", {"topk_group": 9}, "topk_group is 9"),
    Wrong("vit", {"patch_size": [16, 14]}, "patch_size is 16 by 14"),
    Wrong("vit", {"patch_size": 225}, "patch_size is 225, more than image_size 224"),
    Wrong("vit", {"image_size": [224, 224, 3]}, "image_size is"),
]


@pytest.mark.parametrize("wrong", REFUSED, ids=[f"{each.name}-{'-'.join(each.change)}" for each in REFUSED])
def test_a_wrong_field_is_named(wrong: Wrong) -> None:
    with pytest.raises(ConfigError) as refused:
        read(wrong.name, **wrong.change)
    message = str(refused.value)
    assert wrong.says in message
    assert message.startswith(f"{wrong.name}: ")
    assert "\n" not in message
    assert len(message) < 700


VALUES = [-1, 0, 1.5, 3.0, "x", "", True, False, None, [], {}, [1], ["x"], {"a": 1}, 10**16, {"rope_type": 3}]


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_any_value_of_any_field_is_read_or_refused_in_one_sentence(name: str) -> None:
    for field in config(name):
        for value in [..., *VALUES]:
            try:
                read(name, **{field: value})
            except ConfigError as refused:
                assert "\n" not in str(refused), field


SIZES = (
    "size",
    "layers",
    "heads",
    "n_embd",
    "n_head",
    "n_layer",
    "dim",
    "experts",
    "rank",
    "positions",
    "_model",
    "bins",
)


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("value", [-1, 1.5, "x", True, [], 10**16], ids=str)
def test_a_size_is_a_whole_number(name: str, value: object) -> None:
    others = ("mlp_only_layers", "no_repeat_ngram_size", "ep_size")  # not of the architecture, or no size
    fields = [f for f in config(name) if f.endswith(SIZES) and f not in others and not f.startswith("pooler")]
    if "text_config" in config(name):  # the sizes stand inside
        return
    assert len(fields) >= 2
    for field in fields:
        with pytest.raises(ConfigError, match=field):
            read(name, **{field: value})


def test_a_name_from_the_file_stays_short_and_on_one_line() -> None:
    with pytest.raises(ConfigError) as refused:
        read("gpt2", **{"a\nb" * 1000: "c\nd" * 1000})
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_field_may_be_ignored_when_asked() -> None:
    changed = config("gpt2", attention_type="linear")
    model = model_of(changed, "gpt2", ignore=("attention_type",))
    assert model.architecture == read("gpt2").architecture
    assert "the field attention_type is ignored as asked" in model.assumptions
    with pytest.raises(ConfigError, match="attention_kind is to be ignored and is not there"):
        model_of(changed, "gpt2", ignore=("attention_type", "attention_kind"))
    with pytest.raises(ConfigError, match="attention_type"):
        model_of(changed, "gpt2", ignore=("n_inner",) if "n_inner" in changed else ())


def test_heads_share_one_size_only_where_the_fields_do() -> None:
    bart = read("bart-base", encoder_attention_heads=16)
    assert (bart.values[size("h_encoder")], bart.values[size("h_decoder")]) == (16, 12)
    assert h not in bart.values


# --- models that also read pictures ---------------------------------------------------------------------------------

VICUNA = {"model_type": "llama", "max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "vocab_size": 32064}


def test_the_language_model_of_llava_is_llama_7b_with_64_tokens_more() -> None:
    """Its file leaves the sizes of Llama 7B out, and says in the counts what they are of."""
    model = model_of({"model_type": "llava", "text_config": VICUNA, "vision_config": {}}, "llava-1.5")
    assert parameters(model) == 6738415616 + 64 * 2 * 4096
    assert model.part == "the language model alone, without what reads pictures or sounds"
    assert "text_config has no hidden_size: 4096, the default of the family" in model.assumptions


@pytest.mark.parametrize("tower", ["vit", "pixtral", "llama", "bert"])
def test_of_a_tower_that_is_not_read_nothing_is_counted(tower: str) -> None:
    released = config("llava-1.5-7b")
    model = model_of({**released, "vision_config": {**released["vision_config"], "model_type": tower}}, "llava")
    assert model.architecture.tower is None
    assert model.part == "the language model alone, without what reads pictures or sounds"


@pytest.mark.parametrize(
    ("name", "where", "changes", "sentence"),
    [
        (
            "llava-1.5-7b",
            "",
            {"vision_feature_layer": -1},
            "rows are read after one layer or several, before the last one",
        ),
        ("llava-1.5-7b", "", {"vision_feature_layer": [-2, 24]}, "rows are read after one layer or several"),
        ("llava-1.5-7b", "", {"vision_feature_layer": True}, "vision_feature_layer"),
        ("llava-1.5-7b", "vision_config", {"hidden_sizes": 3}, "vision_config: hidden_sizes = 3 is not understood"),
        ("paligemma-3b", "", {"projection_dim": 2049}, "not the width of the language model, 2048"),
        ("gemma-3-4b-it", "", {"mm_tokens_per_image": 200}, "4096 patches are not a square of as many equal squares"),
        (
            "gemma-3-4b-it",
            "text_config",
            {"tie_word_embeddings": False},
            "is false, and that of the whole model is missing",
        ),
        ("qwen2-vl-7b", "vision_config", {"hidden_size": 1280}, "not the width of the language model, 3584"),
        ("qwen3-vl-8b", "vision_config", {"deepstack_visual_indexes": [8, 8]}, "is not a list of growing numbers"),
        (
            "qwen3-vl-8b",
            "vision_config",
            {"deepstack_visual_indexes": [27]},
            "numbers of layers from 0 to 26 are needed",
        ),
        (
            "qwen3-vl-8b",
            "vision_config",
            {"num_position_embeddings": 2305},
            "is 2305, which is not the square of a multiple of 2",
        ),
        (
            "qwen3-vl-8b",
            "vision_config",
            {"num_position_embeddings": 2209},
            "is 2209, which is not the square of a multiple of 2",
        ),
        (
            "qwen2-vl-7b",
            "",
            {"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 23]}},
            "three numbers of 64 pairs are needed",
        ),
    ],
)
def test_what_a_tower_does_not_say_is_refused(name: str, where: str, changes: dict[str, object], sentence: str) -> None:
    released = config(name)
    changed = {**released, where: {**released[where], **changes}} if where else {**released, **changes}
    with pytest.raises(ConfigError, match=sentence) as refused:
        model_of(changed, name)
    assert "\n" not in str(refused.value)


def test_a_language_model_inside_has_its_fields_beside_the_pictures_or_below() -> None:
    text = {field: value for field, value in config("qwen2.5-7b").items() if field != "architectures"}
    rule = {"type": "mrope", "mrope_section": [16, 24, 24]}
    flat = model_of({**text, "model_type": "qwen2_5_vl", "rope_scaling": rule, "vision_config": {}}, "flat")
    below = {**text, "model_type": "qwen2_5_vl_text", "rope_scaling": rule}
    assert parameters(flat) == parameters(model_of({"model_type": "qwen2_5_vl", "text_config": below}, "below"))
    assert parameters(flat) == parameters(read("qwen2.5-7b"))


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [
        ({"model_type": "zamba9"}, "text_config has no model_type whose language models are read"),
        ({**VICUNA, "hidden_sizes": 3}, "hidden_sizes = 3 is not understood and may change the architecture"),
        (7, "text_config is 7; an object or null is needed"),
    ],
)
def test_a_language_model_inside_is_refused_by_the_field(inside: object, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        model_of({"model_type": "llava", "text_config": inside}, "llava")


def test_windows_beside_another_rule_of_layers_are_refused() -> None:
    with pytest.raises(ValueError, match="both together have no reader"):
        Decoder(windows=Windows(4096), unrotated="no_rope_layers")
