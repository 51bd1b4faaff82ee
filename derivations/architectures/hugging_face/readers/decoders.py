"""Decoders with a layer norm: GPT-2, GPT-J, GPT-NeoX, OPT, BLOOM and Falcon."""

from __future__ import annotations

from typing import Literal

from sympy import Integer

from derivations.architectures.checkpoints.decoders import BLOOM, CODEGEN, FALCON, GPT_2, GPT_J, GPT_NEOX, OPT
from derivations.architectures.description import (
    Alibi,
    Attention,
    Block,
    Embedding,
    FeedForward,
    Norm,
    Rotary,
    Run,
    Stack,
)
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import rotary, turned_columns
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    bloom_gelu,
    divided_heads,
    language_head,
    norm,
    shared_heads,
    uniform,
)
from derivations.symbols import d_ff, d_k, d_model, d_v, h, size

__all__ = [
    "ALL",
    "NONE",
    "OTHER_NAMES",
    "bloom",
    "by_distance",
    "codegen",
    "falcon",
    "gpt2",
    "gpt_neox",
    "gptj",
    "inner",
    "opt",
]

ALL, NONE = (True, True, True, True), (False, False, False, False)
OTHER_NAMES = {"n_embd": ("hidden_size",), "n_head": ("num_attention_heads",)}


def inner(f: Fields, field: str) -> None:
    """Read the width of the feed-forward network, which is 4 d_model unless given."""
    given = f.whole(field, None, none=True)
    f.let(d_ff, 4 * f.values[d_model] if given is None else given)


@family("gpt2", decoder_heads("GPT2", "LMHeadModel"), GPT_2)
def gpt2(f: Fields, kind: str) -> Parts:
    """GPT-2 (Radford et al. 2019): learned positions, norms before sub-layers, biases everywhere."""
    f.only("scale_attn_by_inverse_layer_idx", False)
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    divided_heads(f, "n_embd", "n_head", OTHER_NAMES)
    inner(f, "n_inner")
    scale = None if f.flag("scale_attn_weights", True) else Integer(1)
    block = Block(
        Attention(h, biases=ALL, score_scale=scale),
        FeedForward(activation(f, "activation_function", "gelu_new")),
        layer_norm,
    )
    positions = f.size(size("positions"), "n_positions", also=("n_ctx", "max_position_embeddings"))
    layers = uniform(f, block, "n_layer", ("num_hidden_layers",))
    head = language_head(f, kind, tied=True)
    return Parts(head, decoder=Stack(layers, Embedding(positions), causal=True, final_norm=layer_norm))


@family("gptj", decoder_heads("GPTJ"), GPT_J)
def gptj(f: Fields, kind: str) -> Parts:
    """GPT-J (Wang and Komatsuzaki 2021): attention and feed-forward network in parallel after one norm."""
    f.only("rotary", True)
    f.only("scale_attn_weights", True)
    f.only("jax", True)
    f.whole("n_positions", None, ("n_ctx", "max_position_embeddings"), none=True)
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    divided_heads(f, "n_embd", "n_head", OTHER_NAMES)
    inner(f, "n_inner")
    turned = Rotary(turned_columns(f, f.whole("rotary_dim", 64) or 64), halves=False)
    block = Block(
        Attention(h, biases=NONE, positions=turned),
        FeedForward(activation(f, "activation_function", "gelu_new")),
        layer_norm,
        "parallel",
        one_norm=True,
    )
    layers = uniform(f, block, "n_layer", ("num_hidden_layers",))
    head = language_head(f, kind, tied=False, bias=True)
    return Parts(head, decoder=Stack(layers, Embedding(), causal=True, final_norm=layer_norm))


@family("codegen", decoder_heads("CodeGen"), CODEGEN)
def codegen(f: Fields, kind: str) -> Parts:
    """CodeGen (Nijkamp et al. 2022): GPT-J, with queries, keys and values stored in four parts."""
    parts = gptj(f, kind)
    f.quotient("the number of heads", f.values[h], "the parts that are stored side by side", 4)
    return parts


@family("gpt_neox", decoder_heads("GPTNeoX"), GPT_NEOX)
def gpt_neox(f: Fields, kind: str) -> Parts:
    """GPT-NeoX and Pythia (Black et al. 2022; Biderman et al. 2023): parallel sub-layers, each after its norm."""
    f.whole("max_position_embeddings", None, none=True)
    layer_norm = norm(f, "layer_norm_eps", "1e-5")
    divided_heads(f, "hidden_size", "num_attention_heads")
    turned = rotary(f, share="0.25", names=("rotary_emb_base", "rotary_pct"))
    biases = ALL if f.flag("attention_bias", True) else NONE
    feed_forward = FeedForward(activation(f, "hidden_act", "gelu"), d_ff=f.size(d_ff, "intermediate_size"))
    order: Literal["parallel", "pre"] = "parallel" if f.flag("use_parallel_residual", True) else "pre"
    layers = uniform(f, Block(Attention(h, biases=biases, positions=turned), feed_forward, layer_norm, order))
    head = language_head(f, kind, tied=False)
    return Parts(head, decoder=Stack(layers, Embedding(), causal=True, final_norm=layer_norm))


