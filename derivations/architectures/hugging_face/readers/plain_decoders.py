"""Decoders that are described by data alone: one entry for each `model_type`, by what differs from Llama.

Source       beside each entry; fields, defaults and orders are those of the library `transformers`
"""

from __future__ import annotations

from dataclasses import replace

from derivations.architectures.description import Norm
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.readers.plain import Decoder, Scale, Sparse, Windows, reader_of

__all__ = ["DECODERS"]

LAYER, WITHOUT_SHIFT, WITHOUT_BOTH = (
    Norm("layer"),
    Norm("layer", shifted=False),
    Norm("layer", scaled=False, shifted=False),
)
FIVE, SIX = ("rms_norm_eps", "1e-5"), ("rms_norm_eps", "1e-6")
LAYER_FIVE = ("layer_norm_eps", "1e-5")
NONE = (False, False)
OUTPUT_WITHOUT = (("attention_bias", True), False)
SQUARED = ("hidden_act", "relu2")
MLP_BIAS = ("mlp_bias", False)
ALL_FULL = {"use_sliding_window": (False,), "sliding_window": (None,)}
EVERY_FOURTH_FULL = Windows(4096, 4)

ARCEE = Decoder(eps=FIVE, gated=False, activation=SQUARED, network_biases=MLP_BIAS)
OLMO = Decoder(norm=WITHOUT_BOTH, eps="1e-5", clip="clip_qkv")
OLMO_2 = Decoder(eps=FIVE, order="after", query_key_norm=True, norm_over_all=True)
GRANITE = Decoder(
    network_biases=MLP_BIAS,
    score_scale=Scale("attention_multiplier"),
    residual_scale=Scale("residual_multiplier"),
    embedding_scale=Scale("embedding_multiplier"),
    head_scale=Scale("logits_scaling", inverse=True),
)
COHERE = Decoder(
    norm=WITHOUT_SHIFT,
    eps=LAYER_FIVE,
    order="parallel",
    one_norm=True,
    base="500000",
    halves=False,
    tied=True,
    head_scale=Scale("logit_scale", "0.0625"),
    only={"use_qk_norm": (False,)},
)
GLM = Decoder(
    eps=("rms_norm_eps", "0.00000015625"), groups=2, head_width=128, biases=OUTPUT_WITHOUT, halves=False, share="0.5"
)
NEMOTRON = Decoder(
    norm=LAYER, eps=("norm_eps", "1e-5"), share="0.5", gated=False, activation=SQUARED, network_biases=MLP_BIAS
)
LLAMA_LIKE = Decoder(eps=FIVE, head_width=128, network_biases=MLP_BIAS)
GLM_EXPERTS = Sparse(
    ("n_routed_experts", "num_local_experts"),
    "moe_intermediate_size",
    ("norm_topk_prob", True),
    shared_number="n_shared_experts",
    dense=("first_k_dense_replace", 1),
    scoring="sigmoid",
    scale=Scale("routed_scaling_factor"),
    groups=True,
)
PREDICTION = ("num_nextn_predict_layers",)  # layers that predict further tokens, which are no part of the model

