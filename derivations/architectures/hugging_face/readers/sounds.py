"""Encoders of raw audio: wav2vec 2.0, HuBERT, UniSpeech, WavLM and data2vec.

Definition   rows are what strided convolutions make of the samples; a convolution of the rows tells their positions
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from sympy import Expr, Integer

from derivations.architectures.checkpoints.sounds import wav2vec2 as names_of
from derivations.architectures.description import (
    Attention,
    Block,
    Convolved,
    Embedding,
    FeedForward,
    Head,
    Norm,
    RelativeBias,
    Stack,
    Waveform,
)
from derivations.architectures.hugging_face.families import family
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.readers.encoders import BIASES, labels
from derivations.architectures.hugging_face.shared import Parts, activation, divided_heads, norm, uniform
from derivations.language.arrays.functions import Named
from derivations.symbols import d_ff, d_model, h, size, vocab

__all__ = ["data2vec_audio", "hubert", "unispeech", "unispeech_sat", "wav2vec2", "wavlm"]

OF_LETTERS = {"Model": "none", "ForCTC": "language_model"}
OF_FRAMES = {**OF_LETTERS, "ForAudioFrameClassification": "token_classes"}
COLUMNS, WIDTHS, STRIDES = (512,) * 7, (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)
MOST_CONVOLUTIONS = 32
UNUSED = (  # fields of losses, of what quantises targets in training, and of heads of other classes
    *("ctc_loss_reduction", "ctc_zero_infinity", "num_ctc_classes", "classifier_proj_size"),
    *("codevector_dim", "num_codevector_groups", "num_codevectors_per_group", "proj_codevector_dim"),
    *("contrastive_logits_temperature", "diversity_loss_weight", "num_negatives", "num_clusters", "replace_prob"),
    *("tdnn_dim", "tdnn_kernel", "tdnn_dilation", "xvector_output_dim"),
    *("adapter_kernel_size", "adapter_stride", "num_adapter_layers", "output_hidden_size"),
    *("tie_word_embeddings",),  # there is no table of tokens
)


def _classes(prefix: str, heads: dict[str, str]) -> dict[str, str]:
    return {prefix + each: head for each, head in heads.items()}


@family("wav2vec2", _classes("Wav2Vec2", OF_FRAMES), runs=True)
def wav2vec2(f: Fields, kind: str) -> Parts:
    """wav2vec 2.0 (Baevski et al. 2020), and XLSR and MMS without their adapters."""
    return _of_samples(f, kind)


@family("hubert", _classes("Hubert", OF_LETTERS), runs=True)
def hubert(f: Fields, kind: str) -> Parts:
    """HuBERT (Hsu et al. 2021): wav2vec 2.0, sometimes without a norm before the projection."""
    f.only("conv_pos_batch_norm", False)
    return _of_samples(f, kind, projected_norm=f.flag("feat_proj_layer_norm", True))


@family("unispeech", _classes("UniSpeech", OF_LETTERS), runs=True)
def unispeech(f: Fields, kind: str) -> Parts:
    """UniSpeech (Wang et al. 2021): wav2vec 2.0."""
    return _of_samples(f, kind)


@family("unispeech-sat", _classes("UniSpeechSat", OF_FRAMES), runs=True)
def unispeech_sat(f: Fields, kind: str) -> Parts:
    """UniSpeech-SAT (Chen et al. 2022): wav2vec 2.0."""
    return _of_samples(f, kind)


@family("wavlm", _classes("WavLM", OF_FRAMES), runs=True)
def wavlm(f: Fields, kind: str) -> Parts:
    """WavLM (Chen et al. 2022): wav2vec 2.0 with a bias of scores by distance, gated by head and row."""
    parts = _of_samples(f, kind)
    assert parts.encoder is not None
    buckets, longest = f.size(size("buckets"), "num_buckets", 320), f.whole("max_bucket_distance", 800) or 1
    (run,) = parts.encoder.runs
    (block,) = run.blocks
    gated = replace(block, attention=Attention(h, biases=BIASES, bias_gate=Integer(8)))
    bias = RelativeBias(buckets, Integer(longest))
    return replace(parts, encoder=replace(parts.encoder, runs=(replace(run, blocks=(gated,)),), relative_bias=bias))


@family("data2vec-audio", _classes("Data2VecAudio", OF_FRAMES), runs=True)
def data2vec_audio(f: Fields, kind: str) -> Parts:
    """data2vec for audio (Baevski et al. 2022): several convolutions for positions, without weight normalisation."""
    function = activation(f, "feat_extract_activation", "gelu")
    width, count = f.whole("conv_pos_kernel_size", 19) or 1, size("N_positions")
    positions = Convolved(width, _groups(f), function, f.size(count, "num_conv_pos_embeddings", 5))
    return _parts(f, kind, _stem(f, function, over_time=False), positions, "post")


def _of_samples(f: Fields, kind: str, *, projected_norm: bool = True) -> Parts:
    function = activation(f, "feat_extract_activation", "gelu")
    positions = Convolved(f.whole("num_conv_pos_embeddings", 128) or 1, _groups(f), function)
    over_time = f.choice("feat_extract_norm", {"group": True, "layer": False}, "group") is True
    order = "pre" if f.flag("do_stable_layer_norm", False) else "post"
    return _parts(f, kind, _stem(f, function, over_time=over_time, projected_norm=projected_norm), positions, order)


def _groups(f: Fields) -> Expr:
    """Return the column groups of the position convolution, and read the width and the heads of the model."""
    divided_heads(f, "hidden_size", "num_attention_heads")
    groups = f.size(size("conv_groups"), "num_conv_pos_embedding_groups", 16)
    f.divided("hidden_size", d_model, "num_conv_pos_embedding_groups", groups)
    return groups


def _stem(f: Fields, function: Named, *, over_time: bool, projected_norm: bool = True) -> Waveform:
    """Return the convolutions, which three lists of equal lengths describe."""
    columns = _sizes(f, "conv_dim", COLUMNS)
    widths, strides = _sizes(f, "conv_kernel", WIDTHS), _sizes(f, "conv_stride", STRIDES)
    if not len(columns) == len(widths) == len(strides) <= MOST_CONVOLUTIONS:
        lengths = f"{len(columns)} numbers, conv_kernel {len(widths)} and conv_stride {len(strides)}"
        raise f.error("conv_dim", f"has {lengths}; lists of one length up to {MOST_CONVOLUTIONS} are needed")
    f.only("num_feat_extract_layers", len(columns))
    symbols = [f.let(size(f"c_{number}"), each) for number, each in enumerate(columns, 1)]
    stem = Waveform(
        tuple(zip(symbols, widths, strides, strict=True)),
        over_time,
        function,
        biases=f.flag("conv_bias", False),
        norm=_norm(f) if projected_norm else None,
        mask_token=any([_share(f, "mask_time_prob", 0.05) > 0, _share(f, "mask_feature_prob", 0.0) > 0]),
    )
    f.assumptions.append(f"a row reads {stem.lengths(Integer(1))[0]} samples, each further row {prod(strides)} more")
    return stem


def _norm(f: Fields) -> Norm:
    return norm(f, "layer_norm_eps", "1e-5")


def _parts(f: Fields, kind: str, stem: Waveform, positions: Convolved, order: str) -> Parts:
    """Return the layers after the stem, with a norm before the first one or after the last."""
    f.only("add_adapter", False)
    f.only("adapter_attn_dim", None)
    for field in UNUSED:
        f.take(field, None)
    feed_forward = FeedForward(activation(f, "hidden_act", "gelu"), d_ff=f.size(d_ff, "intermediate_size"))
    block = Block(Attention(h, biases=BIASES), feed_forward, _norm(f), order)  # type: ignore[arg-type]
    rows = Embedding(convolved=positions, norm=_norm(f) if order == "post" else None)
    stack = Stack(uniform(f, block), rows, final_norm=_norm(f) if order == "pre" else None, stem=stem)
    names = names_of(len(stem.convolutions), normed_weights=positions.normed_weights)
    return Parts(_head(f, kind), encoder=stack, names=names)


def _head(f: Fields, kind: str) -> Head:
    """Return the head: none, or for every row the scores of letters or of classes."""
    if kind == "token_classes":
        f.only("use_weighted_layer_sum", False)
        f.take("vocab_size", None)
        return Head("token_classes", classes=f.let(size("classes"), labels(f)))
    f.take("use_weighted_layer_sum", None)
    if kind == "none":
        f.take("vocab_size", None)
        return Head("none")
    f.size(vocab, "vocab_size")
    return Head("language_model", tied=False, bias=True)


def _sizes(f: Fields, field: str, usual: tuple[int, ...]) -> list[int]:
    """Return a list of whole numbers that are at least 1."""
    value = f.take(field, list(usual))
    if not isinstance(value, list) or not value:
        raise f.error(field, f"is {shown(value)}; a list of whole numbers is needed")
    return [Fields({field: each}, f.name).whole(field) or 1 for each in value]


def _share(f: Fields, field: str, usual: float) -> float:
    """Return a masking rate; above 0 the model has a learned mask row."""
    value = f.take(field, usual)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise f.error(field, f"is {shown(value)}; a number is needed")
    return value
