"""What has equations leaves as ONNX: optimised layers, lifted functions, models; files with weights beside them."""

from pathlib import Path

import numpy as np
import pytest

from derivations.catalogue import layer
from derivations.symbols import d_k, d_v, m, n
from numeric import compile_layer, optimize, prepare_for_engine, to_onnx, write_onnx
from numeric.codegen.onnx_graph.engines import ENGINES, started
from numeric.lifting import lift
from numeric.optimize.engine import optimised_for_engines
from numeric.verification.agreement.cases import SIZES, case, subjects

pytestmark = pytest.mark.peers
BOUND = 1e-5  # of the largest entry, or of 1, in float32


@pytest.fixture(params=ENGINES)
def engine(request):
    pytest.importorskip(request.param)
    return request.param


def off(actual, expected):
    assert actual.shape == expected.shape
    return np.max(np.abs(actual - expected), initial=0) / max(1.0, np.max(np.abs(expected), initial=0))


def given_of(it, kind):
    return {name: value for name, value in it.given.items() if isinstance(value, kind)}


def prepared_off(name, engine, sizes):
    it = case(name, sizes, "float32")
    run = prepare_for_engine(it.layer, it.weights, engine, threads=1, sizes=given_of(it, int))
    found = run(*it.inputs.values(), **given_of(it, float))
    return off(found, compile_layer(it.layer)(**it.arguments))


@pytest.mark.slow
@pytest.mark.parametrize("name", subjects())
def test_every_optimised_layer_runs_with_the_compiled_values(engine, name):
    assert prepared_off(name, engine, SIZES[0]) < BOUND


@pytest.mark.parametrize("name", ["masked_multi_head_attention", "encoder"])
def test_a_few_optimised_layers(engine, name):
    assert prepared_off(name, engine, SIZES[1]) < BOUND


def test_an_optimised_layer_has_other_nodes_and_says_why():
    it = case("encoder_layer", SIZES[0], "float32")
    run = prepare_for_engine(it.layer, it.weights, "onnxruntime")
    assert "attention.scale_folds_into_queries" in run.explain()
    names = {node.output[0] for node in run.model().graph.node}
    plain = {node.output[0] for node in to_onnx(it.layer, it.weights).graph.node}
    assert any("Q_scaled" in name for name in names - plain)


def test_an_optimised_layer_without_weights_asks_for_combined_ones():
    optimised = optimize(layer("encoder_layer"))
    assert {p.name for p in optimised.packing.outputs} <= {each.name for each in to_onnx(optimised).graph.input}


def test_a_graph_for_engines_keeps_the_softmax():
    """Engines are fast with it; our own code is with powers of two, divided after the product."""
    own, engines = (
        to_onnx(each) for each in (optimize(layer("encoder_layer")), optimised_for_engines(layer("encoder_layer")))
    )
    asked = to_onnx(layer("encoder_layer"), optimized=True)
    kinds = [[node.op_type for node in model.graph.node] for model in (own, engines, asked)]
    assert ["Softmax" in each for each in kinds] == [False, True, True]


def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(K.shape[-1])
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True) @ V


def test_a_lifted_function_runs_as_the_function(engine):
    lifted = lift(attention, Q=(n, d_k), K=(m, d_k), V=(m, d_v))
    model = to_onnx(lifted, batch=())
    rng = np.random.default_rng(5)
    Q, K, V = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 5), (7, 5), (7, 11)))
    (found,) = started(engine, model, threads=1)({"Q": Q, "K": K, "V": V})
    assert off(found, attention(Q, K, V)) < BOUND


def test_what_has_no_equations_is_refused():
    with pytest.raises(TypeError, match="function has no equations: give a layer"):
        to_onnx(attention)


@pytest.mark.parametrize("external", [False, True])
def test_weights_inside_and_beside(tmp_path: Path, external, engine):
    it = case("feed_forward", {**SIZES[0], "d_model": 23, "d_ff": 29}, "float32")
    files = write_onnx(to_onnx(it.layer, it.weights), tmp_path / "layer.onnx", external=external)
    assert [each.name for each in files] == ["layer.onnx", "layer.onnx.data"][: 1 + external]
    onnx = pytest.importorskip("onnx")
    (found,) = started(engine, onnx.load(files[0]), threads=1)(it.inputs)
    assert off(found, compile_layer(it.layer)(**it.arguments)) < BOUND
    again = write_onnx(to_onnx(it.layer, it.weights), tmp_path / "layer.onnx", external=external)
    assert [each.stat().st_size for each in again] == [each.stat().st_size for each in files]
