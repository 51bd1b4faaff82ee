"""Rows from transformers' eager modules and activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from sympy import Rational
from transformers import (
    BertConfig,
    DistilBertConfig,
    FalconConfig,
    GemmaConfig,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    MistralConfig,
    Olmo2Config,
    PhiConfig,
    Qwen3Config,
    T5Config,
    ViTConfig,
)
from transformers.activations import ACT2FN
from transformers.models.bert import modeling_bert as bert
from transformers.models.distilbert import modeling_distilbert as distilbert
from transformers.models.falcon import modeling_falcon as falcon
from transformers.models.gemma import modeling_gemma as gemma
from transformers.models.gpt2 import modeling_gpt2 as gpt2
from transformers.models.gpt_neox import modeling_gpt_neox as gpt_neox
from transformers.models.llama import modeling_llama as llama
from transformers.models.mistral import modeling_mistral as mistral
from transformers.models.olmo2 import modeling_olmo2 as olmo2
from transformers.models.phi import modeling_phi as phi
from transformers.models.qwen3 import modeling_qwen3 as qwen3
from transformers.models.t5 import modeling_t5 as t5
from transformers.models.vit import modeling_vit as vit

from derivations.activations.gelu import gelu_tanh
from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import gated_feed_forward
from derivations.language.arrays.functions import gelu, relu
from derivations.normalisation.rms_norm import rms_norm
from tests.numeric.lifting.corpus import rows
from tests.numeric.lifting.corpus.rows import LAYER, Row

__all__ = ["SEEN", "UNSEEN"]

# Sizes of a module differ from one another, so that a number stands for one size.
LLAMA: dict[str, Any] = {
    "hidden_size": 60,
    "intermediate_size": 11,
    "num_attention_heads": 6,
    "num_key_value_heads": 6,
    "head_dim": 10,
    "attn_implementation": "eager",
}
PAIR = {"intermediate_size": 11, "hidden_size": 21, "num_attention_heads": 3, "attn_implementation": "eager"}
GPT2 = GPT2Config(n_embd=21, n_head=3, n_positions=17, attn_implementation="eager")
BERT = BertConfig(**PAIR, vocab_size=13, max_position_embeddings=17)


def asked(groups: int) -> Any:
    """Return what an attention function asks its module for: how many heads of queries share keys and values."""
    module = torch.nn.Module().eval()
    module.num_key_value_groups = groups
    return module


def attended(forward: Callable[..., Any], **more: Any) -> Callable[..., Any]:
    """Return a library's attention function as one of matrices: one item, one head."""
    module = asked(1)

    def attention(query, key, value, mask=None):
        mask = None if mask is None else mask[None, None]
        return forward(module, query[None, None], key[None, None], value[None, None], mask, **more)[0][0, :, 0]

    return attention


def grouped(forward: Callable[..., Any], **more: Any) -> Callable[..., Any]:
    """Return the attention of the last of six heads of queries, which share three heads of keys and values."""
    module = asked(2)

    def attention(query, key, value):
        queries = query[None, None].expand(1, 6, *query.shape)
        keys, values = (x[None, None].expand(1, 3, *x.shape) for x in (key, value))
        return forward(module, queries, keys, values, None, **more)[0][0, :, 5]

    return attention


