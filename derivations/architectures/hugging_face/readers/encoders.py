"""Encoders: BERT, RoBERTa, DistilBERT and the Vision Transformer."""

from __future__ import annotations

from dataclasses import replace

from sympy import Rational

from derivations.architectures.description import (
    Attention,
    Block,
    Embedding,
    FeedForward,
    Head,
    Norm,
    Patches,
    Stack,
)
from derivations.architectures.hugging_face.families import encoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    divided_heads,
    norm,
    tanh_activation,
    uniform,
)
from derivations.language.arrays.functions import Named, gelu, relu
from derivations.symbols import d_ff, d_model, h, size, vocab

__all__ = ["bert", "distilbert", "labels", "roberta", "vit"]

BIASES = (True, True, True, True)


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
    """Return a head of an encoder of tokens; `inner` and `layer_norm` precede the scores of tokens."""
    tied = f.flag("tie_word_embeddings", True)
    if kind in ("masked_language_model", "pretraining"):
        return Head(kind, tied=tied, bias=True, activation=inner, norm=layer_norm)  # type: ignore[arg-type]
    if kind in ("none", "pooler"):
        return Head(kind, activation=pooler if kind == "pooler" else None)  # type: ignore[arg-type]
    kind, _, fixed = kind.partition(" ")
    classes = f.let(size("classes"), int(fixed) if fixed else labels(f))
    return Head(kind, classes=classes, activation=pooler if kind == "pooled_classes" else None)  # type: ignore[arg-type]


def _tokens(f: Fields, kind: str) -> tuple[Norm, Stack]:
    """Return the norm and the encoder that BERT and RoBERTa share."""
    f.only("position_embedding_type", "absolute")
    f.only("embedding_size", f.config.get("hidden_size"))
    causal = f.flag("is_decoder", False)
    layer_norm = norm(f, "layer_norm_eps", "1e-12")
    divided_heads(f, "hidden_size", "num_attention_heads")
    feed_forward = FeedForward(activation(f, "hidden_act", "gelu"), d_ff=f.size(d_ff, "intermediate_size"))
    layers = uniform(f, Block(Attention(h, biases=BIASES), feed_forward, layer_norm, "post"))
    positions = f.size(size("positions"), "max_position_embeddings")
    segments = f.size(size("segments"), "type_vocab_size", 2)
    f.size(vocab, "vocab_size")
    return layer_norm, Stack(layers, Embedding(positions, segments=segments, norm=layer_norm), causal=causal)


@family(
    "bert",
    encoder_heads(
        "Bert",
        "pooler",
        ForPreTraining="pretraining",
        LMHeadModel="masked_language_model",
        ForNextSentencePrediction="pooled_classes 2",
    ),
)
def bert(f: Fields, kind: str) -> Parts:
    """BERT (Devlin et al. 2019)."""
    layer_norm, stack = _tokens(f, kind)
    head = masked_head(f, kind, tanh_activation, activation(f, "hidden_act", "gelu"), layer_norm)
    _without_spare_bias(f, head)
    return Parts(head, encoder=stack)


def _without_spare_bias(f: Fields, head: Head) -> None:
    """Omit the second bias of untied scores, which the library stores and does not use."""
    if head.bias and not head.tied:
        f.assumptions.append("a second bias of the scores, which the library stores and does not use, is left out")


@family("roberta", encoder_heads("Roberta", "pooler", ForCausalLM="masked_language_model"))
def roberta(f: Fields, kind: str) -> Parts:
    """RoBERTa (Liu et al. 2019): positions are numbered from the one after the padding token."""
    layer_norm, stack = _tokens(f, kind)
    first = (f.whole("pad_token_id", 1, least=0) or 0) + 1
    rows = f.values[size("positions")]
    if first >= rows:
        raise f.error("max_position_embeddings", f"is {rows}, and the first position is row {first}")
    embedding = replace(stack.embedding, first_position=first)
    head = masked_head(f, kind, tanh_activation, gelu, layer_norm)
    _without_spare_bias(f, head)
    return Parts(head, encoder=replace(stack, embedding=embedding))


@family("distilbert", encoder_heads("DistilBert", "none"))
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


@family("vit", {"ViTForImageClassification": "classes", "ViTModel": "pooler"})
def vit(f: Fields, kind: str) -> Parts:
    """The Vision Transformer (Dosovitskiy et al. 2021): rows are patches of an image, after a class token."""
    layer_norm = norm(f, "layer_norm_eps", "1e-12")
    divided_heads(f, "hidden_size", "num_attention_heads")
    biased = f.flag("qkv_bias", True)
    feed_forward = FeedForward(activation(f, "hidden_act", "gelu"), d_ff=f.size(d_ff, "intermediate_size"))
    layers = uniform(f, Block(Attention(h, biases=(biased, biased, biased, True)), feed_forward, layer_norm))
    (height, width), (patch, across) = _sides(f, "image_size"), _sides(f, "patch_size")
    if patch != across:
        raise f.error("patch_size", f"is {patch} by {across}; patches are read only as squares")
    if min(height, width) < patch:
        raise f.error("patch_size", f"is {patch}, more than image_size {min(height, width)}")
    stem = Patches(
        f.let(size("patch"), patch),
        f.size(size("channels"), "num_channels"),
        f.let(size("patches"), (height // patch) * (width // patch)),
    )
    out = f.whole("pooler_output_size", None, none=True)
    if kind == "pooler" and out not in (None, f.values[d_model]):
        raise f.error("pooler_output_size", f"is {out} and not hidden_size, {f.values[d_model]}; it has to be equal")
    pooler = activation(f, "pooler_act", "tanh")
    if kind == "pooler":
        head = Head("pooler", activation=pooler)
    else:
        head = Head("classes", classes=f.let(size("classes"), labels(f)))
    embedding = Embedding(size("patches") + 1)
    return Parts(head, encoder=Stack(layers, embedding, final_norm=layer_norm, stem=stem))


def _sides(f: Fields, field: str) -> tuple[int, int]:
    """Return height and width, given as one number or as two."""
    value = f.take(field)
    pair = value if isinstance(value, list) and len(value) == 2 else [value, value]
    sides = [Fields({field: each}, f.name).whole(field) or 1 for each in pair]
    return sides[0], sides[1]
