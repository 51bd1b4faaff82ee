"""Decoders whose layers are state spaces, or state spaces and attention: Mamba, Mamba-2 and their hybrids.

A missing field has the default of the family's configuration class. Where a layer has a recurrence, the cache is its
state. Fields that say how a recurrence is computed, or with which numbers training starts, have no effect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from derivations.architectures.checkpoints.recurrent import JAMBA, MAMBA, MAMBA_2, RWKV
from derivations.architectures.description import Attention, Block, Embedding, Experts, Norm, Recurrent, Stack
from derivations.architectures.hugging_face.families import decoder_heads, family
from derivations.architectures.hugging_face.fields import Fields
from derivations.architectures.hugging_face.readers.gated import decoder_of, experts_of, gated_feed_forward
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
from derivations.recurrences.causal_convolution import width
from derivations.recurrences.selective_state_space import d_inner, d_state, rank, selective_state_space
from derivations.recurrences.short_convolution import short_convolution
from derivations.recurrences.state_space_heads import heads_of_group, state_groups, state_space_heads, state_width
from derivations.recurrences.time_mixing import channel_mixing, time_mixing
from derivations.symbols import d, d_ff, d_model

__all__ = ["HYBRID", "Names", "heads_of", "selective", "short"]

COMPUTED = ("residual_in_fp32", "use_mambapy", "use_falcon_mambapy", "use_associative_scan", "use_mamba_kernels")
INITIAL = ("rescale_prenorm_residual", "time_step_scale", "time_step_min", "time_step_max", "time_step_floor")
WITHOUT_EFFECT = (*COMPUTED, *INITIAL, "time_step_init_scheme", "num_logits_to_keep", "chunk_size", "mamba_chunk_size")
UNBOUNDED = ([0.0, float("inf")], [0.0, {"__float__": "Infinity"}], None)  # the second as the library writes it


@dataclass(frozen=True)
class Names:
    """The fields of a state space and their defaults: state, kernel, expansion, biases of products and convolution."""

    state: tuple[str, int] = ("state_size", 16)
    kernel: tuple[str, int] = ("conv_kernel", 4)
    expansion: tuple[str, int] = ("expand", 2)
    biases: str = "use_bias"
    convolution_bias: str = "use_conv_bias"
    rank: str = "time_step_rank"
    heads: tuple[str, int] = ("num_heads", 128)
    head_width: tuple[str, int | str] = ("head_dim", 64)
    groups: tuple[str, int] = ("n_groups", 8)
    eps: tuple[str, str] = ("layer_norm_epsilon", "1e-5")
    width: bool = True  # `intermediate_size` is that of the state space


HYBRID = Names(
    ("mamba_d_state", 256),
    ("mamba_d_conv", 4),
    ("mamba_expand", 2),
    "mamba_proj_bias",
    "mamba_conv_bias",
    "mamba_dt_rank",
    ("mamba_n_heads", 128),
    ("mamba_d_head", "auto"),
    ("mamba_n_groups", 1),
    ("rms_norm_eps", "1e-5"),
    width=False,
)


@family("rwkv", decoder_heads("Rwkv"), RWKV)
def rwkv(f: Fields, kind: str) -> Parts:
    """RWKV (Peng et al. 2023): every layer mixes its rows over time, then over channels."""
    layer_norm = norm(f, "layer_norm_epsilon", "1e-5")
    columns = f.values[f.size(d_model, "hidden_size", 4096)]
    f.let(d, f.whole("attention_hidden_size", None, none=True) or columns)
    f.let(d_ff, f.whole("intermediate_size", None, none=True) or 4 * columns)
    f.whole("context_length", 1024, least=0)  # of the texts in training
    count, step = listed_layers(f, default=32), f.whole("rescale_every", 6, least=0)

    def behind(layers: int, norm: Norm) -> Norm:
        """Return the norm after some layers, with eps times 4 for every halving of the rows before it."""
        return replace(norm, eps=norm.eps * 4 ** (layers // step if step else 0))

    time, channels = Recurrent(time_mixing()), Recurrent(channel_mixing())
    layers = runs(f, [Block(time, channels, behind(i, layer_norm)) for i in range(count)])
    stack = Stack(layers, Embedding(norm=layer_norm), causal=True, final_norm=behind(count, Norm()))  # of its own eps
    return Parts(language_head(f, kind, tied=False), decoder=stack)


def _expanded(f: Fields, names: Names) -> int:
    """Return the width inside a state space: the model's width times a factor, which need not be whole."""
    field, default = names.expansion
    factor = Fraction(str(f.number(field, str(default))))
    found = int(factor * f.values[d_model])
    if found < 1:
        raise f.error(field, f"is {factor}, which leaves no column of {f.values[d_model]}")
    return found


def _common(f: Fields, names: Names) -> tuple[bool, bool]:
    for name in WITHOUT_EFFECT:
        f.take(name, None)
    f.size(d_state, *names.state)
    f.size(width, *names.kernel)
    return f.flag(names.biases, False), f.flag(names.convolution_bias, True)


