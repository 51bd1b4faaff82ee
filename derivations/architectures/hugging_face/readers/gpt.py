"""Decoders like GPT, with learned or sinusoidal positions or ALiBi: GPT, GPT-Neo, StarCoder, BioGPT, XGLM, MPT."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, sqrt

from derivations.architectures.checkpoints.decoders import BIOGPT, GPT, GPT_BIGCODE, GPT_NEO, MPT, XGLM
from derivations.architectures.description import Attention, Block, Embedding, FeedForward, Norm, Sinusoids, Stack
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields, shown
from derivations.architectures.hugging_face.readers.decoders import ALL, NONE, OTHER_NAMES, by_distance, inner
from derivations.architectures.hugging_face.shared import (
    MOST_LISTED,
    Parts,
    activation,
    divided_heads,
    language_head,
    norm,
    runs,
    shared_heads,
    uniform,
)
from derivations.symbols import d_ff, d_model, h, size

__all__ = ["biogpt", "gpt", "gpt_bigcode", "gpt_neo", "mpt", "xglm"]

OUTPUT_ALONE = (False, False, False, True)
LONE_WINDOW = ("global", "local")


@family("openai-gpt", decoder_heads("OpenAIGPT", "LMHeadModel"), GPT)
def gpt(f: Fields, kind: str) -> Parts:
    """GPT (Radford et al. 2018): learned positions, norms after sub-layers."""
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    divided_heads(f, "n_embd", "n_head", OTHER_NAMES)
    f.let(d_ff, 4 * f.values[d_model])
    word = {"gelu": "gelu_new"}.get(str(f.take("afn", "gelu")), f.take("afn", "gelu"))  # as the release means it
    function = activation(Fields({"afn": word}, f.name), "afn", "gelu_new")
    block = Block(Attention(h, biases=ALL), FeedForward(function), layer_norm, "post")
    positions = f.size(size("positions"), "n_positions", also=("max_position_embeddings",))
    layers = uniform(f, block, "n_layer", ("num_hidden_layers",))
    return Parts(language_head(f, kind, tied=True), decoder=Stack(layers, Embedding(positions), causal=True))


@family("gpt_bigcode", decoder_heads("GPTBigCode"), GPT_BIGCODE)
def gpt_bigcode(f: Fields, kind: str) -> Parts:
    """StarCoder (Li et al. 2023): GPT-2 with one head of keys and values for all queries."""
    f.take("scale_attention_softmax_in_fp32", None)
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    divided_heads(f, "n_embd", "n_head", OTHER_NAMES)
    inner(f, "n_inner")
    one, count = f.flag("multi_query", True), f.values.pop(h)
    f.only("num_key_value_heads", 1 if one else count)
    heads, groups = shared_heads(f, count, 1 if one else count)
    scale = None if f.flag("scale_attn_weights", True) else Integer(1)
    attention = Attention(heads, groups, biases=ALL, score_scale=scale)
    block = Block(attention, FeedForward(activation(f, "activation_function", "gelu_pytorch_tanh")), layer_norm)
    positions = f.size(size("positions"), "n_positions", also=("max_position_embeddings",))
    layers = uniform(f, block, "n_layer", ("num_hidden_layers",))
    head = language_head(f, kind, tied=True)
    return Parts(head, decoder=Stack(layers, Embedding(positions), causal=True, final_norm=layer_norm))


@family("gpt_neo", decoder_heads("GPTNeo"), GPT_NEO)
def gpt_neo(f: Fields, kind: str) -> Parts:
    """GPT-Neo (Black et al. 2021): scores without a scale, windows in every other layer."""
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    divided_heads(f, "hidden_size", "num_heads", {"num_heads": ("num_attention_heads",)})
    inner(f, "intermediate_size")
    function = activation(f, "activation_function", "gelu_new")
    attention = Attention(h, biases=OUTPUT_ALONE, score_scale=Integer(1))
    full = Block(attention, FeedForward(function), layer_norm)
    window = f.size(size("window"), "window_size", 256)
    near = replace(full, attention=replace(attention, window=window))
    layers = runs(f, [near if each == "local" else full for each in _kinds_of_gpt_neo(f)])
    positions = f.size(size("positions"), "max_position_embeddings")
    head = language_head(f, kind, tied=True)
    return Parts(head, decoder=Stack(layers, Embedding(positions), causal=True, final_norm=layer_norm))


def _kinds_of_gpt_neo(f: Fields) -> list[str]:
    """Return the kind of every layer, which `attention_types` lists in patterns with their numbers of repetitions."""
    count = f.whole("num_layers", also=("num_hidden_layers",)) or 1
    kinds: list[str] = []
    patterns = f.take("attention_types", [[LONE_WINDOW, count // 2]])
    for pair in patterns if isinstance(patterns, list) else [patterns]:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], list | tuple):
            raise f.error("attention_types", f"has {shown(pair)}; a list of kinds and a number are needed")
        times = Fields({"attention_types": pair[1]}, f.name).whole("attention_types") or 1
        if times * len(pair[0]) > MOST_LISTED:
            raise f.error("attention_types", f"has {times * len(pair[0])} layers; at most {MOST_LISTED} are read")
        kinds += list(pair[0]) * times
    if len(kinds) != count or not set(kinds) <= set(LONE_WINDOW):
        raise f.error("attention_types", f"is {shown(patterns)}; global or local is needed for each of {count} layers")
    f.only("attention_layers", kinds)
    return kinds


@family("biogpt", decoder_heads("BioGpt"), BIOGPT)
def biogpt(f: Fields, kind: str) -> Parts:
    """BioGPT (Luo et al. 2022): learned positions, of which two rows are not used, token rows times sqrt(d_model)."""
    f.take("layer_norm_eps", None)  # the norms of the library have their own
    divided_heads(f, "hidden_size", "num_attention_heads")
    feed_forward = FeedForward(activation(f, "hidden_act", "gelu"), d_ff=f.size(d_ff, "intermediate_size"))
    layers = uniform(f, Block(Attention(h, biases=ALL), feed_forward, Norm()))
    positions = f.size(size("positions"), "max_position_embeddings")
    scale = sqrt(d_model) if f.flag("scale_embedding", True) else Integer(1)
    embedding = Embedding(positions + 2, first_position=2, scale=scale)
    head = language_head(f, kind, tied=True)
    return Parts(head, decoder=Stack(layers, embedding, causal=True, final_norm=Norm()))


@family("xglm", decoder_heads("XGLM"), XGLM)
def xglm(f: Fields, kind: str) -> Parts:
    """XGLM (Lin et al. 2022): sinusoidal positions, sines before cosines, which are not stored."""
    f.whole("max_position_embeddings", None, none=True)  # there is a row for every position
    f.only("pad_token_id", None, 0, 1)  # the library has zeros in that row of its table, and reads it from row 2 on
    divided_heads(f, "d_model", "attention_heads", {"d_model": ("hidden_size",)})
    feed_forward = FeedForward(activation(f, "activation_function", "gelu"), d_ff=f.size(d_ff, "ffn_dim"))
    layers = uniform(f, Block(Attention(h, biases=ALL), feed_forward, Norm()), "num_layers", ("num_hidden_layers",))
    scale = sqrt(d_model) if f.flag("scale_embedding", True) else Integer(1)
    sinusoids = Sinusoids(2, halves=True, to_base=True)
    stack = Stack(layers, Embedding(sinusoidal=sinusoids, scale=scale), causal=True, final_norm=Norm())
    return Parts(language_head(f, kind, tied=True), decoder=stack)


@family("mpt", decoder_heads("Mpt"), MPT)
def mpt(f: Fields, kind: str) -> Parts:
    """MPT (MosaicML 2023): ALiBi biases, no biases of products, norms without a shift."""
    f.only("no_bias", True)
    f.only("logit_scale", None)
    f.only("embedding_fraction", 1.0, 1)
    for name in ("learned_pos_emb", "init_device", "norm_type", "max_seq_len", "max_position_embeddings"):
        f.take(name, None)
    layer_norm = replace(norm(f, "layer_norm_epsilon", "1e-5"), shifted=False)
    other = {"d_model": ("hidden_size",), "n_heads": ("num_attention_heads",)}
    divided_heads(f, "d_model", "n_heads", other)
    f.only("expansion_ratio", 4)  # the network of the library has four times the width, whatever the field says
    f.let(d_ff, 4 * f.values[d_model])
    inside = Fields(f.table("attn_config") or {}, f"{f.name}: attn_config")
    understood = {"alibi": (True,), "alibi_bias_max": (8,), "prefix_lm": (False,), "qk_ln": (False,)}
    for name, values in {**understood, "attn_type": ("multihead_attention",), "softmax_scale": (None,)}.items():
        inside.only(name, *values)
    for name in ("attn_impl", "attn_uses_sequence_id"):
        inside.take(name, None)
    alibi = by_distance(f, f.values[h])
    if alibi.power is not None:
        raise f.error("n_heads", f"is {f.values[h]}; biases by distance are read for powers of two")
    clip = None if not inside.take("clip_qkv", None) else inside.number("clip_qkv")
    inside.finish()
    block = Block(Attention(h, biases=NONE, positions=alibi, clip=clip), FeedForward(biases=False), layer_norm)
    layers = uniform(f, block, "n_layers", ("num_hidden_layers",))
    head = language_head(f, kind, tied=True)
    return Parts(head, decoder=Stack(layers, Embedding(), causal=True, final_norm=layer_norm))
