"""What a cache of keys and values holds: of one position, and after all positions of a text, layer by layer.

Definition   K and V of every self-attention that decodes; a layer with a window keeps its last positions alone. Of
             latent attention there are two machines, each with a cache of its own (`LATENT`): "absorbed" keeps the
             latent vectors and the one turned key of a position, and moves the maps that make keys and values over to
             the queries and the output; "expanded" keeps keys, turned columns among them, and values of all heads
Units        numbers of one sequence, unless bytes are said
Source       DeepSeek-AI (2024), DeepSeek-V2, section 2.1; Beltagy et al. (2020), section 3.1, for windows
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sympy import Expr, Integer, Min, expand

from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.description import Architecture, Block, Model, Run, Stack
from derivations.language.counting.operations import entries
from derivations.language.layers.layer import Layer
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
    "the maps that make keys and values are applied to the queries and behind the weighted sums",
    "expanded": "decoding with expanded keys: the cache holds the keys and values of all heads, turned columns among "
    "the keys, and nothing is made of latent vectors again",
}


@dataclass(frozen=True)
class _Held:
    """What equal layers keep: their number, the numbers of one position, the window or None, those of the source."""

    layers: Expr
    each: Expr
    window: Expr | None
    source: Expr


def key_value_cache(model: Model, latent: str = "absorbed") -> Expr:
    """Return the numbers that a cache keeps for each position of one sequence: keys and values of all layers.

    Definition   0 for a model that does not decode; of a layer with a window, what a position inside it takes
    Raises       ValueError for an unknown machine of latent attention
    """
    return expand(sum((held.layers * held.each for held in _held(model, latent)), Integer(0)))


def cached_numbers(model: Model, latent: str = "absorbed") -> Expr:
    """Return the numbers that a cache of keys and values holds after n positions of one sequence.

    Definition   layer by layer, those of one position times n, or times the window where n is longer
    Raises       ValueError for an unknown machine of latent attention
    """
    reach = ((held, n if held.window is None else Min(n, held.window)) for held in _held(model, latent))
    return expand(sum((held.layers * held.each * positions for held, positions in reach), Integer(0)))


def cached_source_numbers(model: Model) -> Expr:
    """Return the numbers of the keys and values of m positions of a source, in every cross-attention; 0 without one."""
    return expand(sum((held.layers * held.source for held in _held(model, "absorbed")), Integer(0)))


def decoding_stack(model: Model) -> Stack | None:
    """Return the stack that puts out one position after the other: the decoder, or an encoder under a causal mask."""
    architecture = model.architecture
    if architecture.decoder is not None:
        return architecture.decoder
    encoder = architecture.encoder
    return encoder if encoder is not None and encoder.causal else None


def has_latent(model: Model) -> bool:
    """Say whether the stack that decodes has latent attention."""
    stack = decoding_stack(model)
    return stack is not None and any(block.attention.latent for block in stack.blocks)


def with_absorbed_maps(architecture: Architecture) -> Architecture:
    """Return an architecture whose latent attention reads the latent vectors in the place of keys and values."""

    def absorbed(block: Block) -> Block:
        latent = block.attention.latent
        if latent is None:
            return block
        return replace(block, attention=replace(block.attention, latent=replace(latent, absorbed=True)))

    def of(stack: Stack | None) -> Stack | None:
        if stack is None:
            return None
        return replace(stack, runs=tuple(Run(tuple(map(absorbed, run.blocks)), run.count) for run in stack.runs))

    return replace(architecture, encoder=of(architecture.encoder), decoder=of(architecture.decoder))


def _held(model: Model, latent: str) -> Iterator[_Held]:
    if latent not in LATENT:
        raise ValueError(f"the machine {latent!r} of latent attention is unknown; choose {', '.join(LATENT)}")
    stack = decoding_stack(model)
    for run in stack.runs if stack else ():
        for block in run.blocks:
            parts = block_layer(block, Around(memory=block.cross_attention is not None, masked=True)).parts
            own = parts["self_attention"].layer
            each = _expanded(own) if block.attention.latent and latent == "expanded" else _rows(own)
            source = _rows(parts["cross_attention"].layer) * m if block.cross_attention else Integer(0)
            yield _Held(run.count, each, block.attention.window, source)


CACHED = (("c_KV", "K_R"), ("K", "K_pass", "V"))  # the latent vectors where there are any, else keys and values


def _rows(layer: Layer) -> Expr:
    """The numbers of one position among those that an attention reads at all positions."""
    shapes = layer.shapes
    for names in CACHED:
        if names[0] in shapes:
            positions = m if m in shapes[names[0]] else n
            return sum((entries(shapes[name]) for name in names if name in shapes), Integer(0)) / positions
    return sum((_rows(applied.layer) for applied in layer.parts.values()), Integer(0))


def _expanded(layer: Layer) -> Expr:
    """The keys and values of all heads of latent attention; each head has a copy of the turned key."""
    shapes = layer.shapes
    turned = shapes["K"][0] * entries(shapes["K_R"])
    return (entries(shapes["K"]) + turned + entries(shapes["V"])) / n
