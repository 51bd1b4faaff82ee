"""The cases of the cross-check: every layer of the catalogue and its variants, with the loops that define each.

Definition   a case is a layer at prime sizes, with random inputs in a batch of two and random weights
Shapes       sizes are distinct primes, so that a swapped axis cannot pass; where sine and cosine share the columns,
             d_model is twice a prime
Assumes      inputs are normal, masks are random (a row may have no visible key), norms and biases are off 1 and 0
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from mpmath import mp
from numpy.typing import DTypeLike
from sympy import Integer

from derivations.catalogue import layers
from derivations.decoder import decoder, decoder_layer
from derivations.encoder import encoder, encoder_layer
from derivations.language.functions import gelu
from derivations.language.layer import Layer
from derivations.language.shapes import total
from derivations.multi_head import multi_head_attention
from derivations.transformer import transformer
from numeric import reference
from numeric.structure import applications
from numeric.weights import initialise

__all__ = ["BATCH", "DTYPES", "SIZES", "Case", "all_cases", "at_sizes", "case", "drawn", "subjects"]

BATCH = 2
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
SIZES: tuple[dict[str, int], ...] = (
    {"n": 3, "m": 5, "h": 2, "N": 2, "d": 7, "d_in": 3, "d_out": 5,
     "d_model": 7, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 19},
    {"n": 2, "m": 7, "h": 3, "N": 2, "d": 13, "d_in": 5, "d_out": 2,
     "d_model": 5, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 23},
    {"n": 2, "m": 11, "h": 5, "N": 3, "d": 3, "d_in": 11, "d_out": 7,
     "d_model": 13, "d_k": 3, "d_v": 7, "d_ff": 19, "vocab": 17},
)  # fmt: skip
EVEN = {5: 10, 7: 6, 13: 14}  # a d_model that sines and cosines share: twice a prime
RATE = 0.25  # of dropout
Rows = Any  # nested lists of mpf


@dataclass(frozen=True)
class Case:
    """Everything that a compiled layer is called with, and what the loops say for one item of the batch."""

    name: str
    layer: Layer
    sizes: dict[str, int]
    dtype: np.dtype[Any]
    inputs: dict[str, Any]
    weights: dict[str, Any]
    given: dict[str, Any]  # sizes and scalars that the layer asks for
    expected: Callable[..., Rows]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the compiled layer, by name."""
        return {**self.inputs, **self.weights, **self.given}

    def rows(self, item: int) -> Rows:
        """Return the output for one item of the batch, from the scalar definitions."""
        inputs = {name: value[item] for name, value in self.inputs.items()}
        return self.expected(**inputs, **self.weights, **({} if self.inputs else self.given))


@cache
def subjects() -> dict[str, tuple[Layer, Callable[..., Rows]]]:
    """Return every layer of the catalogue, and variants of the larger ones, with the reference of each.

    Raises       LookupError where a layer of the catalogue has no reference
    """
    missing = [name for name in layers() if name not in REFERENCES]
    if missing:
        raise LookupError(f"the layer {missing[0]} has no reference: give its loops in numeric.agreement.cases")
    return {**{name: (layer, REFERENCES[name]) for name, layer in layers().items()}, **_variants()}


def case(name: str, sizes: Mapping[str, int], dtype: DTypeLike, seed: int = 0) -> Case:
    """Return the case of a layer at given sizes: the same random numbers for the same seed, rounded to the dtype."""
    layer, expected = subjects()[name]
    chosen = at_sizes(layer, sizes)
    rng = np.random.default_rng([seed, *name.encode()])
    values = {size: Integer(chosen[size.name]) for size in layer.sizes}
    inputs = {}
    for variable in layer.inputs:
        shape = (BATCH, *(int(total(along).xreplace(values)) for along in variable.shape))
        inputs[variable.name] = drawn(variable.kind, shape, chosen, rng, np.dtype(dtype))
    weights = _shaken(initialise(layer, chosen, seed, dtype), rng)
    given: dict[str, Any] = {} if layer.inputs else dict(chosen)
    given |= {scalar.name: RATE for scalar in layer.scalars if scalar.name == "rate"}
    return Case(name, layer, chosen, np.dtype(dtype), inputs, weights, given, expected)


