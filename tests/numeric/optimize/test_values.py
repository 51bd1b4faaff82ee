"""Optimised layers compute what the layers do, with the weights that are packed for them."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from sympy import Integer, Symbol

from derivations.language import gradient
from derivations.language.arrays.expression import Array, mask_array
from derivations.language.arrays.functions import CausalMask, WindowMask
from derivations.language.arrays.shapes import total
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Layer
from derivations.symbols import n, size
from numeric.codegen.compile import CompiledLayer, compile_layer
from numeric.models.weights import initialise
from numeric.optimize import optimize, packed
from numeric.verification.agreement.cases import SIZES, at_sizes, case, subjects
from tests.numeric.optimize.layers import attention, model
from tests.tiers import few

EXACT = 1e-12  # relative to the largest entry, in double precision
MODELS = {
    "gpt2": {"n": 5, "N": 2, "h": 3, "d_model": 7, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 19},
    "llama-2-7b": {"n": 5, "N": 2, "h": 3, "d_model": 7, "d_k": 22, "d_v": 13, "d_ff": 17, "vocab": 19},
    "llama-3-8b": {"n": 5, "N": 2, "g": 2, "r": 3, "d_model": 7, "d_k": 22, "d_v": 13, "d_ff": 17, "vocab": 19},
    "qwen3-0.6b": {"n": 5, "N": 2, "g": 2, "r": 3, "d_model": 7, "d_k": 22, "d_v": 13, "d_ff": 17, "vocab": 19},
    "gpt-j-6b": {"n": 5, "N": 2, "h": 3, "d_model": 7, "d_k": 11, "d_rotary": 6, "d_v": 13, "d_ff": 17, "vocab": 19},
    "bert-base": {"n": 5, "N": 2, "h": 3, "d_model": 7, "d_k": 11, "d_v": 13, "d_ff": 17, "vocab": 19},
    "pythia-70m": {"n": 5, "N": 2, "h": 3, "d_model": 7, "d_k": 11, "d_rotary": 6, "d_v": 13, "d_ff": 17, "vocab": 19},
}
M, w = mask_array("M", n, n), size("w")


def called(function: CompiledLayer, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """The outputs of a compiled layer, from a table that may hold more than it takes."""
    asked = inspect.signature(function.function).parameters
    result = function(**{name: value for name, value in arguments.items() if name in asked})
    return result if isinstance(result, tuple) else (result,)


def difference(layer: Layer, arguments: Mapping[str, Any], weights: Mapping[str, Any], **options: Any) -> float:
    """The largest difference of the optimised layer to the layer, relative to the largest entry."""
    faster = optimize(layer, **options)
    old = called(compile_layer(layer), {**arguments, **weights})
    new = called(compile_layer(faster.layer), {**arguments, **packed(faster, weights, _sizes(arguments))})
    assert [o.shape for o in old] == [o.shape for o in new]
    return max(float(abs(a - b).max() / abs(a).max()) for a, b in zip(old, new, strict=True) if a.size)


def _sizes(arguments: Mapping[str, Any]) -> dict[Symbol, int]:
    return {size(name): value for name, value in arguments.items() if isinstance(value, int)}


def drawn(layer: Layer, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Random inputs in a batch of two, and the sizes."""
    rng = np.random.default_rng(seed)
    values = {symbol: Integer(sizes[symbol.name]) for symbol in layer.sizes}
    arguments: dict[str, Any] = dict(sizes)
    for variable in layer.inputs:
        shape = (2, *(int(total(along).xreplace(values)) for along in variable.shape))
        draw = {
            "real": lambda shape: rng.normal(size=shape),
            "integer": lambda shape: rng.integers(0, sizes.get("vocab", 2), shape),
            "boolean": lambda shape: rng.integers(0, 2, shape).astype(bool),
        }[variable.kind]
        arguments[variable.name] = draw(shape)
    return arguments


@pytest.mark.parametrize("sizes", SIZES[:2], ids=("first", "second"))
@pytest.mark.parametrize("name", few(list(subjects()), fast=5))
def test_layers_of_the_catalogue(name: str, sizes: dict[str, int]) -> None:
    subject = case(name, sizes, np.float64, seed=5)
    arguments = {**subject.sizes, **subject.inputs, **subject.given}
    assert difference(subject.layer, arguments, subject.weights) < EXACT


@pytest.mark.parametrize("name", few(list(MODELS), fast=1))
def test_models(name: str) -> None:
    layer = model(name)
    sizes = {s.name: MODELS[name].get(s.name, 23) for s in layer.sizes}
    weights = initialise(layer, sizes, 7, np.float64)
    rng = np.random.default_rng(11)
    shaken = _shaken(weights, rng)
    assert difference(layer, drawn(layer, sizes, 13), shaken) < EXACT


def _shaken(weights: Any, rng: np.random.Generator) -> Any:
    """Weights with biases off 0 and gains off 1."""
    if isinstance(weights, dict):
        return {name: _shaken(value, rng) for name, value in weights.items()}
    if isinstance(weights, list):
        return [_shaken(value, rng) for value in weights]
    return weights + rng.normal(scale=0.1, size=weights.shape)


@pytest.mark.parametrize("mask", [None, CausalMask(n), WindowMask(n, w), M], ids=str)
def test_attention_under_every_mask(mask: Array | None) -> None:
    layer = attention(mask=mask)
    sizes = at_sizes(layer, {**SIZES[0], "n": 5, "w": 2})
    weights = _shaken(initialise(layer, sizes, 7, np.float64), np.random.default_rng(11))
    assert difference(layer, drawn(layer, sizes, 17), weights) < EXACT


@pytest.mark.parametrize(
    "name", ["deferred_normalisation", "scaled_queries", "wide_projections", "key_bias", "folded_norm"]
)
def test_a_pass_may_be_missing(name: str) -> None:
    subject = case("pre_norm_layer", SIZES[0], np.float64, seed=3)
    arguments = {**subject.sizes, **subject.inputs, **subject.given}
    assert difference(subject.layer, arguments, subject.weights, without=(name,)) < EXACT


def test_gradients() -> None:
    subject = case("encoder_layer", SIZES[0], np.float64, seed=3)
    layer = gradient(inlined(subject.layer))
    sizes = {s.name: subject.sizes[s.name] for s in layer.sizes}
    weights = _shaken(initialise(layer, sizes, 7, np.float64), np.random.default_rng(11))
    assert difference(layer, drawn(layer, sizes, 19), weights) < EXACT


def test_single_precision_stays_single() -> None:
    subject = case("encoder_layer", SIZES[0], np.float32, seed=3)
    faster = optimize(subject.layer)
    weights = packed(faster, subject.weights)
    assert {value.dtype for value in weights.values()} == {np.dtype(np.float32)}
    (result,) = called(compile_layer(faster.layer), {**subject.sizes, **subject.inputs, **weights})
    assert result.dtype == np.float32


def test_a_stack_is_packed_copy_by_copy() -> None:
    subject = case("encoder", SIZES[0], np.float64, seed=3)
    faster = optimize(subject.layer)
    copies = packed(faster, subject.weights)["layers"]
    assert len(copies) == subject.sizes["N"]
    assert copies[0].keys() == copies[1].keys()
    assert not np.array_equal(copies[0]["attention_W_QKV"], copies[1]["attention_W_QKV"])
