"""Layers in an engine behind the call of every backend: batch axes, number types, weights that change, refusals."""

import math

import numpy as np
import pytest
from sympy import Lambda, Mod, floor

from derivations.attention import scaled_dot_product_attention
from derivations.catalogue import layer
from derivations.language.arrays.arrangements import Numbers, Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Hadamard, Lookup, named
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d_model, k, n, pos, scalar
from numeric import CompileError, InputError, compile_layer
from numeric.codegen.onnx_graph import engines
from numeric.codegen.onnx_graph.engines import ENGINES, started
from numeric.verification.agreement.cases import SIZES, case, subjects

pytestmark = pytest.mark.peers
BOUND = {"float32": 1e-5, "float64": 1e-12}


@pytest.fixture(params=ENGINES)
def engine(request):
    pytest.importorskip(request.param)
    return request.param


def off(actual, expected):
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    return np.max(np.abs(actual - expected), initial=0) / max(1.0, np.max(np.abs(expected), initial=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", subjects())
def test_every_layer_agrees_with_numpy(engine, name):
    it = case(name, SIZES[2], "float32")
    assert off(compile_layer(it.layer, engine)(**it.arguments), compile_layer(it.layer)(**it.arguments)) < 1e-5


def test_batch_axes_broadcast_as_in_numpy(engine):
    of, rng = layer("masked_scaled_dot_product_attention"), np.random.default_rng(1)
    run, plain = compile_layer(of, engine), compile_layer(of)

    def drawn(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    mask = rng.random((3, 5)) < 0.6
    for front in ((), (2,), (7, 2), (1, 2)):
        for shared in ((), front[1:], tuple(1 for _ in front)):
            given = drawn(*front, 3, 11), drawn(*shared, 5, 11), drawn(*shared, 5, 13), mask
            assert off(run(*given), plain(*given)) < 1e-5


def test_float64_is_computed_in_float64():
    pytest.importorskip("onnxruntime")
    it = case("encoder_layer", SIZES[0], "float64")
    assert off(compile_layer(it.layer, "onnxruntime")(**it.arguments), compile_layer(it.layer)(**it.arguments)) < 1e-12


def test_float64_that_would_be_float32_is_refused():
    pytest.importorskip("openvino")
    it = case("scaled_dot_product_attention", SIZES[0], "float64")
    with pytest.raises(InputError, match="openvino computes float64 in float32; give float32"):
        compile_layer(it.layer, "openvino")(**it.arguments)


def test_what_an_engine_lacks_is_said_in_one_sentence_with_the_equation():
    pytest.importorskip("onnxruntime")
    it = case("feed_forward_gelu", SIZES[0], "float64")
    with pytest.raises(CompileError, match=r"onnxruntime does not take the graph of the layer .*Erf.*'G/Erf'"):
        compile_layer(it.layer, "onnxruntime")(**it.arguments)


def test_weights_may_change_between_calls(engine):
    it = case("feed_forward", SIZES[0], "float32")
    run, plain = compile_layer(it.layer, engine), compile_layer(it.layer)
    before = run(**it.arguments)
    it.weights["W_1"] *= -1
    after = run(**it.arguments)
    assert off(after, plain(**it.arguments)) < 1e-5
    assert off(after, before) > 1e-3


def test_arguments_are_checked(engine):
    with pytest.raises(InputError, match="scaled_dot_product_attention"):
        compile_layer(scaled_dot_product_attention(), engine)(np.ones((2, 3)), np.ones((4, 5)), np.ones((4, 5)))


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="unknown; choose one of onnxruntime, openvino"):
        started("nosuch", None)
    with pytest.raises(ValueError, match="the backend 'nosuch' is unknown"):
        compile_layer(scaled_dot_product_attention(), "nosuch")


def test_an_engine_that_is_not_installed_is_named(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(engines, "import_module", missing)
    with pytest.raises(ImportError, match="'openvino' is not installed: pip install openvino"):
        started("openvino", None)


def test_lengths_may_change_between_calls(engine):
    run, plain = (compile_layer(layer("rotary_embedding"), each) for each in (engine, "numpy"))
    for rows in (2, 3, 7):
        x = np.random.default_rng(rows).standard_normal((rows, 6)).astype(np.float32)
        assert off(run(x), plain(x)) < 1e-5


@pytest.mark.parametrize("backend", [*ENGINES, "jax", "torch"])
def test_quotients_and_remainders_are_rounded_down_below_0_as_well(backend):
    """Of entries, of tables of numbers, and of numbers that choose rows: operators that cut off would differ."""
    library = pytest.importorskip(backend)
    E, X, t = array("E", 7, d_model), array("X", n, d_model), scalar("t")
    let = Equations()
    entries = let("T")(named("f", floor(t / 2) + Mod(t, 3), t)(X))
    table = let("B")(Hadamard(X, Tabulated(Lambda((pos, k), floor((pos - 4) / 3) + Mod(pos - k, 5)), n, d_model)))
    rows = let("R")(Lookup(E, Numbers(Lambda((pos,), floor((pos - 4) / 3) + 2 + Mod(pos - 5, 3)), n)))
    of = Layer("rounded", (X, E), (), let, (entries, table, rows))
    rng = np.random.default_rng(5)
    given = 3 * rng.normal(size=(8, 4)).astype(np.float32), rng.normal(size=(7, 4)).astype(np.float32)
    taken = map(library.from_numpy, given) if backend == "torch" else given
    for found, expected in zip(compile_layer(of, backend)(*taken), compile_layer(of)(*given), strict=True):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=1e-5)
    T, B, R = compile_layer(of)(*given)
    for i, j in np.ndindex(8, 4):
        x = float(given[0][i, j])
        assert abs(T[i, j] - (math.floor(x / 2) + x % 3)) < 1e-5
        assert abs(B[i, j] - x * ((i - 4) // 3 + (i - j) % 5)) < 1e-5
        assert R[i, j] == given[1][(i - 4) // 3 + 2 + (i - 5) % 3, j]
