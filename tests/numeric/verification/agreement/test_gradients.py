"""Derived gradients against complex steps of the layers themselves; wrong gradients are told from right ones."""

import numpy as np
import pytest
from sympy import Abs, exp, sign

from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language import Equations, Layer, array, named, part
from derivations.language.differentiation.adjoints import GradientError
from derivations.language.differentiation.reverse import gradient
from derivations.softmax.softmax import softmax
from derivations.symbols import d, n, scalar
from derivations.transformer.transformer import transformer_loss
from numeric import compile_layer, initialise
from numeric.verification.agreement import cases, gradients
from numeric.verification.agreement.cases import DTYPES, SIZES, Case, case, subjects
from numeric.verification.agreement.gradients import (
    Path,
    cotangents,
    gradient_check,
    gradient_checks,
    gradient_names,
    gradients_by_name,
    leaves,
    results,
    run,
)
from tests.tiers import few

FLOAT32, FLOAT64 = DTYPES
t = scalar("t")
NAMES = [name for name, (layer, _) in subjects().items() if gradient_names(layer)]
ONCE = ("embedding", "mixture_of_experts")  # tables and matrices by number, in NumPy
TWICE = [  # the others without parts that have weights
    name for name in NAMES if name not in ONCE and not {*subjects()[name][0].parts} - {"attention"}
]
BATCHES = [(), (2, 3)]  # one batch axis has every case


@pytest.mark.parametrize("dtype", few(DTYPES, fast=1), ids=str)
@pytest.mark.parametrize("name", few(NAMES, fast=30))
def test_a_gradient_agrees_with_the_differences_of_its_layer(name, dtype):
    check = gradient_check(case(name, SIZES[0], dtype))
    assert check.passed, check


@pytest.mark.parametrize("formula", [t / (1 + Abs(t)), t * sign(t) + exp(t)], ids=["softsign", "sign"])
def test_absolute_values_and_signs_inside_a_part_are_not_asked_for_complex_steps(formula, monkeypatch):
    """NumPy's are not analytic: complex steps called their right gradients wrong, and call wrong what is right."""
    X, let = array("X", n, d), Equations()
    inner = Layer("inner", (X,), (), let, let("Y")(named("f", formula, t)(X)))
    outer = Equations()
    layer = Layer("outer", (X,), (), outer, outer("Z")(part("inner", inner)(X)))
    inputs = {"X": np.random.default_rng(0).standard_normal((3, 7))}
    at = Case("outer", layer, SIZES[0], FLOAT64, inputs, {}, {}, compile_layer(layer))
    assert gradient_check(at).passed
    monkeypatch.setattr(gradients, "takes_complex_steps", lambda layer: True)
    assert not gradient_check(at).passed


@pytest.mark.slow
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_agrees_without_a_batch_and_with_two_batch_axes(name, batch):
    check = gradient_check(case(name, SIZES[0], FLOAT64, batch=batch))
    assert check.passed, check


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", SIZES[1:])
@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_agrees_at_other_sizes(name, sizes, dtype):
    check = gradient_check(case(name, sizes, dtype))
    assert check.passed, check


@pytest.mark.slow
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("name", TWICE)
def test_a_gradient_of_a_gradient_agrees_with_the_differences_of_the_first(name, batch):
    check = gradient_check(case(name, SIZES[0], FLOAT64, batch=batch), order=2)
    assert check.passed, check


def test_the_generator_covers_every_layer_that_has_a_gradient(monkeypatch):
    few = {name: subjects()[name] for name in ("softmax", "positional_encoding", "linear")}
    monkeypatch.setattr(cases, "subjects", lambda: few)
    found = [(check.name, check.passed, check.what.split(", ")[1]) for check in gradient_checks(SIZES[:1])]
    names = ("softmax", "linear")
    assert found == [(f"gradient of {name}", True, str(dtype)) for name in names for dtype in DTYPES]
    assert set(layers()) - set(NAMES) == {"positional_encoding"}


# Batches


def alone(name, *without, one=()):
    """A case with two batch axes, some inputs without any, and some with one of length 1."""
    each = case(name, SIZES[0], FLOAT64, batch=(2, 3))
    for given in without:
        each.inputs[given] = each.inputs[given][0, 0]
    for given in one:
        each.inputs[given] = each.inputs[given][:, :1]
    return each


