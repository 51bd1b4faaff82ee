"""Layers drawn at random for a race: encoder, decoder and Llama-like layers of all sizes, the same for the same seed.

Definition   sizes are uniform in their logarithms within the bounds below; the rest is drawn evenly. Encoder and
             decoder layers have biases, layer norm, ReLU or exact GELU; those like Llama have grouped queries, RMS
             norm, rotary positions and SwiGLU, and no biases. The memory of a decoder is as long as its input
Assumes      a shape whose scores or rows would take more memory than `SCORES` or `ROWS` says is drawn again
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sympy import Integer

from derivations.activations.gelu import gelu
from derivations.activations.sigmoid import silu
from derivations.architectures.blocks import Around, block_layer
from derivations.architectures.description import Attention, Block, FeedForward, Norm, Rotary
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import CausalMask, relu
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import d_model, m, n
from numeric.models.weights import initialise
from tests.benchmarks.encoder_peers import SHAPES

__all__ = ["BOUNDS", "NAMED", "TINY", "DrawnShape", "drawn_shapes", "given", "layer_of"]

SCORES, ROWS = 1 << 28, 1 << 14  # entries of all scores, rows of all items
WIDTHS = (32, 64, 80, 128)  # of a head


@dataclass(frozen=True)
class Bounds:
    """The least and the largest value of each size; widths of heads that fit."""

    batch: tuple[int, int] = (1, 32)
    n: tuple[int, int] = (1, 4096)
    d_model: tuple[int, int] = (128, 1280)
    widths: tuple[int, ...] = WIDTHS


BOUNDS, TINY = Bounds(), Bounds((1, 2), (1, 17), (16, 48), (4, 8))


@dataclass(frozen=True)
class DrawnShape:
    """One layer of the race, and the sizes of its input."""

    kind: Literal["encoder", "decoder", "llama"]
    batch: int
    n: int
    d_model: int
    h: int
    groups: int  # of heads that share keys and values; as many as heads where they do not
    d_ff: int
    order: Literal["pre", "post"] = "post"
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    causal: bool = False

    def __str__(self) -> str:
        sizes = f"{self.batch}, {self.n}, {self.d_model}, {self.h}, {self.d_ff}"
        shared = f", {self.groups} groups" if self.groups != self.h else ""
        causal = ", causal" if self.causal else ""
        return f"{self.kind} ({sizes}){shared}, {self.order}-norm, {self.activation}{causal}"


NAMED = tuple(DrawnShape("encoder", s.batch, s.n, s.d_model, s.h, s.h, s.d_ff) for s in SHAPES)


def drawn_shapes(seed: int, count: int, bounds: Bounds = BOUNDS) -> list[DrawnShape]:
    """Return shapes of a seed: of a larger count the first ones are the same."""
    rng = np.random.default_rng(seed)
    found: Iterator[DrawnShape] = (_drawn(rng, bounds) for _ in iter(int, 1))
    fitting = (s for s in found if s.batch * s.n <= ROWS and s.batch * s.h * s.n**2 <= SCORES)
    return [next(fitting) for _ in range(count)]


def _drawn(rng: Any, bounds: Bounds) -> DrawnShape:
    def between(limits: tuple[int, int]) -> int:
        return round(float(np.exp(rng.uniform(*np.log(limits)))))

    def one_of(*choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    kind, width = one_of("encoder", "decoder", "llama"), one_of(*bounds.widths)
    least, most = (-(-bounds.d_model[0] // width), bounds.d_model[1] // width)
    h = between((least, most))
    groups = one_of(*(g for g in range(1, h + 1) if h % g == 0)) if kind == "llama" else h
    activation = "swiglu" if kind == "llama" else one_of("relu", "gelu")
    d_ff = h * width * 8 // 3 if kind == "llama" else h * width * one_of(2, 4)
    order = "pre" if kind == "llama" else one_of("pre", "post")
    causal = one_of(True, False)
    return DrawnShape(
        kind, between(bounds.batch), between(bounds.n), h * width, h, groups, d_ff, order, activation, causal
    )


def layer_of(shape: DrawnShape) -> Layer:
    """Return the layer of a shape, whose inputs are rows X, and the memory of a decoder."""
    gated, d_k = shape.kind == "llama", Integer(shape.d_model // shape.h)
    shared = shape.h // shape.groups
    heads = {"heads": Integer(shared), "groups": Integer(shape.groups)} if shared > 1 else {"heads": Integer(shape.h)}
    positions = Rotary() if gated else None
    attention = Attention(**heads, d_k=d_k, d_v=d_k, biases=(not gated,) * 4, positions=positions)
    network = FeedForward({"relu": relu, "gelu": gelu, "swiglu": silu}[shape.activation], gated, biases=not gated)
    memory = shape.kind == "decoder"
    block = Block(attention, network, Norm("rms" if gated else "layer"), shape.order, attention if memory else None)
    inner = block_layer(block, Around(memory=memory, masked=shape.causal))
    X, let = array("X", n, d_model), Equations()
    beside = [array("memory", m, d_model)] if memory else []
    mask = [let("M")(CausalMask(n))] if shape.causal else []
    Z = let("Z")(part("block", inner)(X, *beside, *mask))
    return Layer("drawn_layer", (X, *beside), (), let, Z)


def given(shape: DrawnShape, layer: Layer, seed: int = 0) -> tuple[dict[str, Any], list[Any]]:
    """Return random weights, whose gains and biases are not 1 and 0, and random inputs, in float32."""
    own = {size.name for size in layer.sizes}
    known = {"d_model": shape.d_model, "d_ff": shape.d_ff, "n": shape.n, "m": shape.n}
    weights = initialise(layer, {name: number for name, number in known.items() if name in own}, seed)
    rng = np.random.default_rng(seed)

    def shaken(nested: Any) -> Any:
        if isinstance(nested, dict):
            return {name: shaken(each) for name, each in nested.items()}
        away = 0.1 * rng.standard_normal(nested.shape, np.float32)
        return nested + away if nested.ndim == 1 else nested

    rows = [rng.standard_normal((shape.batch, shape.n, shape.d_model), np.float32) for _ in layer.inputs]
    return shaken(weights), rows
