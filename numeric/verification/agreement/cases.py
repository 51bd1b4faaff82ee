"""The cases of the cross-check: every layer of the catalogue and its variants, with the loops that define each.

Definition   a case is a layer at prime sizes, with random inputs in a batch of two and random weights
Shapes       sizes are distinct primes, so that a swapped axis cannot pass; where sines and cosines share the columns,
             d_model is twice a prime
Assumes      inputs are normal, masks are random (a row may have no visible key), gains are not 1 and biases not 0
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from mpmath import mp
from numpy.typing import DTypeLike
from sympy import Basic, Integer

from derivations.attention.latent import latent_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layers
from derivations.feed_forward.mixture_of_experts import mixture_of_experts
from derivations.language.arrays.functions import gelu
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from derivations.transformer.decoder import decoder, decoder_layer
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer, transformer_loss
from numeric.codegen.compile import compile_layer
from numeric.models.weights import initialise
from numeric.runtime.structure import applications
from numeric.verification import reference

__all__ = ["BATCH", "DTYPES", "SIZES", "Case", "all_cases", "at_sizes", "case", "drawn", "subjects"]

BATCH = 2
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
CHOSEN = 2  # of the experts
SIZES: tuple[dict[str, int], ...] = (
    {"n": 3, "m": 5, "h": 2, "N": 2, "d": 7, "d_in": 3, "d_out": 5,
     "d_model": 7, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 19, "g": 2, "r": 17, "w": 2,
     "frames": 5, "mel": 3, "pixels": 11, "buckets": 17,
     "r_Q": 5, "r_KV": 3, "d_r": 3, "E": 5, "d_expert": 3, "d_shared": 2, "K": CHOSEN},
    {"n": 2, "m": 7, "h": 3, "N": 2, "d": 13, "d_in": 5, "d_out": 2,
     "d_model": 5, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 23, "g": 3, "r": 17, "w": 2,
     "frames": 3, "mel": 7, "pixels": 13, "buckets": 11,
     "r_Q": 3, "r_KV": 2, "d_r": 7, "E": 7, "d_expert": 2, "d_shared": 3, "K": CHOSEN},
    {"n": 2, "m": 11, "h": 5, "N": 3, "d": 3, "d_in": 11, "d_out": 7,
     "d_model": 13, "d_k": 3, "d_v": 7, "d_ff": 19, "vocab": 17, "g": 5, "r": 17, "w": 2,
     "frames": 7, "mel": 2, "pixels": 3, "buckets": 23,
     "r_Q": 2, "r_KV": 7, "d_r": 5, "E": 3, "d_expert": 5, "d_shared": 7, "K": CHOSEN},
)  # fmt: skip
EVEN = {3: 6, 5: 10, 7: 6, 11: 22, 13: 14}  # twice a prime, for a size whose columns sines and cosines share
SCALARS = {"rate": 0.25, "alpha": 3.0, "slope": 0.5}  # of dropout, low-rank adaptation and ALiBi
Rows = Any  # nested lists of mpf


@dataclass(frozen=True)
class Case:
    """All arguments of a call of a compiled layer, and the loops that compute the expected output for one item."""

    name: str
    layer: Layer
    sizes: dict[str, int]
    dtype: np.dtype[Any]
    inputs: dict[str, Any]
    weights: dict[str, Any]
    given: dict[str, Any]  # sizes and scalars that are arguments of the layer
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
        raise LookupError(f"the layer {missing[0]} has no reference: give its loops in {__name__}")
    return {**{name: (layer, REFERENCES[name]) for name, layer in layers().items()}, **_variants()}


def case(
    name: str, sizes: Mapping[str, int], dtype: DTypeLike, seed: int = 0, batch: tuple[int, ...] = (BATCH,)
) -> Case:
    """Return the case of a layer at given sizes: the same random numbers for the same seed, rounded to the dtype."""
    layer, expected = subjects()[name]
    chosen = at_sizes(layer, sizes)
    rng = np.random.default_rng([seed, *name.encode()])
    values = {size: Integer(chosen[size.name]) for size in layer.sizes}
    inputs = {}
    for variable in layer.inputs:
        shape = (*batch, *(int(total(along).xreplace(values)) for along in variable.shape))
        inputs[variable.name] = drawn(variable.kind, shape, chosen, rng, np.dtype(dtype))
    weights = _shaken(initialise(layer, chosen, seed, dtype), rng)
    given: dict[str, Any] = {size.name: chosen[size.name] for size in compile_layer(layer).sizes}
    given |= {scalar.name: SCALARS[scalar.name] for scalar in layer.scalars if scalar.name in SCALARS}
    return Case(name, layer, chosen, np.dtype(dtype), inputs, weights, given, expected)


def at_sizes(layer: Layer, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of a layer; a size is even where half of it is an axis."""
    halved = _halved(layer)
    return {s.name: EVEN[sizes[s.name]] if s in halved else sizes[s.name] for s in layer.sizes}


def _halved(layer: Layer) -> set[Basic]:
    axes = [total(along) for shape in layer.shapes.values() for along in shape]
    halved = {symbol for along in axes if not along.is_integer for symbol in along.free_symbols}
    return halved.union(*(_halved(node.layer) for node in applications(layer)))


