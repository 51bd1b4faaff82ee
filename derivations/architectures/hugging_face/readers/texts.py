"""Language models inside vision language models, described by data alone as variants of other decoders.

Definition   one entry for each `model_type` of a `text_config`; its rows alone are what the library's class puts out
Assumes      texts alone, in which the numbers of a token on several axes of positions are equal
Source       beside each entry; fields, defaults and orders are those of the library `transformers`
"""

from __future__ import annotations

from dataclasses import replace

from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.checkpoints.family import also
from derivations.architectures.checkpoints.llama import LLAMA
from derivations.architectures.checkpoints.plain import STACKED
from derivations.architectures.hugging_face.families import family
from derivations.architectures.hugging_face.readers.plain import Decoder, Scale, reader_of
from derivations.architectures.hugging_face.readers.plain_decoders import DECODERS, FIVE

__all__ = ["TEXTS"]


def _of(model_type: str, **changes: object) -> tuple[Decoder, Names]:
    """Return a decoder family with some fields changed, and the names of its weights."""
    _, decoder, names = DECODERS[model_type]
    return replace(decoder, **changes), names  # type: ignore[arg-type]


WITH_BIASES = (True, False)
GLM_4, GLM_4_NAMES = _of(
    "glm4", eps=FIVE, head_width=None, own_width=False, share="1", three_axes=True, biases=WITH_BIASES
)
GLM_4_MOE, GLM_4_MOE_NAMES = _of("glm4_moe", biases=(("attention_bias", True), False), three_axes=True)
GRANITE, GRANITE_NAMES = _of("granite")
ERNIE, ERNIE_NAMES = _of("ernie4_5", three_axes=True, halves=True)

# model_type: the class of the library, the family, and the names of its weights in checkpoints
TEXTS: dict[str, tuple[str, Decoder, Names]] = {
    "emu3_text_model": (  # Wang et al. (2024), Emu3
        "Emu3TextModel",
        Decoder(eps=FIVE, groups=8, own_width=False, base="1000000", network_biases=("mlp_bias", False)),
        LLAMA,
    ),
    "glm4v_text": ("Glm4vTextModel", GLM_4, GLM_4_NAMES),  # GLM-V Team (2025), GLM-4.1V
    "glm_image_text": (  # Z.ai (2026), GLM-Image
        "GlmImageTextModel",
        replace(
            GLM_4,
            own_width=True,
            halves=True,
            biases=(("attention_bias", True), False),
            without_effect=("vision_vocab_size",),
        ),
        GLM_4_NAMES,
    ),
    "glm_ocr_text": (  # Z.ai (2026), GLM-OCR
        "GlmOcrTextModel",
        replace(GLM_4, own_width=True, groups=8, biases=(False, False)),
        GLM_4_NAMES,
    ),
    "glm4v_moe_text": (  # GLM-V Team (2025), GLM-4.5V
        "Glm4vMoeTextModel",
        replace(GLM_4_MOE, query_key_norm=False),
        also(GLM_4_MOE_NAMES, STACKED),
    ),
    "granite4_vision_text": (  # IBM (2026), Granite 4 Vision
        "Granite4VisionTextModel",
        GRANITE,
        GRANITE_NAMES,
    ),
    "granite_docling_text": (  # IBM (2026), Granite for Docling
        "GraniteDoclingTextModel",
        replace(
            GRANITE,
            eps=FIVE,
            groups=4,
            score_scale=Scale("attention_multiplier", "0.015625"),
            residual_scale=Scale("residual_multiplier", "0.263"),
            embedding_scale=Scale("embedding_multiplier", "12"),
            head_scale=Scale("logits_scaling", "4", inverse=True),
        ),
        GRANITE_NAMES,
    ),
    "paddleocr_vl_text": ("PaddleOCRTextModel", ERNIE, ERNIE_NAMES),  # Baidu (2025), PaddleOCR-VL
}

for model_type, (name, decoder, names) in TEXTS.items():
    family(model_type, {name: "none"}, names)(reader_of(decoder))
