"""What the gradient of a layer refuses, and the tokens that any layer refuses."""

import numpy as np
import pytest

from derivations.attention.attention import scaled_dot_product_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import array, token_array
from derivations.language.arrays.selection import OneHot, ScatterRows
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equations, Layer, part
from derivations.linear.linear import linear
from derivations.softmax.cross_entropy import cross_entropy
from derivations.symbols import d_model, n, vocab
from derivations.transformer.embedding import embedding
from derivations.transformer.transformer import transformer_loss
from numeric import InputError, compile_layer, initialise

RNG = np.random.default_rng(2)
X, dY = RNG.normal(size=(2, 3, 5, 7)), RNG.normal(size=(2, 3, 5, 11))
W, b = RNG.normal(size=(7, 11)), RNG.normal(size=11)
LINEAR = compile_layer(gradient(linear()))


def refusal(compiled, *arguments, **named):
    """Return the sentence with which a call is refused."""
    with pytest.raises(InputError) as caught:
        compiled(*arguments, **named)
    message = str(caught.value)
    assert "\n" not in message
    return message


# Gradients by outputs


@pytest.mark.parametrize("given", [dY[0, 0], dY[0], dY[:, :1], np.stack([dY, dY])])
def test_the_gradient_by_an_output_has_the_batch_axes_of_the_output(given):
    assert refusal(LINEAR, X, given, W, b) == (
        f"linear_gradient: dY has shape {given.shape}, its batch axes must be (2, 3), those of the output: "
        "give one gradient for each item (np.broadcast_to)"
    )