def first_of_rotary(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Return a library's rotation of queries and keys as one of a matrix."""

    def rotation(x, cos, sin):
        return apply(x[None, None], x[None, None], cos[None], sin[None])[0][0, 0]

    return rotation


def rms(eps: float) -> Callable[[], Any]:
    """Return root mean square normalisation with the epsilon of a configuration."""
    return lambda: rms_norm(Rational(repr(eps)))


def activation(name: str, target: str, **more: Any) -> Row:
    """Return the row of an activation of ACT2FN."""
    return Row(f"transformers.activations.ACT2FN[{name!r}]", lambda: ACT2FN[name], LAYER[target], **more)


SEEN = (
    # RMS norms, layer norms
    Row("transformers llama.LlamaRMSNorm", lambda: llama.LlamaRMSNorm(7), rms_norm, readings=("casts", "epsilon")),
    Row("transformers qwen3.Qwen3RMSNorm", lambda: qwen3.Qwen3RMSNorm(7), rms_norm, readings=("casts", "epsilon")),
    Row("transformers gemma.GemmaRMSNorm", lambda: gemma.GemmaRMSNorm(7), rms_norm, readings=("gamma as 1 + weight",)),
    Row(
        "transformers gemma.GemmaRMSNorm as (1 + w)",
        lambda: gemma.GemmaRMSNorm(7),
        lambda: rows.norm_of_one_plus(Rational(1, 10**6)),
    ),
    # MLPs
    Row("transformers llama.LlamaMLP", lambda: llama.LlamaMLP(LlamaConfig(**LLAMA)), gated_feed_forward),
    Row("transformers qwen3.Qwen3MLP", lambda: qwen3.Qwen3MLP(Qwen3Config(**LLAMA)), gated_feed_forward),
    Row(
        "transformers gemma.GemmaMLP",
        lambda: gemma.GemmaMLP(GemmaConfig(**LLAMA)),
        lambda: gated_feed_forward(gelu_tanh),
    ),
    Row(
        "transformers gemma.GemmaMLP as SwiGLU",
        lambda: gemma.GemmaMLP(GemmaConfig(**LLAMA)),
        gated_feed_forward,
        "different",
        "tanh-GELU",
    ),
    Row("transformers gpt2.GPT2MLP", lambda: gpt2.GPT2MLP(11, GPT2), lambda: feed_forward(gelu_tanh)),
    Row(
        "transformers gpt2.GPT2MLP as exact GELU",
        lambda: gpt2.GPT2MLP(11, GPT2),
        lambda: feed_forward(gelu),
        "different",
        "tanh-GELU",
    ),
    Row("transformers bert.BertIntermediate", lambda: bert.BertIntermediate(BERT), lambda: rows.dense(gelu)),
    Row("transformers bert.BertOutput", lambda: bert.BertOutput(BERT), rows.residual_norm),
    Row("transformers bert.BertSelfOutput", lambda: bert.BertSelfOutput(BERT), rows.residual_norm),
    # attention
    Row(
        "transformers llama.eager_attention_forward",
        lambda: attended(llama.eager_attention_forward, scaling=5**-0.5),
        lambda: scaled_dot_product_attention().at(d_k=5),
    ),
    Row(
        "transformers gpt2.eager_attention_forward",
        lambda: attended(gpt2.eager_attention_forward),
        scaled_dot_product_attention,
    ),
    Row(
        "transformers gpt2.eager_attention_forward with a mask",
        lambda: attended(gpt2.eager_attention_forward),
        rows.masked_by_addition,
    ),
    Row(
        "transformers bert.eager_attention_forward",
        lambda: attended(bert.eager_attention_forward),
        scaled_dot_product_attention,
    ),
    Row(
        "transformers gpt2.GPT2Attention",
        lambda: gpt2.GPT2Attention(GPT2, layer_idx=0),
        lambda: multi_head_attention(biases=True),
    ),
    Row(
        "transformers bert.BertSelfAttention",
        lambda: bert.BertSelfAttention(BERT),
        rows.unprojected_attention,
    ),
    # rotary
    Row(
        "transformers llama.apply_rotary_pos_emb",
        lambda: first_of_rotary(llama.apply_rotary_pos_emb),
        rows.rotated,
    ),
    Row(
        "transformers gemma.apply_rotary_pos_emb",
        lambda: first_of_rotary(gemma.apply_rotary_pos_emb),
        rows.rotated,
    ),
    # activations at even places
    activation("gelu", "gelu"),
    activation("gelu_fast", "gelu_tanh", outcome="equal up to a literal", because="0.7978845608"),
    activation("gelu_python", "gelu"),
    activation("gelu_python_tanh", "gelu_tanh"),
    activation("hardswish", "hard_swish"),
    activation("leaky_relu", "leaky_relu"),
    activation("quick_gelu", "gelu_sigmoid"),
    activation("relu6", "relu6"),
    activation("silu", "silu"),
)

MISTRAL = MistralConfig(**LLAMA)
OLMO = Olmo2Config(**LLAMA)
NEOX = GPTNeoXConfig(**{**PAIR, "hidden_size": 30}, vocab_size=13, hidden_act="gelu")
PHI = PhiConfig(**{**PAIR, "hidden_size": 30}, vocab_size=13, partial_rotary_factor=1.0)
FALCON = FalconConfig(hidden_size=30, num_attention_heads=3, ffn_hidden_size=11, bias=True)
T5 = T5Config(d_model=21, d_ff=11, num_heads=3, d_kv=7, feed_forward_proj="relu")
T5_GATED = T5Config(d_model=21, d_ff=11, num_heads=3, d_kv=7, feed_forward_proj="gated-gelu")
VIT = ViTConfig(**PAIR)
DISTIL = DistilBertConfig(dim=21, hidden_dim=11, n_heads=3, attn_implementation="eager")

UNSEEN = (
    Row("transformers mistral.MistralRMSNorm", lambda: mistral.MistralRMSNorm(7), rms_norm),
    Row("transformers olmo2.Olmo2RMSNorm", lambda: olmo2.Olmo2RMSNorm(7), rms_norm),
    Row("transformers t5.T5LayerNorm", lambda: t5.T5LayerNorm(7), rms_norm),
    Row("transformers mistral.MistralMLP", lambda: mistral.MistralMLP(MISTRAL), gated_feed_forward),
    Row("transformers olmo2.Olmo2MLP", lambda: olmo2.Olmo2MLP(OLMO), gated_feed_forward),
    Row("transformers gpt_neox.GPTNeoXMLP", lambda: gpt_neox.GPTNeoXMLP(NEOX), lambda: feed_forward(gelu)),
    Row("transformers phi.PhiMLP", lambda: phi.PhiMLP(PHI), lambda: feed_forward(gelu_tanh)),
    Row(
        "transformers phi.PhiMLP as exact GELU",
        lambda: phi.PhiMLP(PHI),
        lambda: feed_forward(gelu),
        "different",
        "tanh-GELU",
    ),
    Row("transformers falcon.FalconMLP", lambda: falcon.FalconMLP(FALCON), lambda: feed_forward(gelu)),
    Row("transformers t5.T5DenseActDense", lambda: t5.T5DenseActDense(T5), lambda: feed_forward(relu, biases=False)),
    Row(
        "transformers t5.T5DenseGatedActDense",
        lambda: t5.T5DenseGatedActDense(T5_GATED),
        lambda: gated_feed_forward(gelu_tanh),
    ),
    Row("transformers distilbert.FFN", lambda: distilbert.FFN(DISTIL), lambda: feed_forward(gelu)),
    Row("transformers vit.ViTMLP", lambda: vit.ViTMLP(VIT), lambda: feed_forward(gelu)),
    Row(
        "transformers mistral.eager_attention_forward",
        lambda: attended(mistral.eager_attention_forward, scaling=7**-0.5),
        lambda: scaled_dot_product_attention().at(d_k=7),
    ),
    Row(
        "transformers gpt_neox.eager_attention_forward",
        lambda: attended(gpt_neox.eager_attention_forward, scaling=7**-0.5),
        lambda: scaled_dot_product_attention().at(d_k=7),
    ),
    Row(
        "transformers olmo2.eager_attention_forward with groups of queries",
        lambda: grouped(olmo2.eager_attention_forward, scaling=7**-0.5),
        lambda: scaled_dot_product_attention().at(d_k=7),
    ),
    Row(
        "transformers vit.ViTAttention",
        lambda: vit.ViTAttention(VIT),
        lambda: multi_head_attention(biases=True),
    ),
    Row(
        "transformers t5.T5Attention",
        lambda: t5.T5Attention(T5, has_relative_attention_bias=False),
        multi_head_attention,
        "different",
        "scale",
    ),
    Row(
        "transformers distilbert.DistilBertSelfAttention",
        lambda: distilbert.DistilBertSelfAttention(DISTIL),
        lambda: multi_head_attention(biases=True),
    ),
    Row(
        "transformers mistral.apply_rotary_pos_emb", lambda: first_of_rotary(mistral.apply_rotary_pos_emb), rows.rotated
    ),
    Row("transformers phi.apply_rotary_pos_emb", lambda: first_of_rotary(phi.apply_rotary_pos_emb), rows.rotated),
    activation("gelu_10", "gelu", outcome="different", because="clipped to -10 and 10"),
    activation("gelu_new", "gelu_tanh"),
    activation("gelu_pytorch_tanh", "gelu_tanh"),
    activation("gelu_accurate", "gelu_tanh"),
    activation("mish", "mish"),
    activation("relu", "relu"),
    activation("relu2", "relu_squared"),
    activation("sigmoid", "sigmoid"),
    activation("swish", "silu"),
    activation("tanh", "tanh"),
)
