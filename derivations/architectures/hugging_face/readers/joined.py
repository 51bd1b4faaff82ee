"""Language models inside models that also read pictures: what `text_config` describes, without what reads pictures.

Definition   the family of the language model is that of `model_type` in `text_config`; the counts are of the language
             model and its head, and say so
Assumes      texts alone: where positions have three axes (Wang et al. 2024, Qwen2-VL), the three numbers of a token of
             a text are equal, and the rotation is the ordinary one
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from derivations.architectures.checkpoints.llama import LLAMA
from derivations.architectures.hugging_face.families import family, family_of
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import of_one_axis
from derivations.architectures.hugging_face.readers.gated import qwen2, qwen3
from derivations.architectures.hugging_face.readers.gemma import TEXT_ALONE
from derivations.architectures.hugging_face.shared import Parts

__all__ = ["JOINED", "qwen2_of_text", "qwen3_of_text"]

# model_type: the class, and whether scores are tied to the table of tokens if no field says so
JOINED: Mapping[str, tuple[str, bool]] = {
    "aya_vision": ("AyaVision", True),  # Cohere (2025)
    "internvl": ("InternVL", True),  # Zhu et al. (2025), InternVL 3
    "llava": ("Llava", False),  # Liu et al. (2024), LLaVA-1.5
    "llava_next": ("LlavaNext", False),  # Liu et al. (2024)
    "llava_onevision": ("LlavaOnevision", False),  # Li et al. (2024)
    "mistral3": ("Mistral3", True),  # Mistral AI (2025), Mistral Small 3.1
    "qwen2_vl": ("Qwen2VL", False),  # Wang et al. (2024)
    "qwen2_5_vl": ("Qwen2_5_VL", False),  # Bai et al. (2025)
    "qwen3_vl": ("Qwen3VL", False),  # Qwen Team (2025)
    "qwen3_5": ("Qwen3_5", False),  # Qwen Team (2026)
    "qwen3_5_moe": ("Qwen3_5Moe", False),
    "vipllava": ("VipLlava", False),  # Cai et al. (2024)
}
OF_PICTURES = frozenset(
    [
        *("adapter_layer_norm_eps", "downsample_factor", "downsample_ratio", "image_grid_pinpoints"),
        *("image_seq_length", "multimodal_projector_bias", "projector_hidden_act", "projector_layernorm_eps"),
        *("spatial_merge_size", "vision_aspect_ratio", "vision_config", "vision_feature_layer"),
        "vision_feature_select_strategy",
    ]
)
# sizes that files leave out where they are the defaults of the configuration class of the language model
LEFT_OUT: Mapping[str, Mapping[str, object]] = {
    "llama": {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32},
    "mistral": {
        **{"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
        "num_key_value_heads": 8,
    },
}


def _joined(tied: bool, f: Fields, kind: str) -> Parts:
    """Return the language model of a configuration, whose fields may stand beside those of the pictures, too."""
    config = f.table("text_config")
    for field in OF_PICTURES:
        f.take(field, None)
    flat = config is None
    inner = {k: v for k, v in f.config.items() if k not in OF_PICTURES} if config is None else dict(config)
    inner["tie_word_embeddings"] = f.take("tie_word_embeddings", None if flat else inner.get("tie_word_embeddings"))
    if inner["tie_word_embeddings"] is None:
        inner["tie_word_embeddings"] = tied
    name = str(f.config.get("model_type")) + "_text" if flat else inner.pop("model_type", None)
    found = family_of(name)
    if found is None:
        raise f.error("text_config", "has no model_type whose language models are read")
    taken = {field: value for field, value in LEFT_OUT.get(str(name), {}).items() if inner.get(field) is None}
    text = Fields({**inner, **taken}, f.name if flat else f"{f.name}: text_config")
    parts = found.read(text, kind)
    text.finish()
    f.read |= text.read if flat else set()
    f.values |= text.values
    f.part = TEXT_ALONE
    f.assumptions += [TEXT_ALONE, *text.assumptions]
    f.assumptions += [
        f"text_config has no {field}: {value}, the default of the family" for field, value in taken.items()
    ]
    return parts


for model_type, (prefix, tied) in JOINED.items():
    family(model_type, {f"{prefix}ForConditionalGeneration": "language_model"})(partial(_joined, tied))


@family("qwen2_vl_text", {"Qwen2VLTextModel": "none"}, LLAMA)
@family("qwen2_5_vl_text", {"Qwen2_5_VLTextModel": "none"}, LLAMA)
def qwen2_of_text(f: Fields, kind: str) -> Parts:
    """Qwen2-VL's language model: Qwen2, with positions of three axes."""
    of_one_axis(f)
    return qwen2(f, kind)


@family("qwen3_vl_text", {"Qwen3VLTextModel": "none"}, LLAMA)
def qwen3_of_text(f: Fields, kind: str) -> Parts:
    """Qwen3-VL's language model: Qwen3, with positions of three axes."""
    of_one_axis(f)
    return qwen3(f, kind)
