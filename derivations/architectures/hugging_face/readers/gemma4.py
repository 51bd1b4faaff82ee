"""Gemma 3n and Gemma 4: the last layers reuse keys and values, and layers have separate token embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from sympy import Expr, Integer, Rational, Symbol, erfinv, sqrt

from derivations.architectures.checkpoints.llama import GEMMA_3N, GEMMA_4
from derivations.architectures.description import (
    Attention,
    Block,
    Embedding,
    FeedForward,
    Norm,
    PerLayer,
    Rotary,
    Stack,
    Streams,
)
from derivations.architectures.hugging_face.families import family
from derivations.architectures.hugging_face.fields import LARGEST_SIZE, Fields, shown
from derivations.architectures.hugging_face.positions import PROPORTIONAL, rotary_of, table_of_kind
from derivations.architectures.hugging_face.readers.gated import (
    KINDS,
    gated_feed_forward,
    kinds_of_layers,
    same_biases,
    window_of,
)
from derivations.architectures.hugging_face.readers.gemma import cap
from derivations.architectures.hugging_face.shared import Parts, activation, grouped_heads, language_head, norm, runs
from derivations.language.arrays.functions import Named
from derivations.symbols import d_ff, d_k, d_model, h, size

__all__ = ["gemma3n", "gemma4"]

FULL, SLIDING = KINDS
DIGITS = 30  # of a quantile
OF_LAYERS = ("head_dim", "num_key_value_heads")  # the sizes that layers may have of their own
ROTARY: Mapping[str, object] = {
    SLIDING: {"rope_type": "default", "rope_theta": 10000.0},
    FULL: {"rope_type": PROPORTIONAL, "partial_rotary_factor": 0.25, "rope_theta": 1000000.0},
}


@family("gemma4_text", {"Gemma4ForCausalLM": "language_model", "Gemma4TextModel": "none"}, GEMMA_4)
def gemma4(f: Fields, kind: str) -> Parts:
    """Gemma 4's language model (Gemma Team 2026), without its mixture of experts."""
    f.only("enable_moe_block", False)
    f.only("use_bidirectional_attention", None, "vision")  # a text alone is read from its start on
    for field in ("num_experts", "top_k_experts", "moe_intermediate_size"):
        f.take(field, None)  # of a mixture, which this model lacks
    f.whole("max_position_embeddings", None, none=True)
    f.size(d_model, "hidden_size")
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    kinds = kinds_of_layers(f, lambda i: (i + 1) % 6 != 0)
    if kinds[-1] != FULL:
        raise f.error("layer_types", "ends with a layer with a window, which the library makes one without")
    of_kind = _attentions(f, rms, [*kinds])
    sharing = _given_and_taken(f, [*kinds])
    network = gated_feed_forward(f, field="hidden_activation", default="gelu_pytorch_tanh")
    wide = network
    if f.flag("use_double_wide_mlp", False):
        wide = replace(network, d_ff=f.let(size("d_ff_wide"), 2 * f.values[d_ff]))
    rows = _rows_of_layers(f, network.activation)
    layers = [
        Block(
            replace(of_kind[each], sharing=shared),
            wide if shared == "takes" else network,
            rms,
            "sandwich",
            per_layer=rows,
            buffered=True,
        )
        for each, shared in zip(kinds, sharing, strict=True)
    ]
    head = replace(language_head(f, kind, tied=True), soft_cap=cap(f, "final_logit_softcapping", None))
    stack = Stack(runs(f, layers), Embedding(scale=sqrt(d_model)), causal=True, final_norm=rms)
    return Parts(head, decoder=stack)


