"""Text encoders: BERT, RoBERTa and their relatives, DistilBERT, MPNet, DeBERTa."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, Rational, sqrt

from derivations.architectures.checkpoints.encoders import (
    BERT,
    DEBERTA_V2,
    DISTILBERT,
    MEGATRON_BERT,
    MPNET,
    ROBERTA,
    ROBERTA_PRE_NORM,
    XLM_ROBERTA_XL,
)
from derivations.architectures.description import (
    Attention,
    Block,
    Disentangled,
    Embedding,
    FeedForward,
    Head,
    Norm,
    RelativeBias,
    Stack,
)
from derivations.architectures.hugging_face.families import encoder_heads, family
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    divided_heads,
    norm,
    tanh_activation,
    uniform,
)
from derivations.language.arrays.functions import Named, gelu, relu
from derivations.symbols import d_ff, d_k, h, size, vocab

__all__ = [
    "BIASES",
    "MASKED",
    "bert",
    "chinese_clip_text",
    "deberta_v2",
    "distilbert",
    "ernie",
    "labels",
    "masked_head",
    "megatron_bert",
    "mpnet",
    "roberta",
    "roberta_prelayernorm",
    "splinter",
    "token_encoder",
    "without_spare_bias",
    "xlm_roberta_xl",
]

BIASES = (True, True, True, True)
MASKED = "masked_language_model"


def labels(f: Fields, usual: int = 2) -> int:
    """Return the number of classes: the number of listed labels, or the given number."""
    listed = f.table("id2label")
    given = f.whole("num_labels", None, ("_num_labels",), none=True)
    if listed is not None and given not in (None, len(listed)):
        raise f.error("num_labels", f"is {given}, and id2label has {len(listed)} labels")
    count = usual if listed is None and given is None else given or len(listed or ())
    if not count:
        raise f.error("id2label", "has no labels, and there is a classifier")
    return count


def masked_head(f: Fields, kind: str, pooler: Named, inner: Named, layer_norm: Norm) -> Head:
    """Return the head of a text encoder. Before the scores of tokens come `inner` and `layer_norm`."""
    tied = f.flag("tie_word_embeddings", True)
    if kind in ("masked_language_model", "pretraining"):
        return Head(kind, tied=tied, bias=True, activation=inner, norm=layer_norm)  # type: ignore[arg-type]
    if kind in ("none", "pooler"):
        return Head(kind, activation=pooler if kind == "pooler" else None)  # type: ignore[arg-type]
    kind, _, fixed = kind.partition(" ")
    classes = f.let(size("classes"), int(fixed) if fixed else labels(f))
    return Head(kind, classes=classes, activation=pooler if kind == "pooled_classes" else None)  # type: ignore[arg-type]


def token_encoder(f: Fields, *, segmented: bool = True, eps: str = "1e-12", segments: int = 2) -> tuple[Norm, Stack]:
    """Return the norm and the encoder that BERT and RoBERTa share."""
    f.only("position_embedding_type", "absolute")
    if "embedding_size" not in f.read:
        f.only("embedding_size", f.config.get("hidden_size"))
    causal = f.flag("is_decoder", False)
    layer_norm = norm(f, "layer_norm_eps", eps)
    divided_heads(f, "hidden_size", "num_attention_heads")
    feed_forward = FeedForward(activation(f, "hidden_act", "gelu"), d_ff=f.size(d_ff, "intermediate_size"))
    layers = uniform(f, Block(Attention(h, biases=BIASES), feed_forward, layer_norm, "post"))
    positions = f.size(size("positions"), "max_position_embeddings")
    rows = f.size(size("segments"), "type_vocab_size", segments) if segmented else None
    f.size(vocab, "vocab_size")
    return layer_norm, Stack(layers, Embedding(positions, segments=rows, norm=layer_norm), causal=causal)


@family(
    "bert",
    encoder_heads(
        "Bert",
        "pooler",
        ForPreTraining="pretraining",
        LMHeadModel="masked_language_model",
        ForNextSentencePrediction="pooled_classes 2",
    ),
    BERT,
)
def bert(f: Fields, kind: str) -> Parts:
    """BERT (Devlin et al. 2019)."""
    layer_norm, stack = token_encoder(f)
    head = masked_head(f, kind, tanh_activation, activation(f, "hidden_act", "gelu"), layer_norm)
    without_spare_bias(f, head)
    return Parts(head, encoder=stack)


@family("splinter", {"SplinterModel": "none"}, BERT)
def splinter(f: Fields, kind: str) -> Parts:
    """Splinter (Ram et al. 2021) without its span selection layer: BERT without a pooler."""
    return chinese_clip_text(f, kind)


@family("chinese_clip_text_model", {"ChineseCLIPTextModel": "pooler"}, BERT)
def chinese_clip_text(f: Fields, kind: str) -> Parts:
    """The text tower of Chinese CLIP (Yang et al. 2022): BERT with bidirectional attention only."""
    f.only("is_decoder", False)
    return bert(f, kind)


@family(
    "ernie",
    encoder_heads(
        "Ernie",
        "pooler",
        ForPreTraining="pretraining",
        ForCausalLM=MASKED,
        ForNextSentencePrediction="pooled_classes 2",
    ),
    BERT,
)
def ernie(f: Fields, kind: str) -> Parts:
    """ERNIE (Sun et al. 2019): BERT, without the task embeddings of later versions."""
    f.only("use_task_id", False)
    f.take("task_type_vocab_size", None)
    return bert(f, kind)


@family(
    "megatron-bert",
    encoder_heads(
        "MegatronBert",
        "pooler",
        ForPreTraining="pretraining",
        ForCausalLM=MASKED,
        ForNextSentencePrediction="pooled_classes 2",
    ),
    MEGATRON_BERT,
)
def megatron_bert(f: Fields, kind: str) -> Parts:
    """Megatron-LM's BERT (Shoeybi et al. 2019): norms before sub-layers, none after the embedding."""
    parts = bert(f, kind)
    assert parts.encoder is not None
    stack = _normed_before(parts.encoder)
    return replace(parts, encoder=replace(stack, embedding=replace(stack.embedding, norm=None)))


