"""Parameters, FLOPs and memory of a model, as closed forms in its sizes and as exact integers.

Everything is read off the equations of the model: its weights, its forward pass, its gradient, what the forward pass
keeps for the backward pass, and the arrays of keys and values. Nothing is known here of any model.

>>> from derivations.architectures.models import named_model
>>> counts = count(named_model("gpt2"), seq=64)
>>> counts.number(counts.total_parameters), counts.number(counts.flops.matmul)
(124439808, 15963095040)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from sympy import Expr, Integer, Symbol, expand

from derivations.architectures.components import active_parameters, parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.description import AudioStem, Model, Patches, Stack
from derivations.architectures.kinds import by_kind
from derivations.language.convention import CONVENTION, Convention
from derivations.language.costs import count_decode_flops, count_flops, count_training_flops, flops_by_part
from derivations.language.layer import Apply, Layer, Repeat
from derivations.language.memory_counts import attention_layers, kept_activations, training_state_bytes
from derivations.language.operations import Flops, entries
from derivations.symbols import m, n

__all__ = ["BYTES", "PHASES", "RECOMPUTED", "Counts", "KindOfLayer", "count", "key_value_cache"]

PHASES = ("forward", "training", "prefill", "decode")
BYTES: Mapping[str, int] = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
RECOMPUTED: Mapping[str, Callable[[Layer], tuple[str, ...]]] = {  # what is computed again, by its name
    "nothing": lambda layer: (),
    "attention": attention_layers,
    "blocks": lambda layer: ("block",),
}
USUAL_LENGTH = 1024  # positions, where none are asked for
CACHED = (("c_KV", "K_R"), ("K", "K_pass", "V"))  # the latent vectors where there are any, else keys and values


@dataclass(frozen=True)
class KindOfLayer:
    """Layers of a stack that are alike: their stack, their number, and the parameters of one by component.

    Units        parameters
    """

    stack: str
    count: Expr
    components: Mapping[str, Expr]

    @property
    def parameters(self) -> Expr:
        """The number of parameters of one layer."""
        return expand(sum(self.components.values(), Integer(0)))


@dataclass(frozen=True)
class Counts:
    """The costs of a model: expressions in its sizes, `number` of which gives an exact integer.

    Units        parameters; FLOPs or multiply-adds as the convention says; bytes
    """

    model: Model
    layer: Layer
    phase: str
    batch: int
    values: Mapping[Symbol, Integer]  # the lengths included
    convention: Convention
    dtype: str
    recomputed: str

    def number(self, expression: Expr | int) -> int:
        """Return the exact integer that an expression in the sizes of the model is.

        Raises       ValueError where it is none, such as half of an odd number
        """
        value = Integer(expression) if isinstance(expression, int) else expression.xreplace(dict(self.values))
        if value.free_symbols:
            missing = ", ".join(sorted(map(str, value.free_symbols)))
            raise ValueError(f"{self.model.name}: the values give no number for {missing}")
        if not isinstance(value, Integer):
            raise ValueError(
                f"{self.model.name}: {value} is no whole number; count the visible pairs instead of halves"
            )
        return int(value)

    # --- parameters ---

    @cached_property
    def components(self) -> dict[str, Expr]:
        """The number of parameters of every component."""
        return parameters_by_component(self.layer)

    @property
    def total_parameters(self) -> Expr:
        """The number of parameters."""
        return expand(sum(self.components.values(), Integer(0)))

    @cached_property
    def kinds_of_layers(self) -> tuple[KindOfLayer, ...]:
        """The kinds of layers, stack by stack: how many there are of each, and the parameters of one."""
        return tuple(_kinds_of_layers(self.layer))

    @property
    def active(self) -> Expr:
        """The number of parameters that one token uses."""
        return active_parameters(self.model.architecture, self.layer)

    # --- FLOPs ---

    @cached_property
    def flops(self) -> Flops:
        """The operations of the phase, kept apart by kind."""
        if self.phase == "decode":
            return count_decode_flops(self.layer, n, self.batch, self.convention)
        counting = count_training_flops if self.phase == "training" else count_flops
        return counting(self.layer, self.batch, self.convention)

    @cached_property
    def parts(self) -> dict[str, Flops]:
        """The operations of the phase by part of the model; of a decoding step those of the whole are not split."""
        return flops_by_part(self.layer, self.batch, self.convention, training=self.phase == "training")

    # --- memory ---

    @property
    def bytes_per_number(self) -> int:
        """The size of one number."""
        return BYTES[self.dtype]

    @property
    def weights_bytes(self) -> Expr:
        """The bytes of the weights."""
        return self.bytes_per_number * self.total_parameters

    @cached_property
    def cache(self) -> Expr:
        """The numbers that a cache of keys and values keeps for each position of one sequence."""
        return key_value_cache(self.model, self.layer)

    @property
    def cache_bytes_per_token(self) -> Expr:
        """The bytes that a cache of keys and values grows by with each position of one sequence."""
        return self.bytes_per_number * self.cache

    @cached_property
    def activation_bytes(self) -> Expr:
        """The bytes that a forward pass keeps for its backward pass; statistics of the norms are left out."""
        return self._kept(self.recomputed)

    @cached_property
    def activation_bytes_with_recomputation(self) -> Expr:
        """The same where the insides of every attention are computed again from its inputs."""
        return self._kept("attention")

    def _kept(self, recomputed: str) -> Expr:
        kept = kept_activations(self.layer, batch=self.batch, recomputed=RECOMPUTED[recomputed](self.layer))
        return kept.bytes(self.bytes_per_number)

    @property
    def training_state_bytes(self) -> Expr:
        """The bytes of weights, gradients and Adam's two moments in mixed precision, a 32-bit copy of the weights."""
        return training_state_bytes(self.total_parameters)

    @property
    def lengths(self) -> tuple[Symbol, ...]:
        """The numbers of positions among the sizes: n, and m for the input of an encoder beside a decoder."""
        return tuple(symbol for symbol in (n, m) if symbol in self.values)

    # --- as a whole ---

    @property
    def source(self) -> int | None:
        """The number of positions that an encoder reads beside a decoder."""
        return self.number(m) if m in self.values else None

    @property
    def length(self) -> Expr:
        """The number of positions: of tokens that are put out, else of tokens or of patches that are read."""
        if self.lengths:
            return self.lengths[0]
        encoder = self.model.architecture.encoder
        return encoder.stem.count + 1 if encoder and isinstance(encoder.stem, Patches) else Integer(1)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was assumed, in words."""
        return (*self.model.assumptions, *_assumed(self))

    def json(self, *, symbolic: bool = False) -> dict[str, Any]:
        """Return the counts as exact integers, in the form that `derivations count --json` prints.

        With `symbolic` the closed forms are added, as texts under the same names.
        """
        terms = {kind: self.number(value) for kind, value in self.flops.by_kind.items()}
        result = {
            "model": self.model.name,
            "convention": {**asdict(self.convention), "text": self.convention.describe()},
            "parameters": {
                "total": self.number(self.total_parameters),
                "active": self.number(self.active),
                "of": self.model.part or "the whole model",
                "components": {name: self.number(value) for name, value in self.components.items()},
            },
            "flops": {
                "phase": self.phase,
                "batch": self.batch,
                "seq": self.number(self.length),
                "total": sum(terms.values()),
                "terms": terms,
            },
            "memory": {
                "weights_bytes": self.number(self.weights_bytes),
                "dtype": self.dtype,
                "kv_cache_bytes_per_token": self.number(self.cache_bytes_per_token),
                "activation_bytes": self.number(self.activation_bytes),
            },
            "assumptions": list(self.assumptions),
        }
        return {**result, "symbolic": self._closed_forms()} if symbolic else result

    def _closed_forms(self) -> dict[str, Any]:
        return {
            "sizes": {str(symbol): int(value) for symbol, value in sorted(self.values.items(), key=str)},
            "parameters": {
                "total": str(self.total_parameters),
                "active": str(self.active),
                "components": {name: str(value) for name, value in self.components.items()},
            },
            "flops": {
                "total": str(self.flops.total),
                "terms": {kind: str(value) for kind, value in self.flops.by_kind.items()},
            },
            "memory": {
                "weights_bytes": str(expand(self.weights_bytes)),
                "kv_cache_bytes_per_token": str(expand(self.cache_bytes_per_token)),
                "activation_bytes": str(self.activation_bytes),
            },
        }


def count(
    model: Model,
    *,
    batch: int = 1,
    seq: int | None = None,
    source: int | None = None,
    phase: str = "forward",
    convention: Convention = CONVENTION,
    dtype: str = "bfloat16",
    recomputed: str = "nothing",
) -> Counts:
    """Return the costs of a model over `batch` sequences of `seq` positions.

    Definition   forward and prefill: one pass over all positions; training: that and the gradient by all parameters;
                 decode: one position more behind a cache of `seq` positions; `source` positions of an encoder's input,
                 as many as `seq` where it is not given; `recomputed` is "nothing", "attention" (its scores, weights
                 and weighted sums) or "blocks" (all but the input of every block)
    Units        parameters, FLOPs or multiply-adds, bytes
    Raises       ValueError for an unknown phase or dtype, lengths below 1, or a length that the model does not take
    """
    if phase not in PHASES:
        raise ValueError(f"the phase {phase!r} is unknown; choose {', '.join(PHASES)}")
    if dtype not in BYTES:
        raise ValueError(f"the number type {dtype!r} is unknown; choose {', '.join(BYTES)}")
    if recomputed not in RECOMPUTED:
        raise ValueError(f"nothing is recomputed under the name {recomputed!r}; choose {', '.join(RECOMPUTED)}")
    for name, asked in (("batch", batch), ("seq", seq), ("source", source)):
        if asked is not None and (isinstance(asked, bool) or not isinstance(asked, int) or asked < 1):
            raise ValueError(f"{name} must be an integer >= 1, not {asked!r}")
    if phase == "decode":
        if _decoding(model) is None:
            raise ValueError(f"{model.name} has no decoder: it decodes nothing; choose another phase")
        convention = replace(convention, causal="visible")
    model = by_kind(model)
    values = {symbol: Integer(value) for symbol, value in model.values.items()}
    values |= _lengths(model, values, seq, source, int(phase == "decode"))
    return Counts(model, _built(model), phase, batch, values, convention, dtype, recomputed)


def _built(model: Model) -> Layer:
    try:
        return build(model.architecture)
    except ValueError as error:
        raise ValueError(f"{model.name}: {error}") from error


def _lengths(
    model: Model, values: Mapping[Symbol, Integer], seq: int | None, source: int | None, more: int
) -> dict[Symbol, Integer]:
    """The numbers of positions: those asked for, as far as the tables reach, which `more` are read of after them."""
    encoder, decoder = model.architecture.encoder, model.architecture.decoder
    pair = encoder is not None and decoder is not None
    sides = [(n, decoder or encoder, seq, more)]
    if pair:
        sides.append((m, encoder, source or seq, 0))
    return {
        symbol: Integer(_length(model.name, stack, asked, values, after))
        for symbol, stack, asked, after in sides
        if stack is not None and not isinstance(stack.stem, Patches)
    }


def _length(name: str, stack: Stack, asked: int | None, values: Mapping[Symbol, Integer], more: int) -> int:
    """The number of positions of a stack; frames are cut or padded to the length of their table."""
    table = stack.embedding.positions
    if table is None:
        return asked or USUAL_LENGTH
    limit = int(table.xreplace(dict(values))) - stack.embedding.first_position - more
    if isinstance(stack.stem, AudioStem):
        return limit
    if asked is not None and asked > limit:
        behind = f" and {more} more" if more else ""
        raise ValueError(
            f"{name}: {asked}{behind} positions are asked for, its table of positions has {limit + more}; ask for fewer"
        )
    return asked or min(limit, USUAL_LENGTH)


def _kinds_of_layers(model: Layer) -> Iterator[KindOfLayer]:
    stacks = ((name, part.layer) for name, part in model.parts.items() if name in ("encoder", "decoder"))
    for name, stack in stacks:
        for run in (part for part in stack.parts.values() if isinstance(part, Repeat)):
            several = [part.layer for inner, part in run.layer.parts.items() if inner.startswith("block_")]
            for block in several or [run.layer]:
                yield KindOfLayer(name, run.count, parameters_by_component(block))


# --- the cache ------------------------------------------------------------------------------------------------------


def key_value_cache(model: Model, layer: Layer | None = None) -> Expr:
    """Return the numbers that a cache keeps for each position of one sequence: keys and values of all layers.

    Definition   the entries of K and V, or of the latent vectors that they are made from, in every self-attention of
                 the decoder, divided by the number of positions; 0 for a model without a decoder
    Units        numbers
    """
    side = _decoding(model)
    if side is None:
        return Integer(0)
    stack = (layer or build(model.architecture)).parts[side].layer
    return expand(sum(copies * _cached(inner) for inner, copies in _self_attentions(stack)))


def _decoding(model: Model) -> str | None:
    """The stack that puts out one position after the other: the decoder, or an encoder under a causal mask."""
    if model.architecture.decoder is not None:
        return "decoder"
    encoder = model.architecture.encoder
    return "encoder" if encoder is not None and encoder.causal else None


def _self_attentions(layer: Layer, copies: Expr = Integer(1)) -> Iterator[tuple[Layer, Expr]]:
    for name, applied in layer.parts.items():
        times = copies * applied.count if isinstance(applied, Repeat) else copies
        if name == "self_attention":
            yield applied.layer, times
        else:
            yield from _self_attentions(applied.layer, times)


def _cached(layer: Layer) -> Expr:
    shapes = layer.shapes
    for names in CACHED:
        if names[0] in shapes:
            return sum(entries(shapes[name]) for name in names if name in shapes) / n
    inner: list[Apply] = list(layer.parts.values())
    return sum((_cached(applied.layer) for applied in inner), Integer(0))


def _assumed(counts: Counts) -> Iterator[str]:
    yield counts.convention.describe()
    if counts.phase == "prefill":
        yield "prefill puts out scores for all positions"
    if counts.phase == "decode":
        yield "a decoding step is forward(n + 1) - forward(n) over visible pairs: rows already computed stay"
    yield "activations: what a training step keeps, whatever the phase; statistics of the norms are left out" + (
        "" if counts.recomputed == "nothing" else f"; computed again: {counts.recomputed}"
    )
    decoder = counts.model.architecture.decoder
    attentions = [block.attention for block in (decoder.blocks if decoder else ())]
    if not counts.lengths:
        yield f"the number of rows is that of a picture: {counts.number(counts.length)}"
    if counts.source is not None:
        yield f"the encoder reads m = {counts.source} positions"
    if counts.phase == "decode" and any(attention.latent for attention in attentions):
        yield (
            "a step is counted with the keys and values of all heads at hand; a cache of latent vectors makes them "
            "again in every step, or moves their maps over to the queries and the output"
        )
    if counts.phase == "training" and counts.recomputed != "nothing":
        yield "what is computed again is not counted among the operations"
    windows = {str(attention.window) for attention in attentions if attention.window is not None}
    if windows:
        yield f"the cache of a layer with a window stops growing at {', '.join(sorted(windows))} positions"