@family("gemma3n_text", {"Gemma3nForCausalLM": "language_model", "Gemma3nTextModel": "none"}, GEMMA_3N)
def gemma3n(f: Fields, kind: str) -> Parts:
    """Gemma 3n's language model (Gemma Team 2025): residual streams, a low-rank branch, sparse gates."""
    f.whole("max_position_embeddings", None, none=True)
    f.number("altup_coef_clip", "120")  # of weights in training
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, 2, width=256)
    f.quotient("hidden_size", f.values[d_model], "num_attention_heads", f.whole("num_attention_heads") or 1)
    kinds = kinds_of_layers(f, lambda i: (i + 1) % 5 != 0)
    sharing, networks = _given_and_taken(f, [*kinds], 15), _networks(f, len(kinds))
    tables, bases = f.table("rope_parameters") or {}, {"rope_theta": 10**6, "rope_local_base_freq": 10**4}
    found = {}
    for each, (field, base) in zip(KINDS, bases.items(), strict=True):
        usual = {"rope_type": "default", "rope_theta": f.take(field, base)}
        found[each] = _rotary(f, {each: {**usual, **table_of_kind(f, tables, each)}}, each, d_k)
    window = window_of(f, 512, used=SLIDING in kinds)
    attention = Attention(
        *(heads, groups),
        biases=same_biases(f.flag("attention_bias", False)),
        norm=rms,
        score_scale=Integer(1),
        value_norm=replace(rms, scaled=False),
    )
    of_kind = {
        each: replace(attention, positions=found[each], window=window if each == SLIDING else None) for each in KINDS
    }
    count = f.size(size("S"), "altup_num_inputs", 4)
    active = f.whole("altup_active_idx", 0, least=0) or 0
    if not active < f.values[count] > 1:
        raise f.error("altup_num_inputs", f"is {f.values[count]}: two streams are needed, of which {active} is active")
    streams = Streams(count, active, f.flag("altup_correct_scale", True))
    rank, rows = f.size(size("r_A"), "laurel_rank", 64), _rows_of_layers(f, networks[0].activation)
    if rows is None:
        raise f.error("hidden_size_per_layer_input", "is 0, and every layer has a row of its own for a token")
    layers = [
        Block(
            replace(of_kind[each], sharing=shared),
            *(network, rms, "sandwich"),
            per_layer=rows,
            streams=streams,
            augmented=rank,
        )
        for each, shared, network in zip(kinds, sharing, networks, strict=True)
    ]
    head = replace(language_head(f, kind, tied=True), soft_cap=cap(f, "final_logit_softcapping", "30.0"))
    stack = Stack(runs(f, layers), Embedding(scale=sqrt(d_model)), causal=True, final_norm=rms)
    return Parts(head, decoder=stack)


def _networks(f: Fields, layers: int) -> list[FeedForward]:
    """Return the network of every layer, each with its width and the share of zeros in its gate."""
    function = activation(f, "hidden_activation", "gelu_pytorch_tanh")
    given = f.take("intermediate_size", 16384)
    widths = _of_each(f, "intermediate_size", given if isinstance(given, list) else [given] * layers, layers)
    shares: object = f.take("activation_sparsity_pattern", None)
    if shares is None:
        first = 10 if layers > 10 else 0
        shares = [0.95] * first + [0.0] * (layers - first)
    symbols: dict[int, Symbol] = {}
    for width in widths:
        if isinstance(width, bool) or not isinstance(width, int) or not 0 < width <= LARGEST_SIZE:
            raise f.error("intermediate_size", f"has {shown(width)}; whole numbers from 1 to 10^15 are needed")
        symbols.setdefault(width, d_ff if not symbols else size(f"d_ff_{len(symbols) + 1}"))
    for width, symbol in symbols.items():
        f.let(symbol, width)
    cutoffs = [_cutoff(f, share) for share in _of_each(f, "activation_sparsity_pattern", shares, layers)]
    return [
        FeedForward(function, True, False, symbols[width], cutoff)
        for width, cutoff in zip(widths, cutoffs, strict=True)
    ]


def _of_each(f: Fields, field: str, listed: object, layers: int) -> list[Any]:
    """Return a list, after checking that it has an entry for each layer."""
    if not isinstance(listed, list) or len(listed) != layers:
        raise f.error(field, f"is {shown(listed)}; a list with an entry for each of the {layers} layers is needed")
    return listed