def _normed_before(stack: Stack) -> Stack:
    """Return the same layers with norms before sub-layers, and one after the last layer."""
    runs = tuple(replace(run, blocks=tuple(replace(each, order="pre") for each in run.blocks)) for run in stack.runs)
    return replace(stack, runs=runs, final_norm=stack.embedding.norm)


def without_spare_bias(f: Fields, head: Head) -> None:
    """Omit the second bias of untied scores, which the library stores and does not use."""
    if head.bias and not head.tied:
        f.assumptions.append("a second bias of the scores, which the library stores and does not use, is left out")


@family("camembert", encoder_heads("Camembert", "pooler", ForCausalLM=MASKED), ROBERTA)
@family("data2vec-text", encoder_heads("Data2VecText", "pooler", ForCausalLM=MASKED), ROBERTA)
@family("xlm-roberta", encoder_heads("XLMRoberta", "pooler", ForCausalLM=MASKED), ROBERTA)
@family("roberta", encoder_heads("Roberta", "pooler", ForCausalLM=MASKED), ROBERTA)
def roberta(f: Fields, kind: str) -> Parts:
    """RoBERTa (Liu et al. 2019): positions are numbered from the one after the padding token.

    So are those of XLM-RoBERTa (Conneau et al. 2020), CamemBERT (Martin et al. 2020), data2vec (Baevski et al. 2022).
    """
    return _roberta(f, kind, *token_encoder(f))


@family("roberta-prelayernorm", encoder_heads("RobertaPreLayerNorm", "pooler", ForCausalLM=MASKED), ROBERTA_PRE_NORM)
def roberta_prelayernorm(f: Fields, kind: str) -> Parts:
    """RoBERTa with norms before sub-layers (Ott et al. 2019)."""
    layer_norm, stack = token_encoder(f)
    return _roberta(f, kind, layer_norm, _normed_before(stack))


@family("xlm-roberta-xl", encoder_heads("XLMRobertaXL", "pooler", ForCausalLM=MASKED), XLM_ROBERTA_XL)
def xlm_roberta_xl(f: Fields, kind: str) -> Parts:
    """XLM-R XL (Goyal et al. 2021): norms before sub-layers, none after the embedding."""
    layer_norm, stack = token_encoder(f, eps="1e-5", segments=1)
    stack = _normed_before(stack)
    return _roberta(f, kind, layer_norm, replace(stack, embedding=replace(stack.embedding, norm=None)))


@family("mpnet", encoder_heads("MPNet", "pooler"), MPNET)
def mpnet(f: Fields, kind: str) -> Parts:
    """MPNet (Song et al. 2020): RoBERTa without segments, with a bias of the scores by distance."""
    f.only("relative_attention_num_buckets", 32)  # any other table is read with the numbers of 32 buckets
    layer_norm, stack = token_encoder(f, segmented=False)
    bias = RelativeBias(f.let(size("buckets"), 32), Integer(128))
    return _roberta(f, kind, layer_norm, replace(stack, relative_bias=bias))