def test_what_would_come_of_a_gradient_without_the_batch_is_wrong():
    """The reason for the refusal: unchecked, the bias would get the gradient of one item in place of six."""
    once, right = dY[0, 0], LINEAR(X, np.broadcast_to(dY[0, 0], dY.shape), W, b)
    _, _, db = LINEAR(X, once, W, b, check=False)
    np.testing.assert_allclose(right[2], 6 * once.sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(db, once.sum(axis=0), rtol=1e-13)


def test_batch_axes_that_only_some_inputs_have_are_those_of_the_output():
    Q, K, V = RNG.normal(size=(2, 1, 5, 7)), RNG.normal(size=(3, 2, 7)), RNG.normal(size=(2, 3))
    attention = compile_layer(gradient(scaled_dot_product_attention()))
    dQ, dK, dV = attention(Q, K, V, np.ones((2, 3, 5, 3)))
    assert (dQ.shape, dK.shape, dV.shape) == (Q.shape, K.shape, V.shape)
    for shape in ((2, 1, 5, 3), (3, 5, 3), (5, 3)):
        assert "its batch axes must be (2, 3)" in refusal(attention, Q, K, V, np.ones(shape))


def test_a_mask_or_tokens_alone_may_have_batch_axes():
    Q, K, V, M = np.ones((5, 7)), np.ones((2, 7)), np.ones((2, 3)), np.ones((4, 5, 2), bool)
    attention = compile_layer(gradient(scaled_dot_product_attention(masked=True)))
    assert attention(Q, K, V, M, np.ones((4, 5, 3)))[0].shape == Q.shape
    assert "its batch axes must be (4,)" in refusal(attention, Q, K, V, M, np.ones((5, 3)))
    assert "its batch axes must be (4,)" in refusal(
        compile_layer(gradient(embedding())), np.zeros((4, 5), int), np.ones((5, 3)), np.ones((2, 3))
    )


def test_a_second_gradient_takes_what_the_first_one_returns():
    """The gradients by weights have no batch axes, those by inputs have those of the input."""
    twice = compile_layer(gradient(gradient(feed_forward())))
    weights = {"W_1": W, "b_1": b, "W_2": W.T, "b_2": b[:7]}
    X, dY = RNG.normal(size=(2, 2, 5, 7))
    firsts = [RNG.normal(size=shape) for shape in (X.shape, W.shape, b.shape, W.T.shape, (7,))]
    found = twice(X, dY, *firsts, **weights)
    assert [dx.shape for dx in found] == [X.shape, dY.shape, W.shape, b.shape, W.T.shape, (7,)]
    for place, wrong, wanted in ((0, firsts[0][0], "(2,)"), (1, np.stack([W, W]), "()"), (2, np.stack([b, b]), "()")):
        given = [*firsts[:place], wrong, *firsts[place + 1 :]]
        assert f"its batch axes must be {wanted}" in refusal(twice, X, dY, *given, **weights)
    assert "dY has shape (5, 7), its batch axes must be (2,)" in refusal(twice, X, dY[0], *firsts, **weights)


def test_a_second_gradient_of_inputs_that_are_broadcast_has_their_shapes():
    twice = compile_layer(gradient(gradient(scaled_dot_product_attention())))
    Q, K, V = RNG.normal(size=(2, 5, 7)), RNG.normal(size=(3, 7)), RNG.normal(size=(3, 2))
    dO = RNG.normal(size=(2, 5, 2))
    assert [dx.shape for dx in twice(Q, K, V, dO, Q, K, V)] == [Q.shape, K.shape, V.shape, dO.shape]
    assert "d2dK has shape (2, 3, 7), its batch axes must be ()" in refusal(twice, Q, K, V, dO, Q, np.stack([K, K]), V)


# Numbers


@pytest.mark.parametrize("number", [np.float64(2), np.array(2.0)])
def test_a_number_of_numpy_is_an_array_without_axes(number):
    compiled = compile_layer(gradient(cross_entropy()))
    logits, tokens = np.zeros((2, 2)), np.array([0, 1])
    assert compiled(logits, tokens, number).tolist() == [[-0.5, 0.5], [0.5, -0.5]]


def test_the_loss_goes_straight_into_its_gradient():
    layer = cross_entropy()
    logits, tokens = np.zeros((2, 2), np.float32), np.array([0, 1])
    loss = compile_layer(layer)(logits, tokens)
    dX = compile_layer(gradient(layer))(logits, tokens, loss / loss)
    assert dX.dtype == np.float32 and dX.shape == (2, 2)


def test_a_number_of_python_or_of_another_type_is_refused():
    compiled = compile_layer(gradient(cross_entropy()))
    logits, tokens = np.zeros((2, 2)), np.array([0, 1])
    assert "dloss must be a NumPy array of float32 or float64, not float" in refusal(compiled, logits, tokens, 1.0)
    assert "of type int64" in refusal(compiled, logits, tokens, np.int64(1))
    assert "dloss is float32 and X is float64" in refusal(compiled, logits, tokens, np.float32(1))
    assert "dloss is NaN" in refusal(compiled, logits, tokens, np.float64("nan"))


# Tokens


@pytest.mark.parametrize("token", [-1, 11])
def test_tokens_that_pick_entries_are_below_their_number(token):
    tokens = np.array([3, token, 0])
    for compiled, last in (
        (compile_layer(cross_entropy()), []),
        (compile_layer(gradient(cross_entropy())), [np.float64(1)]),
    ):
        message = refusal(compiled, np.zeros((3, 11)), tokens, *last)
        assert f"tokens holds the token {token}; vocab = 11 tokens count from 0" in message


@pytest.mark.parametrize("token", [-2, 5])
def test_tokens_that_add_rows_or_put_ones_are_below_their_number(token):
    rows, tokens = array("rows", n, d_model), token_array("tokens", n)
    table = array("table", vocab, d_model)
    for value in (ScatterRows(rows, tokens, vocab), OneHot(tokens, vocab)):
        let = Equations()
        layer = Layer("example", (rows, tokens, table), (), let, let("Y")(value))
        compiled = compile_layer(layer)
        assert compiled(np.zeros((2, 3)), np.array([4, 0]), np.zeros((5, 3))).shape[-2:] in {(5, 3), (2, 5)}
        message = refusal(compiled, np.zeros((2, 3)), np.array([1, token]), np.zeros((5, 3)))
        assert message == f"example: tokens holds the token {token}; vocab = 5 tokens count from 0"


def test_tokens_of_a_layer_inside_are_checked_under_the_name_that_the_caller_knows():
    logits, labels = array("logits", n, vocab), token_array("labels", n)
    let = Equations()
    layer = Layer("outer", (logits, labels), (), let, let("Y")(part("loss", cross_entropy())(logits, labels)))
    message = refusal(compile_layer(layer), np.zeros((2, 3)), np.array([3, 0]))
    assert message == "outer: labels holds the token 3; vocab = 3 tokens count from 0"


@pytest.mark.parametrize("name", ["source", "target", "labels"])
def test_every_kind_of_token_of_the_loss_and_of_its_gradient_is_checked(name):
    layer = transformer_loss()
    sizes = {"d_model": 6, "h": 2, "d_k": 3, "d_v": 5, "d_ff": 7, "N": 2, "vocab": 11}
    weights = initialise(layer, {s.name: sizes.get(s.name, 1) for s in layer.sizes}, dtype=float)
    given = {"source": np.zeros(3, int), "target": np.zeros(2, int), "labels": np.zeros(2, int)}
    given[name][1] = 11
    for compiled, last in ((compile_layer(layer), {}), (compile_layer(gradient(layer)), {"dloss": np.float64(1)})):
        message = refusal(compiled, **given, **last, **weights)
        assert f"{name} holds the token 11; vocab = 11 tokens count from 0" in message
