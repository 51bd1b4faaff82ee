"""Weights made from a seed: shapes, what each weight is for, and what is refused."""

import numpy as np
import pytest
from sympy import Integer

from derivations.attention.grouped_query import grouped_query_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.shapes import total
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equations, Layer, part
from derivations.linear.linear import linear
from derivations.linear.recurrent import recurrent_step
from derivations.normalisation.batch_norm import batch_norm_inference
from derivations.normalisation.layer_norm import layer_norm
from derivations.positions.position_bias import learned_positions
from derivations.softmax.softmax import softmax
from derivations.symbols import d, n
from derivations.transformer.encoder import encoder_layer
from derivations.transformer.transformer import transformer
from numeric import InputError, count, initialise
from numeric.runtime.structure import weight_tree
from numeric.verification.agreement.gradients import leaves
from tests.tiers import few

SIZES = {"n": 5, "m": 3, "h": 2, "d_k": 7, "d_v": 11, "d_model": 13, "d_ff": 17, "d_in": 19, "d_out": 23, "d": 29}
SIZES |= {
    "r_Q": 5,
    "r_KV": 7,
    "d_r": 6,
    "E": 5,
    "K": 2,
    "d_expert": 7,
    "d_shared": 11,
    "h_I": 2,
    "d_P": 3,
    "k_I": 2,
    "d_E": 5,
    "S": 3,
    "r_A": 2,
    "w_1": 3,
}
SIZES |= {"g_D": 2, "r_D": 3, "k_D": 5, "v_D": 7}
SIZES |= {"d_inner": 61, "d_state": 3, "r_Delta": 2, "g_S": 2, "r_S": 3, "d_S": 5, "h_L": 2, "d_L": 7}
SIZES |= {"N": 3, "vocab": 31, "g": 37, "r": 41, "w": 43, "frames": 46, "mel": 47, "pixels": 53, "buckets": 59}


def sizes_of(layer):
    return {size.name: SIZES[size.name] for size in layer.sizes}


def pairs(tree, weights):
    """Return every weight with the shape that the layer gives it, and check that the nesting is the layer's."""
    if tree.count is not None and isinstance(weights, list):
        assert len(weights) == SIZES[tree.count.name]
        return [pair for copy in weights for pair in pairs(tree, copy)]
    assert weights.keys() == tree.parameters.keys() | tree.parts.keys()
    own = [(variable.shape, weights[name]) for name, variable in tree.parameters.items()]
    return own + [pair for name, part in tree.parts.items() for pair in pairs(part, weights[name])]


@pytest.mark.parametrize("name", few(layers(), fast=5))
def test_weights_have_the_shapes_of_the_layer(name):
    layer = layers()[name]
    values = {size: Integer(SIZES[size.name]) for size in layer.sizes}
    weights = initialise(layer, sizes_of(layer))
    for shape, weight in pairs(weight_tree(layer), weights):
        assert weight.shape == tuple(total(along).xreplace(values) for along in shape)
        assert weight.dtype == np.float32


def test_the_weights_of_multi_head_attention():
    weights = initialise(multi_head_attention(biases=True), sizes_of(multi_head_attention(biases=True)))
    assert {name: weight.shape for name, weight in weights.items()} == {
        "W_Q": (2, 13, 7), "W_K": (2, 13, 7), "W_V": (2, 13, 11), "W_O": (22, 13),
        "b_Q": (2, 7), "b_K": (2, 7), "b_V": (2, 11), "b_O": (13,),
    }  # fmt: skip
    assert not any(weights[name].any() for name in ("b_Q", "b_K", "b_V", "b_O"))


def test_a_matrix_is_uniform_between_the_bounds_of_glorot_and_bengio():
    """The bound is sqrt(6 / (64 + 86)) = 0.2, so that the variance is 0.04 / 3."""
    W = initialise(linear(), {"d_in": 64, "d_out": 86}, dtype=np.float64)["W"]
    assert 0.199 < abs(W).max() < 0.2
    assert abs(W.mean()) < 0.005
    assert abs(W.var() - 0.04 / 3) < 0.0005


def test_a_head_is_a_matrix_of_its_own():
    """The fan of W_Q is d_model + d_k, not d_model + h d_k."""
    W_Q = initialise(multi_head_attention(), {"d_model": 64, "h": 8, "d_k": 86, "d_v": 2})["W_Q"]
    assert 0.199 < abs(W_Q).max() < 0.2


def test_an_embedding_times_sqrt_d_model_has_variance_one():
    """The table of the Transformer is also the matrix of its logits: it is made as a table."""
    weights = initialise(transformer(), {**sizes_of(transformer()), "vocab": 400, "d_model": 100, "N": 1})
    E = weights["E"] * 10
    assert abs(E.var() - 1) < 0.03 and abs(E.mean()) < 0.02 and abs(E).max() > 3


def test_norms_scale_by_one_and_shift_by_zero():
    weights = initialise(layer_norm(), {"d": 5})
    assert weights["gamma"].tolist() == [1] * 5 and weights["beta"].tolist() == [0] * 5


