"""Parameters of odd models of every family, total and by component: as the library that runs them has them.

The library builds each model without storing numbers, and writes its own `config.json`; that file is read here. Its
parameters are sorted into components by their names in the library, tied ones once.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from derivations.architectures.components import parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.hugging_face import FAMILIES, model_of, read_config
from derivations.architectures.hugging_face.readers.joined import JOINED, TEXT_ALONE
from derivations.architectures.reading import ConfigError, read_json
from tests.numeric.verification.agreement.small_families import (
    COMPARED,
    COUNTED,
    MADE_OF_MODELS,
    PICTURES,
    SMALL,
    SOUNDS,
    SPECTRA,
)

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
no_init_weights = pytest.importorskip("transformers.initialization").no_init_weights
pytestmark = pytest.mark.peers

INNER_NORMS = "layers.attention_inner_norms"
NORM = r"(layer_?norm|LayerNorm|\bln_|\bln\d?\b|norm)"

# names of parameters in the library: the first pattern that is found names the component; {} for weights or biases
COMPONENTS = [
    (r"embed_tokens_per_layer", "layers.per_layer_embedding"),
    (r"altup_(unembed_)?projections", "streams_projection"),
    (r"altup\.correct_output_scale", "layers.streams_scale"),
    (r"altup\.router_norm|post_laurel_norm", "layers.norm_{}"),
    (r"altup\.", "layers.streams_{}"),
    (r"laurel\.", "layers.residual_branch_{}"),
    (r"post_per_layer_input_norm", "layers.norm_{}"),
    (r"per_layer_projection_norm", "layers.per_layer_input_norm"),
    (r"per_layer_(input_gate|projection|model_projection)", "layers.per_layer_input_{}"),
    (r"^logit_", "comparison_{}"),
    (r"^(text|visual)_projection\.", "projector_{}"),
    (r"^text_model\.head\.", "pooler_and_nsp"),
    (
        r"relative_attention_bias|rel_attn_embed|rel_embeddings|deberta\.encoder\.LayerNorm",
        "layers.relative_position_bias",
    ),
    (r"embeddings_project\b|embedding_hidden_mapping_in", "embedding_projection"),
    (r"^predictions\.LayerNorm", "lm_head_norm"),
    (r"^predictions\.", "lm_head_{}"),
    (r"sop_classifier", "pooler_and_nsp"),
    (r"generator_predictions\.LayerNorm", "lm_head_norm"),
    (r"dense_prediction", "classifier_{}"),
    (r"generator_|discriminator_predictions", "lm_head_{}"),
    (r"^head\.norm", "lm_head_norm"),
    (r"^(head\.dense|decoder\.(weight|bias))", "lm_head_{}"),
    (r"^(model\.)?embeddings\.norm", "embedding_norm"),
    (r"layer_scale\d\.", "layers.layer_scale"),
    (r"^head\.weight$", "lm_head_{}"),
    (r"^(vision_model\.)?head\.", "pooler_and_nsp"),
    (
        r"cls_token|mask_token|masked_spec_embed|register_tokens|distillation_token|class_embedding|token_type_embeddings",
        "cls_token_or_segment_embedding",
    ),
    (r"patch_embed|(^|encoder\.)conv[12]\.|feature_(extractor|projection)", "patch_or_conv_stem"),
    (r"(pos_conv_embed|position_embeddings?|positions_embed|embed_positions|wpe|pos_embed\b)", "position_embedding"),
    (r"(embeddings\.LayerNorm|layernorm_embedding|pre_ln|word_embeddings_layernorm)", "embedding_norm"),
    (r"pre_lay(r|er)norm", "embedding_norm"),
    (r"project_(in|out)\b", "embedding_projection"),
    (r"(seq_relationship|pooler|classifier\.dense|pre_classifier)", "pooler_and_nsp"),
    (
        r"(predictions\.transform\.(LayerNorm|layer_norm)|lm_head\.((layer_)?norm|LayerNorm)|vocab_layer_norm)",
        "lm_head_norm",
    ),
    (r"(cls\.predictions|lm_head|embed_out|vocab_transform|vocab_projector|proj_out)", "lm_head_{}"),
    (r"(classifier|qa_outputs)", "classifier_{}"),
    (
        r"(word_embeddings|token_embedding|embed_tokens|\bembeddings\.weight|\bwte|shared\.weight|embed_in)",
        "token_embedding",
    ),
    (r"(q_norm|k_norm|[qk]_layernorm|query_layernorm|key_layernorm|q_a_layernorm|kv_a_layernorm)", INNER_NORMS),
    (r"\.(mixer|mamba|conv|linear_attn)\.(.*_)?(layer)?norm\.", "layers.mixer_inner_norms"),
    (r"\.experts\.", "layers.ffn_routed_expert_{}"),
    (r"shared_expert_gate", "layers.ffn_shared_expert_gate"),
    (r"shared_expert|shared_mlp", "layers.ffn_shared_expert_{}"),
    (r"\.sinks$", "layers.attention_sinks"),
    (r"\.mixer\.[qkvo]_proj", "layers.self_attention_{}"),
    (r"\.mixer\.(up|down)_proj", "layers.ffn_{}"),
    (r"e_score_correction_bias|\bexpert_bias|ffn\.router\.", "layers.router_{}"),
    (r"norm_attn_norm\.attn\.", "layers.self_attention_{}"),
    (
        r"(mlp|mixer)\.gate\.|mlp\.router\.|feed_forward\.(router|gate)\.|block_sparse_moe\.(gate|router)\.",
        "layers.router_{}",
    ),
    (r"encoder\.ln\.|roberta_prelayernorm\.LayerNorm", "final_norm"),
    (r"temporal_block\.[qkvo]_proj", "layers.self_attention_{}"),
    (r"temporal_block\.\w+_gate_bias", "layers.mixer_biases"),
    (r"\.(mixer|mamba|conv|linear_attn|temporal_block)\.", "layers.mixer_{}"),
    (rf"(layers?|h|blocks?)\.\d+\..*{NORM}\w*\.(weight|bias)$", "layers.norm_{}"),
    (rf"{NORM}\w*\.(weight|bias)$", "final_norm"),
    (r"(encoder_attn|EncDecAttention)", "layers.cross_attention_{}"),
    (r"(mlp|fc[12]|ffn|feed_forward|DenseReluDense|intermediate|layer\.\d+\.output\.dense)", "layers.ffn_{}"),
    (r"(attn|attention|SelfAttention)", "layers.self_attention_{}"),
]


PROJECTOR = re.compile(r"multi_modal_projector\.|visual\.(merger|deepstack_merger_list)\.")
TOWER = re.compile(r"^(model\.)?(vision_tower|visual)\.")
COMPARED_TOWER = re.compile(r"^vision_model\.|^(?=visual_projection)")
MIXERS = "LightningAttention|DeltaAttention|RwkvSelfAttention|RwkvFeedForward"  # recurrences under other names


def library_components(model: "torch.nn.Module") -> dict[str, int]:
    """Return the number of parameters of every component of a model of the library."""
    counts: Counter[str] = Counter()
    try:
        table = getattr(model.base_model, "get_input_embeddings", lambda: None)()
    except NotImplementedError:  # of an encoder without one
        table = None
    tokens = table.weight if isinstance(table, torch.nn.Embedding) else None
    mixing = [path for path, module in model.named_modules() if re.search(MIXERS, type(module).__name__)]
    tower = COMPARED_TOWER if {"text_model", "vision_model"} <= dict(model.named_children()).keys() else TOWER
    for name, parameter in model.named_parameters():
        if any(name.startswith(f"{path}.") for path in mixing):
            name = re.sub(r"\.(self_attn|attention|feed_forward)\.", ".linear_attn.", name)
        if parameter is tokens:  # tied, it may have the name of the head
            counts["token_embedding"] += parameter.numel()
            continue
        if type(model).__name__ in ("SiglipTextModel", "Siglip2TextModel"):
            name = f"text_model.{name}"  # as in the model of texts and pictures
        if model.main_input_name == "input_values" and not getattr(model.config, "do_stable_layer_norm", False):
            name = re.sub(r"encoder\.layer_norm", "embeddings.LayerNorm", name)  # before the first layer
        kind = "biases" if name.endswith("bias") else "weights"
        if PROJECTOR.search(name):
            counts[f"projector_{kind}"] += parameter.numel()
            continue
        where, name = ("pictures." if tower.search(name) else ""), tower.sub("", name)
        component = next((each for pattern, each in COMPONENTS if re.search(pattern, name)), f"unsorted: {name}")
        counts[where + component.format(kind)] += parameter.numel()
    return dict(counts)


BERT = {
    "hidden_size": 15,
    "num_attention_heads": 5,
    "num_hidden_layers": 2,
    "intermediate_size": 7,
    "vocab_size": 13,
    "max_position_embeddings": 11,
}
GPT2 = {"n_embd": 15, "n_head": 3, "n_layer": 2, "n_positions": 11, "vocab_size": 13}
NEOX = {
    "hidden_size": 24,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 7,
    "vocab_size": 13,
}
LLAMA = NEOX | {"num_attention_heads": 6, "num_key_value_heads": 3}
OPT = {
    "hidden_size": 15,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "ffn_dim": 7,
    "vocab_size": 13,
    "max_position_embeddings": 11,
}
BLOOM = {"hidden_size": 15, "n_head": 3, "n_layer": 2, "vocab_size": 13}
FALCON = {"hidden_size": 24, "num_attention_heads": 6, "num_hidden_layers": 2, "vocab_size": 13}
T5 = {"d_model": 11, "d_kv": 3, "num_heads": 5, "d_ff": 7, "num_layers": 2, "vocab_size": 13}
BART = {
    "d_model": 30,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 5,
    "encoder_ffn_dim": 7,
    "decoder_ffn_dim": 11,
    "vocab_size": 13,
}
WHISPER = BART | {"num_mel_bins": 2, "max_source_positions": 17, "max_target_positions": 19, "pad_token_id": 0}
MOE = LLAMA | {"num_experts_per_tok": 2}
DEEPSEEK = NEOX | {
    "moe_intermediate_size": 5,
    "n_routed_experts": 6,
    "n_group": 3,
    "topk_group": 2,
    "num_experts_per_tok": 3,
    "kv_lora_rank": 11,
    "q_lora_rank": 13,
    "qk_rope_head_dim": 2,
    "qk_nope_head_dim": 5,
    "v_head_dim": 7,
    "first_k_dense_replace": 1,
    "num_hidden_layers": 3,
    "num_key_value_heads": 3,
}
VIT = {
    "hidden_size": 15,
    "num_attention_heads": 5,
    "num_hidden_layers": 2,
    "intermediate_size": 7,
    "image_size": 14,
    "patch_size": 7,
    "num_channels": 2,
}

ODD = [
    ("BertModel", BERT),
    ("BertForMaskedLM", BERT),
    ("BertForPreTraining", BERT | {"type_vocab_size": 3}),
    ("BertLMHeadModel", BERT | {"is_decoder": True}),
    ("BertForSequenceClassification", BERT | {"num_labels": 5}),
    ("BertForSequenceClassification", BERT),
    ("BertForTokenClassification", BERT | {"num_labels": 7}),
    ("BertForQuestionAnswering", BERT),
    ("BertForMultipleChoice", BERT),
    ("RobertaModel", BERT | {"type_vocab_size": 1}),
    ("RobertaForMaskedLM", BERT),
    ("RobertaForSequenceClassification", BERT | {"num_labels": 3}),
    ("RobertaForTokenClassification", BERT),
    ("DistilBertModel", {"dim": 15, "n_heads": 3, "n_layers": 2, "hidden_dim": 7, "vocab_size": 13}),
    (
        "DistilBertForMaskedLM",
        {"dim": 15, "n_heads": 3, "n_layers": 2, "hidden_dim": 7, "vocab_size": 13, "sinusoidal_pos_embds": True},
    ),
    (
        "DistilBertForSequenceClassification",
        {"dim": 15, "n_heads": 5, "n_layers": 3, "hidden_dim": 11, "vocab_size": 13, "num_labels": 7},
    ),
    ("ViTModel", VIT),
    ("ViTForImageClassification", VIT | {"num_labels": 7, "image_size": [21, 15]}),
    ("ViTForImageClassification", VIT | {"qkv_bias": False}),
    ("GPT2LMHeadModel", GPT2),
    ("GPT2Model", GPT2 | {"n_inner": 7}),
    ("GPT2LMHeadModel", GPT2 | {"tie_word_embeddings": False, "activation_function": "relu"}),
    ("GPTJForCausalLM", GPT2 | {"n_embd": 24, "rotary_dim": 4}),
    ("GPTJModel", GPT2 | {"n_embd": 24, "rotary_dim": 8, "n_inner": 5}),
    ("GPTNeoXForCausalLM", NEOX),
    ("GPTNeoXForCausalLM", NEOX | {"attention_bias": False, "use_parallel_residual": False}),
    ("GPTNeoXModel", NEOX | {"rotary_pct": 1.0}),
    ("GPTNeoXForCausalLM", NEOX | {"tie_word_embeddings": True}),
    ("OPTForCausalLM", OPT),
    ("OPTForCausalLM", OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 7}),
    ("OPTModel", OPT | {"word_embed_proj_dim": 20}),
    ("OPTForCausalLM", OPT | {"enable_bias": False}),
    ("BloomForCausalLM", BLOOM),
    ("BloomModel", BLOOM),
    ("FalconForCausalLM", FALCON),
    ("FalconForCausalLM", FALCON | {"bias": True, "parallel_attn": False}),
    ("FalconForCausalLM", FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2, "ffn_hidden_size": 17}),
    (
        "FalconForCausalLM",
        FALCON | {"new_decoder_architecture": True, "num_kv_heads": 3, "num_ln_in_parallel_attn": 1},
    ),
    ("FalconForCausalLM", FALCON | {"multi_query": False, "alibi": True, "tie_word_embeddings": False}),
    ("T5ForConditionalGeneration", T5),
    ("T5ForConditionalGeneration", T5 | {"num_decoder_layers": 3, "feed_forward_proj": "gated-gelu"}),
    ("T5Model", T5 | {"relative_attention_num_buckets": 6}),
    ("T5EncoderModel", T5),
    ("BartForConditionalGeneration", BART),
    ("BartModel", BART | {"scale_embedding": True}),
    ("MBartForConditionalGeneration", BART),
    ("WhisperForConditionalGeneration", WHISPER),
    ("WhisperModel", WHISPER),
    ("LlamaForCausalLM", LLAMA),
    ("LlamaForCausalLM", LLAMA | {"head_dim": 10, "attention_bias": True, "mlp_bias": True}),
    ("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 6, "tie_word_embeddings": True}),
    ("LlamaModel", LLAMA | {"num_key_value_heads": 1}),
    ("MistralForCausalLM", LLAMA | {"head_dim": 2, "sliding_window": None}),
    ("MistralForCausalLM", LLAMA),
    ("MixtralForCausalLM", MOE | {"num_local_experts": 5}),
    ("GptOssForCausalLM", MOE | {"num_local_experts": 5}),
    ("MixtralModel", MOE | {"num_local_experts": 3, "head_dim": 6}),
    ("Qwen2ForCausalLM", LLAMA),
    ("Qwen2ForCausalLM", LLAMA | {"use_sliding_window": True, "max_window_layers": 1, "tie_word_embeddings": True}),
    ("Qwen2MoeForCausalLM", MOE | {"num_experts": 5, "moe_intermediate_size": 3, "decoder_sparse_step": 2}),
    ("Qwen3ForCausalLM", LLAMA | {"head_dim": 6}),
    ("Qwen3ForCausalLM", LLAMA | {"attention_bias": True}),
    ("Qwen3MoeForCausalLM", MOE | {"num_experts": 5, "moe_intermediate_size": 3, "head_dim": 2}),
    (
        "Qwen3MoeForCausalLM",
        MOE | {"num_experts": 7, "num_hidden_layers": 5, "mlp_only_layers": [1, 3], "decoder_sparse_step": 1},
    ),
    ("GemmaForCausalLM", LLAMA | {"head_dim": 10}),
    ("Gemma2ForCausalLM", LLAMA | {"num_hidden_layers": 3, "head_dim": 10}),
    ("Gemma2Model", LLAMA | {"num_hidden_layers": 4, "attention_bias": True, "final_logit_softcapping": None}),
    ("Gemma3ForCausalLM", LLAMA | {"num_hidden_layers": 8, "head_dim": 6}),
    ("Gemma3ForCausalLM", LLAMA | {"num_hidden_layers": 13, "tie_word_embeddings": False}),
    ("Phi3ForCausalLM", LLAMA | {"pad_token_id": 0}),
    ("Phi3ForCausalLM", LLAMA | {"pad_token_id": 0, "partial_rotary_factor": 0.5, "num_key_value_heads": 2}),
    ("DeepseekV3ForCausalLM", DEEPSEEK),
    ("DeepseekV3ForCausalLM", DEEPSEEK | {"q_lora_rank": None, "n_shared_experts": 2, "first_k_dense_replace": 0}),
    *SMALL,
    *COUNTED,
    *PICTURES,
    *SOUNDS,
    *SPECTRA,
    *COMPARED,
    *MADE_OF_MODELS,
]


def _decoded(value: object) -> object:
    """Return a value of a file as the library reads it: an infinite number is written as an object."""
    if isinstance(value, dict) and value.keys() == {"__float__"}:
        return float(value["__float__"])
    return [_decoded(each) for each in value] if isinstance(value, list) else value


def class_and_config(name: str, arguments: dict[str, object]) -> tuple[type["torch.nn.Module"], Any]:
    """Return a class of the library and a configuration for it, which another family may have lent to the class."""
    model_class = getattr(transformers, name)
    family = arguments.get("model_type", model_class.config_class.model_type)
    known = family in transformers.CONFIG_MAPPING  # a family may have the classes of another one, and be none there
    of_family = (
        transformers.CONFIG_MAPPING[family]
        if known
        else type("Lent", (model_class.config_class,), {"model_type": family})
    )
    config = of_family(**{each: _decoded(arguments[each]) for each in arguments if each != "model_type"})
    config.architectures = [name]
    return model_class, config


def library_model(name: str, arguments: dict[str, object]) -> "torch.nn.Module":
    """Return a model of the library without numbers: no memory is taken, and none are drawn."""
    model_class, config = class_and_config(name, arguments)
    with torch.device("meta"), no_init_weights():
        model = model_class(config)
    model.tie_weights()  # which belongs to the drawing
    return model


@pytest.mark.parametrize(("name", "arguments"), ODD, ids=[f"{i}-{name}" for i, (name, _) in enumerate(ODD)])
def test_every_component_has_as_many_parameters_as_in_the_library(
    name: str, arguments: dict[str, object], tmp_path: Path
) -> None:
    theirs = library_model(name, arguments)
    theirs.config.save_pretrained(tmp_path)
    model = read_config(tmp_path)
    layer = build(model.architecture)
    ours = {part: int(count.subs(model.values)) for part, count in parameters_by_component(layer).items()}
    assert ours == library_components(theirs)


def with_one_less(config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a configuration without one of its fields, or of those of a model inside, each by name."""
    for field in set(config) - {"model_type", "architectures", "pad_token_id"}:
        yield field, {each: value for each, value in config.items() if each != field}
        if isinstance(config[field], dict) and "model_type" in config[field]:
            for inner, fewer in with_one_less(config[field]):
                yield f"{field}.{inner}", config | {field: fewer}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), list(dict(ODD).items()), ids=list(dict(ODD)))