@pytest.mark.parametrize(
    ("name", "without", "one"),
    [
        ("scaled_dot_product_attention", ["Q"], []),
        ("scaled_dot_product_attention", ["K", "V"], ["Q"]),
        ("masked_scaled_dot_product_attention", ["Q", "K", "V"], []),
        ("masked_multi_head_attention", ["X_K", "X_V"], ["M"]),
        ("dropout", ["X"], []),
        ("decoder_layer", ["memory", "M"], []),
        ("decoder_layer", ["X"], ["memory"]),
        ("decoder", ["M"], ["memory"]),
        ("transformer", ["source"], []),
        ("transformer_loss", ["target"], ["labels"]),
        ("transformer_loss, padded, biases, gelu, final norm", ["source_visible", "labels"], ["source"]),
        ("cross_entropy", ["X"], []),
        ("cross_entropy", ["tokens"], []),
        ("soft_cross_entropy", [], ["T"]),
    ],
)
def test_an_input_that_batch_axes_broadcast_over_has_the_sum_of_the_gradients(name, without, one):
    check = gradient_check(alone(name, *without, one=one))
    assert check.passed, check


def test_a_second_gradient_through_a_part_is_refused():
    for name in ("encoder_layer", "grouped_query_attention"):
        with pytest.raises(GradientError, match="write the equations of"):
            gradient(gradient(layers()[name]))


def test_the_second_gradient_sums_over_broadcast_batch_axes_too():
    for without, one in ((["K"], ["Q"]), (["V"], [])):
        check = gradient_check(alone("scaled_dot_product_attention", *without, one=one), order=2)
        assert check.passed, check


# Masks, kinks and extremes


def gradients_of(layer, *inputs, **weights):
    """The gradients by name, for random cotangents."""
    arguments = dict(zip((v.name for v in layer.inputs), inputs, strict=False)) | weights
    given = cotangents(layer, arguments, {}, np.random.default_rng(5))
    return gradients_by_name(layer, run(gradient(layer), {**arguments, **given}, {}))


def test_a_row_without_keys_and_a_key_that_no_row_sees_have_gradient_zero():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(5, 7)), rng.normal(size=(3, 7)), rng.normal(size=(3, 2))
    M = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0], [0, 0, 0]], bool)
    found = gradients_of(scaled_dot_product_attention(masked=True), Q, K, V, M)
    assert (found["Q"][[1, 4]] == 0).all() and (found["Q"][[0, 2]] != 0).all()
    assert (found["K"][1] == 0).all() and (found["V"][1] == 0).all()
    assert (found["K"][[0, 2]] != 0).all() and (found["V"][[0, 2]] != 0).all()


def test_where_no_key_is_visible_every_gradient_is_zero():
    rng = np.random.default_rng(0)
    Q, K, V, M = rng.normal(size=(2, 7)), rng.normal(size=(3, 7)), rng.normal(size=(3, 2)), np.zeros((2, 3), bool)
    found = gradients_of(scaled_dot_product_attention(masked=True), Q, K, V, M)
    assert all((dx == 0).all() for dx in found.values())


def test_the_slope_of_relu_at_zero_is_zero():
    """With W_1 = 0 and b_1 = (0, 1, -1) the hidden entries are 0, 1 and -1: only the second passes a gradient on."""
    X, dY = np.ones((2, 5)), np.ones((2, 5))
    weights = {"W_1": np.zeros((5, 3)), "b_1": np.array([0.0, 1.0, -1.0]), "W_2": np.ones((3, 5)), "b_2": np.zeros(5)}
    _, dW_1, db_1, *_ = compile_layer(gradient(feed_forward()))(X, dY, **weights)
    assert db_1.tolist() == [0, 10, 0]
    assert (dW_1 == [0, 10, 0]).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_extreme_logits_have_finite_gradients(dtype):
    """Warnings are errors here, so that an overflow, a division 0/0 or inf - inf would fail."""
    largest = np.finfo(dtype).max / 2
    rows = np.array([[largest, 0, -largest], [-largest, -largest, largest], [1e4, -1e4, 0], [7, 7, 7]], dtype)
    dx = compile_layer(gradient(softmax()))(rows, np.ones_like(rows))
    assert dx.dtype == dtype and np.isfinite(dx).all()
    targets = {"cross_entropy": np.array([0, 1, 2, 0]), "soft_cross_entropy": np.full_like(rows, 0.25)}
    for name, target in targets.items():
        found = results(compile_layer(gradient(subjects()[name][0]))(rows / 4, target, dtype.type(1)))
        assert all(dx.dtype == dtype and np.isfinite(dx).all() for dx in found)


