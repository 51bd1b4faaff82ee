"""Text encoders related to BERT: ELECTRA, ALBERT, EuroBERT, Jina Embeddings, Nomic Embed, ModernBERT and Ettin."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer

from derivations.architectures.checkpoints.encoders import (
    ALBERT,
    BERT_GENERATION,
    ELECTRA,
    EUROBERT,
    JINA,
    MODERNBERT,
    MODERNBERT_DECODER,
    NOMIC,
)
from derivations.architectures.description import Attention, Block, Embedding, FeedForward, Head, Norm, Run, Stack
from derivations.architectures.hugging_face.families import encoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import rotary, rotary_of, table_of_kind
from derivations.architectures.hugging_face.readers.encoders import (
    MASKED,
    masked_head,
    token_encoder,
    without_spare_bias,
)
from derivations.architectures.hugging_face.readers.gated import (
    KINDS,
    gated_feed_forward,
    kinds_of_layers,
    same_biases,
)
from derivations.architectures.hugging_face.readers.plain import Decoder, reader_of
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    divided_heads,
    listed_layers,
    norm,
    runs,
    tanh_activation,
)
from derivations.language.arrays.functions import gelu
from derivations.symbols import d_k, d_model, h, size, vocab

__all__ = [
    "albert",
    "bert_generation",
    "electra",
    "eurobert",
    "jina_embeddings_v3",
    "modernbert",
    "modernbert_decoder",
    "nomic_bert",
]


@family(
    "bert-generation", {"BertGenerationEncoder": "none", "BertGenerationDecoder": "language_model"}, BERT_GENERATION
)
def bert_generation(f: Fields, kind: str) -> Parts:
    """BERT as an encoder or a decoder (Rothe et al. 2020): no segments, scores of tokens from the last rows."""
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
    """EuroBERT (Boizard et al. 2025): Llama with bidirectional attention."""
    for field in ("mask_token_id", "classifier_pooling"):
        f.take(field, None)
    decoder = Decoder(eps=("rms_norm_eps", "1e-5"), network_biases=("mlp_bias", False), head_bias=("mlp_bias", False))
    parts = reader_of(decoder)(f, kind)
    assert parts.decoder is not None
    return Parts(parts.head, encoder=replace(parts.decoder, causal=False))


@family("jina_embeddings_v3", encoder_heads("JinaEmbeddingsV3", "pooler"), JINA)
def jina_embeddings_v3(f: Fields, kind: str) -> Parts:
    """Jina Embeddings 3 (Sturua et al. 2024): XLM-RoBERTa with rotary positions."""
    layer_norm, stack = _turned(f, "20000", eps="1e-5", segments=1)
    head = masked_head(f, kind, tanh_activation, gelu, layer_norm)
    without_spare_bias(f, head)
    return Parts(head, encoder=stack)


@family("nomic_bert", encoder_heads("NomicBert", "none"), NOMIC)
def nomic_bert(f: Fields, kind: str) -> Parts:
    """Nomic Embed (Nussbaum et al. 2024): BERT with rotary positions, gated networks, and no biases in its layers."""
    f.config.setdefault("hidden_act", "silu")
    layer_norm, stack = _turned(f, "1000", biases=False, gated=True)
    f.only("head_dim", None, f.values[d_k])
    head = masked_head(f, kind, tanh_activation, activation(f, "hidden_act", "silu"), layer_norm)
    return Parts(head, encoder=stack)


def _turned(
    f: Fields, base: str, *, eps: str = "1e-12", segments: int = 2, biases: bool = True, gated: bool = False
) -> tuple[Norm, Stack]:
    """Return BERT's norm and layers with rotary positions in the place of a table."""
    layer_norm, stack = token_encoder(f, eps=eps, segments=segments)
    (run,) = stack.runs
    (block,) = run.blocks
    assert isinstance(block.attention, Attention) and isinstance(block.feed_forward, FeedForward)
    attention = replace(block.attention, positions=rotary(f, base), biases=same_biases(biases))
    network = replace(block.feed_forward, gated=gated, biases=biases)
    layers = (replace(run, blocks=(replace(block, attention=attention, feed_forward=network),)),)
    return layer_norm, replace(stack, runs=layers, embedding=replace(stack.embedding, positions=None))


