"""`assert_implements` over NumPy: what passes, what is refused and in which words, and how small the case shown is."""

import math
import re

import numpy as np
import pytest

from derivations.catalogue import LAYERS, layer
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.functions import gelu
from derivations.testing import assert_implements
from numeric import compile_layer
from numeric.runtime.checks import InputError
from numeric.verification.conformance.drawing import leaves
from numeric.verification.conformance.trial import conformance
from tests.tiers import few


def softmax(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def attention(Q, K, V):
    return softmax(Q @ K.mT / math.sqrt(Q.shape[-1])) @ V


def masked_attention(Q, K, V, M):
    scores = np.where(M, Q @ K.mT / math.sqrt(Q.shape[-1]), -1e9)
    return softmax(scores) * M.any(axis=-1, keepdims=True) @ V


def refused(function, name, **options):
    with pytest.raises(AssertionError) as caught:
        assert_implements(function, name, **options)
    message = str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert "Traceback" not in message and "conformance" not in message
    return message


# --- what passes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", few(LAYERS, fast=6))
def test_every_layer_implements_itself(name):
    found = assert_implements(compile_layer(layer(name)), name)
    real = any(variable.kind == "real" for variable in layer(name).inputs)
    assert found.cases >= (10 if real else 6 if layer(name).inputs else 1)
    assert str(found).startswith(f"{name}: values agree in ")


def scaled_queries(Q, K, V):
    return softmax((Q / math.sqrt(Q.shape[-1])) @ K.mT) @ V


def one_key_at_a_time(Q, K, V):
    """The online softmax: running maximum, running sum, running output."""
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    largest, total = np.full_like(Q[..., :1], -np.inf), np.zeros_like(Q[..., :1])
    output = np.zeros((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    for key in range(K.shape[-2]):
        score = scores[..., key : key + 1]
        new = np.maximum(largest, score)
        kept, added = np.exp(largest - new), np.exp(score - new)
        output = output * kept + added * V[..., key : key + 1, :]
        total, largest = total * kept + added, new
    return output / total


def through_einsum(Q, K, V):
    return np.einsum("...nm,...mv->...nv", softmax(np.einsum("...nk,...mk->...nm", Q, K) / math.sqrt(Q.shape[-1])), V)


@pytest.mark.parametrize("function", [attention, scaled_queries, one_key_at_a_time, through_einsum])
def test_other_ways_to_compute_the_same_pass(function):
    assert_implements(function, "scaled_dot_product_attention")


def test_a_masked_softmax_by_a_large_negative_number_passes_once_empty_rows_are_cleared():
    assert_implements(masked_attention, "masked_scaled_dot_product_attention")


def test_logarithms_pass_and_a_variance_that_cancels_does_not():
    def by_logarithm(x):
        largest = x.max(axis=-1, keepdims=True)
        return np.exp(x - largest - np.log(np.exp(x - largest).sum(axis=-1, keepdims=True)))

    def one_pass(X, gamma, beta):
        mean = X.mean(axis=-1, keepdims=True)
        variance = (X * X).mean(axis=-1, keepdims=True) - mean * mean
        return (X - mean) / np.sqrt(variance + X.dtype.type(1e-5)) * gamma + beta

    assert_implements(by_logarithm, "softmax")
    refused(one_pass, "layer_norm")


def test_a_layer_that_is_not_in_the_catalogue():
    found = assert_implements(compile_layer(feed_forward(gelu)), feed_forward(gelu))
    assert found.name == "feed_forward"


def test_the_report_counts_the_cases():
    found = assert_implements(softmax, "softmax")
    assert str(found) == f"softmax: values agree in {found.cases} cases (numpy)"
    for dtypes in (["float32"], "float64"):
        assert assert_implements(softmax, "softmax", dtypes=dtypes, batch=False).cases < found.cases


# --- wrong formulas -------------------------------------------------------------------------------------------------


def unscaled(Q, K, V):
    return softmax(Q @ K.mT) @ V


def over_queries(Q, K, V):
    return softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), axis=-2) @ V


def scaled_by_the_value_size(Q, K, V):
    return softmax(Q @ K.mT / math.sqrt(V.shape[-1])) @ V


def scaled_without_root(Q, K, V):
    return softmax(Q @ K.mT / Q.shape[-1]) @ V


def unshifted(Q, K, V):
    weights = np.exp(Q @ K.mT / math.sqrt(Q.shape[-1]))
    return weights / weights.sum(axis=-1, keepdims=True) @ V


def float16_inside(Q, K, V):
    return attention(*(each.astype(np.float16) for each in (Q, K, V))).astype(Q.dtype)


@pytest.mark.parametrize(
    ("function", "words", "sizes"),
    [
        (unscaled, "off by 0.061", "d_k = 2, d_v = 1, m = 2, n = 1; float64"),
        (over_queries, "returned 0.5 at", "d_k = 1, d_v = 1, m = 1, n = 2; float64"),
        (scaled_by_the_value_size, "off by", "d_k = 1, d_v = 2, m = 2, n = 1; float64"),
        (scaled_without_root, "off by", "d_k = 2, d_v = 1, m = 2, n = 1; float64"),
        (unshifted, "returned nan at", "d_k = 1, d_v = 1, m = 1, n = 1; float64"),
        (float16_inside, "off by", "float64"),
    ],
)
def test_a_wrong_attention_is_refused_at_its_smallest_case(function, words, sizes):
    message = refused(function, "scaled_dot_product_attention")
    assert message.startswith("the function is not scaled_dot_product_attention: it returned ")
    assert words in message and sizes in message
    assert re.search(r"\n    Q = \[\[.*\]\]\n    K = .*\n    V = .*\nIt is called as function\(Q, K, V\)", message)
    assert message.rpartition("the layer is\n")[2].splitlines()[:3] == [
        "    S = Q K^T / sqrt(d_k)",
        "    A = softmax(S)",
        "    O = A V",
    ]


def masked_afterwards(Q, K, V, M):
    return (softmax(Q @ K.mT / math.sqrt(Q.shape[-1])) * M) @ V


def masked_the_other_way_round(Q, K, V, M):
    return masked_attention(Q, K, V, ~M)


def uniform_where_nothing_is_visible(Q, K, V, M):
    return softmax(np.where(M, Q @ K.mT / math.sqrt(Q.shape[-1]), -1e9)) @ V


def test_a_mask_after_the_softmax_is_refused():
    message = refused(masked_afterwards, "masked_scaled_dot_product_attention")
    assert "m = 2" in message and "M = [[" in message and "False" in message
    assert "no visible key" not in message
    refused(masked_the_other_way_round, "masked_scaled_dot_product_attention")


def test_rows_without_a_visible_key():
    message = refused(uniform_where_nothing_is_visible, "masked_scaled_dot_product_attention")
    assert "M = [[False]]" in message
    assert "no visible key; fully_masked_rows=False leaves such cases out" in message
    assert_implements(uniform_where_nothing_is_visible, "masked_scaled_dot_product_attention", fully_masked_rows=False)


def test_a_small_case_hides_no_key_that_the_failure_does_not_need():
    def unscaled_and_uniform(Q, K, V, M):
        return softmax(np.where(M, Q @ K.mT, -1e9)) @ V

    name = "masked_scaled_dot_product_attention"
    message = refused(unscaled_and_uniform, name, fully_masked_rows=False)
    assert "False" not in message and "M = [[ True,  True]]" in message


def test_a_softmax_over_the_wrong_axis_needs_a_batch():
    message = refused(lambda x: softmax(x, axis=0), "softmax")
    assert "batch axes (2,)" in message and "x = [[0.], [0.]]" in message
    assert_implements(lambda x: softmax(x, axis=0), "softmax", batch=False)


def test_a_function_that_batch_axes_alone_break_is_told_so():
    """A transpose of all axes is right for one matrix; arrays of another library are not what is wrong."""
    message = refused(lambda Q, K, V: softmax(Q @ K.T / Q.shape[-1] ** 0.5) @ V, "scaled_dot_product_attention")
    assert "is not scaled_dot_product_attention: it raised ValueError" in message
    assert "right here without batch axes: count axes from the end (.mT for .T, axis=-1), or say batch=False" in message
    assert 'arrays="torch"' not in message


def test_a_function_that_is_wrong_for_one_matrix_is_not_excused():
    assert "without batch axes" not in refused(lambda x: softmax(-x), "softmax")
    assert "without batch axes" not in refused(lambda x: x.to("cpu"), "softmax")


def test_a_softmax_that_overflows_names_the_maximum():
    def shallow(x):
        weights = np.exp(x)
        return weights / weights.sum(axis=-1, keepdims=True)

    assert "subtract the largest entry before exp" in refused(shallow, "softmax")


def disturbed(name):
    """The compiled layer with one entry of the output, and nothing else, off by a thousandth of the largest."""
    compiled = compile_layer(layer(name))

    def function(*arguments):
        output = compiled(*arguments).copy()
        output.reshape(-1)[-1] += np.abs(output).max() / 1000
        return output

    return function


@pytest.mark.parametrize("name", few(LAYERS, fast=10))
def test_one_wrong_entry_of_any_layer_is_noticed(name):
    assert f"the function is not {name}: it returned" in refused(disturbed(name), name)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("encoder_layer", "attention.W_Q"),
        ("encoder_layer", "feed_forward.b_1"),
        ("decoder_layer", "cross_attention.W_O"),
        ("encoder", "layers[1].feed_forward_norm.beta"),
        pytest.param("transformer", "decoder.layers[0].self_attention.W_K", marks=pytest.mark.slow),
    ],
)
def test_a_weight_that_is_not_used_is_noticed(name, path):
    compiled = compile_layer(layer(name))

    def function(*arguments):
        named = dict(zip(names, arguments, strict=True))
        leaves(named)[path][...] = 0
        return compiled(**named)

    code = compiled.function.__code__
    names = [each for each in code.co_varnames[: code.co_argcount] if each != "epsilon"]
    assert path in refused(function, name)


