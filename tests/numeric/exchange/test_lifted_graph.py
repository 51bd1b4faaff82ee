"""Graphs that come back: exported layers are proved, wrong graphs refuted, other operators refused by node."""

import numpy as np
import pytest
from sympy import Integer

from derivations.catalogue import layer
from derivations.language import count_flops
from numeric import to_onnx
from numeric.exchange.equation_proofs import equation_proofs
from numeric.exchange.lifted_graph import function_of_graph, lift_onnx, prove_onnx
from numeric.lifting.refusals import NotFollowed

pytestmark = pytest.mark.peers
COUNTS = {"N": 2, "w": 3, "buckets": 16}  # sizes that say how many operators there are


def sizes_of(of):
    return {size.name: COUNTS[size.name] for size in of.sizes if size.name in COUNTS}


def model_of(name):
    """A layer with all scalars as inputs, and no batch axes."""
    of = layer(name)
    return to_onnx(of, sizes=sizes_of(of), batch=(), scalars={each.name: None for each in of.scalars})


WHOLE = (
    "softmax",
    "scaled_dot_product_attention",
    "multi_head_attention",
    "layer_norm",
    "gated_feed_forward",
    "rotary_embedding",
    "encoder_layer",
)


@pytest.mark.parametrize("name", WHOLE)
def test_a_graph_is_the_layer_that_it_was_exported_from(name):
    verdict = prove_onnx(model_of(name), layer(name))
    assert verdict.level == "proved", verdict.explain()


def test_attention_with_a_mask_is_proved_where_every_row_shows_a_key():
    verdict = prove_onnx(model_of("masked_scaled_dot_product_attention"), layer("masked_scaled_dot_product_attention"))
    assert verdict.level == "proved"
    assert [condition.text for condition in verdict.conditions] == ["every row of M shows an entry"]


def test_a_lifted_graph_is_printed_and_counted():
    lifted = lift_onnx(model_of("scaled_dot_product_attention"))
    assert [equation.variable.name for equation in lifted.layer.equations if len(equation.variable.name) == 1] != []
    assert "Q" in str(lifted)
    original = count_flops(layer("scaled_dot_product_attention")).total
    assert (count_flops(lifted.layer).total - original).subs({s: Integer(2) for s in original.free_symbols}) >= 0


def test_a_graph_runs_as_a_function_of_numpy():
    found = function_of_graph(model_of("scaled_dot_product_attention"))
    rng = np.random.default_rng(2)
    Q, K, V = rng.standard_normal((3, 5)), rng.standard_normal((7, 5)), rng.standard_normal((7, 2))
    powers = np.exp(Q @ K.T / 5**0.5)
    np.testing.assert_allclose(found.function(Q, K, V), powers @ V / powers.sum(axis=1, keepdims=True), rtol=1e-12)


def changed(model, output, operator):
    (node,) = (node for node in model.graph.node if node.output[0] == output)
    node.op_type = operator
    return model


def test_a_wrong_operator_is_refuted():
    """The verdict says no: scores that are multiplied by the root of their width."""
    model = changed(model_of("scaled_dot_product_attention"), "S", "Mul")
    assert prove_onnx(model, layer("scaled_dot_product_attention")).level == "refuted"
    verdicts = equation_proofs(model, layer("scaled_dot_product_attention"))
    assert {name: each.level for name, each in verdicts.items()} == {"S": "refuted", "A": "proved", "O": "proved"}


def test_a_graph_of_another_layer_is_refused_by_its_equations():
    with pytest.raises(ValueError, match="the graph has no value Y: give the layer from which it was exported"):
        equation_proofs(model_of("scaled_dot_product_attention"), layer("linear"))


def test_an_operator_without_a_rule_is_named():
    model = changed(model_of("feed_forward"), "G", "Hardmax")
    with pytest.raises(NotFollowed, match="the node G has the operator Hardmax, which has no rule"):
        lift_onnx(model)


def test_a_dimension_that_is_code_is_refused():
    model = model_of("linear")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "__import__('os')"
    with pytest.raises(NotFollowed, match="not written with names, whole numbers"):
        lift_onnx(model)