def test_a_field_left_out_means_the_same_in_the_library(
    name: str, arguments: dict[str, object], tmp_path: Path
) -> None:
    library_model(name, arguments).config.save_pretrained(tmp_path)
    written = read_json(tmp_path)
    compared = 0
    for field, fewer in with_one_less(written):
        try:
            model = model_of(fewer, name)
        except ConfigError:  # a size without which there is no model, or a default that the others contradict
            continue
        try:
            theirs = library_model(name, fewer)
        except Exception:  # whatever the library raises, it has no such model: a field is missing
            continue
        if model.part == TEXT_ALONE:  # what is left out there is said
            continue
        ours = sum(parameters_by_component(build(model.architecture)).values()).subs(model.values)
        assert sum(library_components(theirs).values()) == ours, field
        compared += 1
    assert compared > 4


SAME = {  # what is written out differently, with the same value
    ("hyperclovax", "attention_multiplier"),  # 1/sqrt(d_k), rounded there
    ("ministral3", "rope_parameters"),  # with the usual numbers of YaRN
    ("mistral4", "rope_parameters"),
}
FIRST_OF_TYPE = {class_and_config(name, arguments)[1].model_type: (name, arguments) for name, arguments in ODD[::-1]}


@pytest.mark.slow
@pytest.mark.parametrize("model_type", FIRST_OF_TYPE)
def test_a_field_left_out_is_read_as_the_library_fills_it_in(model_type: str, tmp_path: Path) -> None:
    """Also where no count depends on it, as on the rule of rotary positions."""
    name, arguments = FIRST_OF_TYPE[model_type]
    config = class_and_config(name, arguments)[1]
    config.save_pretrained(tmp_path)
    written, compared = read_json(tmp_path), 0
    for field in set(written) - {"model_type", "architectures", "transformers_version", "dtype"}:
        fewer = {each: value for each, value in written.items() if each != field}
        try:
            ours = model_of(fewer, name)
            told = {each: value for each, value in fewer.items() if each not in ("model_type", "transformers_version")}
            type(config)(**told).save_pretrained(tmp_path)
            filled = model_of(read_json(tmp_path), name)
        except Exception:  # one of the two refuses it
            continue
        if ours.part != filled.part:  # what is left out there is said
            continue
        same = (ours.architecture, ours.values) == (filled.architecture, filled.values)
        assert same or (model_type, field) in SAME, field
        compared += same
    assert compared


def test_an_untied_bert_has_one_bias_in_the_library_that_nothing_uses(tmp_path: Path) -> None:
    theirs = library_model("BertForMaskedLM", BERT | {"tie_word_embeddings": False})
    theirs.config.save_pretrained(tmp_path)
    model = read_config(tmp_path)
    ours = sum(parameters_by_component(build(model.architecture)).values()).subs(model.values)
    assert sum(library_components(theirs).values()) == ours + BERT["vocab_size"]
    assert any("bias" in each for each in model.assumptions)


def test_every_family_is_compared() -> None:
    compared = {class_and_config(name, arguments)[1].model_type for name, arguments in ODD}
    assert compared | {*JOINED} == set(FAMILIES)  # their language models are those of other families