# --- wrong outputs --------------------------------------------------------------------------------------------------


def fails(x):
    raise KeyError("weights")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: None, "it returned None (a `return` may be missing)."),
        (lambda x: softmax(x).sum(axis=-1), "it returned the shape (), where (1,) is needed for y."),
        (lambda x: softmax(x)[..., None], "it returned the shape (1, 1), where (1,) is needed for y."),
        (
            lambda x: softmax(x).tolist(),
            "it returned a list, where a NumPy array is needed; choose the array by `call`",
        ),
        (lambda x: (softmax(x), x), "it returned a tuple, where a NumPy array is needed"),
        (lambda x: "0.5", "it returned a str"),
        (lambda x: softmax(x).astype(np.float32), "it returned float32 for arguments of float64."),
        (lambda x: softmax(x) * np.float64(1), "it returned float64 for arguments of float32; a NumPy scalar"),
        (lambda x: softmax(x) > 0, "it returned bool for arguments of float64"),
        (lambda x: softmax(x) + 0j, "it returned complex128 for arguments of float64"),
        (lambda x: softmax(x) * np.nan, "it returned nan at [0], where the layer gives 1."),
        (fails, r"it raised KeyError: 'weights' (line \d+ of test_assert_implements.py)."),
        (lambda: 1, "takes 0 positional arguments but 1 was given"),
        (lambda x: 1 / 0, r"it raised ZeroDivisionError: division by zero (line \d+ of test_assert_implements.py)."),
        (lambda x: softmax(x, axis=5), "it raised AxisError: axis 5 is out of bounds"),
    ],
)
def test_an_output_that_is_none_is_reported_in_words(function, words):
    message = refused(function, "softmax")
    pattern = re.escape(words).replace(r"\\d\+", r"\d+")
    assert re.search(pattern, message), message
    assert "    x = [0.]" in message