@pytest.mark.parametrize("name", ["encoder_layer", "rms_norm", "scale_norm", "feed_forward"])
def test_every_equation_of_a_few_layers_is_proved(name):
    verdicts = equation_proofs(model_of(name), layer(name), sizes_of(layer(name)))
    assert {each.level for each in verdicts.values()} == {"proved"}


@pytest.mark.parametrize(
    ("name", "equation", "condition"),
    [
        ("dropout", "Y", "rate != 1"),
        ("batch_norm_inference", "X_hat", "epsilon + v[row_2] > 0"),
        ("linear_attention", "O", "s[row_1] != 0"),
        ("cross_entropy", "chosen", "tokens counts the rows of a table from 0 to vocab - 1"),
        ("mixture_of_experts", "chosen", "E - K >= 0"),
        ("mixture_of_experts", "H", "chosen counts the rows of a table from 0 to E - 1"),
        ("feed_forward_gelu", "G", "reading 1.4142135623730951 as sqrt(2)"),
    ],
)
def test_a_proof_says_where_the_layer_has_a_value(name, equation, condition):
    verdict = equation_proofs(model_of(name), layer(name))[equation]
    assert verdict.level == "proved"
    assert condition in verdict.qualified


@pytest.mark.parametrize("name", ["relative_position_bias", "relative_position_bias_looking_back"])
def test_bucket_numbers_are_proved_by_the_first_distance_of_each(name):
    verdicts = equation_proofs(model_of(name), layer(name), COUNTS)
    assert {name: each.level for name, each in verdicts.items()} == {"N": "proved", "B": "proved"}


def test_buckets_of_another_table_are_refuted():
    """The graph of 16 buckets is not the one of 32, of which the distances 8 to 15 have one each."""
    verdicts = equation_proofs(model_of("relative_position_bias"), layer("relative_position_bias"), {"buckets": 32})
    assert verdicts["N"].level == "refuted"


@pytest.mark.parametrize("name", ["linear_recurrence", "gated_recurrence", "state_space_heads"])
def test_diagonal_recurrences_are_proved(name):
    verdicts = equation_proofs(model_of(name), layer(name), COUNTS)
    assert {each.level for each in verdicts.values()} == {"proved"}


@pytest.mark.parametrize("name", ["gated_delta_net", "kimi_delta_attention"])
def test_recurrences_by_their_law_alone_are_proved(name):
    verdicts = equation_proofs(model_of(name), layer(name), COUNTS)
    assert {each.level for each in verdicts.values()} == {"proved"}


def loop_of(model):
    (loop,) = [node for node in model.graph.node if node.op_type == "Scan"]
    (body,) = [each.g for each in loop.attribute if each.name == "body"]
    return loop, body


def factors_exchanged(loop, body):
    """Of w (r^T H) the factors change places: H is still a state, of another recurrence."""
    loop.input[2], loop.input[3] = loop.input[3], loop.input[2]


def step_of_another_kind(loop, body):
    next(node for node in body.node if node.op_type == "Add").op_type = "Sub"


def sums_without_their_axis(loop, body):
    (node,) = [node for node in body.node if node.op_type == "ReduceSum"]
    node.attribute[0].i = 0


def first_state_of_the_first_position(loop, body):
    before = loop.input[0]
    loop.input[0] = before.replace("/Mul", "/Gather")


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        (factors_exchanged, "refuted", "entry"),
        (step_of_another_kind, "not followed", "not that of a linear recurrence"),
        (sums_without_their_axis, "not followed", "not that of a linear recurrence"),
        (first_state_of_the_first_position, "refuted", "entry"),
    ],
)
def test_another_loop_is_no_recurrence_of_the_layer(change, level, reason):
    model = model_of("gated_delta_net")
    change(*loop_of(model))
    verdict = equation_proofs(model, layer("gated_delta_net"), COUNTS)["states.H"]
    assert verdict.level == level
    assert reason in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["latent_attention", "decoder", "transformer"])
def test_every_equation_of_larger_layers_is_proved(name):
    """Stacks are read layer by layer: the proof of an equation does not grow with their number."""
    verdicts = equation_proofs(model_of(name), layer(name), sizes_of(layer(name)))
    assert {each.level for each in verdicts.values()} == {"proved"}
    assert len(verdicts) > 30
