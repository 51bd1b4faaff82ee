"""Unusual and wrong arguments, by both routes: a correct result or a clear error; nothing that is given is changed."""

import re
import warnings

import numpy as np
import pytest
from sympy import Integer

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layer as catalogued
from derivations.language import gradient
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equations, Layer
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.positions.positional_encoding import positional_encoding
from derivations.softmax.cross_entropy import cross_entropy
from derivations.softmax.softmax import softmax
from derivations.symbols import d, m, n
from derivations.transformer.embedding import embedding
from derivations.transformer.encoder import encoder
from numeric import InputError, compile_layer
from numeric.runtime.checks import InputContract
from numeric.verification.agreement.cases import SIZES as CASE_SIZES
from numeric.verification.agreement.cases import case, subjects
from numeric.verification.conformance.drawing import leaves, mapped
from tests.numeric.routes import ROUTES, function_of
from tests.numeric.runtime.bad_input import ACCEPTED, REFUSED, SIZES, arguments
from tests.tiers import few

ATTENTION = multi_head_attention(masked=True)
routes = pytest.mark.parametrize("route", ROUTES)


def called(route, layer, given):
    """Return the output of a layer by a route; whatever is wrong may show when weights are taken, or in the call."""
    function, inputs = function_of(route, layer, given)
    return function(*inputs)


def plain(given):
    return mapped(given, lambda _, each: np.array(each, order="C"))


# The table


@routes
@pytest.mark.parametrize("name", ACCEPTED)
def test_an_unusual_array_gives_the_result_of_a_plain_one(route, name):
    """To rounding: BLAS adds in another order where an array is transposed."""
    given = ACCEPTED[name](arguments())
    before = plain(given)
    np.testing.assert_allclose(called(route, ATTENTION, given), called(route, ATTENTION, before), rtol=0, atol=2e-5)
    for path, each in leaves(given).items():
        np.testing.assert_array_equal(each, leaves(before)[path], err_msg=f"{path} was changed")


@routes
@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_with_a_sentence(route, name):
    change, sentence = REFUSED[name]
    with pytest.raises(InputError, match=sentence) as caught:
        called(route, ATTENTION, change(arguments()))
    assert "\n" not in str(caught.value)


def test_the_page_lists_every_case(repository):
    page = (repository / "docs" / "accuracy.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| (result|error)", page, flags=re.M))
    assert rows == {**dict.fromkeys(ACCEPTED, "result"), **dict.fromkeys(REFUSED, "error")}


# Nothing there


@routes
@pytest.mark.parametrize(
    ("given", "shape"),
    [
        (arguments(n=0), (2, 0, 11)),
        (arguments(batch=(0,)), (0, 5, 11)),
        (arguments(batch=(3, 0)), (3, 0, 5, 11)),
        (arguments(n=0, m=0), (2, 0, 11)),
        (arguments(batch=()), (5, 11)),
    ],
)
def test_no_rows_and_no_items_give_results_of_that_shape(route, given, shape):
    found = called(route, ATTENTION, given)
    assert found.shape == shape
    assert found.dtype == np.float32


@routes
def test_without_keys_all_rows_are_zero(route):
    """As with a mask that hides every key."""
    found = called(route, ATTENTION, arguments(m=0))
    assert found.shape == (2, 5, SIZES["d_model"])
    assert not found.any()
    hidden = arguments()
    hidden["M"] = np.zeros_like(hidden["M"])
    assert not called(route, ATTENTION, hidden).any()


@pytest.mark.parametrize("route", ROUTES)
def test_without_keys_biases_of_values_have_no_part(route):
    """Of no key, the output is b_O: b_V W_O + b_O is what a bias moved behind the average would give."""
    with_biases = {"b_Q": np.ones((3, 13)), "b_K": np.ones((3, 13)), "b_V": np.ones((3, 2)), "b_O": np.arange(11)}
    given = {name: x for name, x in arguments(m=0).items() if name != "M"}
    given |= {name: bias.astype(np.float32) for name, bias in with_biases.items()}
    assert (called(route, multi_head_attention(biases=True), given) == given["b_O"]).all()


def ones_at(layer, batch=(2,), **sizes):
    """The arguments of a layer at sizes of which some may be 0, all numbers 1."""
    values = {size: Integer(sizes.get(size.name, CASE_SIZES[0][size.name])) for size in layer.sizes}
    kinds = {"real": np.float32, "boolean": bool, "integer": int}

    def ones(variable, front=()):
        return np.ones((*front, *(int(total(a).xreplace(values)) for a in variable.shape)), kinds[variable.kind])

    return {v.name: ones(v, batch) for v in layer.inputs} | {p.name: ones(p) for p in layer.parameters}