def test_the_gradient_of_the_loss_by_the_logits_is_softmax_minus_one_hot():
    """d loss / d x_ij = (softmax(x_i)_j - [j = tokens_i]) / n, whatever the scale of the logits."""
    X, tokens = np.array([[0.0, 0.0], [900.0, -900.0], [-900.0, 900.0]]), np.array([0, 0, 0])
    dX = compile_layer(gradient(subjects()["cross_entropy"][0]))(X, tokens, np.float64(3))
    assert dX.tolist() == [[-0.5, 0.5], [0, 0], [-1, 1]]


def test_a_token_that_occurs_twice_collects_both_gradients():
    tokens, dX = np.array([1, 0, 1]), np.array([[1.0, 2], [3, 5], [7, 11]])
    dE = compile_layer(gradient(layers()["embedding"]))(tokens, dX, E=np.zeros((3, 2)))
    np.testing.assert_allclose(dE, np.sqrt(2) * np.array([[3, 5], [8, 13], [0, 0]]), rtol=1e-15)


# The checker says no


def refused(name, wrong, batch=(2,), without=()):
    """The check of a gradient that is changed in one place; it must not pass."""
    each = case(name, SIZES[0], FLOAT64, batch=batch)
    for given in without:
        each.inputs[given] = each.inputs[given][0]

    def changed(**arguments):
        found = list(results(run(gradient(each.layer), arguments, each.sizes)))
        names = gradient_names(each.layer)
        gradients = dict(zip(names, found, strict=True))
        gradients.update(wrong(gradients, arguments))
        return tuple(gradients[name] for name in names)

    right = gradient_check(each)
    assert right.passed, right
    check = gradient_check(each, changed)
    assert not check.passed, check
    assert "FAILS" in str(check)
    return check


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "feed_forward_gelu", "multi_head_attention_with_biases"])
def test_a_wrong_sign_is_refused_in_every_array(name):
    for letter in gradient_names(subjects()[name][0]):
        if letter != "b_K":  # a bias of the keys moves all scores of a row alike: its gradient is 0
            refused(name, lambda dx, _, letter=letter: {letter: -dx[letter]})


def test_the_gradient_by_a_bias_of_the_keys_is_zero_and_no_other_is():
    each = case("multi_head_attention_with_biases", SIZES[0], FLOAT64)
    weights = {name: np.abs(dx).max() for name, dx in gradients_of(each.layer, **each.arguments).items()}
    assert weights.pop("b_K") < 1e-13 and min(weights.values()) > 1e-2
    refused(each.name, lambda dx, _: {"b_K": dx["b_K"] + 1e-10})


def test_a_missing_transpose_is_refused():
    """dK = dS Q in place of dS^T Q, at equal sizes so that the shapes agree."""
    layer = scaled_dot_product_attention()

    sizes = SIZES[0] | {"m": SIZES[0]["n"]}
    each = case("scaled_dot_product_attention", sizes, FLOAT64)

    def changed(Q, K, V, dO):
        A, dA = compile_layer(layer.until("A"))(Q, K, V), dO @ V.mT
        dS = A * (dA - (dA * A).sum(axis=-1, keepdims=True))
        return dS @ K / np.sqrt(11), dS @ Q / np.sqrt(11), A.mT @ dO

    def right(Q, K, V, dO):
        dQ, _, dV = changed(Q, K, V, dO)
        return dQ, run(gradient(layer), {"Q": Q, "K": K, "V": V, "dO": dO}, sizes)[1], dV

    assert gradient_check(each, right).passed
    assert not gradient_check(each, changed).passed


