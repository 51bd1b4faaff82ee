"""Gradients in JAX and PyTorch: the derived ones are NumPy's, and what the libraries derive themselves is the same."""

import inspect
from importlib import import_module

import numpy as np
import pytest

from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language import gradient
from numeric import compile_layer
from numeric.verification.agreement.cases import SIZES, case
from numeric.verification.conformance.drawing import leaves, mapped
from numeric.verification.conformance.frameworks import FRAMEWORKS
from tests.numeric.whole import QUICKLY

pytestmark = pytest.mark.peers
CHOSEN = [  # every array function that a gradient calls is in one of them
    "softmax", "cross_entropy", "linear_attention", "masked_multi_head_attention", "grouped_query_attention",
    "masked_latent_attention", "gated_feed_forward", "feed_forward_gelu", "mixture_of_experts", "batch_norm",
    "relative_position_bias", "audio_stem", "rotary_embedding_halves", "embedding", "recurrent_step", "class_token",
    pytest.param("transformer_loss", marks=pytest.mark.slow),
]  # fmt: skip


@pytest.fixture(params=("jax", "torch"))
def framework(request):
    pytest.importorskip(request.param)
    return FRAMEWORKS[request.param]


def in_framework(framework, values):
    return mapped(values, lambda path, value: framework.to(value))


def compiled_for(framework, layer, given, **options):
    """A layer as a function of its arrays; in JAX within jit, for one compilation is faster than one per operation."""
    compiled = compile_layer(layer, framework.name)

    def run(arrays):
        return compiled(**arrays, **given)

    if framework.name == "torch":
        return run
    jit = import_module("jax").jit
    return jit(run, **options)


def gradient_case(name):
    """The arguments of a layer's gradient, and what NumPy makes of them, by the path of what each gradient is by."""
    it = case(name, SIZES[0], "float64")
    compiled = compile_layer(gradient(it.layer))
    output = compile_layer(it.layer)(**it.arguments)
    asked = list(inspect.signature(compiled.function).parameters)
    (cotangent,) = (place for place in asked if place not in it.arguments and place != "epsilon")
    cotangents = {cotangent: np.random.default_rng(5).standard_normal(output.shape)}
    given = {place: value for place, value in (it.arguments | cotangents).items() if place in asked}
    found = compiled(**given)
    return it, given, cotangents[cotangent], named(it, found)


def named(it, found):
    """The gradients by inputs and weights, by the path of what each is by."""
    by = [v.name for v in it.layer.inputs if v.kind == "real"] + list(it.weights)
    return leaves(dict(zip(by, found if isinstance(found, tuple) else (found,), strict=True)))


def assert_same(actual, expected):
    assert actual.keys() == expected.keys()
    for path, gradient_by in expected.items():
        assert actual[path].shape == gradient_by.shape, path
        np.testing.assert_allclose(actual[path], gradient_by, rtol=1e-10, atol=1e-12, err_msg=path)


@pytest.mark.parametrize("name", CHOSEN)
def test_the_derived_gradient_is_numpys(framework, name):
    it, given, _, expected = gradient_case(name)
    with framework.precision("float64"):
        sizes = {name: value for name, value in given.items() if name in it.given}
        arrays = {name: value for name, value in given.items() if name not in it.given}
        run = compiled_for(framework, gradient(it.layer), sizes, compiler_options=QUICKLY)
        found = named(it, run(in_framework(framework, arrays)))
        assert_same({path: framework.back(each) for path, each in found.items()}, expected)


@pytest.mark.parametrize("name", CHOSEN)
def test_the_library_derives_the_same_from_the_layer(framework, name):
    it, _, cotangent, expected = gradient_case(name)
    run = compiled_for(framework, it.layer, it.given)
    with framework.precision("float64"):
        arguments = in_framework(framework, it.inputs | it.weights)
        _, slopes = framework.pull_back(run, arguments, frozenset(expected), cotangent)
        assert_same({path: framework.back(slopes[path]) for path in expected}, expected)


def test_a_gradient_that_is_another_is_refused():
    with pytest.raises(AssertionError):
        assert_same({"x": np.array([1.0 + 1e-6])}, {"x": np.array([1.0])})
    with pytest.raises(AssertionError):
        assert_same({}, {"x": np.array([1.0])})


def slopes_of_sum(framework, layer, **arguments):
    """The gradients of the sum of all entries of the output of a layer."""
    compiled = compile_layer(layer, framework.name)
    with framework.precision("float64"):
        given = in_framework(framework, arguments)
        real = frozenset(path for path, value in leaves(arguments).items() if value.dtype == float)
        ones = np.ones(framework.back(compiled(**given)).shape)
        _, slopes = framework.pull_back(lambda given: compiled(**given), given, real, ones)
        return {path: framework.back(slope) for path, slope in slopes.items()}


def test_the_slope_of_relu_at_zero_is_zero(framework):
    weights = {"W_1": np.eye(3), "b_1": np.zeros(3), "W_2": np.eye(3), "b_2": np.zeros(3)}
    slopes = slopes_of_sum(framework, feed_forward(), X=np.array([[-1.0, 0.0, 2.0]]), **weights)
    assert slopes["X"].tolist() == [[0, 0, 1]]


def test_a_row_without_a_visible_key_has_output_and_gradient_zero(framework):
    rng = np.random.default_rng(0)
    arrays = {"Q": rng.normal(size=(2, 3)), "K": rng.normal(size=(5, 3)), "V": rng.normal(size=(5, 7))}
    visible = np.array([[True, False, True, True, False], [False] * 5])
    layer = scaled_dot_product_attention(masked=True)
    slopes = slopes_of_sum(framework, layer, **arrays, M=visible)
    assert (slopes["Q"][1] == 0).all() and all(np.isfinite(slope).all() for slope in slopes.values())
    assert (slopes["V"][[1, 4]] == 0).all() and (slopes["V"][[0, 2, 3]] != 0).all()


def test_jax_gives_a_gradient_inside_jit():
    jax = pytest.importorskip("jax")
    compiled = compile_layer(layers()["softmax"], "jax")
    slope = jax.jit(jax.grad(lambda x: compiled(x)[0]))(np.array([0.0, 0.0], np.float32))
    np.testing.assert_allclose(slope, [0.25, -0.25])


def test_torch_gives_a_gradient_of_each_item_of_a_batch():
    torch = pytest.importorskip("torch")
    compiled = compile_layer(layers()["softmax"], "torch")
    slopes = torch.vmap(torch.func.grad(lambda x: compiled(x)[0]))(torch.zeros(3, 2))
    np.testing.assert_allclose(slopes, [[0.25, -0.25]] * 3)


def test_the_libraries_are_those_of_the_project():
    assert import_module("numeric.codegen.backends").BACKENDS.keys() == FRAMEWORKS.keys()
