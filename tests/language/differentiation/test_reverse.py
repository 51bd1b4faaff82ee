"""Gradients of layers: their equations, names, shapes and counts, and that every one of their claims is proved."""

from dataclasses import replace

import pytest
from sympy import sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import LAYERS
from derivations.catalogue import layer as layer_called
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language import count_flops, count_parameters, gradient
from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowSum
from derivations.language.differentiation.claims import local_claims, whole_claims
from derivations.language.differentiation.preparation import prepared
from derivations.language.judge.proof import judge, prove_equal
from derivations.language.layers.layer import Equations, Gradient, Layer, Repeat, part
from derivations.language.results.derivation import Claim, step
from derivations.linear.linear import linear
from derivations.softmax.softmax import softmax
from derivations.symbols import N, d, d_k, n
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.transformer import transformer_loss
from tests.broken import is_refused


def test_the_backward_pass_of_attention_is_the_textbooks() -> None:
    backward = gradient(scaled_dot_product_attention())
    Q, K, V, dO = backward.inputs
    A, dA, dS = (backward.equation(name).variable for name in ("A", "dA", "dS"))
    assert backward.equation("dV").value == A.T @ dO
    assert backward.equation("dA").value == dO @ V.T
    assert backward.equation("dS").value == Hadamard(A, dA - ColumnBroadcast(RowSum(Hadamard(dA, A)), A.shape[1]))
    assert backward.equation("dQ").value == (dS @ K) / sqrt(d_k)
    assert backward.equation("dK").value == (dS.T @ Q) / sqrt(d_k)


def test_a_gradient_is_a_layer() -> None:
    layer = feed_forward()
    backward = gradient(layer)
    assert isinstance(backward, Gradient)
    assert [v.name for v in backward.inputs] == ["X", "dY"]
    assert [v.name for v in backward.outputs] == ["dX", "dW_1", "db_1", "dW_2", "db_2"]
    assert backward.parameters == layer.parameters
    for made_by, output in zip((*layer.inputs, *layer.parameters), backward.outputs, strict=True):
        assert output.shape == made_by.shape
    assert backward.at(n=3).inputs[0].shape[0] == 3
    assert isinstance(backward.at(n=3), Gradient)


def test_what_the_backward_pass_does_not_read_is_not_computed() -> None:
    names = [equation.variable.name for equation in gradient(feed_forward()).equations]
    assert "Y" not in names
    assert names[:2] == ["H", "G"]


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_every_layer_has_a_gradient_with_its_parameters(name: str) -> None:
    layer = layer_called(name)
    backward = gradient(layer)
    real = [v for v in (*layer.inputs, *layer.parameters) if v.kind == "real"]
    assert [v.shape for v in backward.outputs] == [v.shape for v in real]
    assert count_parameters(backward) == count_parameters(layer)


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_every_equation_of_every_gradient_is_proved(name: str) -> None:
    """With the chain rule, this proves the gradient of every layer, the whole encoder-decoder and its loss included."""
    claims = local_claims(layer_called(name))
    if not claims.claims:
        assert all(not v.shape or v.kind != "real" for v in layer_called(name).inputs) or layer_called(name).parts
        return
    assert not judge(claims).failures


@pytest.mark.parametrize(
    "layer",
    [softmax(), scaled_dot_product_attention(), scaled_dot_product_attention(masked=True), feed_forward()],
    ids=["softmax", "attention", "masked attention", "feed-forward"],
)
def test_gradients_are_derivatives_with_everything_unfolded(layer: Layer) -> None:
    assert judge(whole_claims(layer)).level == "proved"