def _roberta(f: Fields, kind: str, layer_norm: Norm, stack: Stack) -> Parts:
    """Return an encoder whose first rows of positions are not used, with the heads of RoBERTa."""
    first = (f.whole("pad_token_id", 1, least=0) or 0) + 1
    rows = f.values[size("positions")]
    if first >= rows:
        raise f.error("max_position_embeddings", f"is {rows}, and the first position is row {first}")
    embedding = replace(stack.embedding, first_position=first)
    head = masked_head(f, kind, tanh_activation, gelu, layer_norm)
    without_spare_bias(f, head)
    return Parts(head, encoder=replace(stack, embedding=embedding))


@family("deberta-v2", encoder_heads("DebertaV2", "none"), DEBERTA_V2)
def deberta_v2(f: Fields, kind: str) -> Parts:
    """DeBERTa versions 2 and 3 (He et al. 2021, 2023): disentangled attention, without a convolution."""
    f.only("conv_kernel_size", 0)
    f.only("is_decoder", False)
    for field in ("conv_act", "conv_groups"):  # of the convolution alone
        f.take(field, None)
    f.only("pooler_hidden_size", f.config.get("hidden_size"))
    segments = f.whole("type_vocab_size", 0, least=0) or 0
    layer_norm, stack = token_encoder(f, segmented=segments > 0, eps="1e-7")
    if not f.flag("position_biased_input", True):
        stack = replace(stack, embedding=replace(stack.embedding, positions=None))
    inner, pooler = activation(f, "hidden_act", "gelu"), activation(f, "pooler_hidden_act", "gelu")
    head = masked_head(f, kind, pooler, inner, layer_norm)
    if f.flag("legacy", True):
        without_spare_bias(f, head)
    else:
        head = replace(head, tied=True)  # whatever the configuration says
    attention = _disentangled(f, layer_norm)
    (run,) = stack.runs
    blocks = tuple(replace(block, attention=attention) for block in run.blocks)
    return Parts(head, encoder=replace(stack, runs=(replace(run, blocks=blocks),)))


def _disentangled(f: Fields, layer_norm: Norm) -> Attention:
    """Return disentangled attention, or plain attention with the score scale of disentangled attention."""
    given = f.take("pos_att_type", None)
    words = given.lower().split("|") if isinstance(given, str) else given or []
    terms = {str(each).strip() for each in words} if isinstance(words, list) else {str(words)}
    if not terms <= {"c2p", "p2c"}:
        raise f.error("pos_att_type", f"is {shown(given)}; of c2p and p2c, one, both or none are understood")
    relative, shared = f.flag("relative_attention", False), f.flag("share_att_key", False)
    limit, buckets = (f.whole(name, -1, least=-1) or 0 for name in ("max_relative_positions", "position_buckets"))
    normed = f.choice("norm_rel_ebd", {"none": False, "layer_norm": True}, "none")
    if not relative:
        if normed:
            raise f.error("norm_rel_ebd", "is a norm of the rows of distances, and relative_attention is false")
        return Attention(h, biases=BIASES, score_scale=1 / sqrt((1 + len(terms)) * d_k) if terms else None)
    if not terms or (shared and len(terms) == 1):
        raise f.error(
            "pos_att_type", f"is {shown(given)}; rows of distances that are stored or projected would not be read"
        )
    longest = limit if limit > 0 else f.values[size("positions")]
    if buckets > 0 and (buckets < 4 or longest - 1 <= buckets // 2):
        raise f.error("position_buckets", f"is {buckets}; from 4 up to 2 (max_relative_positions - 2) are understood")
    by = Disentangled(
        f.let(size("buckets"), buckets if buckets > 0 else longest),
        Integer(longest) if buckets > 0 else None,
        shared,
        by_keys="c2p" in terms,
        by_queries="p2c" in terms,
        norm=layer_norm if normed else None,
    )
    return Attention(h, biases=BIASES, positions=by)


@family("distilbert", encoder_heads("DistilBert", "none"), DISTILBERT)
def distilbert(f: Fields, kind: str) -> Parts:
    """DistilBERT (Sanh et al. 2019): BERT without segments and pooler."""
    f.only("sinusoidal_pos_embds", False, True)  # a stored table in either case
    f.take("tie_weights_", None)
    layer_norm = Norm(eps=Rational(1, 10**12))
    other = {"dim": ("hidden_size",), "n_heads": ("num_attention_heads",)}
    divided_heads(f, "dim", "n_heads", other)
    function = activation(f, "activation", "gelu")
    block = Block(
        Attention(h, biases=BIASES), FeedForward(function, d_ff=f.size(d_ff, "hidden_dim")), layer_norm, "post"
    )
    layers = uniform(f, block, "n_layers", ("num_hidden_layers",))
    positions = f.size(size("positions"), "max_position_embeddings")
    f.size(vocab, "vocab_size")
    stack = Stack(layers, Embedding(positions, norm=layer_norm))
    return Parts(masked_head(f, kind, relu, function, layer_norm), encoder=stack)
