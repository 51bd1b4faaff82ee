"""Sizes of models as their authors publish them: a table for each family, a row for each model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["TABLES", "TRANSFORMER", "Table"]


@dataclass(frozen=True)
class Table:
    """Models of one family: fields that all have in common, and a row for each model.

    The last entry of a row is the number of parameters that `source` states, exact or rounded ("1.3B"), or None.
    `counts` names the parameters that this number includes, `assumptions` the assumptions made in reading the rows,
    `parts` the part of a model that a row describes, if that is not the whole model.
    """

    source: str
    common: Mapping[str, object]
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[object, ...]]
    counts: str = "total"
    assumptions: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)


_LLAMA = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size")
_GPT2 = ("n_layer", "n_embd", "n_head")
_PLAIN = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size")
_BART = {
    f"{side}_{field}": None for side in ("encoder", "decoder") for field in ("layers", "attention_heads", "ffn_dim")
}

TABLES = (
    Table(
        "Devlin et al. (2019), section 3",
        {
            **{"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 30522, "type_vocab_size": 2},
            "max_position_embeddings": 512,
        },
        _PLAIN,
        {"bert-base": (12, 768, 12, 3072, "110M"), "bert-large": (24, 1024, 16, 4096, "340M")},
        assumptions=("the encoder and its pooler, without the heads of pre-training",),
    ),
    Table(
        "Liu et al. (2019), sections 2.2 and 5",
        {
            **{"model_type": "roberta", "architectures": ["RobertaModel"], "vocab_size": 50265, "type_vocab_size": 1},
            **{"max_position_embeddings": 514, "layer_norm_eps": 1e-5},
        },
        _PLAIN,
        {"roberta-base": (12, 768, 12, 3072, "125M"), "roberta-large": (24, 1024, 16, 4096, "355M")},
        assumptions=("the encoder and a pooler, without the head of pre-training",),
    ),
    Table(
        "Sanh et al. (2019), table 3",
        {
            **{"model_type": "distilbert", "architectures": ["DistilBertModel"], "vocab_size": 30522},
            "max_position_embeddings": 512,
        },
        ("n_layers", "dim", "n_heads", "hidden_dim"),
        {"distilbert": (6, 768, 12, 3072, "66M")},
        assumptions=("the encoder, without the head of pre-training",),
    ),
    Table(
        "Radford et al. (2019), section 2.3; sizes as named at the release",
        {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": 1024},
        _GPT2,
        {
            "gpt2": (12, 768, 12, "124M"),
            "gpt2-medium": (24, 1024, 16, "355M"),
            "gpt2-large": (36, 1280, 20, "774M"),
            "gpt2-xl": (48, 1600, 25, "1558M"),
        },
    ),
    Table(
        "Brown et al. (2020), tables 2.1 and D.1",
        {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": 2048},
        _GPT2,
        {
            "gpt3-125m": (12, 768, 12, "125M"),
            "gpt3-350m": (24, 1024, 16, "356M"),
            "gpt3-760m": (24, 1536, 16, "760M"),
            "gpt3-1.3b": (24, 2048, 16, "1320M"),
            "gpt3-2.7b": (32, 2560, 32, "2650M"),
            "gpt3-6.7b": (32, 4096, 32, "6660M"),
            "gpt3-13b": (40, 5120, 40, "12850M"),
            "gpt3-175b": (96, 12288, 96, "174600M"),
        },
        assumptions=(
            "the vocabulary of GPT-2",
            "attention in bands, in every other layer, is counted as full attention",
            "where the heads of table 2.1 do not make up the width (24 of 128 in 2048, 40 of 128 in 5140), 16 heads "
            "and a width of 5120 are counted, which table D.1 agrees with",
        ),
    ),
    Table(
        "GPT-J 6B model card",
        {"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "vocab_size": 50400, "rotary_dim": 64},
        _GPT2,
        {"gpt-j-6b": (28, 4096, 16, 6053381344)},
    ),
    Table(
        "Biderman et al. (2023), table 1",
        {"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "rotary_pct": 0.25},
        (*_PLAIN, "vocab_size"),
        {
            "pythia-70m": (6, 512, 8, 2048, 50304, 18915328),
            "pythia-160m": (12, 768, 12, 3072, 50304, 85056000),
            "pythia-410m": (24, 1024, 16, 4096, 50304, 302311424),
            "pythia-1b": (16, 2048, 8, 8192, 50304, 805736448),
            "pythia-1.4b": (24, 2048, 16, 8192, 50304, 1208602624),
            "pythia-2.8b": (32, 2560, 32, 10240, 50304, 2517652480),
            "pythia-6.9b": (32, 4096, 32, 16384, 50432, 6444163072),
            "pythia-12b": (36, 5120, 40, 20480, 50688, 11327027200),
        },
        counts="non-embedding",
    ),
    Table(
        "Zhang et al. (2022), table 1",
        {
            **{"model_type": "opt", "architectures": ["OPTForCausalLM"], "vocab_size": 50272},
            "max_position_embeddings": 2048,
        },
        (
            "num_hidden_layers",
            "hidden_size",
            "num_attention_heads",
            "ffn_dim",
            "word_embed_proj_dim",
            "do_layer_norm_before",
        ),
        {
            "opt-125m": (12, 768, 12, 3072, 768, True, "125M"),
            "opt-350m": (24, 1024, 16, 4096, 512, False, "350M"),
            "opt-1.3b": (24, 2048, 32, 8192, 2048, True, "1.3B"),
            "opt-2.7b": (32, 2560, 32, 10240, 2560, True, "2.7B"),
            "opt-6.7b": (32, 4096, 32, 16384, 4096, True, "6.7B"),
            "opt-13b": (40, 5120, 40, 20480, 5120, True, "13B"),
            "opt-30b": (48, 7168, 56, 28672, 7168, True, "30B"),
            "opt-66b": (64, 9216, 72, 36864, 9216, True, "66B"),
            "opt-175b": (96, 12288, 96, 49152, 12288, True, "175B"),
        },
    ),
    Table(
        "BigScience Workshop (2022), table 3, and the model cards",
        {"model_type": "bloom", "architectures": ["BloomForCausalLM"], "vocab_size": 250880},
        ("n_layer", "hidden_size", "n_head"),
        {
            "bloom-560m": (24, 1024, 16, 559214592),
            "bloom-1b1": (24, 1536, 16, 1065314304),
            "bloom-1b7": (24, 2048, 16, 1722408960),
            "bloom-3b": (30, 2560, 32, 3002557440),
            "bloom-7b1": (30, 4096, 32, 7069016064),
            "bloom-176b": (70, 14336, 112, 176247271424),
        },
    ),
    Table(
        "Almazrouei et al. (2023), table 1, and the model cards",
        {"model_type": "falcon", "architectures": ["FalconForCausalLM"], "vocab_size": 65024},
        ("num_hidden_layers", "hidden_size", "num_attention_heads", "num_kv_heads", "new_decoder_architecture"),
        {
            "falcon-7b": (32, 4544, 71, None, False, "7B"),
            "falcon-40b": (60, 8192, 128, 8, True, "40B"),
            "falcon-180b": (80, 14848, 232, 8, True, "180B"),
        },
    ),
    Table(
        "Raffel et al. (2020), section 3.7",
        {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": 32128},
        ("num_layers", "d_model", "num_heads", "d_kv", "d_ff"),
        {
            "t5-small": (6, 512, 8, 64, 2048, "60M"),
            "t5-base": (12, 768, 12, 64, 3072, "220M"),
            "t5-large": (24, 1024, 16, 64, 4096, "770M"),
            "t5-3b": (24, 1024, 32, 128, 16384, "2.8B"),
            "t5-11b": (24, 1024, 128, 128, 65536, "11B"),
        },
    ),
    Table(
        "Lewis et al. (2020), sections 2.1 and 4; table of models at the release",
        {
            **{"model_type": "bart", "architectures": ["BartForConditionalGeneration"], "vocab_size": 50265},
            "max_position_embeddings": 1024,
        },
        ("d_model", *_BART),
        {
            "bart-base": (768, 6, 12, 3072, 6, 12, 3072, "140M"),
            "bart-large": (1024, 12, 16, 4096, 12, 16, 4096, "400M"),
        },
    ),
    Table(
        "Touvron et al. (2023b), appendix A.2 and table 1, and the model cards",
        {
            **{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 32000},
            "rms_norm_eps": 1e-5,
        },
        _LLAMA,
        {
            "llama-2-7b": (4096, 32, 32, 32, 11008, "7B"),
            "llama-2-13b": (5120, 40, 40, 40, 13824, "13B"),
            "llama-2-70b": (8192, 80, 64, 8, 28672, "70B"),
        },
    ),
    Table(
        "Llama Team (2024), table 3",
        {
            **{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 128256},
            **{"rms_norm_eps": 1e-5, "rope_theta": 500000.0},
        },
        _LLAMA,
        {
            "llama-3-8b": (4096, 32, 32, 8, 14336, "8B"),
            "llama-3-70b": (8192, 80, 64, 8, 28672, "70B"),
            "llama-3-405b": (16384, 126, 128, 8, 53248, "405B"),
        },
    ),
    Table(
        "Jiang et al. (2023), table 1; parameters from the model card",
        {
            **{"model_type": "mistral", "architectures": ["MistralForCausalLM"], "vocab_size": 32000},
            **{"rms_norm_eps": 1e-5, "sliding_window": 4096},
        },
        _LLAMA,
        {"mistral-7b": (4096, 32, 32, 8, 14336, "7.24B")},
    ),
    Table(
        "Jiang et al. (2024), table 1 and section 2; announcement of the model",
        {
            **{"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "vocab_size": 32000},
            **{"num_local_experts": 8, "num_experts_per_tok": 2, "rope_theta": 1000000.0},
        },
        _LLAMA,
        {"mixtral-8x7b": (4096, 32, 32, 8, 14336, "46.7B")},
    ),
    Table(
        "Qwen Team (2024), Qwen2.5 technical report, table 1, and the model cards",
        {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "rope_theta": 1000000.0},
        (*_LLAMA, "vocab_size", "tie_word_embeddings"),
        {
            "qwen2.5-0.5b": (896, 24, 14, 2, 4864, 151936, True, "0.49B"),
            "qwen2.5-1.5b": (1536, 28, 12, 2, 8960, 151936, True, "1.54B"),
            "qwen2.5-3b": (2048, 36, 16, 2, 11008, 151936, True, "3.09B"),
            "qwen2.5-7b": (3584, 28, 28, 4, 18944, 152064, False, "7.61B"),
            "qwen2.5-14b": (5120, 48, 40, 8, 13824, 152064, False, "14.7B"),
            "qwen2.5-32b": (5120, 64, 40, 8, 27648, 152064, False, "32.5B"),
            "qwen2.5-72b": (8192, 80, 64, 8, 29568, 152064, False, "72.7B"),
        },
    ),
    Table(
        "Qwen Team (2025), Qwen3 technical report, table 1, and the model cards",
        {
            **{"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "vocab_size": 151936},
            **{"head_dim": 128, "rope_theta": 1000000.0},
        },
        (*_LLAMA, "tie_word_embeddings"),
        {
            "qwen3-0.6b": (1024, 28, 16, 8, 3072, True, "0.6B"),
            "qwen3-1.7b": (2048, 28, 16, 8, 6144, True, "1.7B"),
            "qwen3-4b": (2560, 36, 32, 8, 9728, True, "4.0B"),
            "qwen3-8b": (4096, 36, 32, 8, 12288, False, "8.2B"),
            "qwen3-14b": (5120, 40, 40, 8, 17408, False, "14.8B"),
            "qwen3-32b": (5120, 64, 64, 8, 25600, False, "32.8B"),
        },
    ),
    Table(
        "Qwen Team (2025), Qwen3 technical report, table 2, and the model cards",
        {
            **{"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 151936},
            **{"head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8, "norm_topk_prob": True},
            "rope_theta": 1000000.0,
        },
        (*_LLAMA[:4], "moe_intermediate_size"),
        {
            "qwen3-30b-a3b": (2048, 48, 32, 4, 768, "30.5B"),
            "qwen3-235b-a22b": (4096, 94, 64, 4, 1536, "235B"),
        },
    ),
    Table(
        "Gemma Team (2024), Gemma 2, tables 1 and 2",
        {"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "vocab_size": 256000},
        (*_LLAMA, "head_dim", "query_pre_attn_scalar"),
        {
            "gemma-2-2b": (2304, 26, 8, 4, 9216, 256, 256, 590118912 + 2024517888),
            "gemma-2-9b": (3584, 42, 16, 8, 14336, 256, 256, 917962752 + 8324201984),
            "gemma-2-27b": (4608, 46, 32, 16, 36864, 128, 144, 1180237824 + 26047480320),
        },
        assumptions=("a vocabulary of 256000; the parameters that the report states have 256128 rows in the table",),
    ),
    Table(
        "Gemma Team (2025), Gemma 3, table 1, and the configuration at the release",
        {"model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "head_dim": 256},
        (*_LLAMA, "sliding_window", "vocab_size"),
        {
            "gemma-3-1b": (1152, 26, 4, 1, 6912, 512, 262144, "1000M"),
            "gemma-3-4b": (2560, 34, 8, 4, 10240, 1024, 262208, "3884M"),
        },
        parts={"gemma-3-4b": "the language model alone, without what reads pictures"},
    ),
    Table(
        "Abdin et al. (2024), section 2",
        {"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "vocab_size": 32064, "sliding_window": None},
        _LLAMA,
        {"phi-3-mini": (3072, 32, 32, 32, 8192, "3.8B")},
    ),
    Table(
        "DeepSeek-AI (2024), section 4.2",
        {
            **{"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"], "vocab_size": 129280},
            **{"num_attention_heads": 128, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128},
            **{"kv_lora_rank": 512, "q_lora_rank": 1536, "moe_intermediate_size": 2048, "n_shared_experts": 1},
            **{"n_routed_experts": 256, "num_experts_per_tok": 8, "n_group": 8, "topk_group": 4},
            **{"first_k_dense_replace": 3, "num_nextn_predict_layers": 1},
        },
        ("hidden_size", "num_hidden_layers", "intermediate_size"),
        {"deepseek-v3": (7168, 61, 18432, "671B")},
    ),
    Table(
        "Dosovitskiy et al. (2021), table 1",
        {
            **{"model_type": "vit", "architectures": ["ViTForImageClassification"], "num_labels": 1000},
            **{"image_size": 224, "num_channels": 3},
        },
        (*_PLAIN, "patch_size"),
        {
            "vit-b-16": (12, 768, 12, 3072, 16, "86M"),
            "vit-l-16": (24, 1024, 16, 4096, 16, "307M"),
            "vit-h-14": (32, 1280, 16, 5120, 14, "632M"),
        },
        assumptions=("pictures of 224 x 224 in three colours, 1000 classes",),
    ),
    Table(
        "Radford et al. (2023), table 1, and the release",
        {
            **{"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"]},
            **{"max_source_positions": 1500, "max_target_positions": 448},
        },
        ("d_model", *_BART, "vocab_size", "num_mel_bins"),
        {
            "whisper-tiny": (384, 4, 6, 1536, 4, 6, 1536, 51865, 80, "39M"),
            "whisper-base": (512, 6, 8, 2048, 6, 8, 2048, 51865, 80, "74M"),
            "whisper-small": (768, 12, 12, 3072, 12, 12, 3072, 51865, 80, "244M"),
            "whisper-medium": (1024, 24, 16, 4096, 24, 16, 4096, 51865, 80, "769M"),
            "whisper-large": (1280, 32, 20, 5120, 32, 20, 5120, 51865, 80, "1550M"),
            "whisper-large-v3": (1280, 32, 20, 5120, 32, 20, 5120, 51866, 128, "1550M"),
        },
    ),
)

# the original Transformer, which no configuration describes
TRANSFORMER = Table(
    "Vaswani et al. (2017), table 3",
    {},
    ("N", "d_model", "d_ff", "h", "d_k", "d_v"),
    {"transformer-base": (6, 512, 2048, 8, 64, 64, "65M"), "transformer-big": (6, 1024, 4096, 16, 64, 64, "213M")},
    assumptions=("source and target share a vocabulary of 37000, which section 5.1 gives as about 37000",),
)