@family("albert", encoder_heads("Albert", "pooler", ForPreTraining="pretraining"), ALBERT)
def albert(f: Fields, kind: str) -> Parts:
    """ALBERT (Lan et al. 2020): narrow embeddings, and one layer that is applied again and again."""
    for field, value in (("down_scale_factor", 1), ("gap_size", 0), ("net_structure_type", 0)):
        f.only(field, value)
    for field, value in (("num_memory_blocks", 0), ("num_hidden_groups", 1), ("inner_group_num", 1)):
        f.only(field, value)
    f.config.setdefault("hidden_act", "gelu_new")
    width = f.whole("embedding_size", 128) or 1
    layer_norm, stack = token_encoder(f)
    (run,) = stack.runs
    same = Run(run.blocks, Integer(listed_layers(f)), shared=True)
    f.values.pop(run.count)
    narrow = replace(stack.embedding, width=f.let(size("d_embedding"), width), narrow=True)
    head = masked_head(f, kind, tanh_activation, activation(f, "hidden_act", "gelu_new"), layer_norm)
    without_spare_bias(f, head)
    return Parts(head, encoder=replace(stack, runs=(same,), embedding=narrow))


@family("modernbert", {"ModernBertForMaskedLM": MASKED, "ModernBertModel": "none"}, MODERNBERT)
def modernbert(f: Fields, kind: str) -> Parts:
    """ModernBERT (Warner et al. 2024): two of three layers see positions up to a distance on both sides."""
    return _modernbert(f, kind, causal=False)


@family(
    "modernbert-decoder", {"ModernBertDecoderForCausalLM": MASKED, "ModernBertDecoderModel": "none"}, MODERNBERT_DECODER
)
def modernbert_decoder(f: Fields, kind: str) -> Parts:
    """Ettin (Weller et al. 2025): causal ModernBERT with a window of half `local_attention` in two of three layers."""
    return _modernbert(f, kind, causal=True)


def _modernbert(f: Fields, kind: str, *, causal: bool) -> Parts:
    for field in ("initializer_cutoff_factor", "max_position_embeddings", "position_embedding_type", *OF_CLASSES):
        f.take(field, None)
    layer_norm = replace(norm(f, "norm_eps", "1e-5"), shifted=f.flag("norm_bias", False))
    f.only("layer_norm_eps", f.config.get("norm_eps"))  # a second name of it
    divided_heads(f, "hidden_size", "num_attention_heads")
    f.size(vocab, "vocab_size")
    tables = f.table("rope_parameters") or {}
    turned = [
        rotary_of(f, {**table_of_kind(f, tables, each), **(f.table("rope_scaling") or {})}, f.number(field, base))
        for each, field, base in zip(KINDS, ("global_rope_theta", "local_rope_theta"), ("160000", "10000"), strict=True)
    ]
    reach = f.whole("local_attention", 128) or 1
    if reach < 2:
        raise f.error("local_attention", "is 1, half of which is no distance")
    biases = same_biases(f.flag("attention_bias", False))
    full, near = (Attention(h, biases=biases, positions=each) for each in turned)
    if causal:
        f.only("sliding_window", reach // 2)
        near = replace(near, window=f.let(size("window"), reach // 2))
    else:
        near = replace(near, reach=f.let(size("reach_to_both_sides"), reach // 2))
    network = gated_feed_forward(f, biased=f.flag("mlp_bias", False), field="hidden_activation", default="gelu")
    every = f.whole("global_attn_every_n_layers", 3) or 3
    kinds = kinds_of_layers(f, lambda i: i % every != 0)
    blocks = [Block(near if each == KINDS[1] else full, network, layer_norm) for each in kinds]
    layers = runs(f, [replace(blocks[0], plain_start=True), *blocks[1:]])
    stack = Stack(layers, Embedding(norm=layer_norm), causal=causal, final_norm=layer_norm)
    tied, biased = f.flag("tie_word_embeddings", True), f.flag("decoder_bias", True)
    bias, function = f.flag("classifier_bias", False), activation(f, "classifier_activation", "gelu")
    head = Head(
        "masked_language_model", tied=tied, bias=biased, activation=function, norm=layer_norm, transform_bias=bias
    )
    head = Head("none") if kind == "none" else head
    return Parts(head, decoder=stack) if causal else Parts(head, encoder=stack)


OF_CLASSES = (  # of classifiers, of losses, and of how the library computes
    *("classifier_pooling", "deterministic_flash_attn", "reference_compile", "repad_logits_with_grad"),
    *("sparse_prediction", "sparse_pred_ignore_index"),
)