def selective(
    f: Fields, names: Names, norms: str = "none", eps: tuple[str, str] = ("mixer_rms_eps", "1e-6")
) -> Recurrent:
    """Return the selective state space that the fields describe."""
    biases, convolution_bias = _common(f, names)
    columns = _expanded(f, names)
    # a width that is written goes before the factor, and the configuration class writes it
    f.let(d_inner, (f.whole("intermediate_size", columns) or 1) if names.width else columns)
    given = f.take(names.rank, "auto")
    f.let(rank, ceil(f.values[d_model] / 16) if given == "auto" else f.whole(names.rank) or 1)
    function = activation(f, "hidden_act", "silu")
    options = {} if norms == "none" else {"norms": norms, "eps": f.number(*eps)}
    mixer = selective_state_space(function, biases=biases, convolution_bias=convolution_bias, **options)
    return Recurrent(mixer)


def heads_of(
    f: Fields,
    names: Names,
    *,
    expanded: bool = True,
    act: str = "hidden_act",
    columns: int | None = None,
    **options: Any,
) -> Recurrent:
    """Return the state space with heads that the fields describe.

    If `expanded`, all heads together must be as wide as the state space.

    `columns` is that width, where it is not the width of the model times a factor; `options` are those of the layer.
    """
    biases, convolution_bias = _common(f, names)
    f.only("time_step_limit", *UNBOUNDED)
    number, groups = f.whole(*names.heads) or 1, f.whole(*names.groups) or 1
    factor = _expanded(f, names)
    columns = columns or factor
    each = (
        f.quotient(names.expansion[0], columns, names.heads[0], number) if f.take(*names.head_width) == "auto" else None
    )
    each = each or f.whole(*names.head_width) or 1
    if expanded and each * number != columns:
        raise f.error(names.head_width[0], f"is {each}, and {number} such heads are not {columns} columns")
    f.let(state_groups, groups)
    f.let(heads_of_group, f.quotient(names.heads[0], number, names.groups[0], groups))
    f.let(state_width, each)
    function, eps = activation(f, act, "silu"), f.number(*names.eps)
    mixer = state_space_heads(function, biases=biases, convolution_bias=convolution_bias, eps=eps, **options)
    return Recurrent(mixer)


def short(f: Fields) -> Recurrent:
    """Return the gated short convolution that the fields describe."""
    f.size(width, "conv_L_cache", 3)
    return Recurrent(short_convolution(biases=f.flag("conv_bias", False)))


@family("mamba", decoder_heads("Mamba"), MAMBA)
def mamba(f: Fields, kind: str) -> Parts:
    """Mamba (Gu and Dao 2023): a state space in every layer, and nothing else."""
    return _of_state_spaces(f, kind, "selective")


@family("falcon_mamba", decoder_heads("FalconMamba"), MAMBA)
def falcon_mamba(f: Fields, kind: str) -> Parts:
    """Falcon Mamba (Zuo et al. 2024): Mamba with RMS norms of steps, inputs and outputs."""
    return _of_state_spaces(f, kind, "plain")


@family("mamba2", decoder_heads("Mamba2"), MAMBA_2)
def mamba2(f: Fields, kind: str) -> Parts:
    """Mamba-2 (Dao and Gu 2024): heads with one decay each."""
    f.take("time_step_rank", None)
    return _of_state_spaces(f, kind, "heads", tied=False)


def _of_state_spaces(f: Fields, kind: str, mixer: str, *, tied: bool = True) -> Parts:
    rms = norm(f, "layer_norm_epsilon", "1e-5", "rms")
    f.size(d_model, "hidden_size")
    if mixer == "heads":
        found = heads_of(f, replace(Names(), state=("state_size", 128)))
    else:
        found = selective(f, Names(), "none" if mixer == "selective" else mixer)
    layers = uniform(f, Block(found, None, rms))
    return Parts(language_head(f, kind, tied=tied), decoder=Stack(layers, Embedding(), causal=True, final_norm=rms))


@family("jamba", decoder_heads("Jamba"), JAMBA)
def jamba(f: Fields, kind: str) -> Parts:
    """Jamba (Lieber et al. 2024): Mamba with attention in some layers, experts in some; no positions."""
    rms = norm(f, "rms_norm_eps", "1e-6", "rms")
    heads, groups = grouped_heads(f, 8)
    recurrent = selective(f, replace(HYBRID, state=("mamba_d_state", 16)), "scaled", ("rms_norm_eps", "1e-6"))
    dense = gated_feed_forward(f)
    places = [_every(f, "attn_layer", 8, 4), _every(f, "expert_layer", 2, 1)]
    blocks = []
    several = (f.whole("num_experts", 16, ("num_local_experts",)) or 1) > 1
    sparse = _experts(f) if several else dense
    f.whole("num_experts_per_tok", 2)
    for i in range(listed_layers(f)):
        (period, offset), (every, first) = places
        attends = i % period == offset
        network = sparse if i % every == first else dense
        blocks.append(Block(Attention(heads, groups) if attends else recurrent, network, rms))
    return decoder_of(f, kind, runs(f, blocks), rms)


def _experts(f: Fields) -> Experts:
    found = experts_of(f, "intermediate_size", ("num_experts", "num_local_experts"), normalised=False)
    return replace(found, d_expert=d_ff)


def _every(f: Fields, name: str, period: int, offset: int) -> tuple[int, int]:
    """Return the period and the offset of the layers of a kind."""
    every, first = f.whole(f"{name}_period", period) or 1, f.whole(f"{name}_offset", offset, least=0) or 0
    if first >= every:
        raise f.error(f"{name}_offset", f"is {first}, and {name}_period is {every}; the offset must be smaller")
    return every, first
