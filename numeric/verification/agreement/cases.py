"""The cases of the cross-check: every layer of the catalogue and its variants, with the loops that define each.

Definition   a case is a layer at prime sizes, with random inputs in a batch of two and random weights
Shapes       sizes are distinct primes, so that a swapped axis cannot pass; where sines and cosines share the columns,
             d_model is twice a prime
Assumes      inputs are normal, masks are random (a row may have no visible key), gains are not 1 and biases not 0
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sympy import Basic, Integer

from derivations.attention.latent import latent_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layers
from derivations.feed_forward.mixture_of_experts import mixture_of_experts
from derivations.language.arrays.expression import Variable
from derivations.language.arrays.functions import gelu
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Layer
from derivations.transformer.decoder import decoder, decoder_layer
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer, transformer_loss
from numeric.codegen.compile import compile_layer
from numeric.codegen.functions import DEFAULTS
from numeric.models.weights import initialise
from numeric.runtime.checks.wanted import token_bounds
from numeric.runtime.structure import applications
from numeric.verification import reference
from numeric.verification.agreement.loops import Rows, loops, rows_of

__all__ = [
    "BATCH", "DTYPES", "SIZES", "Case", "all_cases", "at_sizes", "case", "drawn", "rows_to_choose_from", "subjects",
]  # fmt: skip

BATCH = 2
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
CHOSEN = 2  # of the experts
# The heads of an indexer are many: of few, a row may be one entry near a kink, and no bound is relative to that.
SIZES: tuple[dict[str, int], ...] = (
    {"n": 3, "m": 5, "h": 2, "N": 2, "d": 7, "d_in": 3, "d_out": 5,
     "d_model": 7, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 19, "g": 2, "r": 17, "w": 2,
     "frames": 5, "mel": 3, "pixels": 11, "buckets": 17,
     "r_Q": 5, "r_KV": 3, "d_r": 3, "E": 5, "d_expert": 3, "d_shared": 2, "K": CHOSEN, "h_I": 11, "d_P": 5, "k_I": 2,
     "d_E": 5, "S": 3, "r_A": 2, "w_1": 2,
     "d_inner": 5, "d_state": 3, "r_Delta": 2, "g_S": 2, "r_S": 3, "d_S": 5, "h_L": 2, "d_L": 3,
     "g_D": 2, "r_D": 3, "k_D": 5, "v_D": 2},
    {"n": 2, "m": 7, "h": 3, "N": 2, "d": 13, "d_in": 5, "d_out": 2,
     "d_model": 5, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 23, "g": 3, "r": 17, "w": 2,
     "frames": 3, "mel": 7, "pixels": 13, "buckets": 11,
     "r_Q": 3, "r_KV": 2, "d_r": 7, "E": 7, "d_expert": 2, "d_shared": 3, "K": CHOSEN, "h_I": 7, "d_P": 2, "k_I": 2,
     "d_E": 3, "S": 2, "r_A": 3, "w_1": 3,
     "d_inner": 3, "d_state": 5, "r_Delta": 7, "g_S": 3, "r_S": 2, "d_S": 2, "h_L": 3, "d_L": 2,
     "g_D": 3, "r_D": 2, "k_D": 2, "v_D": 5},
    {"n": 2, "m": 11, "h": 5, "N": 3, "d": 3, "d_in": 11, "d_out": 7,
     "d_model": 13, "d_k": 3, "d_v": 7, "d_ff": 19, "vocab": 17, "g": 5, "r": 17, "w": 2,
     "frames": 7, "mel": 2, "pixels": 3, "buckets": 23,
     "r_Q": 2, "r_KV": 7, "d_r": 5, "E": 3, "d_expert": 5, "d_shared": 7, "K": CHOSEN, "h_I": 11, "d_P": 3, "k_I": 3,
     "d_E": 2, "S": 5, "r_A": 2, "w_1": 2,
     "d_inner": 7, "d_state": 2, "r_Delta": 3, "g_S": 2, "r_S": 2, "d_S": 3, "h_L": 2, "d_L": 5,
     "g_D": 2, "r_D": 2, "k_D": 3, "v_D": 5},
)  # fmt: skip
EVEN = {3: 6, 5: 10, 7: 6, 11: 22, 13: 14}  # twice a prime, for a size whose columns sines and cosines share
SPARE = (29, 31, 37, 41, 43)  # for sizes that are not above
SCALARS = {"rate": 0.25, "alpha": 3.0, "slope": 0.5}  # of dropout, low-rank adaptation and ALiBi
SCALAR = 0.75  # for others


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
        return rows_of(self.expected, inputs | self.weights, self.given)


@cache
def subjects() -> dict[str, tuple[Layer, Callable[..., Rows]]]:
    """Return every layer of the catalogue, and variants of the larger ones, with the reference of each.

    Raises       LookupError where a layer of the catalogue has no reference
    """
    known = loops()
    missing = [name for name in layers() if name not in known]
    if missing:
        raise LookupError(
            f"the layer {missing[0]} has no reference: write its loops in a module of {reference.__name__}, "
            f'under @loops_of("{missing[0]}")'
        )
    return {**{name: (layer, known[name]) for name, layer in layers().items()}, **_variants()}


def case(
    name: str, sizes: Mapping[str, int], dtype: DTypeLike, seed: int = 0, batch: tuple[int, ...] = (BATCH,)
) -> Case:
    """Return the case of a layer at given sizes: the same random numbers for the same seed, rounded to the dtype."""
    layer, expected = subjects()[name]
    chosen = at_sizes(layer, sizes)
    rng = np.random.default_rng([seed, *name.encode()])
    values, rows = {size: Integer(chosen[size.name]) for size in layer.sizes}, rows_to_choose_from(layer, chosen)
    inputs = {}
    for variable in layer.inputs:
        shape = (*batch, *(int(total(along).xreplace(values)) for along in variable.shape))
        inputs[variable.name] = drawn(variable.kind, shape, rows.get(variable, 0), rng, np.dtype(dtype))
    weights = _shaken(initialise(layer, chosen, seed, dtype), rng)
    given: dict[str, Any] = {size.name: chosen[size.name] for size in compile_layer(layer).sizes}
    given |= {s.name: SCALARS.get(s.name, SCALAR) for s in layer.scalars if s.name not in DEFAULTS}
    return Case(name, layer, chosen, np.dtype(dtype), inputs, weights, given, expected)


def at_sizes(layer: Layer, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of a layer; a size is even where half of it is an axis."""
    halved = _halved(layer)
    sizes = {**sizes, **dict(zip(sorted(s.name for s in layer.sizes if s.name not in sizes), SPARE, strict=False))}
    return {s.name: EVEN.get(sizes[s.name], 2 * sizes[s.name]) if s in halved else sizes[s.name] for s in layer.sizes}