def _cutoff(f: Fields, share: object) -> Expr | None:
    """Return the quantile of a normal distribution below which a share of the numbers lies, None for no share."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
        raise f.error("activation_sparsity_pattern", f"has {shown(share)}; shares from 0 to below 1 are needed")
    if share == 0:
        return None
    return Rational(str((sqrt(2) * erfinv(2 * Rational(str(share)) - 1)).evalf(DIGITS)))


def _rows_of_layers(f: Fields, activation: Named) -> PerLayer | None:
    """Return the description of per-layer token embeddings, or None if the model has none."""
    vocabulary = f.whole("vocab_size_per_layer_input", 262144)
    width = f.whole("hidden_size_per_layer_input", 256, none=True, least=0)
    if not width or vocabulary is None:
        return None
    return PerLayer(f.let(size("vocab_E"), vocabulary), f.let(size("d_E"), width), activation)


def _given_and_taken(f: Fields, kinds: list[str], usual: int = 0) -> list[Literal["none", "gives", "takes"]]:
    """Return for each layer whether it gives its keys and values, takes those of an earlier one, or does neither.

    The last layers take those of the last layer of their kind before them.
    """
    count = f.whole("num_kv_shared_layers", usual, least=0) or 0
    first = len(kinds) - count
    if first < 0 or not {*kinds[first:]} <= {*kinds[:first]}:
        raise f.error("num_kv_shared_layers", f"is {count}, and a kind of layers would have no keys and values to take")
    givers = {len(kinds[:first]) - 1 - kinds[:first][::-1].index(kind) for kind in {*kinds[first:]}}
    return ["takes" if i >= first else "gives" if i in givers else "none" for i in range(len(kinds))]


def _attentions(f: Fields, rms: Norm, kinds: list[str]) -> dict[str, Attention]:
    """Return attention by kind of layer: heads and their width may differ."""
    count = f.whole("num_attention_heads") or 1
    usual = {"head_dim": f.whole("head_dim", 256), "num_key_value_heads": f.whole("num_key_value_heads", 4)}
    same, biases = f.flag("attention_k_eq_v", False), same_biases(f.flag("attention_bias", False))
    changed = _changed_by_kind(f, kinds, same)
    window = window_of(f, 512, used=SLIDING in kinds)
    tables = f.table("rope_parameters") or ROTARY
    found = {}
    for kind in dict.fromkeys(kinds):
        suffix = "_full" if kind == FULL else ""
        each, groups = ({**usual, **changed.get(kind, {})}[field] or 1 for field in usual)
        of_keys = same and kind == FULL
        width = f.let(size(f"d_k{suffix}"), each)
        of_values = width if of_keys else f.let(size(f"d_v{suffix}"), each)
        heads, shared = h, None
        if groups == count:
            f.let(h, count)
        else:
            of_each = f.quotient("num_attention_heads", count, "num_key_value_heads", groups)
            heads, shared = f.let(size(f"r{suffix}"), of_each), f.let(size(f"g{suffix}"), groups)
        found[kind] = Attention(
            *(heads, shared, width, of_values),
            biases=biases,
            positions=_rotary(f, tables, kind, width),
            norm=rms,
            score_scale=Integer(1),
            window=window if kind == SLIDING else None,
            values_of_keys=of_keys,
            value_norm=replace(rms, scaled=False),
        )
    return found


def _changed_by_kind(f: Fields, kinds: list[str], same: bool) -> dict[str, dict[str, int]]:
    """Return the sizes that differ by kind of layer, from a list by layer or from the fields for full attention."""
    width, groups = f.whole("global_head_dim", 512), f.whole("num_global_key_value_heads", None, none=True)
    listed = f.take("per_layer_config", None)
    if f.given("per_layer_config") is None:
        of_full = {"head_dim": width, "num_key_value_heads": groups if same else None}
        return {FULL: {field: value for field, value in of_full.items() if value is not None}}
    numbered: dict[int, dict[str, int]] = {number: {} for number in range(len(kinds))}
    for number, sizes in listed.items() if isinstance(listed, dict) else ():
        if not (number.isdecimal() and int(number) in numbered and isinstance(sizes, dict)):
            raise f.error("per_layer_config", f"has {shown({number: sizes})}; numbers of layers and sizes are needed")
        inner = Fields(sizes, f"{f.name}: per_layer_config")
        numbered[int(number)] = {field: inner.whole(field) or 1 for field in sizes if field in OF_LAYERS}
        inner.finish()
    by_kind = {kind: [numbered[n] for n, each in enumerate(kinds) if each == kind] for kind in kinds}
    if not isinstance(listed, dict) or any(each != those[0] for those in by_kind.values() for each in those):
        raise f.error("per_layer_config", "does not give all layers of a kind the same sizes, which alone is read")
    return {kind: those[0] for kind, those in by_kind.items()}


def _rotary(f: Fields, tables: Mapping[str, object], kind: str, width: Symbol) -> Rotary:
    """Return the rotary positions of one kind of layer: those of all pairs, or of the first ones."""
    table = table_of_kind(f, tables, kind)
    known = {"default": ("rope_theta",), PROPORTIONAL: ("rope_theta", "partial_rotary_factor", "factor")}
    named = table.get("rope_type")
    for field in table:
        if field != "rope_type" and field not in known.get(str(named), ()):
            raise f.error(f"rope_parameters.{kind}.{field}", f"is not understood for the type {shown(named)}")
    if str(named) not in known or "rope_theta" not in table:
        raise f.error(f"rope_parameters.{kind}", f"is {shown(table)}; a rope_theta and a known rope_type are needed")
    return rotary_of(f, table, Rational(10**4), width=width)