def drawn(
    kind: str, shape: tuple[int, ...], sizes: Mapping[str, int], rng: np.random.Generator, dtype: DTypeLike = float
) -> Any:
    """Return a random array: normal numbers, a mask with 7 in 10 entries True, or tokens of the vocabulary."""
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


def _row(function: Callable[..., Any]) -> Callable[..., Rows]:
    """Adapt a function that returns one row to return a matrix."""
    return lambda **arguments: [function(**arguments)]


def _dropout(X: Any, D: Any, rate: float = SCALARS["rate"]) -> Rows:
    """Return Y_ij = X_ij D_ij / (1 - rate)."""
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


def _number(function: Callable[..., Any]) -> Callable[..., Rows]:
    """Adapt a function that returns one number to return a row of one entry."""
    return lambda **arguments: [[function(**arguments)]]


def _loss(**options: Any) -> Callable[..., Rows]:
    def loss(source: Any, target: Any, labels: Any, E: Any, **given: Any) -> Any:
        masks = {
            f"{name}_mask": given.pop(f"{name}_visible") for name in ("source", "target") if f"{name}_visible" in given
        }
        logits, _ = reference.transformer(source, target, embedding={"E": E}, **given, **masks, **options)
        return reference.cross_entropy(logits, labels)

    return _number(loss)


def _with_patches(linear: Callable[..., Rows]) -> Callable[..., Rows]:
    """Adapt a linear layer to an input called U."""
    return lambda U, **weights: linear(U, **weights)


REFERENCES: dict[str, Callable[..., Rows]] = {
    "softmax": _row(reference.softmax),
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
    "transformer_loss": _loss(),
    "cross_entropy": _number(reference.cross_entropy),
    "soft_cross_entropy": _number(reference.soft_cross_entropy),
    "batch_norm": reference.batch_norm,
    "batch_norm_inference": reference.batch_norm_inference,
    "rms_norm": reference.rms_norm,
    "gated_feed_forward": reference.gated_feed_forward,
    "low_rank_adaptation": _with(reference.low_rank_adaptation, alpha=SCALARS["alpha"]),
    "linear_attention": reference.linear_attention,
    "alibi_attention": _with(reference.alibi_attention, slope=SCALARS["slope"]),
    "grouped_query_attention": reference.grouped_query_attention,
    "masked_grouped_query_attention": reference.grouped_query_attention,
    "convolution": reference.convolution,
    "recurrent_step": _row(reference.recurrent_step),
    "latent_attention": reference.latent_attention,
    "masked_latent_attention": reference.latent_attention,
    "mixture_of_experts": _with(reference.mixture_of_experts, K=CHOSEN),
    "mixture_with_shared_experts": _with(reference.mixture_of_experts, K=CHOSEN),
    "gated_feed_forward_with_biases": reference.gated_feed_forward,
    "pre_norm_layer": reference.pre_norm_layer,
    "pre_norm_layer_with_dropout": _with(reference.pre_norm_layer, rate=SCALARS["rate"]),
    "learned_positions": reference.learned_positions,
    "class_token": reference.class_token,
    "patch_embedding": _with_patches(reference.linear),
    "audio_stem": reference.audio_stem,
    "relative_position_bias": reference.relative_position_bias,
    "relative_position_bias_looking_back": _with(reference.relative_position_bias, bidirectional=False),
    "rotary_embedding": reference.rotary_embedding,
    "rotary_embedding_halves": _with(reference.rotary_embedding, halves=True),
}


def _variants() -> dict[str, tuple[Layer, Callable[..., Rows]]]:
    """Return variants that the catalogue does not list: each option is on in at least one."""
    every: dict[str, Any] = {"biases": True, "activation": gelu}
    named = {"activation": "gelu"}
    return {
        "multi_head_attention, masked, biases": (
            multi_head_attention(masked=True, biases=True), reference.multi_head_attention),
        "latent_attention, absorbed": (latent_attention(absorbed=True), reference.latent_attention),
        "mixture_of_experts, shares of all, gate of the shared": (
            mixture_of_experts(normalised=False, shared=True, shared_gate=True),
            _with(reference.mixture_of_experts, K=CHOSEN, normalised=False)),
        "encoder_layer, masked, biases, gelu": (
            encoder_layer(masked=True, **every), _with(reference.encoder_layer, **named)),
        "decoder_layer, masked, biases, gelu": (
            decoder_layer(masked_memory=True, **every), _with(reference.decoder_layer, **named)),
        "encoder, masked, final norm": (encoder(masked=True, final_norm=True), reference.encoder),
        "decoder, masked, final norm": (decoder(masked_memory=True, final_norm=True), reference.decoder),
        "transformer, padded, biases, gelu, final norm": (
            transformer(padded=True, final_norm=True, **every), _transformer(**named)),
        "transformer_loss, padded, biases, gelu, final norm": (
            transformer_loss(padded=True, final_norm=True, **every), _loss(**named)),
    }  # fmt: skip


def all_cases(sizes: tuple[dict[str, int], ...] = SIZES, seed: int = 0) -> Iterator[Case]:
    """Yield every case: each layer at all sizes and number types; a layer without arrays in float64 only."""
    for name, (layer, _) in subjects().items():
        for chosen in sizes:
            for dtype in DTYPES if layer.inputs or layer.parameters else DTYPES[1:]:
                yield case(name, chosen, dtype, seed)