def test_biases_of_a_feed_forward_network_are_zero():
    weights = initialise(feed_forward(), sizes_of(feed_forward()))
    assert not weights["b_1"].any() and not weights["b_2"].any()
    assert weights["W_1"].all() and weights["W_2"].all()


def test_a_seed_gives_the_same_weights_and_another_seed_others():
    sizes = sizes_of(encoder_layer())
    first, again, other = (initialise(encoder_layer(), sizes, seed)["attention"]["W_Q"] for seed in (0, 0, 1))
    assert (first == again).all() and (first != other).all()
    double = initialise(encoder_layer(), sizes, 0, np.float64)["attention"]["W_Q"]
    assert double.dtype == np.float64 and (double.astype(np.float32) == first).all()


def test_the_layers_of_a_stack_differ():
    first, second, third = initialise(layers()["encoder"], sizes_of(layers()["encoder"]))["layers"]
    assert (first["feed_forward"]["W_1"] != second["feed_forward"]["W_1"]).all()
    assert (second["feed_forward"]["W_1"] != third["feed_forward"]["W_1"]).all()


def test_count_of_the_transformer():
    """vocab d + N (4 d^2 + 2 d d_ff + d_ff + 5 d) + N (8 d^2 + 2 d d_ff + d_ff + 7 d), with h d_k = h d_v = d."""
    sizes = {"d_model": 8, "h": 2, "d_k": 4, "d_v": 4, "d_ff": 32, "N": 6, "vocab": 37}
    by_hand = 37 * 8 + 6 * (4 * 8**2 + 2 * 8 * 32 + 32 + 5 * 8) + 6 * (8 * 8**2 + 2 * 8 * 32 + 32 + 7 * 8)
    assert count(initialise(transformer(), sizes)) == by_hand


def test_a_layer_without_weights_has_none():
    assert initialise(softmax(), {}) == {} and count({}) == 0


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "2", None])
def test_a_size_that_is_no_integer_above_zero_is_refused(value):
    with pytest.raises(InputError, match=r"linear: the size d_in must be an integer >= 1, not "):
        initialise(linear(), {"d_in": value, "d_out": 3})


def test_a_missing_and_an_unknown_size_are_refused():
    with pytest.raises(InputError, match=r"linear\.W has shape \(d_in, d_out\): give the size d_out"):
        initialise(linear(), {"d_in": 3})
    with pytest.raises(InputError, match="linear has no size d_model; its sizes are d_in, d_out, n"):
        initialise(linear(), {"d_in": 3, "d_out": 2, "d_model": 5})
    with pytest.raises(InputError, match=r"encoder\.layers has shape \(N,\): give the size N"):
        initialise(layers()["encoder"], {"d_model": 3, "h": 2, "d_k": 2, "d_v": 2, "d_ff": 5})


def test_a_weight_of_unknown_use_is_refused():
    X, c = array("X", n, d), array("c", n, d)
    let = Equations()
    Y = let("Y")(row_softmax(c))
    with pytest.raises(InputError, match="odd: nothing says how to make the weight c; pass your own weights"):
        initialise(Layer("odd", (X,), (c,), let, Y), {"d": 3, "n": 2})


def test_a_part_applied_twice_has_one_set_of_weights():
    X, shared = array("X", n, d), part("shared", linear())
    let = Equations()
    Y = let("Y")(shared(shared(X)))
    weights = initialise(Layer("twice", (X,), (), let, Y), {"d": 3, "d_out": 3})
    assert list(weights) == ["shared"] and weights["shared"].keys() == {"W", "b"}


def test_what_is_added_to_a_vector_is_a_shift_and_to_a_matrix_a_table():
    step = initialise(recurrent_step(), {"d_in": 2, "d": 300}, dtype=np.float64)
    assert not step["b"].any() and abs(step["U"]).max() < 0.1
    table = initialise(learned_positions(), {"n": 400, "d_model": 100}, dtype=np.float64)["P"]
    assert abs(table.var() * 100 - 1) < 0.03


def test_what_a_part_is_given_plays_the_role_that_it_has_there():
    weights = initialise(grouped_query_attention(), {"g": 2, "r": 3, "d_model": 64, "d_k": 86, "d_v": 5})
    assert weights["W_Q"].shape == (2, 3, 64, 86) and 0.199 < abs(weights["W_Q"]).max() < 0.2


def test_a_given_variance_is_one_and_a_given_mean_zero():
    weights = initialise(batch_norm_inference(), {"d": 5})
    assert (weights["v"] == 1).all() and not weights["m"].any()


def test_the_gradient_of_a_layer_has_the_weights_of_the_layer():
    for layer in (transformer(), feed_forward(), recurrent_step(), learned_positions(), batch_norm_inference()):
        sizes = dict.fromkeys(sizes_of(layer), 2)
        asked = {size.name: 2 for size in gradient(layer).sizes}
        made, again = (
            dict(leaves(initialise(each, given))) for each, given in ((layer, sizes), (gradient(layer), asked))
        )
        assert made.keys() == again.keys()
        assert all((made[path] == again[path]).all() for path in made)
