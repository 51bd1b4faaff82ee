"""Functions that several families use: activations, heads, rotary positions, and sequences of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sympy import Expr, Max, Rational, tanh

from derivations.activations.gelu import gelu_tanh
from derivations.activations.mish import mish
from derivations.activations.sigmoid import sigmoid, silu, swish
from derivations.architectures.checkpoints.family import Family as Names
from derivations.architectures.description import (
    Block,
    Experts,
    Head,
    Norm,
    Run,
    Stack,
    Tower,
    heads_of_groups,
    key_value_heads,
)
from derivations.architectures.hugging_face.fields import REQUIRED, Fields
from derivations.architectures.kinds import kind_of
from derivations.language.arrays.functions import Named, gelu, named, relu
from derivations.symbols import N, d_k, d_model, d_v, h, scalar, size, vocab

__all__ = [
    "ACTIVATIONS",
    "MOST_LISTED",
    "Parts",
    "activation",
    "bloom_gelu",
    "divided_heads",
    "grouped_heads",
    "language_head",
    "listed_layers",
    "norm",
    "runs",
    "shared_heads",
    "tanh_activation",
    "uniform",
]

t = scalar("t")
MOST_LISTED, LONGEST_PATTERN = 10_000, 64  # the most layers that are read one by one, and in one pattern


@dataclass(frozen=True)
class Parts:
    """The result of a reader: a head, the stacks before it and an optional vision tower.

    `names` are those of the weights, where the family alone does not tell them.
    """

    head: Head
    encoder: Stack | None = None
    decoder: Stack | None = None
    tower: Tower | None = None
    names: Names | None = None


# --- words ----------------------------------------------------------------------------------------------------------

_fast = named("gelu_fast", t / 2 * (1 + tanh(t * Rational("0.7978845608") * (1 + Rational("0.044715") * t**2))), t)
bloom_gelu = named("gelu_bloom", t / 2 * (1 + tanh(Rational("0.79788456") * t * (1 + Rational("0.044715") * t**2))), t)
tanh_activation = named("tanh", tanh(t), t)

ACTIVATIONS: Mapping[str, Named] = {
    "gelu": gelu,
    "gelu_python": gelu,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "gelu_python_tanh": gelu_tanh,
    "gelu_fast": _fast,
    "quick_gelu": named("quick_gelu", swish(Rational("1.702"), t), t),
    "relu": relu,
    "relu2": named("squared_relu", Max(0, t) ** 2, t),
    "silu": silu,
    "swish": silu,
    "mish": mish,
    "sigmoid": sigmoid,
    "tanh": tanh_activation,
}


def activation(f: Fields, field: str, default: str) -> Named:
    """Return the activation that a field names."""
    found = f.choice(field, ACTIVATIONS, default)
    assert isinstance(found, Named)
    return found


def norm(f: Fields, field: str, default: str, kind: Literal["layer", "rms"] = "layer") -> Norm:
    """Return the normalisation whose epsilon a field gives."""
    return Norm(kind, f.number(field, default))


# --- sizes ----------------------------------------------------------------------------------------------------------


def divided_heads(f: Fields, width: str, heads: str, also: Mapping[str, Sequence[str]] | None = None) -> None:
    """Read the width of the model and the number of heads, which must divide it; d_k and d_v are the quotient."""
    other = also or {}
    f.size(d_model, width, also=other.get(width, ()))
    f.size(h, heads, also=other.get(heads, ()))
    each = f.divided(width, d_model, heads, h)
    f.let(d_k, each)
    f.let(d_v, each)


def grouped_heads(
    f: Fields, groups: int | None = None, *, required: bool = False, width: int | None = None
) -> tuple[Expr, Expr | None]:
    """Read heads, groups of them that share keys and values, and the columns of a head.

    Return the heads of each group and the groups, or all heads and None if no heads share. If the number of groups is
    not given, it is `groups`, or the number of heads. If the width of a head is not given, it is `width`; where
    that is None, or the field is null, it is the width of the model divided by the number of heads.
    """
    f.size(d_model, "hidden_size")
    count = f.whole("num_attention_heads") or 1
    default = REQUIRED if required else groups
    groups = f.whole("num_key_value_heads", default, none=True) or count
    each = f.whole("head_dim", None, none=True)
    if each is None and width is not None and f.given("head_dim") is None:
        f.assumptions.append(f"head_dim is not given: {width}, the default of the family")
        each = width
    if each is None:
        each = f.quotient("hidden_size", f.values[d_model], "num_attention_heads", count)
    f.let(d_k, each)
    f.let(d_v, each)
    return shared_heads(f, count, groups)


def shared_heads(f: Fields, count: int, groups: int) -> tuple[Expr, Expr | None]:
    """Return `count` heads in groups that share keys and values: heads of a group and groups, or heads and None."""
    if groups == count:
        return f.let(h, count), None
    of_each = f.quotient("the number of heads", count, "the number of key-value heads", groups)
    return f.let(heads_of_groups, of_each), f.let(key_value_heads, groups)


# --- layers in a row ------------------------------------------------------------------------------------------------


def uniform(f: Fields, block: Block, field: str = "num_hidden_layers", also: Sequence[str] = ()) -> tuple[Run, ...]:
    """Return equal layers, whose number a field gives."""
    return (Run((block,), f.size(N, field, also=also)),)


def listed_layers(f: Fields, field: str = "num_hidden_layers", default: object = REQUIRED) -> int:
    """Return the number of layers that are read one by one."""
    count = f.whole(field, default) or 1
    if count > MOST_LISTED:
        raise f.error(field, f"is {count}; layers of several kinds are read up to {MOST_LISTED}")
    return count


def runs(f: Fields, blocks: Sequence[Block]) -> tuple[Run, ...]:
    """Return layers, given one by one, as few runs; a repeated pattern is a run of several blocks.

    At each layer the greedy choice is the pattern that saves most layers, and the shortest of equal ones.
    """
    found: list[tuple[tuple[Block, ...], int]] = []
    at, number_of = 0, dict[Block, int]()  # equal layers have one number: numbers are fast to compare
    kinds = [number_of.setdefault(block, len(number_of)) for block in blocks]
    while at < len(blocks):
        repeated = [(p, _times(kinds, at, p)) for p in range(1, min(len(blocks) - at, LONGEST_PATTERN) + 1)]
        period, times = max(repeated, key=lambda each: (each[0] * (each[1] - 1), -each[0]))
        found.append((tuple(blocks[at : at + period]), times))
        at += period * times
    labels = _labels([pattern for pattern, _ in found])
    return tuple(Run(pattern, f.let(size(label), times)) for (pattern, times), label in zip(found, labels, strict=True))


def _times(kinds: Sequence[int], start: int, period: int) -> int:
    """Return how many times the `period` layers from `start` on occur in a row."""
    end = start + period
    while end < len(kinds) and kinds[end] == kinds[end - period]:
        end += 1
    return (end - start) // period


def _labels(patterns: Sequence[tuple[Block, ...]]) -> list[str]:
    """Return names for run counts: N for one kind, N_periods for one pattern, else by kind or by number."""
    if len(patterns) == 1:
        return ["N" if len(patterns[0]) == 1 else "N_periods"]
    sparse = any(isinstance(block.feed_forward, Experts) for pattern in patterns for block in pattern)
    by_kind = [f"N_{kind_of(pattern[0], sparse)}" for pattern in patterns if len(pattern) == 1]
    if len(by_kind) == len(patterns) == len(set(by_kind)):
        return by_kind
    return [f"N_{number}" for number in range(1, len(patterns) + 1)]


# --- heads --------------------------------------------------------------------------------------------


def language_head(f: Fields, kind: str, *, tied: bool, bias: bool = False) -> Head:
    """Return the head of a language model, or no head."""
    f.size(vocab, "vocab_size")
    tied = f.flag("tie_word_embeddings", tied)
    return Head("none") if kind == "none" else Head("language_model", tied=tied, bias=bias)