@routes
@pytest.mark.parametrize(
    ("layer", "sizes", "sentence"),
    [
        (scaled_dot_product_attention(), {"d_k": 0}, "S divides by a power of d_k, which is 0: give a larger size"),
        (cross_entropy(), {"n": 0}, "loss is a mean over n, which is 0: give a larger size"),
        (cross_entropy(), {"vocab": 0}, "z is a log-sum-exp over vocab, which is 0: give a larger size"),
        (layer_norm(), {"d": 0}, r"gamma has shape \(0,\): a weight without entries"),
        (catalogued("convolution").at(w=3), {"n": 1}, "Y has an axis of n - 2 places, which is negative; n = 1"),
    ],
)
def test_a_size_of_zero_is_refused_where_something_is_divided_by_it(route, layer, sizes, sentence):
    with pytest.raises(InputError, match=sentence):
        called(route, layer, ones_at(layer, **sizes))


def test_a_mean_without_weights_is_refused_over_no_columns():
    """The equations tell it: no list of layers."""
    X, let = array("X", n, d), Equations()
    softened = let("Y")(row_softmax(X / d))
    with pytest.raises(InputError, match="Y divides by a power of d, which is 0"):
        compile_layer(Layer("softened", (X,), (), let, softened))(np.zeros((3, 0)))


def test_a_stack_without_layers_is_refused():
    with pytest.raises(InputError, match="layers is empty: give the weights of one layer at least"):
        compile_layer(encoder())(np.zeros((2, 3)), [])


# Values


def test_minus_infinity_hides_a_key_where_it_only_reaches_a_softmax():
    X, B, let = array("X", n, m), array("B", n, m), Equations()
    S = let("S")(X + B)
    biased = compile_layer(Layer("biased", (X, B), (), let, let("A")(row_softmax(S))))
    scores, bias = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    bias[0, 1] = -np.inf
    assert biased(scores, bias)[0].tolist() == [0.5, 0, 0.5]
    assert biased(scores, np.full_like(bias, -np.inf)).tolist() == np.zeros((2, 3)).tolist()
    bias[0, 1] = np.inf
    with pytest.raises(InputError, match=r"B is inf at \(0, 1\)"):
        biased(scores, bias)


def test_minus_infinity_is_refused_where_the_scores_are_also_returned_or_multiplied():
    X, let = array("X", n, d), Equations()
    A = let("A")(row_softmax(X))
    returned = Layer("returned", (X,), (), let, (A, let("Y")(A + X)))
    minus = np.full((2, 3), -np.inf)
    with pytest.raises(InputError, match="X is -inf"):
        compile_layer(returned)(minus)
    with pytest.raises(InputError, match="X is -inf"):
        compile_layer(linear())(minus, np.ones((3, 2)), np.ones(2))


def test_large_finite_numbers_are_no_infinities():
    """Their sum overflows, which must not be taken for an infinite entry."""
    x = np.full((2, 3), np.finfo(np.float32).max)
    np.testing.assert_allclose(compile_layer(softmax())(x), np.full((2, 3), 1 / 3), rtol=1e-6)


def test_values_are_checked_at_every_call_though_shapes_are_checked_once():
    compiled, x = compile_layer(softmax()), np.zeros((2, 3))
    assert compiled(x).shape == (2, 3)
    x[1, 2] = np.nan
    with pytest.raises(InputError, match=r"x is NaN at \(1, 2\)"):
        compiled(x)
    tokens, E = np.array([1, 2]), np.zeros((5, 3))
    assert compile_layer(embedding())(tokens, E).shape == (2, 3)
    with pytest.raises(InputError, match="tokens holds the token 5"):
        compile_layer(embedding())(np.array([1, 5]), E)


def test_another_outline_is_checked_in_full():
    """Remembered shapes let nothing else pass: other lengths, types, names and nestings are seen."""
    compiled = compile_layer(linear())
    X, W, b = np.zeros((2, 3)), np.zeros((3, 5)), np.zeros(5)
    assert compiled(X, W, b).shape == (2, 5)
    for given in ((X, W, b[:4]), (X, W[:2], b), (X, W, b.astype(np.float32)), (X, W, b.tolist()), (X.T, W, b)):
        with pytest.raises(InputError):
            compiled(*given)
    with pytest.raises(InputError, match="the size n must be an integer >= 1, not True"):
        assert compile_layer(positional_encoding())(1, 2).shape == (1, 2)
        compile_layer(positional_encoding())(True, 2)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, ">i4"])