@pytest.mark.parametrize(
    ("number", "changed"),
    [
        (0, lambda e: e * sqrt(d_k)),
        (0, lambda e: -e),
        (1, lambda e: 2 * e),
        (2, lambda e: e + 1),
    ],
    ids=["dropped root", "sign", "factor", "term"],
)
def test_a_wrong_gradient_of_attention_is_refused(number, changed) -> None:
    right = whole_claims(scaled_dot_product_attention())
    one = right.claims[number]
    wrong = Claim(one.lhs, (step("chain rule", changed(one.rhs)),))
    evidence = judge(replace(right, claims=(wrong,))).claims[0][0]
    assert is_refused(evidence)


def test_second_gradients_have_names_of_their_own() -> None:
    twice = gradient(gradient(scaled_dot_product_attention()))
    assert [v.name for v in twice.inputs] == ["Q", "K", "V", "dO", "d2dQ", "d2dK", "d2dV"]
    assert [v.name for v in twice.outputs] == ["d2Q", "d2K", "d2V", "d2dO"]
    names = [equation.variable.name for equation in twice.equations]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("layer", [softmax(), scaled_dot_product_attention(), feed_forward()], ids=str)
def test_second_gradients_are_proved_equation_by_equation(layer: Layer) -> None:
    assert not judge(local_claims(gradient(layer))).failures


def test_gradients_through_a_part_twice_are_refused_by_name() -> None:
    """The gradient of a pullback is not built: the error says which."""
    with pytest.raises(TypeError, match="write the equations of"):
        gradient(gradient(decoder_layer()))


def test_an_output_that_does_not_depend_on_an_input_has_gradient_0() -> None:
    X, Z, let = array("X", n, d), array("Z", n, d), Equations()
    output = let("Y")(2 * X)
    backward = gradient(Layer("first", (X, Z), (), let, output))
    assert backward.equation("dZ").value.args[0].expr == 0


def test_uses_add_up() -> None:
    X, let = array("X", n, n), Equations()
    output = let("Y")(X @ X + X)
    backward = gradient(Layer("square", (X,), (), let, output))
    dY = backward.inputs[1]
    assert backward.equation("dX").value == dY @ X.T + X.T @ dY + dY
    assert judge(whole_claims(Layer("square", (X,), (), let, output))).level == "proved"


def test_a_training_step_costs_three_forward_passes_in_products() -> None:
    loss = transformer_loss()
    once, thrice = count_flops(loss).matmul, count_flops(gradient(loss)).matmul
    assert (thrice - 3 * once).expand() == 0


def test_the_forward_pass_is_shared_by_all_gradients_of_a_part() -> None:
    """One backward pass of a part gives the gradients by all of its inputs: it is counted once."""
    layer = decoder_layer()
    assert (count_flops(gradient(layer)).matmul - 3 * count_flops(layer).matmul).expand() == 0


def test_parts_without_weights_are_written_out() -> None:
    names = [equation.variable.name for equation in prepared(multi_head_attention()).equations]
    assert names == ["Q", "K", "V", "S", "A", "head", "Z", "Y"]


def test_preparation_keeps_the_values() -> None:
    layer = multi_head_attention(biases=True)
    given = layer.inputs
    assert prove_equal(prepared(layer).result(*given), layer.result(*given)).level == "proved"


def test_the_gradient_of_a_stack_is_a_stack_of_gradients() -> None:
    X, let = array("X", n, d), Equations()
    W, b = array("W", d, d), array("b", d)
    inner = Layer(
        "affine", (X,), (W, b), [linear().xreplace({}).equations[0].func(array("Y", n, d), X @ W + b)], array("Y", n, d)
    )
    output = let("Z")(part("layers", inner, N)(X))
    backward = gradient(Layer("stack", (X,), (), let, output))
    (pullback,) = [e.value for e in backward.equations if e.variable.name == "dX"]
    assert isinstance(pullback.applied, Repeat)
    assert count_flops(backward).matmul == 6 * N * d**2 * n


@pytest.mark.parametrize("wrong", [None, "feed_forward", feed_forward])
def test_what_is_no_layer_is_refused_in_one_sentence(wrong) -> None:
    with pytest.raises(TypeError, match="a layer is needed"):
        gradient(wrong)
