"""Random arguments of a layer: sizes, kinds of inputs, batch axes on any subset of the inputs, made from a seed.

Definition   sizes are distinct primes; one of them may be 0 or 1. Each input has all batch axes, none, the last of
             them, or an axis of length 1 in the place of the first; some weights may become inputs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from sympy import Integer

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Layer
from numeric.codegen.compile import compile_layer
from numeric.models.weights import initialise
from numeric.runtime.checks import InputError
from numeric.runtime.structure import WeightTree, identifier, weight_tree
from numeric.verification.conformance.sizes import draw_sizes

__all__ = ["Call", "drawn_call", "with_more_inputs"]

BATCHES: tuple[tuple[int, ...], ...] = ((), (), (2,), (3, 2), (1,), (2, 1), (0,))
COUNTS = {"K": 2, "w": 2, "g": 2, "buckets": 11}  # sizes that are bounded by others
SCALARS = {"rate": 0.25, "alpha": 3.0, "slope": 0.5}  # those without a default


@dataclass(frozen=True)
class Call:
    """A layer with all that it is called with: inputs in order, nested weights, sizes and scalars by name."""

    layer: Layer
    inputs: list[Any]
    weights: dict[str, Any]
    sizes: dict[str, int]
    scalars: dict[str, float]

    @property
    def asked(self) -> dict[str, int]:
        """The sizes that the compiled layer asks for."""
        return {size.name: self.sizes[size.name] for size in compile_layer(self.layer).sizes}

    @property
    def known(self) -> dict[str, int]:
        """The sizes that a layer may be prepared for."""
        return {name: value for name, value in self.sizes.items() if value}

    def text(self) -> str:
        """Return what is needed to see the call again."""
        shapes = [f"{v.name} {x.shape}" for v, x in zip(self.layer.inputs, self.inputs, strict=True)]
        return f"{self.layer.text()}\n{self.sizes}\n{', '.join(shapes)}"


def with_more_inputs(layer: Layer, random: Random) -> Layer:
    """Return a layer with its parts written out, some of whose weights are inputs."""
    flat = inlined(layer)
    moved = [p for p in flat.parameters if random.random() < 0.3]
    kept = [p for p in flat.parameters if p not in moved]
    return Layer(flat.name, (*flat.inputs, *moved), kept, flat.equations, flat.args[4])


def drawn_call(layer: Layer, seed: int, *, batch: bool = True, odd: bool = True) -> Call:
    """Return the arguments of a seed; with `odd`, one of the sizes may be 0 or 1."""
    random, rng = Random(f"{layer.name} {seed}"), np.random.default_rng([seed, *layer.name.encode()])
    pinned = {name: value for name, value in COUNTS.items() if name in {s.name for s in layer.sizes}}
    sizes = draw_sizes(layer, pinned, seed)
    of_weights = _sizes_of(weight_tree(layer))
    free = [s.name for s in layer.sizes if s.name not in pinned]
    if odd and free and random.random() < 0.5:
        name = random.choice(free)
        is_length = any(name == str(along) for v in layer.inputs for along in v.shape)
        sizes[name] = random.choice((0, 1, 1)) if is_length and name not in of_weights else 1
    weights = _weights(layer, sizes, seed, rng)
    whole = random.choice(BATCHES) if batch else ()
    inputs = [_drawn(v, _part(whole, random), sizes, layer, rng) for v in layer.inputs]
    scalars = {s.name: SCALARS[s.name] for s in layer.scalars if s.name in SCALARS}
    return Call(layer, inputs, _shaken(weights, rng), sizes, scalars)


def _sizes_of(tree: WeightTree) -> set[str]:
    """Return the names of the sizes that weights have, which are at least 1."""
    axes = [
        *(total(along) for v in tree.parameters.values() for along in v.shape),
        *([tree.count] if tree.count else []),
    ]
    own = {s.name for along in axes for s in along.free_symbols}
    return own.union(*(_sizes_of(part) for part in tree.parts.values()))


def _weights(layer: Layer, sizes: Mapping[str, int], seed: int, rng: Any) -> dict[str, Any]:
    """Return weights; of a layer whose equations do not tell what a weight is for, any numbers."""
    try:
        return initialise(layer, sizes, seed, np.dtype(float))
    except InputError:
        return {identifier(p.name): np.asarray(_drawn(p, (), sizes, layer, rng) / 2) for p in layer.parameters}


def _part(whole: tuple[int, ...], random: Random) -> tuple[int, ...]:
    """Return batch axes that broadcast to those of the whole."""
    return random.choice((whole, whole, (), whole[1:], (1, *whole[1:]) if whole else ()))


def _drawn(variable: Variable, batch: Sequence[int], sizes: Mapping[str, int], layer: Layer, rng: Any) -> Any:
    values = {size: Integer(sizes[size.name]) for size in layer.sizes}
    shape = (*batch, *(int(total(along).xreplace(values)) for along in variable.shape))
    if variable.kind == "boolean":
        return rng.random(shape) < 0.6
    if variable.kind == "integer":
        return rng.integers(0, max(1, sizes.get("vocab", min(sizes.values()))), shape)
    return np.asarray(rng.standard_normal(shape))


def _shaken(tree: Any, rng: Any) -> Any:
    """Return nested weights off 0 and 1, so that no bias and no scale is without effect."""
    if isinstance(tree, dict):
        return {name: _shaken(each, rng) for name, each in tree.items()}
    if isinstance(tree, list):
        return [_shaken(each, rng) for each in tree]
    return np.asarray(tree + rng.standard_normal(tree.shape) / 5)