def test_tokens_may_be_of_any_integer_type(kind):
    E = np.arange(6.0).reshape(3, 2)
    tokens = np.array([2, 0], np.dtype(kind))
    assert compile_layer(embedding())(tokens, E).tolist() == (2**0.5 * E[[2, 0]]).tolist()


@routes
def test_more_than_any_memory_is_refused_at_once(route):
    """A view with stride 0 claims 2^50 rows; the check looks at one of them, NumPy refuses the result."""
    W, b = np.ones((3, 5), np.float32), np.ones(5, np.float32)
    given = {"X": np.broadcast_to(np.float32(1), (2**50, 3)), "W": W, "b": b}
    with pytest.raises(MemoryError, match="Unable to allocate"):
        called(route, linear(), given)


def test_finite_numbers_that_overflow_are_told_by_a_warning():
    """Not refused: what overflows is known only afterwards."""
    large = np.full((2, 3), 3e38, np.float32)
    with pytest.warns(RuntimeWarning, match="overflow"):
        compile_layer(linear())(large, np.ones((3, 2), np.float32), np.ones(2, np.float32))


# Weights that are fixed


@pytest.mark.parametrize(
    ("weights", "options", "sentence"),
    [
        ({"W": np.ones((3, 5))}, {}, "linear: weights lacks b; its weights are W, b"),
        ({"W": np.ones((3, 5)), "b": np.ones(5), "c": 1}, {}, "linear: weights has c, which is unknown"),
        ({"W": np.ones((3, 5)), "b": np.ones(4)}, {}, r"linear: weights.b has shape \(4,\), \(d_out,\) is needed"),
        ({"W": np.ones((3, 5)), "b": np.ones(5, np.float32)}, {}, "weights.b is float32 and weights.W is float64"),
        ({"W": np.ones((3, 5)), "b": np.ones(5)}, {"sizes": {"h": 2}}, "linear: there is no size h; its sizes are"),
        ({"W": np.ones((3, 5)), "b": np.ones(5)}, {"sizes": {"n": 0}}, "linear: the size n must be an integer >= 1"),
    ],
)
def test_fixed_weights_are_checked_once_and_first(weights, options, sentence):
    with pytest.raises(InputError, match=sentence):
        InputContract(linear(), weights, **options)


def test_inputs_are_checked_against_fixed_weights():
    contract = InputContract(layer_norm(), {"gamma": np.ones(3), "beta": np.ones(3)}, defaults={"epsilon": 1e-5})
    assert {size.name: length for size, length in contract.sizes.items()} == {"d": 3}
    X = np.zeros((2, 3))
    assert contract.check((X,), {}) == ([X], {})
    assert contract.check((), {"X": X, "epsilon": np.float64(2)}) == ([X], {"epsilon": 2.0})
    for inputs, named, sentence in (
        ((X[:, :2],), {}, r"X has shape \(2, 2\), \(n, d\) is needed with d = 3"),
        ((X.astype(np.float32),), {}, "X is float32 and weights.gamma is float64"),
        ((X,), {"epsilon": -1}, "the scalar epsilon must be a positive number, not -1"),
        ((), {}, "missing a required argument: 'X'; the arguments are X, "),
    ):
        with pytest.raises(InputError, match=sentence):
            contract.check(inputs, named)


# Nothing is changed, nothing is shared


def outputs(found):
    return list(leaves({"found": found}).values())


@routes
@pytest.mark.parametrize("name", few(subjects(), fast=12))
def test_no_layer_changes_or_returns_what_it_is_given(route, name):
    """All arguments are read-only; the output must not be a view of one, nor read-only itself."""
    example = case(name, CASE_SIZES[0], np.float32)
    given = mapped(example.arguments, lambda _, each: each.copy())
    for each in leaves(given).values():
        each.flags.writeable = False
    found = outputs(called(route, example.layer, given))
    assert found
    for output in found:
        assert output.flags.writeable
        for path, each in leaves(given).items():
            assert not np.shares_memory(output, each), path


@pytest.mark.parametrize("name", ["multi_head_attention", "layer_norm", "embedding", "encoder_layer", "class_token"])
def test_no_gradient_changes_what_it_is_given(name):
    layer = gradient(subjects()[name][0])
    example = case(name, CASE_SIZES[0], np.float32)
    cotangent = np.ones_like(compile_layer(example.layer)(**example.arguments))
    given = mapped({**example.arguments, layer.inputs[-1].name: cotangent}, lambda _, each: each.copy())
    for each in leaves(given).values():
        each.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert outputs(compile_layer(layer)(**given))
