"""Decoders with a root-mean-square norm, rotary positions and gated networks: Llama and its successors.

A missing field has the default of the family's configuration class. Biases, norms and orders are those of the families'
published code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sympy import Expr

from derivations.architectures.checkpoints.llama import LLAMA, MIXTRAL, PHI_3, QWEN_2_EXPERTS, QWEN_3_EXPERTS
from derivations.architectures.description import (
    Attention,
    Block,
    Embedding,
    Experts,
    FeedForward,
    Groups,
    Norm,
    Run,
    Stack,
)
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.positions import rotary
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    grouped_heads,
    language_head,
    listed_layers,
    norm,
    runs,
    uniform,
)
from derivations.symbols import d_ff, size

__all__ = [
    "KINDS",
    "decoder_of",
    "experts_of",
    "gated_feed_forward",
    "groups_of",
    "kinds_of_layers",
    "llama",
    "mistral",
    "mixtral",
    "phi3",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "same_biases",
    "window_of",
]

KINDS = ("full_attention", "sliding_attention")
QUERIES_KEYS_VALUES = (True, True, True, False)


def same_biases(biased: bool) -> tuple[bool, bool, bool, bool]:
    """Return the same choice of biases for queries, keys, values and output."""
    return (biased, biased, biased, biased)


def gated_feed_forward(
    f: Fields, *, biased: bool = False, field: str = "hidden_act", default: str = "silu"
) -> FeedForward:
    """Return a network of three matrices, whose activation a field names."""
    return FeedForward(activation(f, field, default), True, biased, f.size(d_ff, "intermediate_size"))


def decoder_of(f: Fields, kind: str, layers: tuple[Run, ...], rms: Norm, *, tied: bool = False) -> Parts:
    """Return a stack of layers with a norm after them and a head without a bias."""
    f.whole("max_position_embeddings", None, ("max_sequence_length",), none=True)
    head = language_head(f, kind, tied=tied)
    return Parts(head, decoder=Stack(layers, Embedding(), causal=True, final_norm=rms))


def window_of(f: Fields, default: int | None, *, used: bool = True) -> Expr | None:
    """Return the number of positions that a position sees, or None if it sees all or windows are not used."""
    width = f.whole("sliding_window", default if used else None, none=True, least=1 if used else 0)
    return None if width is None or not used else f.let(size("window"), width)


# --- one kind of layer ----------------------------------------------------------------------------------------------


@family(
    "llama", {"LlamaForCausalLM": "language_model", "LLaMAForCausalLM": "language_model", "LlamaModel": "none"}, LLAMA
)
def llama(f: Fields, kind: str) -> Parts:
    """Llama 1 to 3 (Touvron et al. 2023; Llama Team 2024)."""
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f)
    biases = same_biases(f.flag("attention_bias", False))
    attention = Attention(heads, groups, biases=biases, positions=rotary(f))
    feed_forward = gated_feed_forward(f, biased=f.flag("mlp_bias", False))
    return decoder_of(f, kind, uniform(f, Block(attention, feed_forward, rms)), rms)


@family("mistral", decoder_heads("Mistral"), LLAMA)
def mistral(f: Fields, kind: str) -> Parts:
    """Mistral 7B (Jiang et al. 2023): a window of attention in every layer."""
    f.only("layer_types", None)
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, required=True)
    attention = Attention(heads, groups, positions=rotary(f), window=window_of(f, 4096))
    return decoder_of(f, kind, uniform(f, Block(attention, gated_feed_forward(f), rms)), rms)


@family("phi3", decoder_heads("Phi3"), PHI_3)
def phi3(f: Fields, kind: str) -> Parts:
    """Phi-3 (Abdin et al. 2024)."""
    f.whole("original_max_position_embeddings", None, none=True)
    rms = norm(f, "rms_norm_eps", "1e-5", "rms")
    heads, groups = grouped_heads(f)
    attention = Attention(heads, groups, positions=rotary(f, share="1", first=4096), window=window_of(f, None))
    return decoder_of(f, kind, uniform(f, Block(attention, gated_feed_forward(f), rms)), rms)


# --- experts --------------------------------------------------------------------------------------------------------


@family("mixtral", decoder_heads("Mixtral"), MIXTRAL)
def mixtral(f: Fields, kind: str) -> Parts:
    """Mixtral (Jiang et al. 2024): every feed-forward network is a mixture of experts."""
    rms = norm(f, "rms_norm_eps", "1e-5", "rms")
    heads, groups = grouped_heads(f, required=True)
    attention = Attention(heads, groups, positions=rotary(f, "1000000"), window=window_of(f, None))
    experts = experts_of(f, "intermediate_size", ("num_local_experts", "num_experts"), normalised=True)
    return decoder_of(f, kind, uniform(f, Block(attention, experts, rms)), rms)


def experts_of(f: Fields, width: str, number: tuple[str, ...], *, normalised: bool) -> Experts:
    """Return a mixture of gated networks, without shared ones."""
    experts = f.size(size("experts"), number[0], also=number[1:])
    chosen = f.size(size("chosen"), "num_experts_per_tok")
    if f.values[chosen] > f.values[experts]:
        raise f.error("num_experts_per_tok", f"is {f.values[chosen]}, more than the {f.values[experts]} experts")
    function = activation(f, "hidden_act", "silu")
    return Experts(experts, chosen, f.size(size("d_expert"), width), function, normalised=normalised)


def groups_of(f: Fields, groups: int | None, kept: int | None, best: int = 2) -> Groups | None:
    """Return the groups of experts if there are several; `groups` and `kept` are defaults.

    A group is ranked by the sum of the `best` largest scores of its experts.
    """
    groups, kept = f.whole("n_group", groups, none=True), f.whole("topk_group", kept, none=True)
    if groups is None or kept is None or groups == 1:
        return None
    number, chosen = (f.values[symbol] for symbol in (size("experts"), size("chosen")))
    of_each = f.quotient("n_routed_experts", number, "n_group", groups)
    if of_each < best:
        raise f.error("n_group", f"leaves {of_each} experts in each group, of which the {best} best rank it")
    if kept > groups or kept * of_each < chosen:
        raise f.error("topk_group", f"is {kept} of {groups} groups of {of_each} experts, of which too few remain")
    f.assumptions.append(f"experts are chosen from {kept} of {groups} groups; counts do not depend on it")
    return Groups(f.let(size("expert_groups"), groups), f.let(size("kept_groups"), kept), best)


@family("qwen3_moe", decoder_heads("Qwen3Moe"), QWEN_3_EXPERTS)
def qwen3_moe(f: Fields, kind: str) -> Parts:
    """Qwen3 with experts (Qwen Team 2025): norms of queries and keys."""
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, required=True)
    biases = same_biases(f.flag("attention_bias", False))
    f.whole("max_window_layers", None, none=True, least=0)
    window = window_of(f, 4096, used=f.flag("use_sliding_window", False))
    attention = Attention(heads, groups, biases=biases, positions=rotary(f), norm=rms, window=window)
    experts = experts_of(
        f, "moe_intermediate_size", ("num_experts", "num_local_experts"), normalised=f.flag("norm_topk_prob", False)
    )
    return decoder_of(f, kind, _some_sparse(f, Block(attention, experts, rms)), rms)


@family("qwen2_moe", decoder_heads("Qwen2Moe"), QWEN_2_EXPERTS)
def qwen2_moe(f: Fields, kind: str) -> Parts:
    """Qwen1.5 and Qwen2 with experts (Qwen Team 2024): a shared expert with a gate."""
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, required=True)
    biases = QUERIES_KEYS_VALUES if f.flag("qkv_bias", True) else same_biases(False)
    f.whole("max_window_layers", None, none=True, least=0)
    f.only("use_sliding_window", False)
    f.words("layer_types", KINDS[:1])
    window_of(f, None, used=False)
    attention = Attention(heads, groups, biases=biases, positions=rotary(f))
    experts = experts_of(f, "moe_intermediate_size", ("num_experts",), normalised=f.flag("norm_topk_prob", False))
    shared = f.size(size("d_shared"), "shared_expert_intermediate_size")
    return decoder_of(
        f, kind, _some_sparse(f, Block(attention, replace(experts, d_shared=shared, shared_gate=True), rms)), rms
    )


def _some_sparse(f: Fields, sparse: Block) -> tuple[Run, ...]:
    """Return layers in which every `decoder_sparse_step`-th has experts, except those in `mlp_only_layers`."""
    every = f.whole("decoder_sparse_step", 1) or 1
    dense_layers = f.numbers("mlp_only_layers", f.whole("num_hidden_layers") or 1)
    if every == 1 and not dense_layers:
        f.whole("intermediate_size", None, none=True)  # of dense layers, which this model lacks
        return uniform(f, sparse)
    count = listed_layers(f)
    dense = replace(sparse, feed_forward=gated_feed_forward(f))
    return runs(f, [dense if i in dense_layers or (i + 1) % every else sparse for i in range(count)])


# --- windows in some layers -----------------------------------------------------------------------------------------


@family("qwen2", decoder_heads("Qwen2"), LLAMA)
def qwen2(f: Fields, kind: str) -> Parts:
    """Qwen2 and Qwen2.5 (Qwen Team 2024): biases of queries, keys and values."""
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, required=True)
    attention = Attention(heads, groups, biases=QUERIES_KEYS_VALUES, positions=rotary(f))
    return decoder_of(f, kind, _some_windowed(f, Block(attention, gated_feed_forward(f), rms)), rms)


@family("qwen3", decoder_heads("Qwen3"), LLAMA)
def qwen3(f: Fields, kind: str) -> Parts:
    """Qwen3 (Qwen Team 2025): norms of queries and keys, no biases."""
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, required=True, width=128)
    biases = same_biases(f.flag("attention_bias", False))
    attention = Attention(heads, groups, biases=biases, positions=rotary(f), norm=rms)
    return decoder_of(f, kind, _some_windowed(f, Block(attention, gated_feed_forward(f), rms)), rms)


def _some_windowed(f: Fields, full: Block) -> tuple[Run, ...]:
    """Return layers with a window from `max_window_layers` on, if windows are turned on."""
    window = window_of(f, 4096, used=f.flag("use_sliding_window", False))
    first = f.whole("max_window_layers", None if window is None else 28, none=True, least=0) or 0
    if f.take("layer_types", None) is None and window is None:
        return uniform(f, full)
    kinds = kinds_of_layers(f, lambda i: window is not None and i >= first)
    if window is None and KINDS[1] in kinds:
        raise f.error("layer_types", "has layers with a window, and use_sliding_window and sliding_window give none")
    assert isinstance(full.attention, Attention)
    windowed = replace(full, attention=replace(full.attention, window=window))
    return runs(f, [windowed if each == KINDS[1] else full for each in kinds])


def kinds_of_layers(f: Fields, windowed: Callable[[int], bool]) -> Sequence[str]:
    """Return the kind of every layer: as listed, or by the rule of the family."""
    count = listed_layers(f)
    listed = f.words("layer_types", KINDS)
    if listed is None:
        return [KINDS[windowed(i)] for i in range(count)]
    if len(listed) != count:
        raise f.error("layer_types", f"has {len(listed)} entries, and num_hidden_layers is {count}")
    return listed