def _halved(layer: Layer) -> set[Basic]:
    axes = [total(along) for shape in layer.shapes.values() for along in shape]
    halved = {symbol for along in axes if not along.is_integer for symbol in along.free_symbols}
    return halved.union(*(_halved(node.layer) for node in applications(layer)))


def rows_to_choose_from(layer: Layer, sizes: Mapping[str, int]) -> dict[Variable, int]:
    """Return how many rows there are for each input that chooses rows, at sizes by name."""
    values = {size: Integer(sizes[size.name]) for size in layer.sizes}
    bounds = {v: total(along) for tokens, along in token_bounds(layer) for v in tokens.atoms(Variable)}
    return {variable: int(along.xreplace(values)) for variable, along in bounds.items()}


def drawn(kind: str, shape: tuple[int, ...], rows: int, rng: np.random.Generator, dtype: DTypeLike = float) -> Any:
    """Return a random array of one kind: normal numbers, a mask with 7 in 10 entries True, or numbers below `rows`."""
    if kind == "boolean":
        return rng.random(shape) < 0.7
    if kind == "integer":
        return rng.integers(rows, size=shape)
    return rng.standard_normal(shape).astype(dtype)


def _shaken(weights: Any, rng: Any) -> Any:
    """Return weights with a random change of every entry, so that no bias is 0 and no scale is 1."""
    if isinstance(weights, dict):
        return {name: _shaken(value, rng) for name, value in weights.items()}
    if isinstance(weights, list):
        return [_shaken(value, rng) for value in weights]
    return np.asarray(weights + 0.1 * rng.standard_normal(weights.shape), weights.dtype)


def _variants() -> dict[str, tuple[Layer, Callable[..., Rows]]]:
    """Return variants that the catalogue does not list: each option is on in at least one."""
    every: dict[str, Any] = {"biases": True, "activation": gelu}
    with_gelu: dict[str, Any] = {"activation": "gelu"}
    found: dict[str, tuple[Layer, dict[str, Any]]] = {
        "multi_head_attention, masked, biases": (multi_head_attention(masked=True, biases=True), {}),
        "latent_attention, absorbed": (latent_attention(absorbed=True), {}),
        "mixture_of_experts, shares of all, gate of the shared": (
            mixture_of_experts(normalised=False, shared=True, shared_gate=True), {"normalised": False}),
        "encoder_layer, masked, biases, gelu": (encoder_layer(masked=True, **every), with_gelu),
        "decoder_layer, masked, biases, gelu": (decoder_layer(masked_memory=True, **every), with_gelu),
        "encoder, masked, final norm": (encoder(masked=True, final_norm=True), {}),
        "decoder, masked, final norm": (decoder(masked_memory=True, final_norm=True), {}),
        "transformer, padded, biases, gelu, final norm": (
            transformer(padded=True, final_norm=True, **every), with_gelu),
        "transformer_loss, padded, biases, gelu, final norm": (
            transformer_loss(padded=True, final_norm=True, **every), with_gelu),
    }  # fmt: skip
    known = loops()
    return {
        name: (layer, partial(known[name.partition(",")[0]], **options)) for name, (layer, options) in found.items()
    }


def all_cases(sizes: tuple[dict[str, int], ...] = SIZES, seed: int = 0) -> Iterator[Case]:
    """Yield every case: each layer at all sizes and number types; a layer without arrays in float64 only."""
    for name, (layer, _) in subjects().items():
        for chosen in sizes:
            for dtype in DTYPES if layer.inputs or layer.parameters else DTYPES[1:]:
                yield case(name, chosen, dtype, seed)