# model_type: the prefix of the library's classes, and the family
DECODERS: dict[str, tuple[str, Decoder]] = {
    "arcee": ("Arcee", ARCEE),  # Arcee AI (2025), AFM-4.5B
    "cohere": ("Cohere", COHERE),  # Cohere (2024), Command R
    "cohere2": (  # Cohere (2025), Command A
        "Cohere2",
        replace(
            COHERE,
            base="10000",
            only={},
            own_width=False,
            windows=replace(EVERY_FOURTH_FULL, rotated="windowed", period_field="sliding_window_pattern"),
        ),
    ),
    "cwm": (
        "Cwm",
        Decoder(
            eps=FIVE,
            groups=8,
            head_width=128,
            biases=NONE,
            base="1000000",
            network_biases=MLP_BIAS,
            windows=Windows(8192, 4, first=True),
        ),
    ),
    "ernie4_5": (  # Baidu (2025), ERNIE 4.5
        "Ernie4_5",
        Decoder(
            eps=FIVE,
            groups=2,
            head_width=128,
            biases=(("use_bias", False),) * 2,
            network_biases=("use_bias", False),
            base="500000",
            halves=False,
            tied=True,
        ),
    ),
    "exaone4": (  # LG AI Research (2025), EXAONE 4.0
        "Exaone4",
        Decoder(
            eps=FIVE,
            order="after",
            groups=32,
            biases=NONE,
            query_key_norm=True,
            windows=replace(EVERY_FOURTH_FULL, rotated="windowed if any", period_field="sliding_window_pattern"),
        ),
    ),
    "glm": ("Glm", GLM),  # GLM Team (2024), GLM-4
    "glm4": ("Glm4", replace(GLM, order="sandwich")),  # Z.ai (2025), GLM-4-0414
    "granite": ("Granite", GRANITE),  # IBM (2024), Granite 3.0
    "granitemoe": ("GraniteMoe", replace(GRANITE, network_biases=False, sparse=Sparse())),
    "granitemoeshared": (
        "GraniteMoeShared",
        replace(GRANITE, network_biases=False, sparse=Sparse(shared="shared_intermediate_size")),
    ),
    "helium": (  # Kyutai (2025), Helium 1
        "Helium",
        Decoder(
            eps=("rms_norm_eps", "1e-8"),
            groups=20,
            head_width=128,
            own_width=False,
            biases=(("attention_bias", False), False),
            network_biases=MLP_BIAS,
            base="100000",
            halves=False,
        ),
    ),
    "hunyuan_v1_dense": ("HunYuanDenseV1", Decoder(eps=FIVE, query_key_norm=True, norm_after=True)),  # Tencent (2025)
    "jais2": (
        "Jais2",
        Decoder(
            norm=LAYER,
            eps=LAYER_FIVE,
            biases=(("attention_bias", True),) * 2,
            gated=False,
            activation=SQUARED,
            network_biases=("mlp_bias", True),
        ),
    ),
    "ministral": ("Ministral", Decoder(groups=8, biases=NONE, windows=Windows(4096))),  # Mistral AI (2024)
    "nemotron": ("Nemotron", NEMOTRON),  # NVIDIA (2024), Nemotron-4
    "olmo": ("Olmo", OLMO),  # Groeneveld et al. (2024)
    "olmo2": ("Olmo2", OLMO_2),  # OLMo Team (2024)
    "olmo3": (
        "Olmo3",
        replace(OLMO_2, base="500000", windows=replace(EVERY_FOURTH_FULL, by_kind=True)),
    ),  # OLMo Team (2025)
    "olmoe": (  # Muennighoff et al. (2024)
        "Olmoe",
        replace(
            OLMO_2,
            order="pre",
            groups=16,
            own_width=False,
            clip="clip_qkv",
            sparse=Sparse(("num_experts",), normalised=("norm_topk_prob", False)),
        ),
    ),
    "persimmon": (  # Adept (2023)
        "Persimmon",
        Decoder(
            norm=LAYER,
            eps=LAYER_FIVE,
            own_width=False,
            grouped=False,
            biases=(True, True),
            query_key_norm=("qk_layernorm", True),
            share="0.5",
            gated=False,
            activation=SQUARED,
            network_biases=True,
        ),
    ),
    "phi": (  # Li et al. (2023)
        "Phi",
        Decoder(
            norm=LAYER,
            eps=LAYER_FIVE,
            order="parallel",
            one_norm=True,
            biases=(True, True),
            query_key_norm=("qk_layernorm", False),
            share="0.5",
            gated=False,
            activation=("hidden_act", "gelu_new"),
            network_biases=True,
            head_bias=True,
        ),
    ),
    "seed_oss": (  # ByteDance (2025)
        "SeedOss",
        Decoder(
            groups=8,
            head_width=128,
            biases=(("attention_bias", True), ("attention_out_bias", False)),
            network_biases=MLP_BIAS,
        ),
    ),
    "smollm3": (  # Hugging Face (2025)
        "SmolLM3",
        Decoder(
            groups=4, base="2000000", network_biases=MLP_BIAS, unrotated="no_rope_layers", tied=True, only=ALL_FULL
        ),
    ),
    "stablelm": (  # Stability AI (2024)
        "StableLm",
        Decoder(
            norm=LAYER,
            eps=LAYER_FIVE,
            parallel=("use_parallel_residual", False),
            one_norm=True,
            groups=32,
            own_width=False,
            biases=(("use_qkv_bias", False), False),
            share="0.25",
            only={"qk_layernorm": (False,)},
        ),
    ),
    "starcoder2": (  # Lozhkov et al. (2024)
        "Starcoder2",
        Decoder(
            norm=LAYER,
            eps=("norm_epsilon", "1e-5"),
            groups=2,
            biases=(("use_bias", True),) * 2,
            gated=False,
            activation=("hidden_act", "gelu_pytorch_tanh"),
            network_biases=("use_bias", True),
            tied=True,
            windows=Windows(listed=False),
        ),
    ),
    "flex_olmo": (  # Shi et al. (2025)
        "FlexOlmo",
        replace(
            OLMO_2,
            eps=SIX,
            base="500000",
            sparse=Sparse(("num_experts",), normalised=("norm_topk_prob", False)),
        ),
    ),
    "glm4_moe": (  # Z.ai (2025), GLM-4.5
        "Glm4Moe",
        Decoder(
            eps=FIVE,
            groups=8,
            biases=(("attention_bias", False), False),
            query_key_norm=("use_qk_norm", False),
            share="0.5",
            sparse=GLM_EXPERTS,
            without_effect=PREDICTION,
        ),
    ),
    "hyperclovax": (  # NAVER Cloud (2025), HyperCLOVA X SEED
        "HyperCLOVAX",
        replace(
            GRANITE,
            sandwich=("use_post_norm", True),
            score_scale=Scale("attention_multiplier", None),
            head_scale=Scale("logits_scaling"),
        ),
    ),
    "internlm3": ("Llama", replace(LLAMA_LIKE, groups=2)),  # InternLM (2025)
    "iquestcoder": ("Llama", replace(LLAMA_LIKE, groups=8)),  # IQuest (2026)
    "mellum": (  # JetBrains (2026), Mellum 2
        "Mellum",
        Decoder(
            groups=4,
            head_width=128,
            query_key_norm=True,
            base="500000",
            windows=Windows(1024, 1, by_kind=True),
            only=dict.fromkeys(
                ("mtp_layer_types", "mtp_mlp_layer_types", "num_mtp_layers", "num_nextn_predict_layers"), (None,)
            ),
            sparse=Sparse(width="moe_intermediate_size", normalised=("norm_topk_prob", True)),
        ),
    ),
    "minimax_m2": (  # MiniMax (2025)
        "MiniMaxM2",
        Decoder(
            groups=8,
            head_width=128,
            biases=NONE,
            query_key_norm=True,
            norm_over_all=True,
            base="5000000",
            share="1",
            sparse=Sparse(scoring="sigmoid"),
        ),
    ),
    "solar_open": (  # Upstage (2026)
        "SolarOpen",
        Decoder(
            eps=FIVE,
            groups=8,
            head_width=128,
            biases=(("attention_bias", False), False),
            base="1000000",
            share="1",
            sparse=replace(GLM_EXPERTS, dense=None),
        ),
    ),
}

for model_type, (prefix, decoder) in DECODERS.items():
    family(model_type, decoder_heads(prefix))(reader_of(decoder))
