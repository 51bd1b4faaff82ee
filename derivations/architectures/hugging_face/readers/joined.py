"""Vision language models: a language model described by `text_config`, and the vision tower of `vision_config`.

Definition   the two are read by the families of their model types; a projector between them is an entry of `TOWERS`.
             Without one, or without a `vision_config` that is read, the counts are of the language model and its head,
             and say so
Assumes      where a language model that has three axes of positions (Wang et al. 2024, Qwen2-VL) reads texts alone, the
             three numbers of a token are equal, and the rotation is the ordinary one
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from derivations.architectures.checkpoints.family import also
from derivations.architectures.checkpoints.joined import joined_names, names_of_text
from derivations.architectures.checkpoints.llama import LLAMA, QWEN_3_EXPERTS
from derivations.architectures.checkpoints.plain import STACKED
from derivations.architectures.hugging_face.families import family, family_of
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.positions import of_one_axis
from derivations.architectures.hugging_face.readers.gated import qwen2, qwen3, qwen3_moe
from derivations.architectures.hugging_face.readers.towers import SEEN, TOWERS, axes_of, deepened, inside, tower_of
from derivations.architectures.hugging_face.shared import Parts

__all__ = ["JOINED", "TEXTS", "TEXT_ALONE", "qwen2_of_text", "qwen3_moe_of_text", "qwen3_of_text"]

TEXT_ALONE = "the language model alone, without what reads pictures or sounds"

# model_type: the class, and whether scores are tied to the table of tokens if no field says so
JOINED: Mapping[str, tuple[str, bool]] = {
    "aya_vision": ("AyaVision", True),  # Cohere (2025)
    "cohere2_vision": ("Cohere2Vision", True),  # Cohere (2025), Command A Vision
    "gemma3": ("Gemma3", True),  # Gemma Team (2025)
    "gemma3n": ("Gemma3n", True),  # Gemma Team (2025)
    "gemma4": ("Gemma4", True),  # Gemma Team (2026)
    "glm46v": ("Glm46V", False),  # Z.ai (2025), GLM-4.6V
    "glm4v": ("Glm4v", False),  # GLM-V Team (2025), GLM-4.1V
    "glm4v_moe": ("Glm4vMoe", False),  # GLM-V Team (2025), GLM-4.5V
    "glm_ocr": ("GlmOcr", False),  # Z.ai (2026)
    "idefics3": ("Idefics3", False),  # Laurençon et al. (2024)
    "internvl": ("InternVL", True),  # Zhu et al. (2025), InternVL 3
    "kimi_k25": ("Kimi_K25", True),  # Kimi Team (2026), Kimi K2.5
    "llama4": ("Llama4", False),  # Meta (2025)
    "llava": ("Llava", False),  # Liu et al. (2024), LLaVA-1.5
    "llava_next": ("LlavaNext", False),  # Liu et al. (2024)
    "llava_onevision": ("LlavaOnevision", False),  # Li et al. (2024)
    "mistral3": ("Mistral3", True),  # Mistral AI (2025), Mistral Small 3.1
    "paddleocr_vl": ("PaddleOCRVL", True),  # Baidu (2025)
    "paligemma": ("PaliGemma", True),  # Beyer et al. (2024)
    "qwen2_vl": ("Qwen2VL", False),  # Wang et al. (2024)
    "qwen2_5_vl": ("Qwen2_5_VL", False),  # Bai et al. (2025)
    "qwen3_vl": ("Qwen3VL", False),  # Qwen Team (2025)
    "qwen3_vl_moe": ("Qwen3VLMoe", False),
    "qwen3_5": ("Qwen3_5", False),  # Qwen Team (2026)
    "qwen3_5_moe": ("Qwen3_5Moe", False),
    "smolvlm": ("SmolVLM", False),  # Marafioti et al. (2025)
    "vipllava": ("VipLlava", False),  # Cai et al. (2024)
}
TEXTS = frozenset(["qwen3_5", "qwen3_5_moe"])  # of which the language model runs
EITHER = frozenset(
    ["glm4v", "glm4v_moe", "glm_ocr", "llava", "llava_onevision", "paddleocr_vl", "qwen2_vl", "qwen2_5_vl"]
)
STATED = frozenset(["cohere2_vision", "glm46v", "idefics3", "kimi_k25", "smolvlm", *TOWERS])
BOTH_WAYS = frozenset(["paligemma"])  # whose texts say that positions see later ones
OF_PICTURES = frozenset(
    [
        *("audio_config", "audio_soft_tokens_per_image", "vision_soft_tokens_per_image"),
        *("adapter_layer_norm_eps", "downsample_factor", "downsample_ratio", "image_grid_pinpoints"),
        *("image_seq_length", "mm_tokens_per_image", "multimodal_projector_bias", "projection_dim"),
        *("alignment_intermediate_size", "projection_hidden_size", "projection_layer_norm_eps", "scale_factor"),
        *("projector_hidden_act", "projector_layernorm_eps", "spatial_merge_size", "vision_aspect_ratio"),
        *("vision_config", "vision_feature_layer", "vision_feature_layers", "vision_feature_select_strategy"),
    ]
)


def _joined(tied: bool, f: Fields, kind: str) -> Parts:
    """Return the language model of a multimodal configuration, with its vision tower if that is read.

    Its fields may also stand at the top level, beside those of the vision part.
    """
    config = f.table("text_config")
    for field in OF_PICTURES:
        f.take(field, None)
    flat = config is None
    if flat and not f.given("hidden_size"):
        raise f.error("text_config", "is missing; the language model is described there")
    inner = {k: v for k, v in f.config.items() if k not in OF_PICTURES} if config is None else dict(config)
    inner["tie_word_embeddings"] = _tied(f, inner, tied)
    for field in () if flat else ("_vocab_size", "hidden_size", "num_hidden_layers", "vocab_size"):
        f.take(field, None)  # what older files say of the language model a second time
    if str(f.config.get("model_type")) in BOTH_WAYS and inner.pop("use_bidirectional_attention", None):
        f.assumptions.append(SEEN)
    name = str(f.config.get("model_type")) + "_text" if flat else inner.pop("model_type", None)
    found = family_of(name)
    if found is None:
        raise f.error("text_config", "has no model_type whose language models are read")
    text, assumed = inside(f, str(name), inner, f.name if flat else f"{f.name}: text_config")
    parts = found.read(text, kind)
    text.finish()
    f.read |= text.read if flat else set()
    f.values |= text.values
    f.assumptions += [*text.assumptions, *assumed]
    tower, names, between = tower_of(f)
    if tower is None:
        f.part = TEXT_ALONE
        f.assumptions.append(TEXT_ALONE)
        return replace(parts, names=found.names and names_of_text(found.names))
    assert parts.decoder is not None
    tower = replace(tower, axes=axes_of(f, inner))
    decoder = deepened(f, parts.decoder, len(tower.deep)) if tower.deep else parts.decoder
    of_both = found.names and names and joined_names(found.names, names, between)
    return replace(parts, decoder=decoder, tower=tower, names=of_both)


def _tied(f: Fields, inner: Mapping[str, object], usual: bool) -> object:
    """Return whether scores are tied to the token table, by the whole model or else by its language model.

    In the families of `EITHER` one of the two is enough; one that says nothing says what is usual. In those of `STATED`
    releases of the library differ where the whole model says nothing and the language model not what is usual.
    """
    model_type, of_text = str(f.config.get("model_type")), inner.get("tie_word_embeddings")
    if model_type in EITHER:
        return f.flag("tie_word_embeddings", usual) or (usual if of_text is None else of_text)
    if f.given("tie_word_embeddings"):
        return f.flag("tie_word_embeddings", usual)
    if model_type in STATED and of_text not in (None, usual):
        raise f.error("text_config.tie_word_embeddings", f"is {shown(of_text)}, and that of the whole model is missing")
    return usual if of_text is None else of_text


for model_type, (prefix, tied) in JOINED.items():
    family(model_type, {f"{prefix}ForConditionalGeneration": "language_model"}, runs=model_type in {*TOWERS, *TEXTS})(
        partial(_joined, tied)
    )


@family("qwen2_vl_text", {"Qwen2VLTextModel": "none"}, LLAMA)
@family("qwen2_5_vl_text", {"Qwen2_5_VLTextModel": "none"}, LLAMA)
def qwen2_of_text(f: Fields, kind: str) -> Parts:
    """Qwen2-VL's language model: Qwen2, with positions of three axes."""
    of_one_axis(f)
    f.config |= {"rms_norm_eps": f.take("rms_norm_eps", 1e-5), "rope_theta": f.take("rope_theta", 1000000.0)}
    return qwen2(f, kind)


@family("qwen3_vl_moe_text", {"Qwen3VLMoeTextModel": "none"}, also(QWEN_3_EXPERTS, STACKED))
def qwen3_moe_of_text(f: Fields, kind: str) -> Parts:
    """Qwen3-VL's language model with experts, whose routing weights add up to 1."""
    of_one_axis(f)
    f.config |= {"norm_topk_prob": True, "rope_theta": f.take("rope_theta", 500000.0)}
    return qwen3_moe(f, kind)


@family("qwen3_vl_text", {"Qwen3VLTextModel": "none"}, LLAMA)
def qwen3_of_text(f: Fields, kind: str) -> Parts:
    """Qwen3-VL's language model: Qwen3, with positions of three axes."""
    of_one_axis(f)
    f.config |= {"rope_theta": f.take("rope_theta", 500000.0)}
    return qwen3(f, kind)
