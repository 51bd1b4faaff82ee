"""The size of a cache of keys and values: for one position, and after all positions of a text, by layer.

Definition   K and V of every self-attention that decodes; a layer with a window keeps only its last positions, and one
             that takes those of an earlier layer keeps none. Latent
             attention decodes in two forms, each with its own cache (`LATENT`): "absorbed" keeps the latent vectors and
             the one rotated key of a position, and applies the maps to keys and values to the queries and the output;
             "expanded" keeps the keys, with their rotated columns, and the values of all heads; an indexer keeps a key
             of its own in both
Units        entries for one sequence, unless bytes are stated
Source       DeepSeek-AI (2024), DeepSeek-V2, section 2.1; Beltagy et al. (2020), section 3.1, for windows
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sympy import Expr, Integer, Min, ceiling, expand

from derivations.architectures.blocks import Around, block_layer, sharing
from derivations.architectures.description import Architecture, Attention, Block, Model, Stack
from derivations.language.arrays.recurrence import Recurrence
from derivations.language.arrays.rows import PlacedRows
from derivations.language.arrays.selection import Windows
from derivations.language.arrays.shapes import total
from derivations.language.counting.flop_passes import nodes_of
from derivations.language.counting.operations import entries
from derivations.language.layers.layer import Apply, Layer
from derivations.symbols import m, n

__all__ = [
    "LATENT",
    "cached_numbers",
    "cached_source_numbers",
    "decoding_stack",
    "has_latent",
    "key_value_cache",
    "with_absorbed_maps",
]

LATENT: Mapping[str, str] = {
    "absorbed": "decoding with absorbed maps: the cache holds latent vectors and one turned key for each position, and "
    "the maps that make keys and values are applied to the queries and after the weighted sums",
    "expanded": "decoding with expanded keys: the cache holds the keys and values of all heads, turned columns among "
    "the keys, and nothing is made of latent vectors again",
}


@dataclass(frozen=True)
class _Held:
    """The cache of equal layers: their number, the entries of one position, the window or None, the source entries."""

    block: Block
    layers: Expr
    each: Expr
    window: Expr | None
    source: Expr
    state: Expr = Integer(0)  # entries that do not grow with the positions

    def number(self, layers: Mapping[Block, Expr] | None) -> Expr:
        """Return the number of these layers, in the model or in one stage."""
        return self.layers if layers is None else layers.get(self.block, Integer(0))


def key_value_cache(model: Model, latent: str = "absorbed") -> Expr:
    """Return the number of entries of a cache for each position of one sequence: keys and values of all layers.

    Definition   0 for a model that does not decode; for a layer with a window, the entries of a position inside it
    Raises       ValueError for an unknown form of latent attention
    """
    return expand(sum((held.layers * held.each for held in _held(model, latent)), Integer(0)))


def cached_numbers(
    model: Model,
    latent: str = "absorbed",
    *,
    layers: Mapping[Block, Expr] | None = None,
    shares: Mapping[Expr, Expr] | None = None,
    page: int = 1,
) -> Expr:
    """Return the number of entries of a cache of keys and values after n positions of one sequence.

    Definition   for each layer, the entries of one position times n, or times the window if n is longer; positions come
                 in whole pages. `layers` are the numbers of layers of each kind, of a stage; `shares` replaces sizes
                 that are divided over devices
    Raises       ValueError for an unknown form of latent attention
    """
    result = Integer(0)
    for held in _held(model, latent):
        positions = n if held.window is None else Min(n, held.window)
        positions = positions if page == 1 else page * ceiling(positions / page)
        numbers = held.each * positions + held.state
        result += held.number(layers) * numbers.xreplace(dict(shares or {}))
    return expand(result)


def cached_source_numbers(
    model: Model, *, layers: Mapping[Block, Expr] | None = None, shares: Mapping[Expr, Expr] | None = None
) -> Expr:
    """Return the entries of the keys and values of m source positions in all cross-attentions; 0 without one."""
    held = _held(model, "absorbed")
    each = (one.number(layers) * one.source.xreplace(dict(shares or {})) for one in held)
    return expand(sum(each, Integer(0)))


def decoding_stack(model: Model) -> Stack | None:
    """Return the stack that generates positions one by one: the decoder, or an encoder with a causal mask."""
    architecture = model.architecture
    if architecture.decoder is not None:
        return architecture.decoder
    encoder = architecture.encoder
    return encoder if encoder is not None and encoder.causal else None


def has_latent(model: Model) -> bool:
    """Return whether the stack that decodes has latent attention."""
    stack = decoding_stack(model)
    return stack is not None and any(block.attention is not None and block.attention.latent for block in stack.blocks)


def with_absorbed_maps(architecture: Architecture) -> Architecture:
    """Return an architecture whose latent attention reads the latent vectors instead of keys and values."""

    def absorbed(block: Block) -> Block:
        if not isinstance(block.attention, Attention) or block.attention.latent is None:
            return block
        latent = block.attention.latent
        return replace(block, attention=replace(block.attention, latent=replace(latent, absorbed=True)))

    return architecture.changed(absorbed)


def _held(model: Model, latent: str) -> Iterator[_Held]:
    if latent not in LATENT:
        raise ValueError(f"the machine {latent!r} of latent attention is unknown; choose {', '.join(LATENT)}")
    stack = decoding_stack(model)
    for run in stack.runs if stack else ():
        for block in run.blocks:
            states = sum((_states(each.mixer) for each in block.recurrent), Integer(0))
            if not isinstance(block.attention, Attention):
                yield _Held(block, run.count, Integer(0), None, Integer(0), states)
                continue
            parts = block_layer(block, Around(memory=block.cross_attention is not None, masked=True)).parts
            own = parts["self_attention"].layer
            if sharing(block) == "takes":  # what an earlier layer keeps
                yield _Held(block, run.count, Integer(0), None, Integer(0), states)
                continue
            each = _expanded(own) if block.attention.latent and latent == "expanded" else _rows(own)
            source = _rows(parts["cross_attention"].layer) * m if block.cross_attention else Integer(0)
            yield _Held(block, run.count, each, block.attention.kept, source, states)


def _states(mixer: Layer) -> Expr:
    """Return the entries that a recurrent layer keeps: its state, and the earlier rows that convolutions read.

    Definition   a recurrence keeps one member of its states, a convolution of width w the last w - 1 rows
    """
    held = Integer(0)
    for equation in mixer.equations:
        for node in nodes_of(equation.value):
            if isinstance(node, Recurrence):
                held += entries(node.shape[1:])
            elif isinstance(node, Windows) and isinstance(node.args[0], PlacedRows):
                held += (total(node.args[1]) - 1) * total(node.args[0].shape[1])
    return held + sum((_states(applied.layer) for applied in mixer.parts.values()), Integer(0))


LATENT_ROWS = ("c_KV", "K_R")
READERS, READ = ("group", "attention"), ("K", "K_pass", "V")  # parts that read keys and values, and how they call them


def _rows(layer: Layer) -> Expr:
    """Return the cache entries of one position in an attention layer: latent rows, or keys and values.

    Definition   the columns of the keys and values that are handed to a head, or to a group that shares them, each as
                 it is read there, normed and rotated; times the number of heads or groups
    """
    shapes = layer.shapes
    if LATENT_ROWS[0] in shapes:
        return sum((total(shapes[name][-1]) for name in LATENT_ROWS), _index_keys(layer))
    for equation in layer.equations:
        for node in nodes_of(equation.value):
            if isinstance(node, Apply) and node.name in READERS:
                handed = zip(node.layer.inputs, node.arguments, strict=True)
                columns = sum((total(each.shape[-1]) for of, each in handed if of.name in READ), Integer(0))
                return columns * (total(equation.over[1]) if equation.over else Integer(1))
    return sum((_rows(applied.layer) for applied in layer.parts.values()), Integer(0))


def _expanded(layer: Layer) -> Expr:
    """Return the cache entries of one position with the keys and values of all heads of latent attention.

    Each head has a copy of the rotated key.
    """
    shapes = layer.shapes
    turned = shapes["K"][0] * entries(shapes["K_R"])
    return (entries(shapes["K"]) + turned + entries(shapes["V"])) / n + _index_keys(layer)


def _index_keys(layer: Layer) -> Expr:
    """Return the entries of an indexer's key for one position, or 0 without an indexer."""
    indexer = layer.parts.get("indexer")
    return Integer(0) if indexer is None else total(indexer.layer.shapes["K_norm"][-1])
