"""Fields of a configuration that do not change the layers or their sizes."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HARMLESS", "HARMLESS_ENDINGS", "NEUTRAL"]

# fields whose other values change the architecture, with the values that do not
NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "add_cross_attention": (False,),
    "attention_bias": (False,),
    "cross_attention_hidden_size": (None,),
    "full_attn_mod": (1,),  # every layer sees all positions
    "interpolate_factor": (1, 1.0),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "lm_head_bias": (False,),
    "mlp_bias": (False,),
    "per_layer_config": (None, {}),
    "rope_interleaved": (False,),
    "pruned_heads": (None, {}),
    "tie_encoder_decoder": (False,),
    "sliding_window": (None,),
    "use_bidirectional_attention": (None, False),
    "use_mrope": (None, False),
    "use_sliding_window": (False,),
}

HARMLESS_ENDINGS = ("_dropout", "_pdrop", "_dropout_prob", "_token_id", "_token_index", "_token_ids", "layerdrop")

# fmt: off
HARMLESS = frozenset([
    # where the file comes from, and how numbers are stored
    "_attn_implementation", "_attn_implementation_autoset", "_commit_hash", "_experts_implementation",
    "_name_or_path", "architectures", "attn_implementation", "auto_map", "compression_config", "dtype",
    "gradient_checkpointing", "model_type", "name_or_path", "output_attentions", "output_hidden_states",
    "output_past", "output_scores", "pretraining_tp", "quantization_config", "return_dict",
    "return_dict_in_generate", "tf_legacy_loss", "tie_last_hidden_states", "torch_dtype", "torchscript",
    "transformers_version", "unsloth_fixed", "unsloth_version", "use_bfloat16", "use_cache",
    # dropout in training
    "dropout", "dropout_rate",
    # initial values, vocabularies, labels (which are read where there is a classifier)
    "_num_labels", "bos_index", "bos_token", "embedding_initializer_range", "eos_index", "eos_token",
    "finetuning_task", "id2label", "init_fn", "init_std", "initializer_cutoff_factor", "initializer_factor",
    "initializer_range", "label2id", "langs", "language", "mask_index", "num_labels", "pad_index", "pad_token",
    "problem_type", "task_specific_params", "tokenizer_class", "tokenizer_name", "unk_index", "unk_token",
    "vocab_file",
    # how tokens are chosen from scores
    "bad_words_ids", "begin_suppress_tokens", "diversity_penalty", "do_sample", "early_stopping",
    "encoder_no_repeat_ngram_size", "epsilon_cutoff", "eta_cutoff", "exponential_decay_length_penalty",
    "forced_decoder_ids",
    "generation_config", "length_penalty", "max_length", "max_new_tokens", "min_length", "min_new_tokens",
    "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_return_sequences", "prefix",
    "remove_invalid_values", "repetition_penalty", "suppress_tokens", "temperature", "top_k", "top_p", "typical_p",
    "transformers.js_config", "use_mtp",
    "ignore_index", "is_composition", "num_image_tokens",
    "original_max_position_embeddings",
    "is_llama_config", "model_max_length", "n_special", "predict_special_tokens", "use_return_dict", "xla_device",
    # losses, order of evaluation, data preparation, heads of other classes
    "apply_spec_augment", "attention_softmax_in_fp32", "aux_loss_alpha", "bias_dropout_fusion",
    "cache_implementation", "chunk_size_feed_forward", "directionality", "encoder_stride", "ep_size", "flash_attn",
    "mask_feature_length", "mask_feature_min_masks", "mask_feature_prob", "mask_time_length", "mask_time_min_masks",
    "mask_time_prob", "masked_softmax_fusion", "max_source_length", "max_target_length", "median_filter_width",
    "offset_alibi", "output_router_logits", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
    "pooler_size_per_head", "pooler_type", "reorder_and_upcast_attn", "router_aux_loss_coef", "router_jitter_noise",
    "seq_aux", "seq_length", "skip_bias_add", "skip_bias_add_qkv", "slow_but_exact", "summary_activation",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "use_flash_attn", "use_sdpa",
])
# fmt: on
