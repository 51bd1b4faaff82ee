"""Small models of the families that are described by data: for each class of the library, changes of small sizes.

Every comparison with the library takes these models in: parameters by component, products that are executed, fields
changed one by one, scores from random weights, greedy texts; those of `COUNTED` do not run here.
"""

from typing import Any

__all__ = [
    "COMPARED",
    "COUNTED",
    "MADE_OF_MODELS",
    "OF_TEXTS",
    "PICTURE",
    "PICTURES",
    "RECURRENT",
    "SMALL",
    "SOUNDS",
    "SPECTRA",
    "VOCAB",
]

VOCAB = 23
Changes = dict[str, Any]
SIZES: Changes = {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 11,
    "head_dim": 10,
    "max_position_embeddings": 64,
}
TOKENS: Changes = {"vocab_size": VOCAB, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 1}
QUOTIENT: Changes = {"hidden_size": 32, "head_dim": None}  # where heads have no width of their own
LONE_HEADS: Changes = {**QUOTIENT, "num_key_value_heads": None}
QUARTER: Changes = {"hidden_size": 64, "head_dim": None}  # of 4 columns of 16, one quarter is rotated
HALF: Changes = {"head_dim": 12}
BIASED: Changes = {"attention_bias": True, "mlp_bias": True}
TIED: Changes = {"tie_word_embeddings": True}
EXPERTS: Changes = {"num_experts_per_tok": 2}
FEW: Changes = {**EXPERTS, "num_local_experts": 5, "moe_intermediate_size": 7}
ERNIE: Changes = {"moe_k": 2, "moe_num_experts": 5, "moe_intermediate_size": 7}
ARIA: Changes = {"moe_topk": 2, "moe_num_experts": 5}
MANY: Changes = {**EXPERTS, "n_routed_experts": 5, "moe_intermediate_size": 7}
GROWING: Changes = {"rope_type": "default", "rope_theta": 100.0, "llama_4_scaling_beta": 0.3}
GROWING |= {"original_max_position_embeddings": 2}  # that queries grow by in a short text
UNBOUNDED: Changes = {"n_shared_experts": 1, "sliding_window": None}
SCALES: Changes = {
    "embedding_multiplier": 3.0,
    "logits_scaling": 1.7,
    "residual_multiplier": 0.3,
    "attention_multiplier": 0.2,
}
FULL: Changes = {"layer_types": ["full_attention"] * 3, "sliding_window": None}
OF_BOTH_KINDS: Changes = {"layer_types": ["full_attention", "sliding_attention", "full_attention"], "sliding_window": 2}

CHOSEN: Changes = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 7}
IN_GROUPS: Changes = {"num_experts": 6, "num_experts_per_tok": 3, "n_group": 3, "topk_group": 2}
IN_GROUPS |= {"moe_intermediate_size": 5}
DECODERS: dict[str, tuple[Changes, ...]] = {
    "Afmoe": (
        CHOSEN | {"sliding_window": 2, "mup_enabled": True},
        CHOSEN | OF_BOTH_KINDS | {"num_dense_layers": 2, "num_shared_experts": 1, "route_scale": 1.7},
    ),
    "HYV3": (CHOSEN, CHOSEN | {"mlp_layer_types": ["sparse", "dense", "sparse"], "num_shared_experts": 2}),
    "Apertus": ({}, {"attention_bias": True, "hidden_act": "relu2"}),
    "Arcee": ({}, BIASED | TIED),
    "AriaText": (ARIA, ARIA | {"moe_num_shared_experts": 1, "attention_bias": True, "tie_word_embeddings": True}),
    "Cohere": (QUOTIENT, QUOTIENT | {"attention_bias": True, "logit_scale": 0.3}),
    "Cohere2": (QUOTIENT | {"sliding_window": 2}, QUOTIENT | OF_BOTH_KINDS),
    "Cwm": ({"sliding_window": 3}, {"mlp_bias": True} | OF_BOTH_KINDS),
    "Dots1": (
        MANY | UNBOUNDED,
        MANY | UNBOUNDED | {"n_shared_experts": 2, "first_k_dense_replace": 1, "norm_topk_prob": True},
    ),
    "Ernie4_5": ({}, {"use_bias": True, "tie_word_embeddings": False}),
    "Ernie4_5_Moe": (ERNIE, ERNIE | {"moe_layer_start_index": 0, "moe_num_shared_experts": 0, "head_dim": 6}),
    "HunYuanMoEV1": (
        {"num_experts": 5, "moe_topk": 2},
        {"num_experts": 3, "moe_topk": 1, "attention_bias": True},
    ),
    "ExaoneMoe": (
        IN_GROUPS | {"n_group": 1, "topk_group": 1, "sliding_window": 2},
        IN_GROUPS | OF_BOTH_KINDS | {"mlp_layer_types": ["sparse", "dense", "sparse"], "num_shared_experts": 2},
    ),
    "Exaone4": ({"sliding_window": 2}, OF_BOTH_KINDS, FULL),
    "FlexOlmo": (EXPERTS, EXPERTS | {"norm_topk_prob": True, "num_experts": 5}),
    "Glm4Moe": (HALF | MANY, HALF | MANY | {"use_qk_norm": True, "n_shared_experts": 2, "attention_bias": True}),
    "Glm": (HALF, HALF | {"attention_bias": False}),
    "Glm4": (HALF, {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 1.0}}),
    "Granite": (SCALES, BIASED | TIED),
    "GraniteMoe": ({**SCALES, **EXPERTS}, EXPERTS | {"num_local_experts": 5, "attention_bias": True}),
    "GraniteMoeShared": ({**SCALES, **EXPERTS, "shared_intermediate_size": 5}, EXPERTS),
    "Helium": ({"head_dim": 6}, {"head_dim": 6, "attention_bias": True, "mlp_bias": True}),
    "HunYuanDenseV1": ({}, {"attention_bias": True}),
    "HyperCLOVAX": (SCALES, BIASED | {"use_post_norm": False}),
    "Jais2": ({}, {"attention_bias": False, "mlp_bias": False}),
    "Mellum": (FEW, FEW | OF_BOTH_KINDS | {"norm_topk_prob": False, "attention_bias": True}),
    "MiniMaxM2": (EXPERTS | {"num_local_experts": 5},),
    "SolarOpen": (MANY, MANY | {"norm_topk_prob": False, "n_shared_experts": 3}),
    "Ministral": ({"sliding_window": 2}, OF_BOTH_KINDS),
    "Ministral3": ({}, {"rope_parameters": GROWING, "sliding_window": 3}),
    "Nemotron": (HALF, HALF | BIASED),
    "Olmo": ({}, {"clip_qkv": 0.5, "attention_bias": True}),
    "Olmo2": ({}, {"attention_bias": True, "num_key_value_heads": 4}),
    "Olmo3": ({"sliding_window": 2}, OF_BOTH_KINDS),
    "Olmoe": (QUOTIENT | EXPERTS, QUOTIENT | EXPERTS | {"num_experts": 5, "norm_topk_prob": True, "clip_qkv": 0.5}),
    "Persimmon": (LONE_HEADS, LONE_HEADS | {"qk_layernorm": False}),
    "Phi": (QUOTIENT, QUOTIENT | {"qk_layernorm": True, "num_key_value_heads": 4}),
    "SeedOss": ({}, {"attention_bias": False, "attention_out_bias": True, "mlp_bias": True}),
    "SmolLM3": ({}, {"no_rope_layers": [0, 1, 0], "attention_bias": True}),
    "StableLm": (QUARTER, QUARTER | {"use_parallel_residual": True, "use_qkv_bias": True}),
    "VaultGemma": ({"sliding_window": 2, "query_pre_attn_scalar": 7}, {"sliding_window": 3, "attention_bias": True}),
    "Starcoder2": ({}, {"use_bias": False, "sliding_window": 2}),
}


