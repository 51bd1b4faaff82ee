"""Parameters, FLOPs and memory of a model, as closed forms in its sizes and as exact integers.

All counts come from the equations of the model: its weights, its forward pass, its gradient, the residuals that the
forward pass saves for the backward pass, and the arrays of keys and values. No model is treated specially.

>>> from derivations.architectures.models import named_model
>>> counts = count(named_model("gpt2"), seq=64)
>>> counts.number(counts.total_parameters), counts.number(counts.flops.matmul)
(124439808, 15963095040)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from sympy import Expr, Integer, Symbol, expand

from derivations.architectures.components import active_parameters, parameters_by_component
from derivations.architectures.composition import build
from derivations.architectures.description import AudioStem, Model, Patches, Stack
from derivations.architectures.kinds import by_kind
from derivations.architectures.storage import BYTES, Storage
from derivations.costs.key_value_caches import (
    LATENT,
    cached_numbers,
    cached_source_numbers,
    decoding_stack,
    has_latent,
    key_value_cache,
    with_absorbed_maps,
)
from derivations.costs.stored_bytes import base_dtype, stored_bytes
from derivations.language.counting.convention import CONVENTION, Convention
from derivations.language.counting.costs import (
    count_decode_flops,
    count_flops,
    count_parameters,
    count_training_flops,
    flops_by_part,
)
from derivations.language.counting.memory_counts import (
    SavedResiduals,
    attention_layers,
    saved_residuals,
    training_state_bytes,
)
from derivations.language.counting.operations import Flops
from derivations.language.layers.layer import Layer, Repeat
from derivations.symbols import m, n

__all__ = [
    "BYTES",
    "LATENT",
    "PHASES",
    "RECOMPUTED",
    "Counts",
    "KindOfLayer",
    "LengthLimit",
    "count",
    "key_value_cache",
    "length_limits",
]

PHASES = ("forward", "training", "prefill", "decode")
RECOMPUTED: Mapping[str, Callable[[Layer], tuple[str, ...]]] = {  # what is computed again, by its name
    "nothing": lambda layer: (),
    "attention": attention_layers,
    "blocks": lambda layer: ("block",),
}
USUAL_LENGTH = 1024  # the default number of positions


@dataclass(frozen=True)
class KindOfLayer:
    """Equal layers of a stack: the stack, their number, and the parameters of one layer by component.

    Units        parameters
    """

    stack: str
    count: Expr
    components: Mapping[str, Expr]

    @property
    def parameters(self) -> Expr:
        """The number of parameters of one layer."""
        return expand(sum(self.components.values(), Integer(0)))


# operations and residuals are expressions in the lengths: a model is counted once for all of them


@lru_cache(maxsize=64)
def _flops(phase: str, layer: Layer, batch: int, convention: Convention, again: tuple[str, ...]) -> Flops:
    if phase == "decode":
        return count_decode_flops(layer, n, batch, convention)
    if phase == "training":
        return count_training_flops(layer, batch, convention, again)
    return count_flops(layer, batch, convention)


@lru_cache(maxsize=64)
def _residuals(layer: Layer, batch: int, recomputed: tuple[str, ...]) -> SavedResiduals:
    return saved_residuals(layer, batch=batch, recomputed=recomputed)


@dataclass(frozen=True)
class Counts:
    """The costs of a model as expressions in its sizes, which `number` evaluates to exact integers.

    Units        parameters; FLOPs or multiply-adds as the convention says; bytes
    """

    model: Model
    layer: Layer
    phase: str
    batch: int
    values: Mapping[Symbol, Integer]  # the lengths included
    convention: Convention
    dtype: str  # of every number but the weights
    recomputed: str
    latent: str
    stored: Expr | str  # bytes of the weights, or why they are not known
    number_size: Expr | None = None  # bytes of one number, where they are not those of `dtype`: a letter, say

    def number(self, expression: Expr | int) -> int:
        """Return the value of an expression in the sizes of the model, an exact integer.

        Raises       ValueError if it is not an integer, such as half of an odd number
        """
        value = Integer(expression) if isinstance(expression, int) else expression.xreplace(dict(self.values))
        if value.free_symbols:
            missing = ", ".join(sorted(map(str, value.free_symbols)))
            raise ValueError(f"{self.model.name}: the values give no number for {missing}")
        if not isinstance(value, Integer):
            raise ValueError(
                f"{self.model.name}: {value} is not a whole number; count the visible pairs instead of halves"
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
        """The kinds of layers, stack by stack: the number of layers of each kind, and the parameters of one."""
        return tuple(_kinds_of_layers(self.layer))

    @property
    def active(self) -> Expr:
        """The number of parameters that one token uses."""
        return active_parameters(self.model.architecture, self.layer)

    # --- FLOPs ---

    @cached_property
    def flops(self) -> Flops:
        """The operations of the phase, separated by kind."""
        layer = self.decoding_layer if self.phase == "decode" else self.layer
        return _flops(self.phase, layer, self.batch, self.convention, self.again)

    @property
    def again(self) -> tuple[str, ...]:
        """The names of the layers that a training step computes a second time."""
        return RECOMPUTED[self.recomputed](self.layer)

    @cached_property
    def decoding_layer(self) -> Layer:
        """The equations of a step of decoding: those of the model, with latent attention in the chosen form."""
        if self.latent != "absorbed" or not has_latent(self.model):
            return self.layer
        return build(with_absorbed_maps(self.model.architecture))

    @cached_property
    def parts(self) -> dict[str, Flops]:
        """The operations of the phase by part of the model; the operations of a decoding step are not split."""
        training = self.phase == "training"
        again = self.again if training else ()
        return flops_by_part(self.layer, self.batch, self.convention, training=training, recomputed=again)

    # --- memory ---

    @property
    def bytes_per_number(self) -> Expr | int:
        """The size of one number."""
        return BYTES[self.dtype] if self.number_size is None else self.number_size

    @property
    def weights_bytes(self) -> Expr:
        """The bytes of the stored weights.

        Raises       ValueError with the reason if it is not known how they are stored
        """
        if isinstance(self.stored, str):
            raise ValueError(f"{self.model.name}: {self.stored}; a dtype of your own sizes every number alike")
        return self.stored

    @cached_property
    def cache(self) -> Expr:
        """The number of entries of a cache of keys and values for each position of one sequence."""
        return key_value_cache(self.model, self.latent)

    @property
    def cache_bytes_per_token(self) -> Expr:
        """The bytes that each position of one sequence adds to a cache of keys and values."""
        return self.bytes_per_number * self.cache

    @cached_property
    def cache_bytes(self) -> Expr:
        """The bytes of keys and values of all sequences after all positions; a window limits those of its layer."""
        return self.batch * self.bytes_per_number * cached_numbers(self.model, self.latent)

    @cached_property
    def source_cache_bytes(self) -> Expr:
        """The bytes of the encoder's keys and values in all cross-attentions, for all sequences."""
        return self.batch * self.bytes_per_number * cached_source_numbers(self.model)

    @cached_property
    def activation_bytes(self) -> Expr:
        """The bytes of the residuals that a forward pass saves, without the statistics of the norms."""
        return self._saved(self.recomputed)

    @cached_property
    def activation_bytes_with_recomputation(self) -> Expr:
        """The bytes of the saved residuals if every attention is recomputed from its inputs."""
        return self._saved("attention")

    def _saved(self, recomputed: str) -> Expr:
        return _residuals(self.layer, self.batch, RECOMPUTED[recomputed](self.layer)).bytes(self.bytes_per_number)

    @property
    def training_state_bytes(self) -> Expr:
        """The bytes of weights, gradients, a 32-bit copy and Adam's two moments in mixed precision."""
        return training_state_bytes(self.total_parameters)

    @property
    def lengths(self) -> tuple[Symbol, ...]:
        """The symbols of the lengths: n, and m for the encoder input of an encoder-decoder."""
        return tuple(symbol for symbol in (n, m) if symbol in self.values)

    @property
    def storage_words(self) -> str:
        """The storage of the weights in a few words, or the reason why their bytes are not known."""
        if isinstance(self.stored, str):
            return self.stored
        storage = self.model.storage
        if storage.layout is None:
            return self.dtype
        packed = ", ".join(tensor.name for tensor in storage.layout.tensors)
        numbers = "".join(f", {symbol} {value}" for symbol, value in (storage.numbers or {}).items())
        return f"{storage.method}{numbers}: {packed} for each packed matrix, all else {self.dtype}"

    # --- as a whole ---

    @property
    def source(self) -> int | None:
        """The number of positions that the encoder of an encoder-decoder reads, None for other models."""
        return self.number(m) if m in self.values else None

    @property
    def length(self) -> Expr:
        """The number of positions: of output tokens, otherwise of the tokens or patches that are read."""
        if self.lengths:
            return self.lengths[0]
        encoder = self.model.architecture.encoder
        return encoder.stem.rows if encoder and isinstance(encoder.stem, Patches) else Integer(1)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of the counts, in words."""
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
                "weights_bytes": None if isinstance(self.stored, str) else self.number(self.stored),
                "dtype": self.dtype,
                "kv_cache_bytes_per_token": self.number(self.cache_bytes_per_token),
                "activation_bytes": self.number(self.activation_bytes),
                "kv_cache_bytes": self.number(self.cache_bytes),
                "source_kv_cache_bytes": self.number(self.source_cache_bytes),
                "weights_stored": self.storage_words,
                "latent": self.latent if has_latent(self.model) else "",
            },
            "assumptions": list(self.assumptions),
        }
        return {**result, "symbolic": self._closed_forms()} if symbolic else result

    def closed_forms(self) -> dict[str, dict[str, Any]]:
        """Return the expressions of the counts under the names that `json` gives their numbers; None if unknown."""
        return {
            "parameters": {
                "total": self.total_parameters,
                "active": self.active,
                "components": dict(self.components),
            },
            "flops": self.closed_flops(),
            "memory": {
                "weights_bytes": None if isinstance(self.stored, str) else expand(self.stored),
                "kv_cache_bytes_per_token": expand(self.cache_bytes_per_token),
                "activation_bytes": self.activation_bytes,
                "kv_cache_bytes": expand(self.cache_bytes),
                "source_kv_cache_bytes": expand(self.source_cache_bytes),
            },
        }

    def closed_flops(self) -> dict[str, Any]:
        """Return the expressions of the operations, the part of `closed_forms` that depends on the phase."""
        return {"total": self.flops.total, "terms": dict(self.flops.by_kind)}

    def _closed_forms(self) -> dict[str, Any]:
        sizes = {str(symbol): int(value) for symbol, value in sorted(self.values.items(), key=str)}
        return {"sizes": sizes, **_as_text(self.closed_forms())}


def _as_text(forms: Any) -> Any:
    if isinstance(forms, dict):
        return {name: _as_text(form) for name, form in forms.items()}
    return None if forms is None else str(forms)


def count(
    model: Model,
    *,
    batch: int = 1,
    seq: int | None = None,
    source: int | None = None,
    phase: str = "forward",
    convention: Convention = CONVENTION,
    dtype: str | None = None,
    recomputed: str = "nothing",
    latent: str = "absorbed",
) -> Counts:
    """Return the costs of a model over `batch` sequences of `seq` positions.

    Definition   forward and prefill: one pass over all positions; training: also the gradient by all parameters;
                 decode: one more position after a cache of `seq` positions. `source` is the number of positions of an
                 encoder's input, by default `seq`. `recomputed` is "nothing", "attention" (its scores, weights and
                 weighted sums) or "blocks" (all but the input of every block), which training computes twice. `dtype`
                 is the type of every number; by default it is that of the configuration, and weights count as they are
                 stored. `latent` is how latent attention decodes, "absorbed" or "expanded"
    Units        parameters, FLOPs or multiply-adds, bytes
    Raises       ValueError for an unknown phase or dtype, lengths below 1, or a length that the model does not accept
    """
    if phase not in PHASES:
        raise ValueError(f"the phase {phase!r} is unknown; choose {', '.join(PHASES)}")
    if dtype is not None and dtype not in BYTES:
        raise ValueError(f"the number type {dtype!r} is unknown; choose {', '.join(BYTES)}")
    if recomputed not in RECOMPUTED:
        raise ValueError(f"nothing is recomputed under the name {recomputed!r}; choose {', '.join(RECOMPUTED)}")
    if latent not in LATENT:
        raise ValueError(f"the machine {latent!r} of latent attention is unknown; choose {', '.join(LATENT)}")
    for name, asked in (("batch", batch), ("seq", seq), ("source", source)):
        if asked is not None and (isinstance(asked, bool) or not isinstance(asked, int) or asked < 1):
            raise ValueError(f"{name} must be an integer >= 1, not {asked!r}")
    if phase == "decode":
        if decoding_stack(model) is None:
            raise ValueError(f"{model.name} has no decoder: it decodes nothing; choose another phase")
        convention = replace(convention, causal="visible")
    model, ordered = by_kind(model), model
    values = {symbol: Integer(value) for symbol, value in model.values.items()}
    values |= _lengths(model, values, seq, source, phase)
    layer = _built(model)
    stored = _stored(ordered, layer, dtype)
    if dtype is not None:
        model = replace(model, storage=Storage(dtype))
    used = base_dtype(model)
    return Counts(model, layer, phase, batch, values, convention, used, recomputed, latent, stored)


def _stored(ordered: Model, layer: Layer, dtype: str | None) -> Expr | str:
    """Return the bytes of the weights, in one type if requested, else as they are stored; or the reason if unknown."""
    if dtype is not None:
        return expand(BYTES[dtype] * count_parameters(layer))
    try:
        return stored_bytes(ordered)
    except ValueError as unknown:
        return str(unknown)


def _built(model: Model) -> Layer:
    try:
        return build(model.architecture)
    except ValueError as error:
        raise ValueError(f"{model.name}: {error}") from error


@dataclass(frozen=True)
class LengthLimit:
    """The largest number of positions that a model accepts, or None; if `fixed`, it is the only one."""

    most: int | None
    fixed: bool = False


def length_limits(model: Model, phase: str = "forward") -> dict[Symbol, LengthLimit]:
    """Return the limits of the lengths of a model: n, and m for the encoder input of an encoder-decoder."""
    values = {symbol: Integer(value) for symbol, value in by_kind(model).values.items()}
    return {symbol: _limit(stack, values, after) for symbol, stack, after in _sides(by_kind(model), phase)}


def _sides(model: Model, phase: str) -> Iterator[tuple[Symbol, Stack, int]]:
    """Yield the symbol of each length with its stack, and the number of further positions that the phase needs."""
    encoder, decoder = model.architecture.encoder, model.architecture.decoder
    sides = [(n, decoder or encoder, int(phase == "decode"))]
    if encoder is not None and decoder is not None:
        sides.append((m, encoder, 0))
    for symbol, stack, after in sides:
        if stack is not None and not isinstance(stack.stem, Patches):
            yield symbol, stack, after


def _limit(stack: Stack, values: Mapping[Symbol, Integer], after: int) -> LengthLimit:
    """Return the limit of a stack; frames are cut or padded to the length of their table."""
    table = stack.embedding.positions
    if table is None:
        return LengthLimit(None)
    most = int(table.xreplace(dict(values))) - stack.embedding.first_position - after
    return LengthLimit(most, isinstance(stack.stem, AudioStem))


def _lengths(
    model: Model, values: Mapping[Symbol, Integer], seq: int | None, source: int | None, phase: str
) -> dict[Symbol, Integer]:
    """Return the numbers of positions: the requested ones, as far as the model accepts them."""
    asked = {n: seq, m: source or seq}
    return {
        symbol: Integer(_length(model.name, _limit(stack, values, after), asked[symbol], after))
        for symbol, stack, after in _sides(model, phase)
    }


def _length(name: str, limit: LengthLimit, asked: int | None, after: int) -> int:
    if limit.most is None:
        return asked or USUAL_LENGTH
    if limit.fixed:
        return limit.most
    if asked is not None and asked > limit.most:
        behind = f" and {after} more" if after else ""
        raise ValueError(
            f"{name}: {asked}{behind} positions are asked for, its table of positions has {limit.most + after}; "
            "ask for fewer"
        )
    return asked or min(limit.most, USUAL_LENGTH)


def _kinds_of_layers(model: Layer) -> Iterator[KindOfLayer]:
    stacks = ((name, part.layer) for name, part in model.parts.items() if name in ("encoder", "decoder"))
    for name, stack in stacks:
        for run in (part for part in stack.parts.values() if isinstance(part, Repeat)):
            several = [part.layer for inner, part in run.layer.parts.items() if inner.startswith("block_")]
            for block in several or [run.layer]:
                yield KindOfLayer(name, run.count, parameters_by_component(block))


# --- what was assumed -------------------------------------------------------------------------------------------------


def _assumed(counts: Counts) -> Iterator[str]:
    yield counts.convention.describe()
    if counts.phase == "prefill":
        yield "prefill puts out scores for all positions"
    if counts.phase == "decode":
        yield "a decoding step is forward(n + 1) - forward(n) over visible pairs: rows already computed stay"
    yield "activations: what a training step keeps, whatever the phase; statistics of the norms are left out" + (
        "" if counts.recomputed == "nothing" else f"; computed again: {counts.recomputed}"
    )
    stack = decoding_stack(counts.model)
    attentions = [block.attention for block in (stack.blocks if stack else ()) if block.attention is not None]
    if not counts.lengths:
        yield f"the number of rows is that of a picture: {counts.number(counts.length)}"
    if counts.source is not None:
        yield f"the encoder reads m = {counts.source} positions"
    if has_latent(counts.model):
        yield LATENT[counts.latent]
    if counts.phase == "training" and counts.recomputed != "nothing":
        yield "what is computed again is counted among the operations: its whole forward pass, a second time"
    if isinstance(counts.stored, str):
        yield f"the bytes of the weights are not counted: {counts.stored}"
    else:
        yield f"weights are stored as {counts.storage_words}"
    if counts.model.storage.dtype is None:
        yield f"no type of numbers is given: {counts.dtype}"
    windows = {str(counts.number(attention.kept)) for attention in attentions if attention.kept is not None}
    if windows:
        yield f"the cache of a layer with a window stops growing at {', '.join(sorted(windows))} positions"