def test_a_function_that_raises_is_told_what_it_was_given():
    assert 'for a function of other arrays say arrays="torch" or arrays="jax"' in refused(fails, "softmax")


def test_what_is_no_failure_of_the_function_is_not_caught():
    def stopped(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assert_implements(stopped, "softmax")


def test_a_function_that_fails_for_large_sizes_only_is_shown_at_one_of_them():
    def needs_small(x):
        return softmax(x) * (1 if x.shape[-1] <= 3 else 2)

    assert "(n = 4; float64)" in refused(needs_small, "softmax") or "(n = 5; float64)" in refused(
        needs_small, "softmax"
    )


# --- calling --------------------------------------------------------------------------------------------------------


class Linear:
    """A layer as an object, with its weights inside, the matrix transposed."""

    def __init__(self, d_in, d_out):
        self.weight, self.bias = np.zeros((d_out, d_in)), np.zeros(d_out)

    def forward(self, X):
        return X @ self.weight.T + self.bias


def through_an_object(module, X, W, b):
    module.weight, module.bias = W.T, b
    return module.forward(X)


def test_an_object_is_adapted_by_call():
    module = Linear(3, 2)
    module.__class__.__call__ = lambda self, X: self.forward(X)
    assert_implements(module, "linear", call=through_an_object, d_in=3, d_out=2)
    assert "W = [[" in refused(module, "linear", call=lambda module, X, W, b: through_an_object(module, X, W, b * 0))


def test_sizes_that_are_given_stay_in_the_smallest_case():
    message = refused(lambda X, W, b: X @ W, "linear", d_in=3, d_out=2)
    assert "(d_in = 3, d_out = 2, n = 1; float64)" in message


def test_epsilon_is_the_layers_unless_it_is_given():
    def normed(epsilon):
        compiled = compile_layer(layer("layer_norm"))
        return lambda *arguments: compiled(*arguments, epsilon=epsilon)

    assert_implements(normed(1e-5), "layer_norm")
    refused(normed(1e-6), "layer_norm")
    assert_implements(normed(1e-6), "layer_norm", epsilon=1e-6)


def test_sizes_and_scalars_that_no_shape_tells_are_arguments():
    assert_implements(lambda X, D, rate: X * D / (1 - rate), "dropout")
    assert "rate = 0.25" in refused(lambda X, D, rate: X * D, "dropout")
    assert "n = 1\n    d_model = 2" in refused(lambda n, d_model: np.zeros((n, d_model)), "positional_encoding")


# --- bad arguments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((softmax, "sofmax"), {}, LookupError, "there is no layer called 'sofmax'; the nearest is softmax"),
        ((softmax, None), {}, TypeError, "a layer or the name of one, not NoneType"),
        ((softmax, softmax), {}, TypeError, "a layer or the name of one, not function"),
        ((None, "softmax"), {}, TypeError, "takes a function, not NoneType"),
        (("softmax", softmax), {}, TypeError, "takes a function, not str"),
        (
            (softmax, "softmax"),
            {"arrays": "cupy"},
            InputError,
            "no arrays called 'cupy'; choose one of numpy, torch, jax",
        ),
        ((softmax, "softmax"), {"dtypes": ["float16"]}, InputError, "float64 and float32, not"),
        ((softmax, "softmax"), {"dtypes": []}, InputError, "float64 and float32, not none"),
        ((softmax, "softmax"), {"d_k": 3}, InputError, "softmax has no d_k; its sizes and scalars are n"),
        ((softmax, "softmax"), {"n": 0}, InputError, "n = 0 is not a size"),
        ((softmax, "layer_norm"), {"epsilon": "1e-6"}, InputError, "the scalar epsilon must be a positive number"),
        ((softmax, "layer_norm"), {"epsilon": 0}, InputError, "the scalar epsilon must be a positive number, not 0"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments, options, error, words):
    with pytest.raises(error, match=re.escape(words)) as caught:
        assert_implements(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_a_failure_is_found_again_with_the_same_seed():
    reports = [str(conformance(unscaled, layer("scaled_dot_product_attention"), seed=3)) for _ in range(2)]
    assert reports[0] == reports[1]
