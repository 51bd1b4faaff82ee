"""Layers: equations in order, parts with weights of their own, repetition, and shape errors that name the equation."""

import pytest
from sympy import Integer, Lambda, Symbol, exp, sqrt, tanh

from derivations.activations import silu
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import named, row_softmax
from derivations.language.arrays.shapes import ShapeError
from derivations.language.differentiation.proving import prove_gradient
from derivations.language.layers.layer import Equation, Equations, Layer, part
from derivations.normalisation.layer_norm import layer_norm
from derivations.positions.positional_encoding import positional_encoding
from derivations.symbols import N, d_k, d_model, d_v, h, i, j, k, m, n, scalar
from derivations.transformer.encoder import encoder, encoder_layer

Q, K, V = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v)


def attention(Q=Q, K=K, V=V):
    """Attention written by hand, so that wrong shapes can be put in."""
    let = Equations()
    S = let("S")(Q @ K.T / sqrt(d_k))
    A = let("A")(row_softmax(S))
    O = let("O")(A @ V)
    return Layer("attention", (Q, K, V), (), let, O)


def test_a_shape_error_names_the_equation_and_both_shapes():
    with pytest.raises(ShapeError) as error:
        attention(K=array("K", m, d_v))
    message = str(error.value)
    assert message.startswith("equation S: ")
    assert "(n, d_k)" in message
    assert "(d_v, m)" in message
    with pytest.raises(ShapeError, match="equation O: product of A and V"):
        attention(V=array("V", n, d_v))


def test_the_name_of_an_equation_does_not_stick_to_later_errors():
    with pytest.raises(ShapeError, match="equation S"):
        attention(K=array("K", m, d_v))
    with pytest.raises(ShapeError) as error:
        Q @ K
    assert not str(error.value).startswith("equation")


def test_an_equation_must_have_equal_shapes():
    with pytest.raises(ShapeError, match="equation S = Q: S has shape"):
        Equation(array("S", n, n), Q)


def test_a_layer_uses_only_what_it_knows():
    let = Equations()
    O = let("O")(Q @ array("W", d_k, d_v))
    with pytest.raises(ShapeError, match="W is unknown"):
        Layer("broken", (Q,), (), let, O)
    with pytest.raises(ShapeError, match="no equation defines the output"):
        Layer("broken", (Q,), (array("W", d_k, d_v),), let, array("P", n, d_v))


def test_parts_take_the_sizes_of_their_arguments():
    layer = encoder_layer()
    assert layer.parts["attention"].layer.shapes["head"] == (h, n, d_v)
    assert layer.parts["attention_norm"].layer.shapes["gamma"] == (d_model,)
    assert layers()["transformer"].parts["encoder"].layer.shapes["X"] == (m, d_model)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((array("X", n, d_k),), "takes 3 inputs"),
        ((array("X", n, d_model), array("Y", m, d_model), array("Z", n, d_model)), "is needed with m = m, not n"),
        ((array("X", n), array("Y", m, d_model), array("Z", m, d_model)), "has shape (n,), (n, d_model) is needed"),
        ((mask_array("X", n, d_model), array("Y", m, d_model), array("Z", m, d_model)), "input X_Q is real"),
    ],
)
def test_a_layer_refuses_arguments_that_do_not_fit(arguments, words):
    with pytest.raises(ShapeError) as error:
        part("attention", multi_head_attention())(*arguments)
    assert words in str(error.value)


def test_a_repetition_needs_an_output_like_its_input():
    let = Equations()
    X = array("X", n, d_k)
    Y = let("Y")(X @ array("W", d_k, d_v))
    narrowing = Layer("narrowing", (X,), (array("W", d_k, d_v),), let, Y)
    with pytest.raises(ShapeError, match="repetition of narrowing"):
        part("layers", narrowing, count=N)(X)


@pytest.mark.slow
def test_a_repetition_unfolds_only_at_a_number_of_layers():
    X = array("X", n, d_model)
    with pytest.raises(ShapeError, match="give the number of layers"):
        encoder().result(X)
    names = {v.name for v in encoder().at(N=2).result(X).atoms(type(X))}
    assert {"layers.0.attention.W_Q", "layers.1.attention.W_Q"} <= names


def test_result_unfolds_intermediates():
    X, W = array("X", n, d_k), array("W", d_k, d_v)
    let = Equations()
    H = let("H")(X @ W)
    Y = let("Y")(H @ W.T)
    layer = Layer("two", (X,), (W,), let, Y)
    assert layer.result(X) == (X @ W) @ W.T
    assert layer.until("H").equations == layer.equations[:1]
    assert layer.equation("H").value_at(i, j) == (X @ W).entry(i, j)


