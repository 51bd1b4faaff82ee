"""Encoders of tokens that differ from BERT in what surrounds the layers, or from Llama in the mask."""

from __future__ import annotations

from dataclasses import replace

from derivations.architectures.checkpoints.encoders import BERT_GENERATION, ELECTRA, EUROBERT
from derivations.architectures.description import Head
from derivations.architectures.hugging_face.families import family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.readers.encoders import (
    MASKED,
    masked_head,
    token_encoder,
    without_spare_bias,
)
from derivations.architectures.hugging_face.readers.plain import Decoder, reader_of
from derivations.architectures.hugging_face.shared import Parts, activation
from derivations.language.arrays.functions import gelu
from derivations.symbols import d_model, size

__all__ = ["bert_generation", "electra", "eurobert"]


@family(
    "bert-generation", {"BertGenerationEncoder": "none", "BertGenerationDecoder": "language_model"}, BERT_GENERATION
)
def bert_generation(f: Fields, kind: str) -> Parts:
    """BERT as it encodes or writes texts (Rothe et al. 2020): no segments, scores of tokens from the last rows."""
    _, stack = token_encoder(f, segmented=False)
    tied = f.flag("tie_word_embeddings", True)
    head = Head("none") if kind == "none" else Head("language_model", tied=tied, bias=True)
    without_spare_bias(f, head)
    return Parts(head, decoder=stack) if stack.causal else Parts(head, encoder=stack)


@family(
    "electra",
    {
        "ElectraForPreTraining": "transformed_classes 1",
        "ElectraForMaskedLM": MASKED,
        "ElectraModel": "none",
        "ElectraForSequenceClassification": "pooled_classes",
        "ElectraForTokenClassification": "token_classes",
        "ElectraForQuestionAnswering": "token_classes",
    },
    ELECTRA,
)
def electra(f: Fields, kind: str) -> Parts:
    """ELECTRA (Clark et al. 2020): a generator, or a discriminator of replaced tokens; embeddings may be narrow."""
    for field in ("summary_type", "summary_use_proj", "summary_activation"):
        f.take(field, None)  # of the class for multiple choice
    width = f.whole("embedding_size", 128)
    layer_norm, stack = token_encoder(f)
    if width != f.values[d_model]:
        narrow = replace(stack.embedding, width=f.let(size("d_embedding"), width or 1), narrow=True)
        stack = replace(stack, embedding=narrow)
    inner = activation(f, "hidden_act", "gelu") if kind.startswith("transformed") else gelu
    head = masked_head(f, kind, gelu, inner, layer_norm)
    return Parts(replace(head, activation=inner) if head.kind == "transformed_classes" else head, encoder=stack)


@family("eurobert", {"EuroBertForMaskedLM": "language_model", "EuroBertModel": "none"}, EUROBERT)
def eurobert(f: Fields, kind: str) -> Parts:
    """EuroBERT (Boizard et al. 2025): Llama whose rows see those behind them."""
    for field in ("mask_token_id", "classifier_pooling"):
        f.take(field, None)
    decoder = Decoder(eps=("rms_norm_eps", "1e-5"), network_biases=("mlp_bias", False), head_bias=("mlp_bias", False))
    parts = reader_of(decoder)(f, kind)
    assert parts.decoder is not None
    return Parts(parts.head, encoder=replace(parts.decoder, causal=False))