def test_a_dropped_root_of_d_k_is_refused():
    root = np.sqrt(SIZES[0]["d_k"])
    refused("scaled_dot_product_attention", lambda dx, _: {"Q": dx["Q"] * root, "K": dx["K"] * root})


def test_a_missing_sum_over_heads_is_refused():
    """Only the first head's part of dX_V = sum_i dV_i W_i^V^T."""

    def first_head(dx, given):
        layer = subjects()["multi_head_attention"][0]
        others = {**given, "W_V": given["W_V"] * (np.arange(len(given["W_V"])) == 0)[:, None, None]}
        return {"X_V": gradients_by_name(layer, compile_layer(gradient(layer))(**others))["X_V"]}

    refused("multi_head_attention", first_head)


def test_a_missing_sum_over_the_batch_is_refused():
    refused("linear", lambda dx, given: {"b": given["dY"][0].sum(axis=-2)})
    refused("scaled_dot_product_attention", lambda dx, given: {"K": dx["K"] / 2}, without=["K"])


def test_a_gradient_of_the_wrong_shape_or_number_type_is_refused():
    refused("linear", lambda dx, given: {"b": dx["b"][None]})
    refused("linear", lambda dx, given: {"X": dx["X"].mT})
    refused("linear", lambda dx, given: {"b": dx["b"].astype(np.float32)})
    check = refused("linear", lambda dx, given: {"b": dx["b"] * np.nan})
    assert check.measured == np.inf


def test_gradients_of_layers_of_a_stack_in_the_wrong_order_are_refused():
    refused("encoder", lambda dx, _: {"layers": dx["layers"][::-1]})


def test_weights_of_which_a_gradient_is_missing_are_refused():
    def lost(dx, _):
        return {"layers": [{name: dx["layers"][0][name] for name in list(dx["layers"][0])[1:]}, dx["layers"][1]]}

    assert refused("encoder", lost).measured == np.inf


@pytest.mark.slow
def test_eleven_digits_are_seen():
    refused("layer_norm", lambda dx, _: {"X": dx["X"] * (1 + 1e-11)})
    refused("transformer_loss", lambda dx, _: {"E": dx["E"] * (1 + 1e-11)})


def test_a_function_without_complex_numbers_is_differentiated_by_central_differences():
    """Six digits are seen where the sigmoid is SciPy's, which takes real numbers only."""
    refused("gated_feed_forward", lambda dx, _: {"X": dx["X"] * (1 + 1e-6)})
    refused("gated_feed_forward", lambda dx, _: {"W_gate": -dx["W_gate"]})


def test_a_wrong_second_gradient_is_refused():
    each = case("scaled_dot_product_attention", SIZES[0], FLOAT64)
    second = gradient(gradient(each.layer))

    def half(**arguments):
        first, *others = run(second, arguments, each.sizes)
        return first / 2, *others

    assert gradient_check(each, lambda **arguments: run(second, arguments, each.sizes), order=2).passed
    assert not gradient_check(each, half, order=2).passed


# What a gradient takes and returns


def test_gradients_are_nested_as_the_weights_are():
    layer = transformer_loss(padded=True, final_norm=True)
    sizes = cases.at_sizes(layer, SIZES[0])
    weights = initialise(layer, sizes, dtype=np.float64)
    each = case("transformer_loss", SIZES[0], FLOAT64)
    given = {**each.inputs, "source_visible": np.ones((2, 5), bool), "target_visible": np.ones((2, 3), bool)}
    found = gradients_by_name(layer, compile_layer(gradient(layer))(**given, dloss=np.ones(2), **weights))
    paths: dict[Path, tuple[int, ...]] = {path: x.shape for path, x in leaves(weights)}
    assert {path: dx.shape for path, dx in leaves(found)} == paths


@pytest.mark.parametrize("name", few(NAMES, fast=10))
def test_initialise_makes_the_same_weights_for_a_gradient(name):
    layer = subjects()[name][0]
    sizes = cases.at_sizes(layer, SIZES[0])
    differentiated = gradient(layer)
    asked = {size.name: sizes[size.name] for size in differentiated.sizes}
    made, again = (dict(leaves(initialise(each, given))) for each, given in ((layer, sizes), (differentiated, asked)))
    assert made.keys() == again.keys()
    assert all((made[path] == again[path]).all() for path in made)