def at_sizes(layer: Layer, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes that a layer has, d_model even where half of it is an axis."""
    chosen = {symbol.name: sizes[symbol.name] for symbol in layer.sizes}
    if "d_model" in chosen and _halves(layer):
        chosen["d_model"] = EVEN[chosen["d_model"]]
    return chosen


def _halves(layer: Layer) -> bool:
    halved = any(not total(along).is_integer for shape in layer.shapes.values() for along in shape)
    return halved or any(_halves(node.layer) for node in applications(layer))


def drawn(
    kind: str, shape: tuple[int, ...], sizes: Mapping[str, int], rng: np.random.Generator, dtype: DTypeLike = float
) -> Any:
    """Return a random array: normal numbers, a mask of which 7 in 10 entries are True, or tokens of the vocabulary."""
    if kind == "boolean":
        return rng.random(shape) < 0.7
    if kind == "integer":
        return rng.integers(sizes["vocab"], size=shape)
    return rng.standard_normal(shape).astype(dtype)


def _shaken(weights: Any, rng: Any) -> Any:
    """Return weights with every entry moved, so that no bias is 0 and no scale 1."""
    if isinstance(weights, dict):
        return {name: _shaken(value, rng) for name, value in weights.items()}
    if isinstance(weights, list):
        return [_shaken(value, rng) for value in weights]
    return (weights + 0.1 * rng.standard_normal(weights.shape)).astype(weights.dtype)


# The loops of each layer


def _with(function: Callable[..., Rows], **options: Any) -> Callable[..., Rows]:
    return lambda **arguments: function(**arguments, **options)


def _softmax(x: Any) -> Rows:
    return [reference.softmax(x)]


def _dropout(X: Any, D: Any, rate: float = RATE) -> Rows:
    """Y_ij = X_ij D_ij / (1 - rate)."""
    with mp.workdps(50):
        kept = 1 - mp.mpf(rate)
        rows = zip(X, D, strict=True)
        return [[mp.mpf(float(x)) * bool(seen) / kept for x, seen in zip(*row, strict=True)] for row in rows]


def _transformer(**options: Any) -> Callable[..., Rows]:
    def probabilities(
        source: Any, target: Any, E: Any, source_visible: Any = None, target_visible: Any = None, **stacks: Any
    ) -> Rows:
        masks = {"source_mask": source_visible, "target_mask": target_visible}
        return reference.transformer(source, target, embedding={"E": E}, **stacks, **masks, **options)[1]

    return probabilities


REFERENCES: dict[str, Callable[..., Rows]] = {
    "softmax": _softmax,
    "linear": reference.linear,
    "scaled_dot_product_attention": reference.scaled_dot_product_attention,
    "masked_scaled_dot_product_attention": reference.scaled_dot_product_attention,
    "multi_head_attention": reference.multi_head_attention,
    "masked_multi_head_attention": reference.multi_head_attention,
    "multi_head_attention_with_biases": reference.multi_head_attention,
    "feed_forward": reference.feed_forward,
    "feed_forward_gelu": _with(reference.feed_forward, activation="gelu"),
    "layer_norm": reference.layer_norm,
    "positional_encoding": reference.positional_encoding,
    "embedding": reference.embedding,
    "dropout": _dropout,
    "encoder_layer": reference.encoder_layer,
    "encoder": reference.encoder,
    "decoder_layer": reference.decoder_layer,
    "decoder": reference.decoder,
    "transformer": _transformer(),
}


def _variants() -> dict[str, tuple[Layer, Callable[..., Rows]]]:
    """Return variants that the catalogue does not list: every option is on in one of them."""
    every: dict[str, Any] = {"biases": True, "activation": gelu}
    named = {"activation": "gelu"}
    return {
        "multi_head_attention, masked, biases": (
            multi_head_attention(masked=True, biases=True), reference.multi_head_attention),
        "encoder_layer, masked, biases, gelu": (
            encoder_layer(masked=True, **every), _with(reference.encoder_layer, **named)),
        "decoder_layer, masked, biases, gelu": (
            decoder_layer(masked_memory=True, **every), _with(reference.decoder_layer, **named)),
        "encoder, masked, final norm": (encoder(masked=True, final_norm=True), reference.encoder),
        "decoder, masked, final norm": (decoder(masked_memory=True, final_norm=True), reference.decoder),
        "transformer, padded, biases, gelu, final norm": (
            transformer(padded=True, final_norm=True, **every), _transformer(**named)),
    }  # fmt: skip


def all_cases(sizes: tuple[dict[str, int], ...] = SIZES, seed: int = 0) -> Iterator[Case]:
    """Yield every case: each layer at each sizes and number type; without any array to follow, float64 alone."""
    for name, (layer, _) in subjects().items():
        for chosen in sizes:
            for dtype in DTYPES if layer.inputs or layer.parameters else DTYPES[1:]:
                yield case(name, chosen, dtype, seed)
