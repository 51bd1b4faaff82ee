"""Encoders with decoders: T5, BART and their relatives, and Whisper."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from sympy import Integer, Symbol, sqrt

from derivations.architectures.checkpoints.encoder_decoders import BART, T5
from derivations.architectures.checkpoints.pictures import WHISPER, WHISPER_ENCODER
from derivations.architectures.description import (
    Attention,
    AudioStem,
    Block,
    Embedding,
    FeedForward,
    Head,
    Norm,
    RelativeBias,
    Run,
    Sinusoids,
    Stack,
)
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.shared import Parts, activation, divided_heads, language_head, norm, uniform
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

__all__ = [
    "bart",
    "blenderbot",
    "blenderbot_small",
    "m2m_100",
    "marian",
    "mbart",
    "mt5",
    "mvp",
    "pegasus",
    "plbart",
    "qwen2_audio_encoder",
    "t5",
    "voxtral_encoder",
    "whisper",
]

Biases: TypeAlias = tuple[bool, bool, bool, bool]
BIASES, NO_KEY_BIAS = (True, True, True, True), (True, False, True, True)
N_encoder, N_decoder = size("N_encoder"), size("N_decoder")


# --- T5 -------------------------------------------------------------------------------------------------------------


@family(
    "t5",
    {
        "T5ForConditionalGeneration": "language_model",
        "T5WithLMHeadModel": "language_model",
        "T5Model": "none",
        "T5EncoderModel": "encoder",
    },
    T5,
)
def t5(f: Fields, kind: str) -> Parts:
    """T5 (Raffel et al. 2020): one table of relative positions for each stack, scores without a scale."""
    return _t5(f, kind, "relu")


@family("mt5", decoder_heads("MT5", "ForConditionalGeneration") | {"MT5EncoderModel": "encoder"}, T5)
def mt5(f: Fields, kind: str) -> Parts:
    """MT5 (Xue et al. 2021): T5 with a gated network, and scores of tokens that are never scaled."""
    parts = _t5(f, kind, "gated-gelu")
    return replace(parts, head=replace(parts.head, scale=Integer(1)))


def _t5(f: Fields, kind: str, network: str) -> Parts:
    f.only("is_decoder", False)
    f.only("is_encoder_decoder", True, *([False] if kind == "encoder" else []))
    f.whole("n_positions", None, none=True)  # of the texts in training; there is no table of positions
    f.size(d_model, "d_model", also=("hidden_size",))
    f.size(h, "num_heads", also=("num_attention_heads",))
    f.size(d_k, "d_kv")
    f.let(d_v, f.values[d_k])
    f.size(d_ff, "d_ff")
    rms = norm(f, "layer_norm_epsilon", "1e-6", "rms")
    attention, feed_forward = Attention(h, score_scale=Integer(1)), _feed_forward_of_t5(f, network)
    buckets = f.size(size("buckets"), "relative_attention_num_buckets", 32)
    longest = Integer(f.whole("relative_attention_max_distance", 128) or 128)
    layers = f.whole("num_layers", also=("num_hidden_layers",)) or 1
    f.let(N_encoder, layers)
    encoder = Stack(
        (Run((Block(attention, feed_forward, rms),), N_encoder),),
        Embedding(),
        final_norm=rms,
        relative_bias=RelativeBias(buckets, longest),
    )
    in_decoder = f.whole("num_decoder_layers", None, none=True) or layers
    head = _head_of_t5(f, kind)
    if kind == "encoder":
        return Parts(head, encoder)
    f.let(N_decoder, in_decoder)
    decoder = Stack(
        (Run((Block(attention, feed_forward, rms, cross_attention=attention),), N_decoder),),
        Embedding(),
        causal=True,
        final_norm=rms,
        relative_bias=RelativeBias(buckets, longest, bidirectional=False),
    )
    return Parts(head, encoder, decoder)


def _feed_forward_of_t5(f: Fields, usual: str) -> FeedForward:
    """Return the network: gated, with three matrices, if the field starts with "gated-", else with two."""
    word = f.take("feed_forward_proj", usual)
    gated = isinstance(word, str) and word.startswith("gated-")
    name = word.removeprefix("gated-") if isinstance(word, str) else word
    name = "gelu_new" if word == "gated-gelu" else name  # the meaning in releases of T5 1.1
    f.only("is_gated_act", gated)
    f.only("dense_act_fn", name)
    return FeedForward(
        activation(Fields({"feed_forward_proj": name}, f.name), "feed_forward_proj", "relu"), gated, False
    )


def _head_of_t5(f: Fields, kind: str) -> Head:
    """Return the head: tied with the scale 1 / sqrt(d_model) or, from T5 1.1 on, separate without a scale."""
    head = language_head(f, "none" if kind == "encoder" else kind, tied=True)
    if head.kind == "none":
        f.take("scale_decoder_outputs", None)
        return head
    scaled = f.flag("scale_decoder_outputs", head.tied)
    return Head("language_model", tied=head.tied, scale=1 / sqrt(d_model) if scaled else Integer(1))


# --- BART and Whisper -----------------------------------------------------------------------------------------------


def _side(f: Fields, side: str, biases: Biases, function: str) -> tuple[Attention, FeedForward, Symbol]:
    """Return attention, feed-forward network and number of layers of the encoder or decoder, with separate sizes."""
    heads = f.size(size(f"h_{side}"), f"{side}_attention_heads")
    each = f.divided("d_model", d_model, f"{side}_attention_heads", heads)
    d_k_side, d_v_side = f.let(size(f"d_k_{side}"), each), f.let(size(f"d_v_{side}"), each)
    attention = Attention(heads, d_k=d_k_side, d_v=d_v_side, biases=biases)
    inner = f.size(size(f"d_ff_{side}"), f"{side}_ffn_dim")
    feed_forward = FeedForward(activation(f, "activation_function", function), d_ff=inner)
    return attention, feed_forward, f.size(size(f"N_{side}"), f"{side}_layers")


def _both(f: Fields, biases: Biases, order: Literal["pre", "post"], function: str = "gelu") -> tuple[Run, Run]:
    """Return the layers of encoder and decoder."""
    f.size(d_model, "d_model", also=("hidden_size",))
    attention, feed_forward, count = _side(f, "encoder", biases, function)
    encoder = Run((Block(attention, feed_forward, Norm(), order),), count)
    attention, feed_forward, count = _side(f, "decoder", biases, function)
    decoder = Run((Block(attention, feed_forward, Norm(), order, cross_attention=attention),), count)
    f.only("num_hidden_layers", f.values[N_encoder])
    return encoder, decoder


@family("bart", decoder_heads("Bart", "ForConditionalGeneration"), BART)
def bart(f: Fields, kind: str) -> Parts:
    """BART (Lewis et al. 2020): learned positions, whose first two rows are not used; norms after sub-layers."""
    f.only("normalize_before", False)
    f.only("add_final_layer_norm", False)
    return _bart(f, kind, "post")


@family("mbart", decoder_heads("MBart", "ForConditionalGeneration"), BART)
def mbart(f: Fields, kind: str) -> Parts:
    """MBART (Liu et al. 2020): BART with norms before sub-layers, and one after each stack."""
    f.only("normalize_before", True)
    f.only("add_final_layer_norm", True)
    return _bart(f, kind, "pre")


@family("plbart", decoder_heads("PLBart", "ForConditionalGeneration"), BART)
def plbart(f: Fields, kind: str) -> Parts:
    """PLBART (Ahmad et al. 2021): BART with token rows times sqrt(d_model)."""
    return _bart(f, kind, "post", scaled=True)


@family("mvp", decoder_heads("Mvp", "ForConditionalGeneration"), BART)
def mvp(f: Fields, kind: str) -> Parts:
    """MVP (Tang et al. 2023): BART, without the prompts that lightweight tuning adds."""
    return _bart(f, kind, "post")


@family("m2m_100", decoder_heads("M2M100", "ForConditionalGeneration"), BART)
def m2m_100(f: Fields, kind: str) -> Parts:
    """M2M-100 (Fan et al. 2021): sinusoidal positions, sines before cosines, which are not stored."""
    parts = _bart(f, kind, "pre", normed=False, scaled=True, function="relu")
    first = (f.whole("pad_token_id", 1, least=0) or 0) + 1  # positions are numbered from the padding token
    parts = replace(parts, head=replace(parts.head, buffered=False))
    return _with_sinusoids(parts, Sinusoids(first, halves=True, to_base=True), counted=False)


@family("blenderbot", decoder_heads("Blenderbot", "ForConditionalGeneration"), BART)
def blenderbot(f: Fields, kind: str) -> Parts:
    """Blenderbot (Roller et al. 2021): norms before sub-layers, none after the embedding."""
    return _bart(f, kind, "pre", unused=0, normed=False)


@family("blenderbot-small", decoder_heads("BlenderbotSmall", "ForConditionalGeneration"), BART)
def blenderbot_small(f: Fields, kind: str) -> Parts:
    """Blenderbot's small model (Roller et al. 2021): the decoder's token rows are normed before positions are added."""
    parts = _bart(f, kind, "post", unused=0)
    assert parts.decoder is not None
    embedding = replace(parts.decoder.embedding, norm_first=True)
    return replace(parts, decoder=replace(parts.decoder, embedding=embedding))


@family("pegasus", decoder_heads("Pegasus", "ForConditionalGeneration"), BART)
def pegasus(f: Fields, kind: str) -> Parts:
    """PEGASUS (Zhang et al. 2020): norms before sub-layers, sinusoidal positions."""
    f.assumptions.append(STORED)
    return _bart(f, kind, "pre", unused=0, normed=False)


@family("marian", decoder_heads("Marian", "MTModel"), BART)
def marian(f: Fields, kind: str) -> Parts:
    """Marian (Junczys-Dowmunt et al. 2018): norms after sub-layers, sinusoidal positions."""
    f.only("share_encoder_decoder_embeddings", True)
    f.only("decoder_vocab_size", None, f.config.get("vocab_size"))
    f.assumptions.append("the sinusoidal positions, which are not stored, are counted as parameters")
    parts = _bart(f, kind, "post", unused=0, normed=False)
    return _with_sinusoids(parts, Sinusoids(halves=True), counted=True)


def _with_sinusoids(parts: Parts, sinusoids: Sinusoids, *, counted: bool) -> Parts:
    """Return both stacks with sinusoidal positions, whose table counts as parameters if `counted`."""

    def changed(stack: Stack | None) -> Stack | None:
        if stack is None:
            return None
        rows = stack.embedding if counted else replace(stack.embedding, positions=None, first_position=0)
        return replace(stack, embedding=replace(rows, sinusoidal=sinusoids))

    return replace(parts, encoder=changed(parts.encoder), decoder=changed(parts.decoder))


STORED = "the stored sinusoidal positions are counted as parameters"


def _bart(
    f: Fields,
    kind: str,
    order: Literal["pre", "post"],
    *,
    unused: int = 2,
    normed: bool = True,
    scaled: bool = False,
    function: str = "gelu",
) -> Parts:
    """Return both stacks and the head of BART.

    The tables of positions start with `unused` rows. Embeddings have a norm if `normed`.
    """
    f.only("is_decoder", False)
    f.only("is_encoder_decoder", True)
    f.only("normalize_embedding", True)
    f.only("static_position_embeddings", False)
    f.only("extra_pos_embeddings", 2)
    f.only("use_prompt", False)
    for field in ("prompt_length", "prompt_mid_dim"):
        f.take(field, None)
    f.only("add_bias_logits", False)
    f.only("tie_word_embeddings", True)
    encoder, decoder = _both(f, BIASES, order, function)
    positions = f.size(size("positions"), "max_position_embeddings")
    scale = sqrt(d_model) if f.flag("scale_embedding", scaled) else Integer(1)
    embedding = Embedding(positions + unused, first_position=unused, norm=Norm() if normed else None, scale=scale)
    final = Norm() if order == "pre" else None
    head = replace(language_head(f, kind, tied=True), buffered=kind == "language_model")
    return Parts(
        head,
        Stack((encoder,), embedding, final_norm=final),
        Stack((decoder,), embedding, causal=True, final_norm=final),
    )


HEARD = "the stored sinusoidal positions of the encoder are counted as parameters"


@family("whisper", decoder_heads("Whisper", "ForConditionalGeneration"), WHISPER)
def whisper(f: Fields, kind: str) -> Parts:
    """Whisper (Radford et al. 2023): two convolutions before the encoder, keys without bias."""
    f.only("is_encoder_decoder", True)
    f.only("use_weighted_layer_sum", False)
    f.take("classifier_proj_size", None)
    encoder, decoder = _both(f, NO_KEY_BIAS, "pre")
    scale = sqrt(d_model) if f.flag("scale_embedding", False) else Integer(1)
    heard = Embedding(f.size(size("source_positions"), "max_source_positions"))
    f.assumptions.append(HEARD)
    written = Embedding(f.size(size("positions"), "max_target_positions"), scale=scale)
    stem = AudioStem(f.size(size("mel"), "num_mel_bins"))
    head = language_head(f, kind, tied=True)
    return Parts(
        head,
        Stack((encoder,), heard, final_norm=Norm(), stem=stem),
        Stack((decoder,), written, causal=True, final_norm=Norm()),
    )


@family("voxtral_encoder", {"VoxtralEncoder": "none"}, WHISPER_ENCODER)
def voxtral_encoder(f: Fields, kind: str) -> Parts:
    """The encoder of Voxtral (Liu et al. 2025), which is the same as Whisper's."""
    for field in ("vocab_size", "scale_embedding"):  # of the decoder
        f.take(field, None)
    other = {"hidden_size": ("d_model",), "num_attention_heads": ("encoder_attention_heads",)}
    divided_heads(f, "hidden_size", "num_attention_heads", other)
    inner = f.size(d_ff, "intermediate_size", also=("encoder_ffn_dim",))
    network = FeedForward(activation(f, "activation_function", "gelu"), d_ff=inner)
    layers = uniform(f, Block(Attention(h, biases=NO_KEY_BIAS), network, Norm()), also=("encoder_layers",))
    heard = Embedding(f.size(size("source_positions"), "max_source_positions"))
    f.assumptions.append(HEARD)
    return Parts(
        Head("none"), Stack(layers, heard, final_norm=Norm(), stem=AudioStem(f.size(size("mel"), "num_mel_bins")))
    )


@family("audioflamingo3_encoder", {"AudioFlamingo3Encoder": "none"}, WHISPER_ENCODER)
@family("qwen2_audio_encoder", {"Qwen2AudioEncoder": "none"}, WHISPER_ENCODER)
def qwen2_audio_encoder(f: Fields, kind: str) -> Parts:
    """The encoder of Qwen2-Audio (Chu et al. 2024): Whisper's, with rows averaged in pairs before the last norm.

    So is that of Audio Flamingo 3 (Goel et al. 2025).
    """
    parts = voxtral_encoder(f, kind)
    if (rows := f.values[size("source_positions")]) % 2:
        raise f.error("max_source_positions", f"is {rows}, an odd number of rows, which are averaged in pairs")
    assert parts.encoder is not None
    return replace(parts, encoder=replace(parts.encoder, paired=True))