def test_a_family_gives_the_entries_of_its_members():
    equation = multi_head_attention().equation("Q")
    X, W = array("X_Q", n, d_model), array("W_Q", h, d_model, d_k)
    assert equation.over == (i, h)
    assert equation.value_at(k, 0, 0) == (X @ W[k]).entry(0, 0)


def test_sizes_may_be_numbers_and_must_make_sense():
    assert feed_forward().at(n=2, d_model=3, d_ff=5).shapes["W_1"] == (3, 5)
    with pytest.raises(ShapeError, match="integer >= 1"):
        feed_forward().at(n=0)
    with pytest.raises(ShapeError, match="has no size d_key; it has"):
        feed_forward().at(d_key=2)
    with pytest.raises(ShapeError, match="not 5/2"):
        positional_encoding().at(d_model=5)


def test_variables_of_a_layer_are_its_own():
    """Applying a layer to an array that has the name of one of its inputs must not mix the two up."""
    swapped = attention().result(array("K", n, d_k), array("Q", m, d_k), V)
    assert swapped == row_softmax(array("K", n, d_k) @ array("Q", m, d_k).T / sqrt(d_k)) @ V


def test_scalars_and_sizes_are_listed_by_name():
    assert [s.name for s in layer_norm().scalars] == ["epsilon"]
    assert [s.name for s in layer_norm().sizes] == ["d", "n"]
    assert layer_norm(Integer(0)).scalars == ()


@pytest.mark.parametrize("case", ["scaled", "function", "table", "scalar"])
def test_a_formula_that_reads_entries_of_an_array_is_refused(case):
    """No substitution and no gradient would see them."""
    x, s, u, i = array("x", n), array("s"), Symbol("u", real=True), Symbol("i", integer=True)
    value = {
        "scaled": x * x[0],
        "function": named("f", u * x[0], u)(x),
        "table": Tabulated(Lambda((i,), x[i] ** 2), n),
        "scalar": x * s.entry(),
    }[case]
    let = Equations()
    output = let("y")(value)
    with pytest.raises(ShapeError, match=r"write the equation with whole arrays, such as Member\([xs], i\)"):
        Layer("hidden", (x, s), (), let, output)


def test_an_equation_defines_every_entry_of_its_variable_once():
    Y, value = array("Y", h, n), array("v", h, n)
    assert Equation(Y[i], value[i], i, h).variable == Y
    for target, over in (
        (Y[h - 1 - i], h),
        (Y[i + 1], h),
        (array("Y", 2 * h, n)[i], h),
        (array("Y", N, h, n)[0][i], h),
    ):
        with pytest.raises(ShapeError, match="what is defined must be a variable"):
            Equation(target, value[i], i, over)
    with pytest.raises(ShapeError, match="what is defined must be a variable"):
        Equation(Y[0], value[0])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda let: let("S", Q @ K.T), "takes the right-hand side in a second pair of brackets"),
        (lambda let: let("S", over=i), "over=(i, h), an index and its number of values, not i"),
        (
            lambda let: Layer("a", (Q,), (), let, let("S")(Q @ K.T)),
            "K is unknown; put it among the inputs or parameters",
        ),
        (lambda let: Layer("a", (Q, K), (), let, let("S")(Q @ K.T) / 2), "which is what let('Y')(...) returns"),
        (lambda let: Layer("a", (Q, K), (), let, let("Q")(Q @ K.T)), "Q is there already"),
        (lambda let: Layer("a", (Q, K), (), let, (let("S")(Q @ K.T), let("S")(2 * Q))), "S is there already"),
        (lambda let: part(Q, let), "a part has a name such as 'norm', not Q"),
    ],
)
def test_a_slip_in_a_layer_of_ones_own_is_answered_by_what_to_write(build, words):
    with pytest.raises(ShapeError) as error:
        build(Equations())
    assert words in str(error.value)


def test_a_part_is_a_layer():
    with pytest.raises(TypeError, match="a layer is needed"):
        part("inner", "feed_forward")


def test_an_entry_in_the_place_of_an_array_is_told_what_to_write():
    with pytest.raises(ShapeError) as error:
        Equations()("y")(exp(Q[i, j]))
    message = str(error.value)
    assert message.startswith(
        "equation y: its right-hand side must be an array, not e^(Q_ij): entries belong in claims"
    )
    assert "exponential(x)" in message
    with pytest.raises(ShapeError, match=r"must be an array, not 1$"):
        Equations()("y")(1)


def test_activations_and_a_number_are_applied_to_arrays_as_the_page_says():
    t, let = scalar("t"), Equations()
    raised = let("Y")(named("raised", 1 + t, t)(silu(named("tanh", tanh(t), t)(Q))))
    assert prove_gradient(Layer("raised", (Q,), (), let, raised)).evidence.level == "proved"