@family("opt", decoder_heads("OPT"), OPT)
def opt(f: Fields, kind: str) -> Parts:
    """OPT (Zhang et al. 2022): learned positions, whose first two rows are not used."""
    f.only("layer_norm_elementwise_affine", True)
    divided_heads(f, "hidden_size", "num_attention_heads")
    narrow = f.whole("word_embed_proj_dim", None, none=True)
    width = None if narrow in (None, f.values[d_model]) else f.let(size("d_embedding"), narrow or 1)
    before, without = f.flag("do_layer_norm_before", True), f.flag("_remove_final_layer_norm", False)
    final_norm = Norm() if before and not without else None
    biased = f.flag("enable_bias", True)
    feed_forward = FeedForward(
        activation(f, "activation_function", "relu"), biases=biased, d_ff=f.size(d_ff, "ffn_dim")
    )
    order: Literal["pre", "post"] = "pre" if before else "post"
    layers = uniform(f, Block(Attention(h, biases=ALL if biased else NONE), feed_forward, Norm(), order))
    positions = f.size(size("positions"), "max_position_embeddings")
    head = language_head(f, kind, tied=True)
    embedding = Embedding(positions + 2, first_position=2, width=width)
    return Parts(head, decoder=Stack(layers, embedding, causal=True, final_norm=final_norm))


@family("bloom", decoder_heads("Bloom"), BLOOM)
def bloom(f: Fields, kind: str) -> Parts:
    """BLOOM (BigScience Workshop 2022): ALiBi biases, a norm after the embedding."""
    f.only("apply_residual_connection_post_layernorm", False)
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    other = {"hidden_size": ("n_embed",), "n_head": ("num_attention_heads",)}
    divided_heads(f, "hidden_size", "n_head", other)
    f.only("n_inner", None, 4 * f.values[d_model])
    f.let(d_ff, 4 * f.values[d_model])
    block = Block(Attention(h, biases=ALL, positions=by_distance(f, f.values[h])), FeedForward(bloom_gelu), layer_norm)
    layers = uniform(f, block, "n_layer", ("num_hidden_layers",))
    head = language_head(f, kind, tied=True)
    embedding = Embedding(norm=layer_norm)
    return Parts(head, decoder=Stack(layers, embedding, causal=True, final_norm=layer_norm))


def by_distance(f: Fields, heads: int, *, scaled: bool = False) -> Alibi:
    """Return ALiBi biases.

    `power` is set where the number of heads is not a power of two.
    """
    power = 1 << (heads.bit_length() - 1)
    return Alibi(None if power == heads else f.let(size("h_power"), power), scaled)


@family("falcon", decoder_heads("Falcon"), FALCON)
def falcon(f: Fields, kind: str) -> Parts:
    """Falcon (Almazrouei et al. 2023): one key-value head, or groups with two norms; rotary positions or biases."""
    f.only("apply_residual_connection_post_layernorm", False)
    f.whole("max_position_embeddings", None, none=True)
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    f.size(d_model, "hidden_size", also=("n_embed",))
    inner(f, "ffn_hidden_size")
    count = f.whole("num_attention_heads", also=("n_head",)) or 1
    each = f.quotient("hidden_size", f.values[d_model], "num_attention_heads", count)
    f.let(d_k, each)
    f.let(d_v, each)
    newer = f.flag("new_decoder_architecture", False)
    one_key, given = f.flag("multi_query", True), f.whole("num_kv_heads", None, ("n_head_kv",), none=True)
    groups = (given or count) if newer else 1 if one_key else count
    heads, shared = shared_heads(f, count, groups)
    order, norms = _order_of_falcon(f, newer)
    alibi, turned = f.flag("alibi", False), rotary(f)
    if alibi and shared is not None:
        raise f.error("alibi", "is true, and heads share keys and values; it is read only for separate heads")
    biased = f.flag("bias", False)
    attention = Attention(
        heads,
        shared,
        biases=ALL if biased else NONE,
        positions=by_distance(f, count, scaled=True) if alibi else turned,
    )
    feed_forward = FeedForward(activation(f, "activation", "gelu"), biases=biased)
    block = Block(attention, feed_forward, layer_norm, order, one_norm=norms == 1)
    layers: tuple[Run, ...] = uniform(f, block, also=("n_layer",))
    head = language_head(f, kind, tied=True)
    return Parts(head, decoder=Stack(layers, Embedding(), causal=True, final_norm=layer_norm))


def _order_of_falcon(f: Fields, newer: bool) -> tuple[Literal["pre", "parallel"], int]:
    """Return the order of a layer, and the number of norms before parallel attention and feed-forward network."""
    parallel = f.flag("parallel_attn", True)
    norms = f.whole("num_ln_in_parallel_attn", None, none=True) or (2 if newer else 1)
    if newer and not parallel:
        raise f.error("parallel_attn", "is false, which new_decoder_architecture rules out")
    if norms > (2 if newer else 1):
        raise f.error("num_ln_in_parallel_attn", f"is {norms}, more norms than there are parts to put them before")
    return ("parallel", norms) if parallel else ("pre", 2)
