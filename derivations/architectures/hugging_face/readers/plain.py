"""Decoders as data: one reader for all families whose configurations have the usual fields.

A family is a `Decoder`: the values here that differ from Llama's. A pair of a field and its default stands where a
configuration decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias

from sympy import Expr, Integer, Rational

from derivations.architectures.description import (
    Attention,
    Block,
    Embedding,
    Experts,
    FeedForward,
    Norm,
    Recurrent,
    Rotary,
    Run,
    Stack,
)
from derivations.architectures.hugging_face.families import Reader
from derivations.architectures.hugging_face.fields import REQUIRED, Fields
from derivations.architectures.hugging_face.positions import of_one_axis, rotary, rotary_by_kind, turn_by
from derivations.architectures.hugging_face.readers.gated import KINDS, experts_of, groups_of, kinds_of_layers
from derivations.architectures.hugging_face.shared import (
    Parts,
    activation,
    grouped_heads,
    language_head,
    listed_layers,
    uniform,
)
from derivations.architectures.hugging_face.shared import runs as runs_of
from derivations.language.arrays.functions import Named
from derivations.symbols import d_ff, d_k, d_model, size

__all__ = ["Decoder", "Recurrences", "Scale", "Sparse", "Windows", "reader_of"]

Choice: TypeAlias = "bool | tuple[str, bool]"


@dataclass(frozen=True)
class Scale:
    """A factor that a field gives, or 1 divided by the field.

    Without a default and without the field the usual factor applies.
    """

    field: str
    default: str | None = "1"
    inverse: bool = False


@dataclass(frozen=True)
class Windows:
    """The layers with a window: those that `layer_types` lists, or else by a rule.

    `width` is the default of `sliding_window`. By the rule every layer has a window, or, with a `period`, all but the
    last of each period (the first, if `first`); the period may be given by a field. With `listed` false there is no
    field `layer_types`. `rotated` are the layers with rotary positions: all, those with a window, or those with a
    window if there is a window at all. With `by_kind` each kind of layers has a table of rotary positions.
    """

    width: int | None = None
    period: int | None = None
    period_field: str = ""
    first: bool = False
    listed: bool = True
    rotated: Literal["all", "windowed", "windowed if any"] = "all"
    by_kind: bool = False


@dataclass(frozen=True)
class Recurrences:
    """The layers with a recurrence instead of attention: how they are read, and which layers they are.

    `field` lists a word for each layer, or else the numbers of the layers with attention; `recurrent` and `attending`
    are the words that are known. If nothing is listed, the last layer of every `period`, a field and its default, has
    attention, or `attends` says which layers of how many have it.
    """

    read: Callable[[Fields], Recurrent | Sequence[Recurrent]]  # one for all layers, or one for each
    field: str = "layer_types"
    recurrent: tuple[str, ...] = ("linear_attention", "mamba")
    attending: tuple[str, ...] = ("full_attention", "attention")
    numbers: str = ""
    attends: Callable[[int, int], bool] = lambda i, count: False
    period: tuple[str, int] | None = None


@dataclass(frozen=True)
class Sparse:
    """A mixture of experts in every layer: the fields of its sizes, and whether its weights add up to 1.

    `shared` is the field of the width of a shared expert, `shared_number` that of the number of shared experts as wide
    as the others, with its default; 0 for none, unless one is `always_shared`. `dense` is the field, with its default,
    of the number of first layers without experts; `last` that of the number of the last layer with experts, which must
    be the last one. If they are `listed`, the fields `decoder_sparse_step` and `mlp_only_layers` tell the layers with
    experts; if `by_layer`, the list `mlp_layer_types` does, where there is one. With `groups` experts are chosen among
    those of some groups. If `corrected`, stored numbers are added to the scores by which they are chosen; if
    `buffered`, numbers that are no parameters. `eps` is added to the sum by which weights are divided. `jitter` is the
    field, with its default, of half the threshold of experts that have a softmax each.
    """

    number: tuple[str, ...] = ("num_local_experts",)
    width: str = "intermediate_size"
    normalised: Choice = True
    shared: str = ""
    shared_number: tuple[str, int] | None = None
    dense: tuple[str, int] | None = None
    last: str = ""
    scoring: Literal["softmax", "sigmoid"] = "softmax"
    scale: Scale | None = None
    groups: bool = False
    optional: bool = False  # without experts, the shared one is the network
    shared_default: int = 0
    corrected: bool = False
    buffered: Choice = False
    eps: str = "0"
    jitter: tuple[str, str] | None = None
    listed: bool = False
    by_layer: bool = False
    shared_gate: bool = False
    always_shared: bool = False


@dataclass(frozen=True)
class Decoder:
    """A family of decoders: what differs from Llama.

    `eps` is a field and its default, or a fixed number; `biases` are those of queries, keys and values, and of the
    output; `groups` and `head_width` are defaults. Without `grouped` every head has its own keys and values; without
    `own_width` the width of a head always is the quotient of the width of the model and the heads. `share` is the
    default share of rotated columns. `unrotated` is the field that lists layers without positions, 0 for each. `only`
    are the values of fields that are understood, `without_effect` the fields that may have any value. Of `three_axes`
    of positions, which are equal in texts, one is read. `finish` changes the layers that were read. `renamed` are the
    names of fields, and the usual ones.
    """

    norm: Norm = field(default_factory=lambda: Norm("rms"))
    eps: tuple[str, str] | str = ("rms_norm_eps", "1e-6")
    order: Literal["pre", "post", "sandwich", "after", "parallel", "normed"] = "pre"
    sandwich: Choice = False
    parallel: Choice = False
    one_norm: bool = False
    groups: int | None = None
    grouped: bool = True
    head_width: int | None = None
    own_width: bool = True
    biases: tuple[Choice, Choice] = (("attention_bias", False), ("attention_bias", False))
    query_key_norm: Choice = False
    output_gate: bool = False
    norm_after: bool = False
    norm_over_all: bool = False
    base: str = "10000"
    halves: bool = True
    share: str | None = None
    clip: str = ""
    unrotated: str = ""
    windows: Windows | None = None
    recurrences: Recurrences | None = None
    positions: tuple[str, str] | None = None  # the field, and its only value with rotary positions
    unrotated_if_null: bool = False  # without positions where their base is null
    gated: bool = True
    activation: tuple[str, str] = ("hidden_act", "silu")
    own_activation: Named | None = None  # that of the default word, which is not known elsewhere
    network_biases: Choice = False
    network_width: Callable[[Fields], int] | None = None  # where it is not the number of `intermediate_size`
    sparse: Sparse | None = None
    tied: bool = False
    head_bias: Choice = False
    score_scale: Scale | None = None
    residual_scale: Scale | None = None
    embedding_scale: Scale | None = None
    head_scale: Scale | None = None
    only: Mapping[str, Sequence[object]] = field(default_factory=dict)
    without_effect: Sequence[str] = ()
    three_axes: bool = False
    finish: Callable[[Fields, Block], Block] | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    turned: Mapping[str, object] = field(default_factory=dict)  # rotary positions where none are given

    def __post_init__(self) -> None:
        """Refuse windows beside another rule by which attention differs: `_layers` would leave them out."""
        if self.windows is not None and (self.unrotated or self.recurrences is not None):
            raise ValueError("layers have windows, or differ by another rule: both together have no reader")


def reader_of(family: Decoder) -> Reader:
    """Return the reader of the configurations of a family."""
    return partial(_read, family)


def _read(family: Decoder, f: Fields, kind: str) -> Parts:
    f.rename(family.renamed)
    turn_by(f, family.turned)
    for name, values in family.only.items():
        f.only(name, *values)
    for name in ("max_position_embeddings", *family.without_effect):
        f.take(name, None)
    if family.three_axes:
        of_one_axis(f)
    eps = Rational(family.eps) if isinstance(family.eps, str) else f.number(*family.eps)
    norm = replace(family.norm, eps=eps)
    block = Block(_attention(family, f, norm), _network(family, f), norm, family.order, one_norm=family.one_norm)
    if _chosen(f, family.parallel):
        block = replace(block, order="parallel")
    if _chosen(f, family.sandwich):
        block = replace(block, order="sandwich")
    block = replace(block, residual_scale=_scale(f, family.residual_scale))
    layers = _layers(family, f, block)
    head = language_head(f, kind, tied=family.tied, bias=_chosen(f, family.head_bias))
    head = replace(head, scale=_scale(f, family.head_scale))
    embedding = Embedding(scale=_scale(f, family.embedding_scale))
    return Parts(head, decoder=Stack(layers, embedding, causal=True, final_norm=norm))


def _chosen(f: Fields, choice: Choice) -> bool:
    return choice if isinstance(choice, bool) else f.flag(*choice)


def _scale(f: Fields, scale: Scale | None) -> Expr:
    if scale is None:
        return Integer(1)
    if f.take(scale.field, scale.default) is None:
        return Integer(1)
    factor = f.number(scale.field, scale.default or REQUIRED)
    return 1 / factor if scale.inverse else factor


def _score_scale(f: Fields, scale: Scale | None) -> Expr | None:
    """Return the factor of the scores, or None for the usual one."""
    if scale is None or (scale.default is None and f.take(scale.field, None) is None):
        return None
    return _scale(f, scale)


def _attention(family: Decoder, f: Fields, norm: Norm) -> Attention:
    """Return the attention of a layer that sees all positions."""
    if not family.grouped:
        f.only("num_key_value_heads", None, f.whole("num_attention_heads"))
    heads, groups = grouped_heads(f, family.groups, width=family.head_width)
    if not family.own_width and f.values[d_k] * (f.whole("num_attention_heads") or 1) != f.values[d_model]:
        raise f.error("head_dim", f"is {f.values[d_k]}, and hidden_size is not that many columns for every head")
    of_rows, of_output = (_chosen(f, choice) for choice in family.biases)
    attention = Attention(
        heads,
        groups,
        biases=(of_rows, of_rows, of_rows, of_output),
        norm=norm if _chosen(f, family.query_key_norm) else None,
        norm_after=family.norm_after,
        norm_over_all=family.norm_over_all,
        output_gate=family.output_gate,
        clip=f.number(family.clip) if family.clip and f.take(family.clip, None) is not None else None,
        score_scale=_score_scale(f, family.score_scale),
    )
    if family.windows is not None and family.windows.by_kind:
        return attention
    if family.positions is not None and f.take(family.positions[0], None) != family.positions[1]:
        for each in ("rope_parameters", "rope_scaling", "rope_theta"):
            f.take(each, None)
        return attention
    if (
        family.unrotated_if_null
        and (f.table("rope_parameters") or {"rope_theta": family.base}).get("rope_theta") is None
    ):
        return attention
    return replace(attention, positions=rotary(f, family.base, halves=family.halves, share=family.share))


def _network(family: Decoder, f: Fields) -> FeedForward | Experts:
    if family.sparse is None:
        own = family.own_activation if f.take(family.activation[0], None) in (None, family.activation[1]) else None
        function = own or activation(f, *family.activation)
        width = (
            f.size(d_ff, "intermediate_size") if family.network_width is None else f.let(d_ff, family.network_width(f))
        )
        return FeedForward(function, family.gated, _chosen(f, family.network_biases), width)
    sparse = family.sparse
    if sparse.optional and f.take(sparse.number[0], None) == 0:
        f.take("num_experts_per_tok", None)
        f.take("intermediate_size", None)
        return FeedForward(
            activation(f, *family.activation), True, False, f.size(d_ff, sparse.shared, sparse.shared_default)
        )
    if not sparse.by_layer:
        f.words("mlp_layer_types", ("sparse",))
    if sparse.width != "intermediate_size" and sparse.dense is None and not sparse.listed:
        f.whole("intermediate_size", None, none=True)  # of dense layers, which this model lacks
    experts = experts_of(f, sparse.width, sparse.number, normalised=_chosen(f, sparse.normalised))
    groups = groups_of(f, None, None) if sparse.groups else None
    threshold = None if sparse.jitter is None else 2 * f.number(*sparse.jitter)
    experts = replace(experts, scoring=sparse.scoring, scale=_scale(f, sparse.scale), groups=groups)
    experts = replace(experts, eps=Rational(sparse.eps), threshold=threshold)
    experts = replace(experts, corrected=sparse.corrected, buffered=_chosen(f, sparse.buffered))
    # of width 0 there is no shared expert; its gate would stay, and such a model is refused
    least = int(sparse.shared_gate)
    shared = f.whole(sparse.shared, sparse.shared_default, least=least) if sparse.shared else None
    if sparse.shared_number:
        shared = (f.whole(*sparse.shared_number, least=int(sparse.always_shared)) or 0) * f.values[size("d_expert")]
    if not shared:
        return experts
    return replace(experts, d_shared=f.let(size("d_shared"), shared), shared_gate=sparse.shared_gate)


def _some_dense(f: Fields, block: Block, sparse: Sparse) -> tuple[Run, ...]:
    """Return some dense layers, followed by layers with experts."""
    assert sparse.dense is not None
    assert isinstance(block.feed_forward, Experts)
    count = f.whole("num_hidden_layers") or 1
    first = min(f.whole(*sparse.dense, least=0) or 0, count)
    if sparse.last:
        f.only(sparse.last, -1, count - 1)
    network = FeedForward(block.feed_forward.activation, True, False, f.size(d_ff, "intermediate_size"))
    pairs = [(replace(block, feed_forward=network), "N_dense", first), (block, "N_experts", count - first)]
    return tuple(Run((each,), f.let(size(name), number)) for each, name, number in pairs if number)


def _some_recurrent(family: Decoder, found: Recurrences, f: Fields, block: Block) -> tuple[Run, ...]:
    """Return layers of which some have a recurrence in the place of attention; the first may have no experts."""
    count = listed_layers(f)
    words = f.words(found.field, (*found.recurrent, *found.attending))
    if words is not None and len(words) < count:
        raise f.error(found.field, f"has {len(words)} entries, and num_hidden_layers is {count}")
    numbers = f.numbers(found.numbers, count) if found.numbers and f.take(found.numbers, None) is not None else None
    period = f.whole(*found.period) if found.period is not None else None
    if words is not None:
        attend = [word in found.attending for word in words[:count]]
    elif period is not None:
        attend = [(i + 1) % period == 0 for i in range(count)]
    else:
        attend = [i in numbers if numbers is not None else found.attends(i, count) for i in range(count)]
    of_width, mixers = _dense_first(family, f, block, count), found.read(f)
    each_own = [mixers] * count if isinstance(mixers, Recurrent) else mixers
    layers = [
        replace(each, attention=each.attention if a else mixer)
        for each, a, mixer in zip(of_width, attend, each_own, strict=True)
    ]
    return runs_of(f, layers if family.finish is None else [family.finish(f, each) for each in layers])


def _dense_first(family: Decoder, f: Fields, block: Block, count: int) -> list[Block]:
    """Return the layers one by one, some of them without experts: the first ones, or those that are listed."""
    if (without := _without_experts(family.sparse, f, count)) is not None:
        assert isinstance(block.feed_forward, Experts)
        if not any(without):
            f.whole("intermediate_size", None, none=True)  # of dense layers, which this model lacks
            return [block] * count
        network = FeedForward(block.feed_forward.activation, True, False, f.size(d_ff, "intermediate_size"))
        return [replace(block, feed_forward=network) if each else block for each in without]
    if family.sparse is None or family.sparse.dense is None or not isinstance(block.feed_forward, Experts):
        return [block] * count
    return [each for run in _some_dense(f, block, family.sparse) for each in run.blocks * f.values.pop(run.count)]


def _without_experts(sparse: Sparse | None, f: Fields, count: int) -> list[bool] | None:
    """Return for each layer whether it has no experts, or None if no field lists it."""
    if sparse is not None and sparse.listed:
        every, dense = f.whole("decoder_sparse_step", 1) or 1, f.numbers("mlp_only_layers", count)
        return [i in dense or (i + 1) % every != 0 for i in range(count)]
    words = f.words("mlp_layer_types", ("dense", "sparse")) if sparse is not None and sparse.by_layer else None
    if words is None:
        return None
    if len(words) != count:
        raise f.error("mlp_layer_types", f"has {len(words)} entries, and num_hidden_layers is {count}")
    assert sparse is not None and sparse.dense is not None
    f.whole(*sparse.dense, least=0)  # which the library does not read beside a list
    return [each == "dense" for each in words]


def _layers(family: Decoder, f: Fields, block: Block) -> tuple[Run, ...]:
    """Return the layers, some of them with a window or without positions."""
    if family.unrotated:
        return _some_unrotated(family, f, block)
    if family.recurrences is not None:
        return _some_recurrent(family, family.recurrences, f, block)
    windows = family.windows
    if windows is None and family.sparse is not None and family.sparse.dense is not None:
        if family.sparse.by_layer:
            return runs_of(f, _dense_first(family, f, block, listed_layers(f)))
        return _some_dense(f, block, family.sparse)
    if windows is None:
        return uniform(f, block)
    width = f.whole("sliding_window", windows.width, none=True)
    window = None if width is None else f.let(size("window"), width)
    if window is None and windows.rotated == "windowed":
        raise f.error("sliding_window", "is null, and only layers with a window have positions")
    if not windows.listed:
        return uniform(f, _with(block, window=window))
    kinds = kinds_of_layers(f, _rule(windows, f, window is not None))
    if window is None and KINDS[1] in kinds:
        raise f.error("sliding_window", "is null, and there are layers with a window")
    assert isinstance(block.attention, Attention)
    every = block.attention.positions
    assert every is None or isinstance(every, Rotary)
    turned: dict[str, Rotary | None] = (
        rotary_by_kind(f, family.base) if windows.by_kind else dict.fromkeys(KINDS, every)
    )
    if windows.rotated != "all" and window is not None:
        turned[KINDS[0]] = None
    near = _with(block, window=window, positions=turned[KINDS[1]])
    far = _with(block, positions=turned[KINDS[0]])
    return runs_of(
        f,
        [
            replace(each, attention=(near if kind == KINDS[1] else far).attention)
            for each, kind in zip(_dense_first(family, f, block, len(kinds)), kinds, strict=True)
        ],
    )


def _with(block: Block, **changes: object) -> Block:
    """Return a block with some fields of its attention changed."""
    assert isinstance(block.attention, Attention)
    return replace(block, attention=replace(block.attention, **changes))  # type: ignore[arg-type]


def _rule(windows: Windows, f: Fields, used: bool) -> Callable[[int], bool]:
    """Return the function that decides which layers have a window if no field lists them."""
    listed = f.take("layer_types", None) is not None
    period, at = windows.period, 0 if windows.first else 1
    if windows.period_field and listed:
        f.take(windows.period_field, None)  # a word in some files, which the library does not read beside a list
    elif windows.period_field:
        period = f.whole(windows.period_field, period, none=True, least=0) or period
    return lambda i: used and (period is None or (i + at) % period != 0)


def _some_unrotated(family: Decoder, f: Fields, block: Block) -> tuple[Run, ...]:
    """Return layers with rotary positions, except where a list has 0 or, by default, in every fourth layer."""
    count = listed_layers(f)
    f.words("layer_types", KINDS[:1])
    period = f.whole(f"{family.unrotated.removesuffix('s')}_interval", 4) or 4
    given = f.numbers(family.unrotated, 2) or [int((i + 1) % period != 0) for i in range(count)]
    if len(given) < count:
        raise f.error(family.unrotated, f"has {len(given)} entries, and num_hidden_layers is {count}")
    return runs_of(f, [block if each else _with(block, positions=None) for each in given[:count]])
