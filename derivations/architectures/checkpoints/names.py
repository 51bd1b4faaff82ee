"""The names of the weights in the checkpoints of each family, by its name in `config.json`.

Definition   a weight of layer n is `decoder.self_attention.W_Q` in the equations and
             `layers.{n}.self_attn.q_proj.weight` in the checkpoint; a family has one table of such pairs
Source       the names that the library `transformers` saves
"""

from collections.abc import Mapping

from derivations.architectures.checkpoints.decoders import BLOOM, FALCON, GPT_2, GPT_J, GPT_NEOX, OPT
from derivations.architectures.checkpoints.deepseek import DEEPSEEK_V3
from derivations.architectures.checkpoints.encoder_decoders import BART, T5
from derivations.architectures.checkpoints.encoders import BERT, DISTILBERT, ROBERTA
from derivations.architectures.checkpoints.family import Family
from derivations.architectures.checkpoints.gpt_oss import GPT_OSS
from derivations.architectures.checkpoints.llama import (
    GEMMA,
    GEMMA_2,
    LLAMA,
    MIXTRAL,
    PHI_3,
    QWEN_2_EXPERTS,
    QWEN_3_EXPERTS,
)

__all__ = ["FAMILIES", "NAMES"]

FAMILIES: Mapping[str, Family] = {
    "bart": BART,
    "bert": BERT,
    "bloom": BLOOM,
    "distilbert": DISTILBERT,
    "falcon": FALCON,
    "gemma": GEMMA,
    "gemma2": GEMMA_2,
    "gemma3_text": GEMMA_2,
    "gpt2": GPT_2,
    "gpt_neox": GPT_NEOX,
    "gptj": GPT_J,
    "llama": LLAMA,
    "mistral": LLAMA,
    "mixtral": MIXTRAL,
    "opt": OPT,
    "phi3": PHI_3,
    "qwen2": LLAMA,
    "qwen2_moe": QWEN_2_EXPERTS,
    "qwen3": LLAMA,
    "qwen3_moe": QWEN_3_EXPERTS,
    "roberta": ROBERTA,
    "t5": T5,
}  # whose checkpoints run
NAMES: Mapping[str, Family] = {
    **FAMILIES,
    "deepseek_v3": DEEPSEEK_V3,
    "gemma3": GEMMA_2,
    "gpt_oss": GPT_OSS,
}  # and those counted alone
