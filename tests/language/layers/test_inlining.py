"""A layer with its parts written out has the same output, and the same weights under longer names."""

import numpy as np
import pytest
from sympy import Integer

from derivations.architectures.composition import build
from derivations.architectures.models import named_model
from derivations.attention.grouped_query import grouped_query_attention
from derivations.language.arrays.expression import array
from derivations.language.layers.inlining import inlined
from derivations.language.layers.layer import Apply, Equations, Layer, Repeat, part
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import d, d_model, n
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer
from numeric.codegen.compile import compile_layer
from numeric.models.weights import initialise
from numeric.optimize.prepare import flat_weights

SIZES = {"d_model": 6, "h": 3, "d_k": 2, "d_v": 2, "d_ff": 7, "N": 2, "vocab": 11, "n": 5, "m": 4}
RNG = np.random.default_rng(0)


def applied(layer: Layer) -> list[Apply]:
    return list(layer.parts.values())


@pytest.mark.parametrize("layer", [encoder_layer(), encoder_layer(biases=True, masked=True), encoder(final_norm=True)])
def test_the_output_stays(layer: Layer):
    weights = initialise(layer, {s.name: SIZES[s.name] for s in layer.sizes if s.name in SIZES}, 0, np.dtype(float))
    arrays = [RNG.standard_normal((3, 5, 6)), RNG.random((5, 5)) < 0.5][: len(layer.inputs)]
    flat = inlined(layer)
    given = flat_weights(flat, weights)
    expected, found = compile_layer(layer)(*arrays, **weights), compile_layer(flat)(*arrays, **given)
    assert np.abs(expected - found).max() < 1e-14


def test_the_whole_transformer_keeps_its_output_and_only_its_stacks_stay_parts():
    layer = transformer(padded=True, biases=True)
    weights = initialise(layer, {s.name: SIZES[s.name] for s in layer.sizes if s.name in SIZES}, 0, np.dtype(float))
    tokens = [RNG.integers(0, 11, (2, 4)), RNG.integers(0, 11, (2, 5)), RNG.random(4) < 0.7, RNG.random(5) < 0.7]
    flat = inlined(layer)
    assert {type(node) for node in applied(flat)} == {Repeat}
    expected = compile_layer(layer)(*tokens, **weights)
    assert np.abs(expected - compile_layer(flat)(*tokens, **flat_weights(flat, weights))).max() < 1e-14


@pytest.mark.parametrize("name", ["gpt2", "llama-2-7b", "mistral-7b", "t5-small", "bert-base"])
def test_released_architectures_are_written_out(name: str):
    flat = inlined(build(named_model(name).architecture))
    blocks = [node.layer for node in applied(flat)]
    assert blocks and all(not applied(block) or "group" in str(applied(block)) for block in blocks)
    assert compile_layer(flat).source


def test_a_family_inside_a_family_stays_an_application():
    flat = inlined(grouped_query_attention())
    assert [node.layer.name for node in applied(flat)] == ["query_group"]
    assert not applied(applied(flat)[0].layer)


def test_a_weight_that_two_applications_share_is_one_weight_and_their_equations_differ():
    X = array("X", n, d_model)
    norm, let = part("norm", layer_norm()), Equations()
    U = let("U")(norm(X))
    Y = let("Y")(norm(U + X))
    flat = inlined(Layer("twice", (X,), (), let, Y))
    assert [p.name for p in flat.parameters] == ["norm.gamma", "norm.beta"]
    assert {"norm.mu", "norm.mu_2"} <= flat.shapes.keys()
    x = RNG.standard_normal((5, 6))
    weights = {"gamma": RNG.standard_normal(6), "beta": RNG.standard_normal(6)}
    expected = compile_layer(Layer("twice", (X,), (), let, Y))(x, norm=weights)
    found = compile_layer(flat)(x, **flat_weights(flat, {"norm": weights}))
    assert np.abs(expected - found).max() < 1e-14


def test_a_part_that_hands_its_input_on_is_a_renaming():
    X, let = array("X", n, d), Equations()
    Y = let("Y")(part("nothing", Layer("nothing", (X,), (), (), X))(X))
    flat = inlined(Layer("around", (X,), (), let, Y))
    assert [str(e) for e in flat.equations] == ["Y = X"]


def test_numbers_of_layers_stay():
    flat = inlined(encoder().xreplace({next(s for s in encoder().sizes if s.name == "N"): Integer(2)}))
    assert [node.count for node in applied(flat)] == [2]
