"""Decoders that are described by data alone: one entry for each `model_type`, by what differs from Llama.

An entry is the whole family: its configuration, and the names of its weights in checkpoints.

Source       beside each entry; fields, defaults and orders are those of the library `transformers`
"""

from __future__ import annotations

from dataclasses import replace

from derivations.activations.xielu import xielu
from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.checkpoints.family import (
    Stored,
    also,
    fused,
    gated,
    in_sections,
    linear,
    network,
    norm,
    table,
)
from derivations.architectures.checkpoints.llama import LLAMA, MIXTRAL, QWEN_3_EXPERTS, llama_around
from derivations.architectures.checkpoints.plain import (
    AFTER,
    AT,
    BLOCK,
    FUSED_HALVES,
    GRANITE_EXPERTS,
    HALVES,
    LAYERS,
    MINIMAX_EXPERTS,
    PHI,
    UNGATED,
)
from derivations.architectures.checkpoints.plain import GLM_EXPERTS as GLM_NAMES
from derivations.architectures.description import Norm
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.readers.plain import Decoder, Scale, Sparse, Windows, reader_of

__all__ = ["DECODERS", "FIVE"]

LAYER, WITHOUT_SHIFT, WITHOUT_BOTH = (
    Norm("layer"),
    Norm("layer", shifted=False),
    Norm("layer", scaled=False, shifted=False),
)
FIVE, SIX = ("rms_norm_eps", "1e-5"), ("rms_norm_eps", "1e-6")
LAYER_FIVE = ("layer_norm_eps", "1e-5")
NONE = (False, False)
ALPHAS = ("alpha_p", "alpha_n")
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
ERNIE = Decoder(
    eps=FIVE,
    groups=2,
    head_width=128,
    biases=(("use_bias", False),) * 2,
    network_biases=("use_bias", False),
    base="500000",
    halves=False,
    tied=True,
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
    shared_number=("n_shared_experts", 1),
    dense=("first_k_dense_replace", 1),
    scoring="sigmoid",
    scale=Scale("routed_scaling_factor"),
    groups=True,
    buffered=True,
)
PREDICTION = ("num_nextn_predict_layers",)  # layers that predict further tokens, which are no part of the model
GLM_4_MOE = Decoder(
    eps=FIVE,
    groups=8,
    biases=(("attention_bias", False), False),
    query_key_norm=("use_qk_norm", False),
    share="0.5",
    sparse=GLM_EXPERTS,
    without_effect=PREDICTION,
)
EXAONE_4 = Decoder(
    eps=FIVE,
    order="after",
    groups=32,
    biases=NONE,
    query_key_norm=True,
    windows=replace(EVERY_FOURTH_FULL, rotated="windowed if any", period_field="sliding_window_pattern"),
)
HUNYUAN_NORMS = (
    norm(f"{BLOCK}.query_norm", f"{AT}.query_layernorm"),
    norm(f"{BLOCK}.key_norm", f"{AT}.key_layernorm"),
)
HUNYUAN = Decoder(eps=FIVE, query_key_norm=True, norm_after=True)

