"""Operators of opset 23 that are whole layers: where they are asked for, the results are those of plain operators."""

from collections import Counter

import numpy as np
import pytest
from sympy import Rational

from derivations.catalogue import layer
from derivations.symbols import epsilon
from numeric import InputError, compile_layer, to_onnx
from numeric.codegen.onnx_graph.engines import ENGINES, started
from numeric.exchange.single_operators import SINGLE
from numeric.verification.agreement.cases import SIZES, case
from tests.numeric.codegen.onnx_graph.test_layers import BOUND, feeds_of, off

pytestmark = pytest.mark.peers
WITHOUT_ROTARY = {"openvino"}  # 2026.4 has no RotaryEmbedding


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("masked_multi_head_attention", {"Attention": 1}),
        ("grouped_query_attention", {"Attention": 1}),
        ("latent_attention", {"RMSNormalization": 2, "RotaryEmbedding": 2}),
        ("rotary_embedding_halves", {"RotaryEmbedding": 1}),
        ("rms_norm", {"RMSNormalization": 1}),
        ("layer_norm", {}),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_parts_that_are_operators_become_them(engine, name, expected):
    pytest.importorskip(engine)
    asked = [each for each in SINGLE if each != "RotaryEmbedding" or engine not in WITHOUT_ROTARY]
    it = case(name, SIZES[1], "float32")
    model = to_onnx(it.layer, operators=asked)
    found = Counter(node.op_type for node in model.graph.node)
    assert {each: found[each] for each in SINGLE if found[each]} == {n: k for n, k in expected.items() if n in asked}
    assert [each.version for each in model.opset_import] == [23]
    feeds = feeds_of(it)
    (result,) = started(engine, model, threads=1)({each.name: feeds[each.name] for each in model.graph.input})
    assert off(result, compile_layer(it.layer)(**it.arguments)) < BOUND


def test_rows_without_a_visible_key_are_zeros_whatever_the_operator_gives():
    reference = pytest.importorskip("onnx.reference")
    of = layer("masked_scaled_dot_product_attention")
    model = to_onnx(of, operators=["Attention"])
    rng = np.random.default_rng(3)
    Q, K, V = (rng.standard_normal((2, *shape)).astype(np.float32) for shape in ((3, 5), (7, 5), (7, 11)))
    M = np.ones((2, 3, 7), bool)
    M[:, 1] = False
    (found,) = reference.ReferenceEvaluator(model).run(None, {"Q": Q, "K": K, "V": V, "M": M})
    assert (found[:, 1] == 0).all()
    assert off(found.astype(np.float32), compile_layer(of)(Q, K, V, M)) < BOUND


def test_attention_with_another_scale_stays_plain():
    """The heads of latent attention divide by the root of two widths: no operator is their layer."""
    model = to_onnx(layer("latent_attention"), operators=["Attention"])
    assert "Attention" not in {node.op_type for node in model.graph.node}


def test_epsilon_that_is_an_input_stays_one():
    model = to_onnx(layer("rms_norm"), operators=["RMSNormalization"], scalars={"epsilon": None})
    assert "RMSNormalization" not in {node.op_type for node in model.graph.node}


def test_a_number_in_the_equations_is_the_attribute():
    of = layer("rms_norm").xreplace({epsilon: Rational(1, 8)})
    (node,) = to_onnx(of, operators=["RMSNormalization"]).graph.node
    assert node.op_type == "RMSNormalization"
    assert {each.name: each.f for each in node.attribute}["epsilon"] == 0.125


def test_an_operator_that_is_no_layer_is_refused():
    with pytest.raises(InputError, match="Gelu is no operator that stands for a layer; choose of Attention"):
        to_onnx(layer("rms_norm"), operators=["Gelu"])
