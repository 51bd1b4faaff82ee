"""What layers in JAX and PyTorch are given: checked as NumPy's arguments are, and never asked for a traced value."""

import numpy as np
import pytest
from sympy import Max, Mod, Piecewise, Rational, asinh, erfc, floor, loggamma, sign, tan

from derivations.catalogue import layers
from derivations.linear.dropout import dropout
from numeric import InputError, compile_layer
from numeric.codegen.backends.arguments import mapped
from numeric.verification.agreement.cases import SIZES, case
from tests.numeric.codegen.test_compile import (
    DTYPES,
    INVENTED,
    NODES,
    POINTS,
    VALUES,
    one_equation,
    unary,
    variables_of,
)
from tests.numeric.codegen.test_compile import SIZES as NODE_SIZES
from tests.numeric.codegen.test_compile import named as named_function
from tests.numeric.codegen.test_compile import x as point

pytestmark = pytest.mark.peers


@pytest.fixture(params=("jax", "torch"))
def library(request):
    pytest.importorskip(request.param)
    return request.param


def to(library, value):
    """A NumPy array as one of the library; other values as they are."""
    if not isinstance(value, np.ndarray):
        return value
    if library == "torch":
        return pytest.importorskip("torch").from_numpy(np.array(value))
    return pytest.importorskip("jax").numpy.asarray(value)


def float64(library):
    """JAX with 64-bit numbers; PyTorch has them always."""
    if library == "jax":
        return pytest.importorskip("jax").enable_x64(True)
    return pytest.MonkeyPatch.context()


# Every node of the language, and invented activations


@pytest.mark.parametrize("name", NODES)
def test_nodes(library, name):
    value, _ = NODES[name]
    layer = one_equation(value, *variables_of(value))
    values = {variable.name: np.broadcast_to(VALUES[variable.name], (2, *VALUES[variable.name].shape))
              for variable in variables_of(value)}  # fmt: skip
    asked = {size.name: NODE_SIZES[size.name] for size in compile_layer(layer).sizes}
    expected = compile_layer(layer)(**values, **asked)
    with float64(library):
        actual = compile_layer(layer, library)(**mapped(values, lambda each: to(library, each)), **asked)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", INVENTED)
def test_invented_activations(library, name, dtype):
    layer = unary(named_function(name, INVENTED[name], point))
    X = np.array([POINTS[:5], POINTS[5:]], dtype)
    expected = compile_layer(layer)(X)
    with float64(library):
        actual = np.asarray(compile_layer(layer, library)(to(library, X)))
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected, rtol=32 * np.finfo(dtype).eps, atol=32 * np.finfo(dtype).eps)


MORE = {
    "remainder": Mod(7 * point, 2), "trigonometric": tan(point / 8) + asinh(point), "sign": sign(point) * floor(point),
    "tails": erfc(point), "logarithm of gamma": loggamma(point**2 + 1), "two bounds": Max(point, 1 - point, -point),
    "powers": 2**point + (1 + point**2) ** Rational(3, 2), "numbers": Piecewise((Rational(1, 3), point > 1), (2, True)),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_functions_of_other_names_and_numbers_alone(library, name):
    layer = unary(named_function("f", MORE[name], point))
    X = np.array([POINTS])
    with float64(library):
        actual = np.asarray(compile_layer(layer, library)(to(library, X)))
    np.testing.assert_allclose(actual, compile_layer(layer)(X), rtol=1e-13, atol=1e-13)


# Extremes


def test_softmax_of_extreme_rows_and_of_none(library):
    largest = np.finfo(np.float32).max
    rows = [[largest, 0, -largest], [-largest, -largest, -np.inf], [-np.inf, 2, -np.inf], [-np.inf] * 3]
    compiled = compile_layer(layers()["softmax"], library)
    y = compiled(to(library, np.array(rows, np.float32)), check=False)
    assert y.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0, 0]]
    assert compiled(to(library, np.zeros((2, 0), np.float32)), check=False).shape == (2, 0)
    assert compiled(to(library, np.zeros((0, 3), np.float32))).shape == (0, 3)


# Saying no


@pytest.fixture
def linear(library):
    return compile_layer(layers()["linear"], library)


def arrays(library, *shapes, dtype=np.float32):
    return [to(library, np.ones(shape, dtype)) for shape in shapes]


def test_a_shape_that_does_not_fit_is_refused(library, linear):
    with pytest.raises(InputError, match=r"linear: .*W.*\(5, 7\)"):
        linear(*arrays(library, (2, 3), (5, 7), (7,)))


def test_what_is_no_array_is_refused_in_the_librarys_words(library, linear):
    words = {"jax": "one of JAX arrays", "torch": "one of PyTorch tensors"}[library]
    with pytest.raises(InputError, match=f"X must be {words}"):
        linear("text", *arrays(library, (3, 7), (7,)))


def test_arrays_of_another_library_are_refused(library, linear):
    other = {"jax": "torch", "torch": "jax"}[library]
    pytest.importorskip(other)
    wanted = {"jax": "give JAX arrays", "torch": "give PyTorch tensors"}[library]
    with pytest.raises(InputError, match=rf"linear: an array is a {other}\w*\.\w+: {wanted}"):
        linear(*arrays(other, (2, 3)), *arrays(library, (3, 7), (7,)))