# model_type: the prefix of classes in the library, and after "|" in released files; the family; names of weights
DECODERS: dict[str, tuple[str, Decoder, Names]] = {
    "apertus": (  # Swiss AI Initiative (2025)
        "Apertus",
        Decoder(
            eps=FIVE,
            query_key_norm=True,
            gated=False,
            activation=("hidden_act", "xielu"),
            own_activation=xielu,
            turned={
                "rope_type": "llama3",
                "rope_theta": 12000000.0,
                "factor": 8.0,
                "original_max_position_embeddings": 8192,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
            },
        ),
        replace(
            also(
                UNGATED,
                norm(f"{BLOCK}_norm", f"{LAYERS}.attention_layernorm"),
                norm("decoder.feed_forward_norm", f"{LAYERS}.feedforward_layernorm"),
                {f"decoder.feed_forward.{each}": Stored(f"{LAYERS}.mlp.act_fn.{each}", axes="flat") for each in ALPHAS},
            ),
            ignored=(*LLAMA.ignored, r"layers\.\d+\.mlp\.act_fn\.(bias|eps)"),  # beta, read as an old name
        ),
    ),
    "arcee": ("Arcee", ARCEE, UNGATED),  # Arcee AI (2025), AFM-4.5B
    "aria_text": (  # Rhymes AI (2024), the language model of Aria
        "AriaText",
        Decoder(
            sparse=Sparse(("num_experts",), shared_number=("moe_num_shared_experts", 2)),
            only={"hidden_act": ("silu",), "mlp_bias": (False,)},  # experts have SiLU and no biases, shared ones these
            renamed={"moe_topk": "num_experts_per_tok", "moe_num_experts": "num_experts"},
        ),
        also(
            GLM_NAMES,
            {
                f"decoder.experts.{W}": Stored(f"{LAYERS}.mlp.experts.fc1.weight", True, beside=HALVES, stacked=True)
                for W in HALVES
            },
            {
                "decoder.experts.W_down": Stored(f"{LAYERS}.mlp.experts.fc2.weight", True, stacked=True),
                "decoder.experts.W_router": Stored(f"{LAYERS}.mlp.router.weight"),
            },
        ),
    ),
    "cohere": ("Cohere", COHERE, LLAMA),  # Cohere (2024), Command R
    "cohere2": (  # Cohere (2025), Command A
        "Cohere2",
        replace(
            COHERE,
            base="10000",
            only={},
            own_width=False,
            windows=replace(EVERY_FOURTH_FULL, rotated="windowed", period_field="sliding_window_pattern"),
        ),
        LLAMA,
    ),
    "cwm": (
        "Cwm",
        Decoder(
            eps=FIVE,
            groups=8,
            head_width=128,
            biases=NONE,
            base="1000000",
            turned={
                "rope_type": "llama3",
                "rope_theta": 1000000.0,
                "factor": 16.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            },
            network_biases=MLP_BIAS,
            windows=Windows(8192, 4, first=True),
        ),
        LLAMA,
    ),
    "dots1": (  # rednote-hilab (2025), dots.llm1
        "Dots1",
        Decoder(
            groups=32,
            query_key_norm=True,
            sparse=replace(GLM_EXPERTS, dense=("first_k_dense_replace", 0), normalised=("norm_topk_prob", False)),
            only={"sliding_window": (None,), "topk_method": ("noaux_tc",), "scoring_func": ("noaux_tc", "sigmoid")},
            without_effect=("max_window_layers", "layer_types"),  # which layers have a window, and there is none
        ),
        GLM_NAMES,
    ),
    "ernie4_5": (  # Baidu (2025), ERNIE 4.5
        "Ernie4_5",
        ERNIE,
        LLAMA,
    ),
    "ernie4_5_moe": (
        "Ernie4_5_Moe",
        replace(
            ERNIE,
            head_width=None,
            groups=4,
            biases=NONE,
            network_biases=False,
            sparse=Sparse(
                ("num_experts",),
                "moe_intermediate_size",
                shared_number=("moe_num_shared_experts", 2),
                dense=("moe_layer_start_index", 1),
                last="moe_layer_end_index",
                corrected=True,
            ),
            only={"moe_layer_interval": (1,), "use_bias": (False,)},
            without_effect=("moe_norm_min",),  # smaller than what it bounds
            renamed={"moe_k": "num_experts_per_tok", "moe_num_experts": "num_experts"},
        ),
        also(
            GLM_NAMES,
            {"decoder.experts.b_correction": Stored(f"{LAYERS}.mlp.moe_statics.e_score_correction_bias", axes="flat")},
        ),
    ),
    "exaone": (  # LG AI Research (2024), EXAONE 3.0
        "Llama|Exaone",
        replace(
            LLAMA_LIKE,
            groups=8,
            head_width=None,
            base="500000",
            renamed={
                "num_layers": "num_hidden_layers",
                "layer_norm_epsilon": "rms_norm_eps",
                "activation_function": "hidden_act",
            },
        ),
        replace(
            LLAMA,
            prefixes=("transformer.", *LLAMA.prefixes),
            renamed={
                r"^wte\.": "embed_tokens.",
                r"^h\.": "layers.",
                r"^ln_f\.": "norm.",
                r"\.ln_1\.": ".input_layernorm.",
                r"\.ln_2\.": ".post_attention_layernorm.",
                r"\.attn\.attention\.": ".self_attn.",
                r"\.out_proj\.": ".o_proj.",
                r"\.c_fc_0\.": ".gate_proj.",
                r"\.c_fc_1\.": ".up_proj.",
                r"\.c_proj\.": ".down_proj.",
            },
        ),
    ),
    "exaone4": (  # LG AI Research (2025), EXAONE 4.0
        "Exaone4",
        EXAONE_4,
        AFTER,
    ),
    "exaone_moe": (  # LG AI Research (2026), K-EXAONE
        "ExaoneMoe",
        replace(
            EXAONE_4,
            order="pre",
            sparse=replace(
                GLM_EXPERTS,
                number=("num_experts",),
                shared_number=("num_shared_experts", 1),
                scale=Scale("routed_scaling_factor", "2.5"),
                by_layer=True,
            ),
            without_effect=PREDICTION,
        ),
        also(GLM_NAMES, {"decoder.experts.b_correction": Stored(f"{LAYERS}.mlp.e_score_correction_bias")}),
    ),
    "glm": ("Glm", GLM, FUSED_HALVES),  # GLM Team (2024), GLM-4
    "glm4": (  # Z.ai (2025), GLM-4-0414
        "Glm4",
        replace(GLM, order="sandwich"),
        also(
            FUSED_HALVES,
            norm(f"{BLOCK}_norm_after", f"{LAYERS}.post_self_attn_layernorm"),
            norm("decoder.feed_forward_norm_after", f"{LAYERS}.post_mlp_layernorm"),
        ),
    ),
    "granite": ("Granite", GRANITE, LLAMA),  # IBM (2024), Granite 3.0
    "granitemoe": ("GraniteMoe", replace(GRANITE, network_biases=False, sparse=Sparse()), GRANITE_EXPERTS),
    "granitemoeshared": (
        "GraniteMoeShared",
        replace(GRANITE, network_biases=False, sparse=Sparse(shared="shared_intermediate_size")),
        GRANITE_EXPERTS,
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
        LLAMA,
    ),
    "hunyuan_v1_dense": (  # Tencent (2025)
        "HunYuanDenseV1",
        HUNYUAN,
        also(LLAMA, *HUNYUAN_NORMS),
    ),
    "hunyuan_v1_moe": (  # Tencent (2024), Hunyuan-Large
        "HunYuanMoEV1",
        replace(
            HUNYUAN,
            sparse=Sparse(("num_experts",), shared="intermediate_size"),  # which is as wide as an expert
            renamed={"moe_topk": "num_experts_per_tok"},
        ),
        also(
            QWEN_3_EXPERTS,
            *HUNYUAN_NORMS,
            {"decoder.experts.W_router": Stored(f"{LAYERS}.mlp.gate.wg.weight")},
            gated(
                "decoder.experts.shared_experts", *(f"{LAYERS}.mlp.shared_mlp.{n}_proj" for n in ("gate", "up", "down"))
            ),
        ),
    ),
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
        UNGATED,
    ),
    "ministral": ("Ministral", Decoder(groups=8, biases=NONE, windows=Windows(4096)), LLAMA),  # Mistral AI (2024)
    "nemotron": ("Nemotron", NEMOTRON, also(UNGATED, llama_around(added=1))),  # NVIDIA (2024), Nemotron-4
    "olmo": ("Olmo", OLMO, LLAMA),  # Groeneveld et al. (2024)
    "olmo2": ("Olmo2", OLMO_2, AFTER),  # OLMo Team (2024)
    "olmo3": (
        "Olmo3",
        replace(OLMO_2, base="500000", windows=replace(EVERY_FOURTH_FULL, by_kind=True)),
        AFTER,
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
        QWEN_3_EXPERTS,
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
        also(
            PHI,
            fused(BLOCK, f"{AT}.query_key_value", "Q Q_pass K K_pass V", by_head=True),
            network("decoder", f"{LAYERS}.mlp.dense_h_to_4h", f"{LAYERS}.mlp.dense_4h_to_h"),
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
        PHI,
    ),
    "phimoe": (  # Abdin et al. (2024), Phi-3.5-MoE: two experts, weighted by a softmax each
        "Phimoe",
        Decoder(
            norm=LAYER,
            eps=FIVE,
            groups=8,
            base="1000000",
            windows=Windows(listed=False),
            sparse=Sparse(normalised=False, jitter=("router_jitter_noise", "0.01")),
            head_bias=("lm_head_bias", False),
            only={"num_experts_per_tok": (2,)},
            without_effect=("input_jitter_noise",),
        ),
        MIXTRAL,
    ),
    "sarvam_moe": (  # Sarvam AI (2026)
        "Glm4Moe|SarvamMoE",
        replace(
            GLM_4_MOE,
            eps=SIX,
            groups=4,
            head_width=64,
            base="8000000",
            sparse=replace(GLM_EXPERTS, scale=Scale("routed_scaling_factor", "2.5")),
            share="1",
            query_key_norm=("use_qk_norm", True),
            renamed={
                "num_experts": "n_routed_experts",
                "num_shared_experts": "n_shared_experts",
                "num_mtp_layers": "num_nextn_predict_layers",
                "use_qkv_bias": "attention_bias",
            },
        ),
        also(
            GLM_NAMES,
            table("E", "word_embeddings.weight"),
            in_sections(BLOCK, f"{LAYERS}.attention.query_key_value", "Q Q_pass", "K K_pass", "V"),
            linear(f"{BLOCK}.W_O", f"{LAYERS}.attention.dense"),
            norm(f"{BLOCK}.query_norm", f"{LAYERS}.attention.query_layernorm"),
            norm(f"{BLOCK}.key_norm", f"{LAYERS}.attention.key_layernorm"),
            {"decoder.experts.b_correction": Stored(f"{LAYERS}.mlp.gate.expert_bias")},
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
        LLAMA,
    ),
    "smollm3": (  # Hugging Face (2025)
        "SmolLM3",
        Decoder(
            groups=4, base="2000000", network_biases=MLP_BIAS, unrotated="no_rope_layers", tied=True, only=ALL_FULL
        ),
        LLAMA,
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
        LLAMA,
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
        also(LLAMA, network("decoder", f"{LAYERS}.mlp.c_fc", f"{LAYERS}.mlp.c_proj")),
    ),
    "flex_olmo": (  # Shi et al. (2025)
        "FlexOlmo",
        replace(
            OLMO_2,
            eps=SIX,
            base="500000",
            sparse=Sparse(("num_experts",), normalised=("norm_topk_prob", False)),
        ),
        also(QWEN_3_EXPERTS, {name: stored for name, stored in AFTER.weights.items() if "_norm." in name}),
    ),
    "glm4_moe": (  # Z.ai (2025), GLM-4.5
        "Glm4Moe",
        GLM_4_MOE,
        GLM_NAMES,
    ),
    "hy_v3": (  # Tencent (2026), Hy3
        "HYV3",
        Decoder(
            eps=FIVE,
            groups=8,
            head_width=128,
            query_key_norm=True,
            base="11158840",
            sparse=replace(
                GLM_EXPERTS,
                number=("num_experts",),
                normalised=True,
                shared_number=("num_shared_experts", 1),
                scale=Scale("router_scaling_factor", "2.826"),
                always_shared=True,
                groups=False,
                by_layer=True,
            ),
            only={"first_k_dense_replace": (1,)},
            without_effect=("enable_moe_fp32_combine",),
        ),
        also(
            GLM_NAMES,
            gated(
                "decoder.experts.shared_experts", *(f"{LAYERS}.mlp.shared_mlp.{n}_proj" for n in ("gate", "up", "down"))
            ),
            {
                "decoder.experts.W_router": Stored(f"{LAYERS}.mlp.router.gate.weight"),
                "decoder.experts.b_correction": Stored(f"{LAYERS}.mlp.expert_bias"),
            },
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
        also(
            LLAMA,
            norm(f"{BLOCK}_norm_after", f"{LAYERS}.post_norm1"),
            norm("decoder.feed_forward_norm_after", f"{LAYERS}.post_norm2"),
        ),
    ),
    "internlm3": ("Llama|InternLM3", replace(LLAMA_LIKE, groups=2), LLAMA),  # InternLM (2025)
    "iquestcoder": ("Llama", replace(LLAMA_LIKE, groups=8), LLAMA),  # IQuest (2026)
    "mellum": (  # JetBrains (2026), Mellum 2
        "Mellum",
        Decoder(
            groups=4,
            head_width=128,
            query_key_norm=True,
            base="500000",
            turned={
                "full_attention": {"rope_type": "default", "rope_theta": 500000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            },
            windows=Windows(1024, 1, by_kind=True),
            only=dict.fromkeys(
                ("mtp_layer_types", "mtp_mlp_layer_types", "num_mtp_layers", "num_nextn_predict_layers"), (None,)
            ),
            sparse=Sparse(width="moe_intermediate_size", normalised=("norm_topk_prob", True)),
        ),
        QWEN_3_EXPERTS,
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
            sparse=Sparse(scoring="sigmoid", buffered=True),
        ),
        MINIMAX_EXPERTS,
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
        GLM_NAMES,
    ),
}

for model_type, (prefixes, decoder, names) in DECODERS.items():
    heads = {name: kind for prefix in prefixes.split("|") for name, kind in decoder_heads(prefix).items()}
    family(model_type, heads, names)(reader_of(decoder))