ENCODER: Changes = {
    "vocab_size": VOCAB,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 11,
    "max_position_embeddings": 17,
}
MODERN: Changes = {**ENCODER, **TOKENS, "local_attention": 5, "num_attention_heads": 2, "hidden_activation": "relu"}
FROM_PADDING: Changes = ENCODER | {"pad_token_id": 1, "num_labels": 5}  # positions are numbered from the padding token
TURNING: Changes = ENCODER | {"num_attention_heads": 2, "num_labels": 5, "pad_token_id": 0}  # pairs of columns
ENCODERS: dict[str, Changes] = {
    "AlbertForMaskedLM": ENCODER | {"embedding_size": 5, "num_hidden_layers": 3, "hidden_act": "relu"},
    "AlbertForSequenceClassification": ENCODER | {"embedding_size": 12, "num_labels": 5},
    "CamembertForMaskedLM": FROM_PADDING,
    "Data2VecTextForMaskedLM": FROM_PADDING,
    "BertGenerationDecoder": ENCODER | {"is_decoder": True, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 1},
    "ElectraForMaskedLM": ENCODER | {"embedding_size": 5, "hidden_act": "relu"},
    "ErnieForMaskedLM": ENCODER,
    "ErnieForSequenceClassification": ENCODER | {"num_labels": 5},
    "EuroBertForMaskedLM": {**TOKENS, **ENCODER, "hidden_size": 24, "num_attention_heads": 4, "num_key_value_heads": 2},
    "JinaEmbeddingsV3ForMaskedLM": TURNING,
    "JinaEmbeddingsV3ForSequenceClassification": TURNING,
    "NomicBertForMaskedLM": TURNING | {"type_vocab_size": 3},
    "NomicBertForSequenceClassification": TURNING | {"hidden_act": "gelu"},
    "ModernBertForMaskedLM": MODERN | {"num_hidden_layers": 5},
    "MPNetForMaskedLM": FROM_PADDING,
    "MPNetForSequenceClassification": FROM_PADDING,
    "MegatronBertForMaskedLM": ENCODER,
    "MegatronBertForSequenceClassification": ENCODER | {"num_labels": 5},
    "RobertaPreLayerNormForMaskedLM": FROM_PADDING,
    "XLMRobertaForMaskedLM": FROM_PADDING,
    "XLMRobertaXLForMaskedLM": FROM_PADDING,
    "XLMRobertaForSequenceClassification": FROM_PADDING,
}
NEAR: Changes = ENCODER | {"relative_attention": True, "pos_att_type": "p2c|c2p"}
IN_BUCKETS: Changes = NEAR | {"position_buckets": 4, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
DEBERTA: list[tuple[str, Changes]] = [
    ("DebertaV2ForMaskedLM", IN_BUCKETS | {"position_biased_input": False}),
    ("DebertaV2ForMaskedLM", NEAR | {"max_relative_positions": 3, "legacy": False, "type_vocab_size": 2}),
    ("DebertaV2ForMaskedLM", NEAR | {"pos_att_type": ["p2c"], "position_buckets": 5, "hidden_act": "relu"}),
    ("DebertaV2ForSequenceClassification", NEAR | {"pos_att_type": ["c2p"], "num_labels": 5}),
    ("DebertaV2ForSequenceClassification", ENCODER | {"pos_att_type": ["c2p"], "num_labels": 5}),
]
PAIR: Changes = {
    "vocab_size": VOCAB,
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_ffn_dim": 7,
    "decoder_ffn_dim": 11,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 2,
    "max_position_embeddings": 19,
    "pad_token_id": 0,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 2,
}
PAIRS: dict[str, tuple[Changes, ...]] = {
    "Blenderbot": (PAIR, PAIR | {"scale_embedding": True, "activation_function": "relu"}),
    "BlenderbotSmall": (PAIR,),
    "MBart": (PAIR | {"forced_eos_token_id": None},),
    "MT5": (
        {"vocab_size": VOCAB, "d_model": 12, "d_kv": 5, "d_ff": 11, "num_layers": 2, "num_heads": 3}
        | {"decoder_start_token_id": 0},
    ),
    "Mvp": (PAIR | {"forced_eos_token_id": None},),
    "PLBart": (PAIR,),
    "Pegasus": (PAIR, PAIR | {"scale_embedding": True}),
}
GPT: Changes = {"n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 17, **TOKENS}
GPT_NEO: Changes = {"hidden_size": 12, "num_heads": 3, "max_position_embeddings": 17, "window_size": 3, **TOKENS}
MPT: Changes = {"d_model": 16, "n_heads": 4, "n_layers": 2, **TOKENS}
DBRX: Changes = {"d_model": 24, "n_heads": 6, "n_layers": 2, **TOKENS}
TURNED: Changes = {"rope_theta": 10000.0}  # without which the library has no such model
SPARSE_OF_DBRX: Changes = {"ffn_hidden_size": 7, "moe_num_experts": 5, "moe_top_k": 2}
NORMS: Changes = {"norm_bias": True, "classifier_bias": True, "decoder_bias": False}
LLAMA_4: Changes = {**SIZES, **TOKENS, "num_local_experts": 5, "num_experts_per_tok": 2, "intermediate_size_mlp": 13}
LLAMA_4 |= {"attention_chunk_size": 3, "no_rope_layer_interval": 3, "floor_scale": 2, "attn_scale": 0.3}
ROUTED: Changes = {
    "n_routed_experts": 6,
    "n_group": 3,
    "topk_group": 2,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 5,
}
LATENT: Changes = {
    **TOKENS,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "num_key_value_heads": 3,
    "intermediate_size": 11,
    "max_position_embeddings": 64,
    "kv_lora_rank": 11,
    "q_lora_rank": 13,
    "qk_rope_head_dim": 2,
    "qk_nope_head_dim": 5,
    "v_head_dim": 7,
}
EVEN: Changes = LATENT | {"kv_lora_rank": 12, "qk_nope_head_dim": 6}  # as pairs of reals are complex numbers there
ONE_GROUP: Changes = ROUTED | {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 1}
# of so many heads that scores of 0, which are equal, are rare: the library takes any of equal ones
INDEXED: Changes = {"index_topk": 2, "index_head_dim": 5, "index_n_heads": 11}
STRETCHED: Changes = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 100.0}
STRETCHED |= {"mscale": 0.7, "mscale_all_dim": 1.3}  # which scale the rotated columns and the scores
GPT_OSS: Changes = {
    **SIZES,
    **TOKENS,
    "num_local_experts": 5,
    "num_experts_per_tok": 2,
    "sliding_window": 3,
    "swiglu_limit": 1.5,
    "rope_parameters": {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 16,
        "truncate": False,
        "rope_theta": 100.0,
    },
}
# four layers of each kind, of which the last ones take keys and values: those of a layer before other ones, too
GEMMA_4: Changes = {
    **SIZES,
    **TOKENS,
    "num_hidden_layers": 8,
    "layer_types": [f"{each}_attention" for each in ("sliding", "full", "sliding", "sliding", "full", "sliding")]
    + ["sliding_attention", "full_attention"],
    "num_kv_shared_layers": 3,
    "sliding_window": 3,
    "global_head_dim": 12,
    "vocab_size_per_layer_input": VOCAB,
    "hidden_size_per_layer_input": 5,
}
GEMMA_3N: Changes = {
    **{field: value for field, value in GEMMA_4.items() if field != "global_head_dim"},
    "altup_num_inputs": 3,
    "laurel_rank": 5,
    "activation_sparsity_pattern": [0.6, 0.6, 0.0, 0.0, 0.9, 0.0, 0.0, 0.6],
}
XGLM: Changes = {**TOKENS, "d_model": 12, "ffn_dim": 11, "num_layers": 2, "attention_heads": 3}
LONE: list[tuple[str, Changes]] = [
    ("DeepseekV2ForCausalLM", EVEN | ROUTED),
    ("DeepseekV2ForCausalLM", EVEN | ONE_GROUP | {"topk_method": "group_limited_greedy", "q_lora_rank": None}),
    ("DeepseekV2ForCausalLM", EVEN | ROUTED | {"topk_method": "group_limited_greedy", "first_k_dense_replace": 2}),
    ("DeepseekV3ForCausalLM", LATENT | ROUTED | {"first_k_dense_replace": 1}),
    ("DeepseekV3ForCausalLM", LATENT | ONE_GROUP | {"q_lora_rank": None, "n_shared_experts": 2}),
    ("DeepseekV32ForCausalLM", LATENT | ROUTED | INDEXED | {"first_k_dense_replace": 1}),
    ("DeepseekV32ForCausalLM", LATENT | ONE_GROUP | INDEXED | {"index_topk": 3, "rope_parameters": STRETCHED}),
    ("GlmMoeDsaForCausalLM", LATENT | ONE_GROUP | INDEXED),
    ("GlmMoeDsaForCausalLM", LATENT | ROUTED | INDEXED | {"first_k_dense_replace": 3, "index_topk": 64}),
    ("Glm4MoeForCausalLM", {**SIZES, **TOKENS, **ROUTED, "head_dim": 12}),
    ("Glm4MoeForCausalLM", {**SIZES, **TOKENS, **ROUTED, "head_dim": 12, "use_qk_norm": True, "n_shared_experts": 2}),
    ("Glm4MoeLiteForCausalLM", LATENT | ONE_GROUP),
    ("Glm4MoeLiteForCausalLM", LATENT | ROUTED),
    ("SolarOpenForCausalLM", {**SIZES, **TOKENS, **ROUTED}),
    ("Mistral4ForCausalLM", LATENT | ONE_GROUP | {"rope_parameters": GROWING | STRETCHED}),
    (
        "Mistral4ForCausalLM",
        LATENT
        | ROUTED
        | {"q_lora_rank": None, "rope_interleave": False, "norm_topk_prob": False, "routed_scaling_factor": 1.7}
        | {"rope_parameters": GROWING | STRETCHED | {"original_max_position_embeddings": 3}},
    ),
    ("MiniCPM3ForCausalLM", LATENT | {"scale_emb": 3.0, "scale_depth": 1.7, "dim_model_base": 7}),
    ("YoutuForCausalLM", LATENT | {"q_lora_rank": None}),
    ("Llama4ForCausalLM", LLAMA_4),
    (
        "Llama4ForCausalLM",
        LLAMA_4
        | {"interleave_moe_layer_step": 2, "use_qk_norm": False, "attention_bias": True}
        | {"no_rope_layers": [0, 1, 1], "attn_temperature_tuning": False, "num_experts_per_tok": 1},
    ),
    (
        "DbrxForCausalLM",
        DBRX | {"attn_config": TURNED | {"kv_n_heads": 2, "clip_qkv": 0.7}, "ffn_config": SPARSE_OF_DBRX},
    ),
    (
        "DbrxForCausalLM",
        DBRX
        | {
            "attn_config": TURNED | {"kv_n_heads": 6, "clip_qkv": 8.0},
            "ffn_config": SPARSE_OF_DBRX | {"moe_normalize_expert_weights": None},
        },
    ),
    ("Gemma4ForCausalLM", GEMMA_4),
    (
        "Gemma4ForCausalLM",
        GEMMA_4
        | {"attention_k_eq_v": True, "num_global_key_value_heads": 1, "use_double_wide_mlp": True}
        | {"attention_bias": True, "final_logit_softcapping": 2.0, "num_key_value_heads": 4},
    ),
    ("Gemma4ForCausalLM", GEMMA_4 | {"num_kv_shared_layers": 0, "hidden_size_per_layer_input": 0}),
    ("Gemma3nForCausalLM", GEMMA_3N),
    (
        "Gemma3nForCausalLM",
        GEMMA_3N
        | {"altup_active_idx": 1, "altup_correct_scale": False, "attention_bias": True, "num_key_value_heads": 4}
        | {"intermediate_size": [7, 7, 11, 11, 11, 13, 7, 7], "activation_sparsity_pattern": [0.0] * 8},
    ),
    ("Gemma3nForCausalLM", GEMMA_3N | {"num_kv_shared_layers": 0, "altup_num_inputs": 2}),
    ("LlamaForCausalLM", {**SIZES, **TOKENS, "model_type": "internlm3"}),
    ("PhimoeForCausalLM", {**SIZES, **TOKENS, "num_local_experts": 5}),
    (
        "PhimoeForCausalLM",
        {
            **SIZES,
            **TOKENS,
            "attention_bias": True,
            "num_local_experts": 3,
            "lm_head_bias": True,
            "router_jitter_noise": 0.4,
        },
    ),
    ("LlamaForCausalLM", {**SIZES, **TOKENS, "model_type": "iquestcoder", "mlp_bias": True}),
    ("LlamaForCausalLM", {**SIZES, **TOKENS, "model_type": "exaone"}),
    ("LlamaForCausalLM", {**SIZES, **TOKENS, "model_type": "exaone", "attention_bias": True, "mlp_bias": True}),
    ("Glm4MoeForCausalLM", {**SIZES, **TOKENS, **ROUTED, "model_type": "sarvam_moe"}),
    ("Glm4MoeForCausalLM", {**SIZES, **TOKENS, **ROUTED, "model_type": "sarvam_moe", "attention_bias": True}),
    ("DeepseekV3ForCausalLM", LATENT | ONE_GROUP | {"model_type": "sarvam_mla"}),
    ("ModernBertForMaskedLM", MODERN | BIASED | NORMS | {"layer_types": ["sliding_attention", "full_attention"]}),
    ("ModernBertDecoderForCausalLM", MODERN | {"num_hidden_layers": 5}),
    (
        "ModernBertDecoderForCausalLM",
        MODERN | BIASED | NORMS | {"layer_types": ["sliding_attention", "full_attention"]},
    ),
    ("BioGptForCausalLM", ENCODER | TOKENS),
    ("CodeGenForCausalLM", GPT | {"n_embd": 16, "n_head": 4, "rotary_dim": 2, "n_ctx": 17}),
    ("CodeGenForCausalLM", GPT | {"n_embd": 32, "n_head": 8, "rotary_dim": 4, "n_ctx": 17, "n_inner": 7}),
    ("GptOssForCausalLM", GPT_OSS),
    ("GptOssForCausalLM", GPT_OSS | {"attention_bias": False, "num_experts_per_tok": 3}),
    ("GPTBigCodeForCausalLM", GPT),
    ("GPTBigCodeForCausalLM", GPT | {"multi_query": False, "n_inner": 7, "scale_attn_weights": False}),
    ("GPTNeoForCausalLM", GPT_NEO | {"num_layers": 2, "attention_types": [[["global", "local"], 1]]}),
    ("MptForCausalLM", MPT),
    ("MptForCausalLM", MPT | {"attn_config": {"clip_qkv": 0.3}}),
    ("XGLMForCausalLM", XGLM),
    ("M2M100ForConditionalGeneration", PAIR),
    ("M2M100ForConditionalGeneration", PAIR | {"pad_token_id": 1, "eos_token_id": 0, "scale_embedding": False}),
    ("MarianMTModel", PAIR | {"activation_function": "swish"}),
    ("MarianMTModel", PAIR | {"scale_embedding": True}),
    ("OpenAIGPTLMHeadModel", GPT),
    ("OpenAIGPTLMHeadModel", GPT | {"afn": "relu", "tie_word_embeddings": False}),
]
THREE_AXES: Changes = {
    **TOKENS,
    **{field: size for field, size in SIZES.items() if field != "head_dim"},
    "hidden_size": 32,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "mrope_section": [2, 1, 1]},
}
HALF_AXES: Changes = THREE_AXES | {"rope_parameters": THREE_AXES["rope_parameters"] | {"partial_rotary_factor": 0.5}}
# without its states, which the library makes of another width, and drops from step to step of a text
MIXED_ROWS: Changes = {**TOKENS, "hidden_size": 12, "num_hidden_layers": 3, "use_cache": False}
STATES: Changes = {"hidden_size": 24, "num_hidden_layers": 3, "state_size": 5, **TOKENS}
WIDE: Changes = {name: size for name, size in {**SIZES, **TOKENS}.items() if name != "head_dim"} | {"hidden_size": 32}
HEADS: Changes = {"mamba_n_heads": 8, "mamba_d_state": 5, "mamba_n_groups": 2}
MIXED: Changes = {"layer_types": ["linear_attention", "full_attention", "linear_attention"]}
SHORT: Changes = {"layer_types": ["conv", "full_attention", "conv"]}
BESIDE: Changes = HEADS | {"mamba_d_ssm": 24, "mamba_chunk_size": 4}
MULTIPLIED: Changes = {
    f"{name}_multiplier": 0.3 + number / 7
    for number, name in enumerate(("attention_in", "attention_out", "embedding", "key", "lm_head", "ssm_in", "ssm_out"))
}
SEVERAL: Changes = {"mlp_multipliers": [0.7, 1.3], "ssm_multipliers": [0.4, 0.6, 0.9, 1.2, 1.7]}
LONE_PARTS: Changes = {
    "layers_block_type": ["linear_attention", "mlp", "full_attention", "linear_attention"],
    "mamba_num_heads": 8,
    "mamba_head_dim": 3,
    "ssm_state_size": 5,
    "n_groups": 2,
    "chunk_size": 4,
}
SHARED: Changes = {"n_routed_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 7}
SELECTED: Changes = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 7, "num_dense_layers": 1}
DELTA: Changes = MIXED | {
    "linear_conv_kernel_dim": 3,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 5,
    "linear_value_head_dim": 7,
}
ROUTED_IN_ONE: Changes = {"num_local_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 5}
KIMI: Changes = {"linear_num_heads": 3, "linear_head_dim": 5, "linear_conv_kernel_dim": 3}
# the library saves one convolution in three equal parts
OF_ONE_WIDTH: Changes = {"linear_num_value_heads": 2, "linear_value_head_dim": 5}
FEW_ROUTED: Changes = {
    "num_experts": 5,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 7,
    "shared_expert_intermediate_size": 3,
}
FACTORS: Changes = {
    f"{kind}_{name}_factor": 0.6 + number / 7
    for number, (kind, name) in enumerate(
        (kind, name) for kind in ("linear_attn", "full_attn", "mlp") for name in ("alpha", "beta")
    )
}
RECURRENT: list[tuple[str, Changes]] = [
    ("RwkvForCausalLM", MIXED_ROWS | {"attention_hidden_size": 10, "intermediate_size": 11}),
    ("RwkvForCausalLM", MIXED_ROWS | TIED),
    ("MambaForCausalLM", STATES | {"time_step_rank": 3}),
    ("MambaForCausalLM", STATES | {"use_bias": True, "use_conv_bias": False, "expand": 3}),
    ("FalconMambaForCausalLM", STATES),
    ("Mamba2ForCausalLM", STATES | {"num_heads": 6, "head_dim": 8, "n_groups": 2, "chunk_size": 4}),
    ("JambaForCausalLM", WIDE | {"num_experts": 5, "attn_layer_period": 3, "attn_layer_offset": 1, "mamba_d_state": 5}),
    ("BambaForCausalLM", WIDE | HEADS | BIASED | {"attn_layer_indices": [1]}),
    ("GraniteMoeHybridForCausalLM", WIDE | HEADS | MIXED | {"num_local_experts": 5, "shared_intermediate_size": 7}),
    ("Lfm2ForCausalLM", WIDE | SHORT),
    ("Lfm2ForCausalLM", WIDE | {"full_attn_idxs": [2], "conv_bias": True, "block_auto_adjust_ff_dim": False}),
    ("Lfm2MoeForCausalLM", WIDE | SHORT | SELECTED),
    ("RecurrentGemmaForCausalLM", WIDE | {"intermediate_size": 14, "attention_window_size": 3, "num_hidden_layers": 4}),
    ("RecurrentGemmaForCausalLM", WIDE | {"intermediate_size": 14, "lru_width": 16, "attention_bias": True}),
    ("FalconH1ForCausalLM", WIDE | BESIDE | MULTIPLIED | SEVERAL),
    ("FalconH1ForCausalLM", WIDE | BESIDE | BIASED | {"mamba_rms_norm": True}),
    ("Qwen3NextForCausalLM", {**SIZES, **TOKENS, **DELTA, **FEW_ROUTED, "head_dim": 16}),
    (
        "Qwen3NextForCausalLM",
        {**SIZES, **TOKENS, **DELTA, **FEW_ROUTED, "mlp_only_layers": [1], "attention_bias": True},
    ),
    ("Qwen3_5ForCausalLM", {**SIZES, **TOKENS, **DELTA, "head_dim": 16}),
    ("Qwen3_5MoeForCausalLM", {**SIZES, **TOKENS, **DELTA, **FEW_ROUTED, "head_dim": 16}),
    ("OlmoHybridForCausalLM", WIDE | DELTA | OF_ONE_WIDTH),
    ("OlmoHybridForCausalLM", WIDE | DELTA | OF_ONE_WIDTH | {"linear_allow_neg_eigval": False, "attention_bias": True}),
    ("MiniMaxForCausalLM", {**SIZES, **TOKENS, **MIXED, **EXPERTS, "num_local_experts": 5, "block_size": 4}),
    ("MiniMaxForCausalLM", {**SIZES, **TOKENS, **MIXED, **EXPERTS, **FACTORS, "num_local_experts": 5, "block_size": 4}),
    ("KimiLinearForCausalLM", {**LATENT, **MIXED, **ROUTED_IN_ONE, **KIMI, "q_lora_rank": None}),
    ("KimiLinearForCausalLM", {**LATENT, **MIXED, **ROUTED_IN_ONE, **KIMI, "mlp_layer_types": ["sparse"] * 3}),
    ("NemotronHForCausalLM", {**SIZES, **TOKENS, **LONE_PARTS}),
    ("NemotronHForCausalLM", {**SIZES, **TOKENS, **LONE_PARTS, "mlp_bias": True, "use_bias": True}),
]
COUNTED: list[tuple[str, Changes]] = [
    *RECURRENT,
    (
        "NemotronHForCausalLM",
        {**SIZES, **TOKENS, **SHARED, "layers_block_type": ["moe", "full_attention", "mlp"]}
        | {"moe_shared_expert_intermediate_size": 3},
    ),
    ("CLIPTextModel", ENCODER | TOKENS),
    ("CLIPSegTextModel", ENCODER | TOKENS),
    ("CLIPSegTextModel", ENCODER | TOKENS | {"eos_token_id": 2}),
    ("ChineseCLIPTextModel", ENCODER | {"hidden_size": 6}),  # few columns, or tanh saturates
    ("OwlViTTextModel", ENCODER | TOKENS),
    ("Owlv2TextModel", ENCODER | TOKENS),
    ("SplinterModel", ENCODER),
    ("XCLIPTextModel", ENCODER | TOKENS | {"eos_token_id": 5}),
    ("CLIPTextModelWithProjection", ENCODER | TOKENS | {"projection_dim": 7, "eos_token_id": 2}),
    ("MetaClip2TextModel", ENCODER | TOKENS),
    ("MetaClip2TextModelWithProjection", ENCODER | TOKENS | {"projection_dim": 7, "eos_token_id": 2}),
    ("Siglip2TextModel", ENCODER | TOKENS),
    ("SiglipTextModel", ENCODER | TOKENS),
    ("SiglipTextModel", ENCODER | TOKENS | {"projection_size": 7}),
    ("ElectraForPreTraining", ENCODER | {"embedding_size": 12, "hidden_act": "relu"}),
    ("DeepseekV3ForCausalLM", LATENT | ONE_GROUP | {"model_type": "kimi_k2"}),
    ("Qwen2VLTextModel", THREE_AXES),
    ("Qwen2_5_VLTextModel", THREE_AXES),
    ("Qwen3VLTextModel", THREE_AXES | {"head_dim": 8}),
    ("Qwen3VLMoeTextModel", THREE_AXES | FEW | {"head_dim": 8}),
    ("Qwen3VLMoeTextModel", THREE_AXES | FEW | {"head_dim": 8, "mlp_only_layers": [1], "attention_bias": True}),
    ("Glm4vTextModel", THREE_AXES),
    ("GlmImageTextModel", THREE_AXES | {"attention_bias": False}),
    ("GlmOcrTextModel", THREE_AXES),
    ("GlmOcrTextModel", HALF_AXES | {"head_dim": 16}),
    ("Glm4vMoeTextModel", HALF_AXES | ONE_GROUP | {"hidden_size": 64}),
    ("Glm4vMoeTextModel", HALF_AXES | ROUTED | {"hidden_size": 64, "attention_bias": False}),
    ("PaddleOCRTextModel", THREE_AXES | {"head_dim": 8}),
    ("PaddleOCRTextModel", THREE_AXES | {"head_dim": 8, "use_bias": True}),
    ("Granite4VisionTextModel", WIDE | SCALES),
    ("Granite4VisionTextModel", WIDE | BIASED),
    ("GraniteDoclingTextModel", WIDE),
    ("Emu3TextModel", WIDE),
]


PICTURE: Changes = {
    "hidden_size": 15,
    "num_attention_heads": 5,
    "num_hidden_layers": 2,
    "intermediate_size": 7,
    "image_size": 14,
    "patch_size": 7,
    "num_channels": 2,
}
ON_GRID: Changes = PICTURE | {"hidden_size": 24, "num_attention_heads": 3}  # heads of 8 columns, 4 for each axis
OF_DINO: Changes = {each: PICTURE[each] for each in PICTURE if each != "intermediate_size"} | {"mlp_ratio": 3}
PICTURES: list[tuple[str, Changes]] = [
    ("AltCLIPVisionModel", PICTURE),
    ("CLIPSegVisionModel", PICTURE),
    ("CLIPVisionModel", PICTURE),
    ("ChineseCLIPVisionModel", PICTURE),
    ("CLIPVisionModelWithProjection", PICTURE | {"projection_dim": 11}),
    ("MetaClip2VisionModel", PICTURE),
    ("MetaClip2VisionModelWithProjection", PICTURE | {"projection_dim": 11}),
    ("DeiTForImageClassification", PICTURE | {"num_labels": 3}),
    ("DeiTModel", PICTURE | {"pooler_act": "relu"}),
    ("Dinov2Model", OF_DINO),
    ("Dinov2WithRegistersModel", OF_DINO | {"num_register_tokens": 3}),
    ("Dinov2WithRegistersModel", OF_DINO | {"num_register_tokens": 1, "qkv_bias": False}),
    ("DINOv3ViTModel", ON_GRID),
    ("DINOv3ViTModel", ON_GRID | {"num_register_tokens": 3, "use_gated_mlp": True, "image_size": [14, 21]}),
    ("DINOv3ViTModel", ON_GRID | {"key_bias": True, "query_bias": False, "mlp_bias": False, "proj_bias": False}),
    ("IJepaModel", PICTURE),
    ("OwlViTVisionModel", PICTURE),
    ("Owlv2VisionModel", PICTURE),
    ("SiglipVisionModel", PICTURE),
    ("SiglipVisionModel", PICTURE | {"vision_use_head": False}),
    ("ViTMSNForImageClassification", PICTURE | {"num_labels": 3, "qkv_bias": False}),
    ("ViTMSNModel", PICTURE),
]
SOUND: Changes = {
    **{"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 7, "vocab_size": 13},
    **{"conv_dim": [5, 7, 11], "conv_stride": [3, 2, 2], "conv_kernel": [5, 3, 2]},
    **{"num_conv_pos_embeddings": 6, "num_conv_pos_embedding_groups": 4},
}
NORMED: Changes = {"feat_extract_norm": "layer", "do_stable_layer_norm": True, "conv_bias": True}
ODD_WINDOW: Changes = {"num_conv_pos_embeddings": 5}
SOUNDS: list[tuple[str, Changes]] = [
    ("Data2VecAudioModel", SOUND | {"num_conv_pos_embeddings": 2, "conv_pos_kernel_size": 5}),
    ("Data2VecAudioForCTC", SOUND | {"num_conv_pos_embeddings": 3, "conv_pos_kernel_size": 4, "conv_bias": True}),
    ("HubertForCTC", SOUND | NORMED),
    ("HubertModel", SOUND | ODD_WINDOW | {"feat_proj_layer_norm": False, "feat_extract_activation": "relu"}),
    ("UniSpeechModel", SOUND),
    ("UniSpeechForCTC", SOUND | NORMED | {"mask_time_prob": 0.0}),
    ("UniSpeechSatModel", SOUND | NORMED),
    ("UniSpeechSatForAudioFrameClassification", SOUND | {"num_labels": 5}),
    ("WavLMModel", SOUND | {"num_buckets": 8, "max_bucket_distance": 9}),
    ("WavLMForCTC", SOUND | NORMED | {"num_buckets": 8, "max_bucket_distance": 9}),
    ("WavLMForAudioFrameClassification", SOUND | {"num_labels": 5}),
    ("Wav2Vec2ForCTC", SOUND),
    ("Wav2Vec2Model", SOUND | NORMED),
    ("Wav2Vec2Model", SOUND | ODD_WINDOW | {"conv_dim": [6], "conv_stride": [3], "conv_kernel": [4]}),
    ("Wav2Vec2ForAudioFrameClassification", SOUND | {"num_labels": 5, "mask_time_prob": 0.0}),
]
# of whose encoder alone the positions are read
SPECTRUM: Changes = {
    **{"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 7},
    **{"num_mel_bins": 2, "max_source_positions": 6},
}
WIDTHS: Changes = {"d_model": 24, "encoder_attention_heads": 3, "encoder_layers": 2, "encoder_ffn_dim": 7}
SPECTRA: list[tuple[str, Changes]] = [
    ("VoxtralEncoder", SPECTRUM),
    ("VoxtralEncoder", SPECTRUM | {"max_source_positions": 7, "activation_function": "relu"}),
    ("Qwen2AudioEncoder", WIDTHS | {"num_mel_bins": 2, "max_source_positions": 6}),
    ("AudioFlamingo3Encoder", SPECTRUM),
]
# texts end with token 1, or with the largest one
OF_CLIP: Changes = {"text_config": ENCODER | TOKENS, "vision_config": PICTURE, "projection_dim": 7}
OF_SIGLIP: Changes = {"text_config": ENCODER | TOKENS | {"projection_size": 15}, "vision_config": PICTURE}
COMPARED: list[tuple[str, Changes]] = [
    ("CLIPModel", OF_CLIP),
    ("CLIPModel", OF_CLIP | {"text_config": ENCODER | TOKENS | {"eos_token_id": 2, "hidden_act": "relu"}}),
    ("MetaClip2Model", OF_CLIP | {"text_config": ENCODER | TOKENS | {"eos_token_id": 2}}),
    ("SiglipModel", OF_SIGLIP),
]
# the two models of one that joins them; a picture has 4 patches, or 16
CLIP: Changes = {**PICTURE, "num_hidden_layers": 3, "num_channels": 3, "model_type": "clip_vision_model"}
SIGLIP: Changes = {**CLIP, "image_size": 28, "model_type": "siglip_vision_model"}
TEXT: Changes = {**SIZES, **TOKENS, "num_hidden_layers": 2}
PLACE: Changes = {"image_token_index": 22}
LLAMA_TEXT: Changes = TEXT | {"model_type": "llama"}
OF_TWO_FRAMES: Changes = {
    "embed_dim": 16,
    "depth": 2,
    "num_heads": 2,
    "hidden_size": 32,
    "patch_size": 3,
    "mlp_ratio": 3,
}
OF_ONE_SIZE: Changes = {
    **{"hidden_size": 16, "depth": 4, "num_heads": 2, "intermediate_size": 7, "patch_size": 3, "out_hidden_size": 32},
    **{"num_position_embeddings": 64, "deepstack_visual_indexes": [0, 2]},
}
MADE_OF_MODELS: list[tuple[str, Changes]] = [
    ("LlavaForConditionalGeneration", PLACE | {"text_config": LLAMA_TEXT, "vision_config": CLIP}),
    (
        "LlavaForConditionalGeneration",
        PLACE
        | {"text_config": LLAMA_TEXT | {"model_type": "mistral"}, "vision_config": CLIP, "projector_hidden_act": "relu"}
        | {"vision_feature_layer": 1, "vision_feature_select_strategy": "full", "multimodal_projector_bias": False},
    ),
    (
        "LlavaForConditionalGeneration",
        PLACE | {"text_config": TEXT | {"model_type": "qwen3"}, "vision_config": SIGLIP | {"vision_use_head": False}},
    ),
    (
        "LlavaForConditionalGeneration",
        PLACE | {"text_config": LLAMA_TEXT, "vision_config": CLIP, "vision_feature_layer": [-2, 1]},
    ),
    (
        "VipLlavaForConditionalGeneration",
        PLACE | {"text_config": LLAMA_TEXT, "vision_config": CLIP, "vision_feature_layer": [2, 1, -3, -2]},
    ),
    (
        "PaliGemmaForConditionalGeneration",
        PLACE | {"text_config": TEXT | {"model_type": "gemma"}, "vision_config": SIGLIP, "projection_dim": 24},
    ),
    (
        "Gemma3ForConditionalGeneration",
        PLACE | {"text_config": TEXT, "vision_config": SIGLIP, "mm_tokens_per_image": 4},
    ),
    (
        "Qwen2VLForConditionalGeneration",
        {"image_token_id": 22, "text_config": THREE_AXES, "vision_config": OF_TWO_FRAMES},
    ),
    (
        "Qwen3VLForConditionalGeneration",
        {"image_token_id": 22, "text_config": THREE_AXES | {"head_dim": 8}, "vision_config": OF_ONE_SIZE},
    ),
    (
        "Qwen3VLMoeForConditionalGeneration",
        {"image_token_id": 22, "text_config": THREE_AXES | FEW | {"head_dim": 8}, "vision_config": OF_ONE_SIZE},
    ),
]
WITHOUT_DEEP: Changes = {name: size for name, size in OF_ONE_SIZE.items() if name != "deepstack_visual_indexes"}
# of which the language model is read and runs, for texts; of few layers, where rounding does not grow
OF_TEXTS: list[tuple[str, Changes]] = [
    (
        f"Qwen3_5{kind}ForConditionalGeneration",
        {
            "image_token_id": 22,
            "text_config": {**SIZES, **TOKENS, **DELTA, **experts, "head_dim": 16, "num_hidden_layers": 2}
            | {"model_type": f"qwen3_5{kind and '_moe'}_text", "layer_types": ["linear_attention", "full_attention"]},
            "vision_config": WITHOUT_DEEP | {"out_hidden_size": 24},
        },
    )
    for kind, experts in (("", {}), ("Moe", FEW_ROUTED))
]


def _small(changes: Changes) -> Changes:
    return {
        name: value
        for name, value in {**SIZES, **TOKENS, **changes}.items()
        if value is not None or name == "sliding_window"
    }


SMALL: list[tuple[str, Changes]] = [
    *((f"{prefix}ForCausalLM", _small(changes)) for prefix, variants in DECODERS.items() for changes in variants),
    *LONE,
    *ENCODERS.items(),
    *DEBERTA,
    *((f"{prefix}ForConditionalGeneration", each) for prefix, variants in PAIRS.items() for each in variants),
]