def test_a_nan_and_a_token_outside_are_refused(library, linear):
    X, W, b = arrays(library, (2, 3), (3, 7), (7,))
    with pytest.raises(InputError, match=r"linear: X is (nan|NaN)"):
        linear(X * float("nan"), W, b)
    (E,) = arrays(library, (11, 3))
    with pytest.raises(InputError, match="the token 11"):
        compile_layer(layers()["embedding"], library)(to(library, np.array([2, 11])), E)


def test_a_number_of_numpy_is_a_number(library):
    layer, X, ones = layers()["layer_norm"], [[1.0, 2.0, 4.0]], np.ones(3, np.float32)
    given = [np.array(X, np.float32), ones, 0 * ones]  # a bias of 1 would cancel most of the first entry
    found = compile_layer(layer, library)(*(to(library, each) for each in given), epsilon=np.float64(0.5))
    np.testing.assert_allclose(np.asarray(found), compile_layer(layer)(*given, epsilon=0.5), rtol=1e-6)


def test_torch_wants_tensors_and_a_number_type_that_is_asked_for():
    torch = pytest.importorskip("torch")
    linear = compile_layer(layers()["linear"], "torch")
    with pytest.raises(InputError, match=r"numpy\.ndarray: give PyTorch tensors"):
        linear(np.ones((2, 3), np.float32), *arrays("torch", (3, 7), (7,)))
    with pytest.raises(InputError, match=r"linear: a tensor is torch\.bfloat16: convert it"):
        linear(*(torch.ones(shape, dtype=torch.bfloat16) for shape in ((2, 3), (3, 7), (7,))))


def test_jax_takes_numpys_arrays_and_refuses_what_it_would_round():
    pytest.importorskip("jax")
    linear = compile_layer(layers()["linear"], "jax")
    assert linear(*(np.ones(shape, np.float32) for shape in ((2, 3), (3, 7), (7,)))).shape == (2, 7)
    with pytest.raises(InputError, match="jax_enable_x64"):
        linear(*(np.ones(shape) for shape in ((2, 3), (3, 7), (7,))))


# Traced arguments


def test_shapes_are_checked_while_jax_traces():
    jax = pytest.importorskip("jax")
    linear = compile_layer(layers()["linear"], "jax")
    X, W, b = (np.ones(shape, np.float32) for shape in ((2, 3), (3, 7), (7,)))
    np.testing.assert_allclose(jax.jit(linear)(X, W, b), 4 * np.ones((2, 7)))
    with pytest.raises(InputError, match="linear: W"):
        jax.jit(linear)(X, W.T, b)


def test_weights_of_numpy_may_be_closed_over_in_jit():
    jax = pytest.importorskip("jax")
    it = case("transformer", SIZES[0], "float32")
    compiled = compile_layer(it.layer, "jax")
    found = jax.jit(lambda inputs: compiled(**inputs, **it.weights))(it.inputs)
    np.testing.assert_allclose(found, compile_layer(it.layer)(**it.arguments), rtol=1e-4, atol=1e-6)


def test_a_table_of_numpy_may_be_closed_over_in_jit():
    jax = pytest.importorskip("jax")
    it = case("relative_position_bias", SIZES[0], "float32")
    compiled = compile_layer(it.layer, "jax")
    found = jax.jit(lambda _: compiled(**it.arguments))(0)
    np.testing.assert_array_equal(found, compile_layer(it.layer)(**it.arguments))


def test_a_scalar_may_be_traced():
    jax = pytest.importorskip("jax")
    X, D = np.ones((2, 3), np.float32), np.ones((2, 3), bool)
    compiled = compile_layer(dropout(), "jax")
    found = jax.jit(lambda rate: compiled(X, D, rate=rate))(0.5)
    np.testing.assert_allclose(found, compile_layer(dropout())(X, D, rate=0.5))


def test_shapes_are_checked_while_torch_maps():
    torch = pytest.importorskip("torch")
    linear = compile_layer(layers()["linear"], "torch")
    X, W, b = arrays("torch", (5, 2, 3), (3, 7), (7,))
    assert torch.vmap(linear, in_dims=(0, None, None))(X, W, b).shape == (5, 2, 7)
    with pytest.raises(InputError, match="linear: W"):
        torch.vmap(linear, in_dims=(0, None, None))(X, W.mT, b)


def test_constants_lie_on_the_device_of_the_arrays():
    """On the device `meta` nothing has entries, and to join it with an array of another device is an error."""
    torch = pytest.importorskip("torch")
    it = case("masked_latent_attention", SIZES[0], "float32")
    given = mapped(it.arguments, lambda value: to("torch", value))
    on_meta = mapped(given, lambda value: value.to("meta") if isinstance(value, torch.Tensor) else value)
    compiled = compile_layer(it.layer, "torch")
    assert compiled(**on_meta).shape == compiled(**given).shape
    assert compiled(**on_meta).device.type == "meta"


def test_torch_compiles_the_function_as_one_graph():
    torch = pytest.importorskip("torch")
    it = case("transformer", SIZES[0], "float32")
    given = mapped(it.arguments, lambda value: to("torch", value))
    compiled = compile_layer(it.layer, "torch")
    whole = torch.compile(compiled.function, backend="eager", fullgraph=True)
    torch.testing.assert_close(whole(**given), compiled(**given))
