"""What a compiled layer refuses: one sentence with the layer, the argument, what it is and what it should be."""

import numpy as np
import pytest

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.linear.dropout import dropout
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.positions.positional_encoding import positional_encoding
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer
from numeric import InputError, compile_layer, initialise

ATTENTION = compile_layer(scaled_dot_product_attention(masked=True))
Q, K, V, M = np.zeros((5, 7)), np.zeros((3, 7)), np.zeros((3, 2)), np.ones((5, 3), bool)
SIZES = {"d_model": 6, "h": 2, "d_k": 3, "d_v": 5, "d_ff": 7, "N": 2, "vocab": 11}
X = np.zeros((5, 6))


def weights_for(layer):
    names = {size.name for size in layer.sizes}
    return initialise(layer, {name: value for name, value in SIZES.items() if name in names}, dtype=float)


def refusal(compiled, *arguments, **named):
    """Return the sentence with which a call is refused."""
    with pytest.raises(InputError) as caught:
        compiled(*arguments, **named)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            (Q, np.zeros((3, 11)), V, M),
            "masked_scaled_dot_product_attention: K has shape (3, 11), (m, d_k) is needed with n = 5, d_k = 7, m = 3",
        ),
        (
            (Q, K, np.zeros((2, 2)), M),
            "masked_scaled_dot_product_attention: V has shape (2, 2), (m, d_v) is needed with n = 5, d_k = 7, m = 3",
        ),
        (
            (Q, K, V, M.T),
            "masked_scaled_dot_product_attention: M has shape (3, 5), (n, m) is needed with "
            "n = 5, d_k = 7, m = 3, d_v = 2",
        ),
        (
            (Q[0], K, V, M),
            "masked_scaled_dot_product_attention: Q has shape (7,), batch axes in front of (n, d_k) is needed",
        ),
        (
            (Q, K, V, M.astype(float)),
            "masked_scaled_dot_product_attention: M must be a NumPy array of bool (True where visible), "
            "not ndarray of type float64",
        ),
        (
            (Q.astype(int), K, V, M),
            "masked_scaled_dot_product_attention: Q must be a NumPy array of float32 or float64, "
            "not ndarray of type int64",
        ),
        (
            (Q.astype(object), K, V, M),
            "masked_scaled_dot_product_attention: Q must be a NumPy array of float32 or float64, "
            "not ndarray of type object",
        ),
        (
            (Q.tolist(), K, V, M),
            "masked_scaled_dot_product_attention: Q must be a NumPy array of float32 or float64, not list",
        ),
        (
            (Q, K.astype(np.float32), V, M),
            "masked_scaled_dot_product_attention: K is float32 and Q is float64: convert one of them (.astype)",
        ),
        (
            (Q, K, V),
            "masked_scaled_dot_product_attention: missing a required argument: 'M'; the arguments are Q, K, V, M",
        ),
        (
            (np.zeros((2, 5, 7)), np.zeros((3, 3, 7)), V, M),
            "masked_scaled_dot_product_attention: the batch axes Q = (2,), K = (3,), V = (), M = () do not broadcast: "
            "give equal ones",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(arguments, sentence):
    assert refusal(ATTENTION, *arguments) == sentence


def test_what_fits_is_not_refused():
    assert ATTENTION(Q, K, V, M).shape == (5, 2)
    assert ATTENTION(np.zeros((2, 1, 5, 7)), np.zeros((3, 3, 7)), V, M).shape == (2, 3, 5, 2)


@pytest.mark.parametrize("name", ["Q", "K", "V"])
def test_not_a_number_is_refused(name):
    given = {"Q": Q.copy(), "K": K.copy(), "V": V.copy(), "M": M}
    given[name][2, 1] = np.nan
    sentence = f"{name} is NaN at (2, 1): replace such entries first"
    assert refusal(ATTENTION, **given) == f"masked_scaled_dot_product_attention: {sentence}"


def test_without_the_check_nothing_is_refused():
    given = Q.copy()
    given[2] = np.nan
    output = ATTENTION(given, K, V, M, check=False)
    assert np.isnan(output[2]).all() and not np.isnan(output[[0, 1, 3, 4]]).any()


def test_an_unknown_argument_is_refused():
    layer = compile_layer(layer_norm())
    message = refusal(layer, X, gamma=np.ones(6), beta=np.ones(6), eps=1e-6)
    assert message == (
        "layer_norm: got an unexpected keyword argument 'eps'; the arguments are X, gamma, beta, epsilon=1e-05"
    )


@pytest.mark.parametrize("value", [0, -1e-5, np.nan, np.inf, "small", None])
def test_a_scalar_that_is_not_positive_is_refused(value):
    layer = compile_layer(layer_norm())
    message = refusal(layer, X, np.ones(6), np.ones(6), epsilon=value)
    assert message == f"layer_norm: the scalar epsilon must be a positive number, not {value!r}"


def test_a_scalar_of_numpy_does_not_promote():
    """np.float64(1e-5) would turn float32 into float64, where the Python number does not."""
    single = X.astype(np.float32), np.ones(6, np.float32), np.ones(6, np.float32)
    assert compile_layer(layer_norm())(*single, epsilon=np.float64(1e-5)).dtype == np.float32
    dropped = compile_layer(dropout())(single[0], X == 0, rate=np.float64(0.5))
    assert dropped.dtype == np.float32


@pytest.mark.parametrize("token", [-1, 11, 12])
def test_a_token_outside_the_vocabulary_is_refused(token):
    tokens = np.array([3, token, 10])
    compiled = compile_layer(embedding())
    message = refusal(compiled, tokens, np.zeros((11, 6)))
    assert message == f"embedding: tokens holds the token {token}; vocab = 11 tokens count from 0"
    model = compile_layer(transformer())
    weights = weights_for(transformer())
    assert refusal(model, np.array([1, 2]), tokens, **weights) == (
        f"transformer: target holds the token {token}; vocab = 11 tokens count from 0"
    )
    assert refusal(model, tokens, np.array([1, 2]), **weights) == (
        f"transformer: source holds the token {token}; vocab = 11 tokens count from 0"
    )


def test_tokens_that_are_no_integers_are_refused():
    message = refusal(compile_layer(embedding()), np.array([1.0, 2.0]), np.zeros((11, 6)))
    assert message == "embedding: tokens must be a NumPy array of an integer type, not ndarray of type float64"
    message = refusal(compile_layer(embedding()), np.array([True, False]), np.zeros((11, 6)))
    assert message == "embedding: tokens must be a NumPy array of an integer type, not ndarray of type bool"


def test_weights_take_no_batch_axes():
    message = refusal(compile_layer(linear()), np.zeros((5, 7)), np.zeros((2, 7, 3)), np.zeros(3))
    assert message == "linear: W has shape (2, 7, 3), (d_in, d_out) is needed"


def test_a_weight_with_a_composite_axis_is_checked():
    """W_O has h d_v rows, which no input tells: h and d_v are those of the other weights."""
    weights = weights_for(multi_head_attention())
    weights["W_O"] = np.zeros((11, 6))
    message = refusal(compile_layer(multi_head_attention()), X, X, X, **weights)
    assert message == "multi_head_attention: W_O has shape (11, 6), (d_v*h, d_model) is needed with d_v = 5, h = 2"


ENCODER_LAYER = compile_layer(encoder_layer())
ENCODER = compile_layer(encoder())


def changed(weights, path, change):
    """Apply a change to the dict at the path inside weights, and return the whole."""
    place = weights
    for step in path:
        place = place[step]
    change(place)
    return weights


@pytest.mark.parametrize(
    ("path", "change", "sentence"),
    [
        ((0, "attention"), lambda d: d.pop("W_K"), "layers[0].attention lacks W_K; its weights are W_Q, W_K, W_V, W_O"),
        (
            (1, "attention"),
            lambda d: d.update(b_Q=X),
            "layers[1].attention has b_Q, which is unknown; its weights are W_Q, W_K, W_V, W_O",
        ),
        (
            (1,),
            lambda d: d.pop("feed_forward"),
            "layers[1] lacks feed_forward; its weights are attention, attention_norm, feed_forward, feed_forward_norm",
        ),
        (
            (1, "attention_norm"),
            lambda d: d.update(gamma=np.ones(7)),
            "layers[1].attention_norm.gamma has shape (7,), (d_model,) is needed with N = 2, n = 5, d_model = 6, "
            "h = 2, d_k = 3, d_v = 5, d_ff = 7",
        ),
        (
            (0, "feed_forward"),
            lambda d: d.update(b_1=np.ones(7, np.float32)),
            "layers[0].feed_forward.b_1 is float32 and X is float64: convert one of them (.astype)",
        ),
        (
            (0,),
            lambda d: d.update(attention=[]),
            "layers[0].attention must be a dict of the weights W_Q, W_K, W_V, W_O, not list",
        ),
    ],
)
def test_nested_weights_that_do_not_fit_are_refused(path, change, sentence):
    weights = changed(weights_for(encoder())["layers"], path, change)
    assert refusal(ENCODER, X, weights) == f"encoder: {sentence}"


def test_layers_that_are_no_list_are_refused():
    message = refusal(ENCODER, X, weights_for(encoder())["layers"][0])
    assert message == "encoder: layers must be a list of weights, one for each of the N layers, not dict"


def test_the_number_of_layers_is_checked():
    weights = weights_for(transformer())
    weights["decoder"]["layers"].pop()
    message = refusal(compile_layer(transformer()), np.array([1]), np.array([2]), **weights)
    assert message == "transformer: decoder.layers is a list of 1, N is needed with N = 2"
    assert refusal(compile_layer(encoder().at(N=3)), X, weights_for(encoder())["layers"]) == (
        "encoder: layers is a list of 2, 3 is needed"
    )


@pytest.mark.parametrize("value", [0, -2, 2.0, True, "4", None])
def test_a_size_that_is_no_integer_above_zero_is_refused(value):
    message = refusal(compile_layer(positional_encoding()), value, 6)
    assert message == f"positional_encoding: the size n must be an integer >= 1, not {value!r}"


def test_an_odd_width_of_positions_is_refused():
    message = refusal(compile_layer(positional_encoding()), 5, 7)
    assert message == "positional_encoding: angle has an axis of d_model/2 places, which must be whole; d_model = 7"
    layer = transformer()
    odd = initialise(layer, SIZES | {"d_model": 7})
    message = refusal(compile_layer(layer), np.array([1]), np.array([2]), **odd)
    assert message == "transformer: angle has an axis of d_model/2 places, which must be whole; d_model = 7"


def test_sizes_of_numpy_are_integers():
    assert compile_layer(positional_encoding())(np.int64(3), np.int32(2)).shape == (3, 2)
