"""Every layer as an ONNX model: valid by the library's checker, and run by two engines with the compiled values."""

import re
from collections import Counter

import numpy as np
import pytest

from derivations.catalogue import layer, layers
from numeric import compile_layer
from numeric.codegen.onnx_graph.engines import ENGINES, started
from numeric.codegen.onnx_graph.export import to_onnx
from numeric.codegen.onnx_graph.weights import flat_weights
from numeric.runtime.structure import weight_tree
from numeric.verification.agreement.cases import SIZES, case, subjects

pytestmark = pytest.mark.peers
BOUND = 1e-5  # of the largest entry, or of 1, in float32: what the issue asks for
# sizes that say how many operators there are, or into which parts axes are split
COUNTS = ("N", "w", "buckets", "r_S", "d_S", "d_state", "r_D", "k_D", "v_D")


@pytest.fixture(params=ENGINES)
def engine(request):
    pytest.importorskip(request.param)
    return request.param


def several(found):
    return list(found) if isinstance(found, tuple) else [found]


def off(actual, expected):
    assert (actual.shape, actual.dtype.kind) == (expected.shape, expected.dtype.kind)
    return np.max(np.abs(actual - expected), initial=0) / max(1.0, np.max(np.abs(expected), initial=0))


def with_weights(it):
    """A model that holds the weights, its other sizes symbolic."""
    own = {size.name for size in it.layer.sizes}
    scalars = {name: value for name, value in it.given.items() if isinstance(value, float)}
    sizes = {name: it.sizes[name] for name in COUNTS if name in own and name != "N"}
    return to_onnx(it.layer, it.weights, sizes=sizes, scalars=scalars)


def symbolic(it):
    """A model in which sizes, scalars and weights are inputs or symbolic."""
    own = {size.name for size in it.layer.sizes}
    return to_onnx(it.layer, sizes={name: it.sizes[name] for name in COUNTS if name in own})


def feeds_of(it):
    inputs = {v.name: it.inputs[v.name] for v in it.layer.inputs}
    given = {k: np.asarray(v, np.float32 if isinstance(v, float) else np.int64) for k, v in it.given.items()}
    feeds = inputs | given | dict(flat_weights(weight_tree(it.layer), it.weights))
    return {name: x.astype(np.int64) if x.dtype.kind in "iu" else x for name, x in feeds.items()}


def worst(model, engine, it):
    feeds = feeds_of(it)
    asked = [each.name for each in model.graph.input]
    found = started(engine, model, threads=1)({name: feeds[name] for name in asked})
    expected = several(compile_layer(it.layer)(**it.arguments))
    return max(off(*pair) for pair in zip(found, expected, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("form", [with_weights, symbolic])
@pytest.mark.parametrize("name", subjects())
def test_every_layer_runs_with_the_compiled_values(engine, form, name):
    it = case(name, SIZES[0], "float32")
    assert worst(form(it), engine, it) < BOUND


FEW = ("softmax", "masked_multi_head_attention", "latent_attention", "encoder", "mixture_of_experts")


@pytest.mark.parametrize("name", FEW)
def test_a_few_layers_at_other_sizes(engine, name):
    it = case(name, SIZES[1], "float32")
    assert worst(symbolic(it), engine, it) < BOUND


def of_all_layers(feeds):
    """The weights of a stack as one array each, with an axis for the layers in front."""
    found = {}
    for name, x in feeds.items():
        found.setdefault(re.sub(r"\.\d+\.", ".", name), []).append(x)
    numbered = {re.sub(r"\.\d+\.", ".", name) for name in feeds if re.search(r"\.\d+\.", name)}
    return {name: np.stack(each) if name in numbered else each[0] for name, each in found.items()}


@pytest.mark.parametrize("name", ["decoder", pytest.param("transformer", marks=pytest.mark.slow)])
def test_one_graph_runs_stacks_of_any_number_of_layers(engine, name):
    """The mask and the memory go along from layer to layer, in one Scan for each stack."""
    run, count = None, Counter()
    for N in (2, 5):
        it = case(name, {**SIZES[0], "N": N}, "float32")
        model = to_onnx(it.layer)
        count.update(node.op_type for node in model.graph.node)
        run = run or started(engine, model, threads=1)
        feeds = of_all_layers(feeds_of(it))
        (found,) = run({each.name: feeds[each.name] for each in model.graph.input})
        assert off(found, compile_layer(it.layer)(**it.arguments)) < BOUND
    assert count["Scan"] == 2 * (1 + (name == "transformer"))


def test_values_in_a_stack_are_named_after_the_equations():
    scan = to_onnx(layer("encoder")).graph.node[-1]
    body = next(each.g for each in scan.attribute if each.name == "body")
    assert {"layers.attention.attention.S", "layers.feed_forward.G"} <= {n.output[0] for n in body.node}


def test_all_layers_of_the_catalogue_are_exported():
    assert layers().keys() <= subjects().keys()


def test_an_operator_that_is_another_is_seen_to_differ(engine):
    """The comparison says no: a graph whose scores are added to what they should be divided by."""
    it = case("scaled_dot_product_attention", SIZES[0], "float32")
    model = symbolic(it)
    (node,) = (node for node in model.graph.node if node.output[0] == "S")
    node.op_type = "Add"
    assert worst(model, engine, it) > 1e-3


def test_a_shape_that_is_another_is_refused_by_the_checker():
    onnx = pytest.importorskip("onnx")
    model = to_onnx(layer("linear"), sizes={"d_in": 3, "d_out": 5})
    onnx.checker.check_model(model, full_check=True)
    model.graph.output[0].type.tensor_type.shape.dim[2].dim_value = 7
    with pytest.raises(onnx.shape_inference.InferenceError):
        onnx.checker.check_model(model, full_check=True)


def test_rows_without_a_visible_key_are_zeros(engine):
    it = case("masked_scaled_dot_product_attention", SIZES[0], "float32")
    it.inputs["M"][:, 1] = False
    it.inputs["M"][:, 0] = True
    feeds = feeds_of(it)
    (found,) = started(engine, symbolic(it), threads=1)(feeds)
    assert (found[:, 1] == 0).all()
    assert (found[:, 0] != 0).all()


def test_softmax_of_hidden_scores(engine):
    """A score of minus infinity has the weight 0, and a row of nothing else is one of zeros, as in compiled layers."""
    x = np.array([[0.5, -np.inf, 2], [-np.inf] * 3, [1, 2, 3]], np.float32)
    model = to_onnx(layer("softmax"), batch=("batch",))
    (found,) = started(engine, model, threads=1)({model.graph.input[0].name: x})
    assert found[1].tolist() == [0, 0, 0]
    assert found[0, 1] == 0
    np.testing.assert_allclose(found[[0, 2]].sum(axis=-1), 1, rtol=1e-6)


def test_long_positions_keep_their_angles():
    """In onnxruntime angles are float64, as in compiled layers: rotation at position 4000 is the same."""
    pytest.importorskip("onnxruntime")
    of = layer("rotary_embedding")
    x = np.random.default_rng(3).standard_normal((1, 4001, 6)).astype(np.float32)
    (found,) = started("onnxruntime", to_onnx(of), threads=1)({"X": x})
    assert off(found, compile_layer(of)(x)) < BOUND
