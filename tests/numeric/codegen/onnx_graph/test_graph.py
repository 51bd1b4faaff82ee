"""Graphs before they are written, without the library onnx: names, shapes, what is shared, what is refused."""

import pytest
import sympy
from sympy import Lambda, Symbol, symbols

from derivations.attention import scaled_dot_product_attention
from derivations.catalogue import layer
from derivations.language import gradient
from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import Elementwise, Hadamard, Named
from derivations.language.arrays.selection import Windows
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import N, d_model, n, size
from derivations.transformer import encoder
from numeric import CompileError, InputError
from numeric.codegen.onnx_graph.export import graph_of
from numeric.models.weights import initialise

SIZES = {"N": 2, "d_ff": 11, "d_k": 3, "d_model": 6, "d_v": 5, "h": 2}


def names_of(graph):
    return {node.output.name for node in graph.nodes}


def test_attention_has_a_value_for_each_equation():
    of = scaled_dot_product_attention()
    graph, (output,) = graph_of(of)
    assert {equation.variable.name for equation in of.equations} <= names_of(graph)
    assert output.name == "O"
    assert [str(n) for n in output.shape] == ["batch", "n", "d_v"]


def test_values_of_parts_are_named_below_the_parts():
    graph, _ = graph_of(layer("encoder"), sizes={"N": 2})
    for number in range(2):
        assert f"layers.{number}.attention.attention.S" in names_of(graph) or any(
            name.startswith(f"layers.{number}.attention") and name.endswith(".S") for name in names_of(graph)
        )
    assert {value.name for value in graph.inputs} >= {"X", "layers.0.feed_forward.W_1", "layers.1.feed_forward.W_1"}


def test_names_are_unique():
    graph, _ = graph_of(layer("transformer"), sizes={"N": 2})
    values = [*graph.inputs, *graph.constants, *(node.output for node in graph.nodes)]
    assert len({value.name for value in values}) == len(values)


def test_tables_of_positions_are_shared_by_all_layers():
    """The heads of latent attention rotate queries and keys by the same angles: one cosine."""
    graph, _ = graph_of(layer("latent_attention"))
    assert [node.operator for node in graph.nodes].count("Cos") == 1


def test_given_weights_are_constants_and_make_sizes_numbers():
    of = layer("encoder")
    graph, (output,) = graph_of(of, initialise(of, SIZES))
    assert [value.name for value in graph.inputs] == ["X"]
    assert [str(n) for n in output.shape] == ["batch", "n", "6"]
    shapes = {value.name: value.shape for value in graph.constants}
    assert shapes["layers.1.feed_forward.W_1"] == (6, 11)


def test_a_size_without_an_axis_is_an_input():
    graph, _ = graph_of(layer("positional_encoding"))
    assert [(value.name, value.shape, value.dtype) for value in graph.inputs] == [
        ("n", (), "int64"),
        ("d_model", (), "int64"),
    ]


def test_a_scalar_is_an_input_unless_it_has_a_value():
    plain, _ = graph_of(layer("layer_norm"))
    asked, _ = graph_of(layer("layer_norm"), scalars={"epsilon": None})
    given, _ = graph_of(layer("dropout"), scalars={"rate": 0.25})
    assert "epsilon" not in {value.name for value in plain.inputs}
    assert "epsilon" in {value.name for value in asked.inputs}
    assert "rate" not in {value.name for value in given.inputs}


def test_batch_axes_have_the_names_that_are_given():
    graph, (output,) = graph_of(scaled_dot_product_attention(), batch=("items", "heads"))
    assert [str(n) for n in graph.inputs[0].shape] == ["items", "heads", "n", "d_k"]
    assert [str(n) for n in output.shape] == ["items", "heads", "n", "d_v"]


def test_batch_axes_of_one_input_broadcast():
    axes = {"Q": ("items",), "K": (1,), "V": ()}
    _, (output,) = graph_of(scaled_dot_product_attention(), batch=axes)
    assert output.shape[0] == Symbol("items", integer=True, positive=True)


def test_batch_axes_that_differ_are_refused_by_the_equation():
    axes = {"Q": ("items",), "K": ("others",), "V": ()}
    with pytest.raises(CompileError, match="equation for S has no form in ONNX: lengths items and others"):
        graph_of(scaled_dot_product_attention(), batch=axes)


def test_a_stack_inside_a_stack_is_refused_by_the_equation():
    X, let = array("X", n, d_model), Equations()
    of_stacks = part("stacks", encoder(), count=size("M"))
    whole = Layer("stacks_of_stacks", (X,), (), let, let("Y")(of_stacks(X)))
    with pytest.raises(CompileError, match=r"the equation for stacks\.Z has no form in ONNX: .*inside another one"):
        graph_of(whole)
    graph, _ = graph_of(whole, sizes={"M": 2})
    assert [node.operator for node in graph.nodes].count("Scan") == 2


def test_a_loop_takes_no_more_along_than_its_layers_read():
    """Sizes are computed outside: no array of all weights goes from layer to layer."""
    graph, _ = graph_of(layer("decoder"))
    (scan,) = (node for node in graph.nodes if node.operator == "Scan")
    taken = scan.inputs[1 : -dict(scan.attributes)["num_scan_inputs"]]
    assert len(taken) > 2
    assert not any(N in value.shape for value in taken)


def of_one(value):
    """A layer of one equation."""
    let = Equations()
    return Layer("trial", (X,), (), let, let("T")(value))


def entrywise(formula):
    return of_one(Elementwise(Named("f", Lambda(x, formula)), X))


def tabulated(formula):
    return of_one(Hadamard(Tabulated(Lambda((i, j), formula), n, d_model), X))


X, x, (i, j) = array("X", n, d_model), Symbol("x", real=True), symbols("i j", integer=True)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (entrywise(sympy.gamma(x)), "T has no form in ONNX: no operator of ONNX computes gamma"),
        (entrywise(sympy.besselj(0, x)), "T has no form in ONNX: no operator of ONNX computes jv"),
        (entrywise(sympy.erfinv(x)), "T has no form in ONNX: erfinv in"),
        (tabulated(sympy.factorial(i)), "T has no form in ONNX: no operator of ONNX computes factorial"),
        (tabulated(sympy.Sum(1 / (x + 1), (x, 0, i))), "T has no form in ONNX: the symbol x"),
        (of_one(Windows(X, size("w"))), "T has no form in ONNX: .*depends on w; give w a value"),
        (layer("convolution"), "Y has no form in ONNX: .*depends on w; give w a value"),
        (gradient(layer("mixture_of_experts")), "dW_gate has no form in ONNX: .*give E a value"),
        (gradient(layer("encoder")), "of the stack layers has no form in ONNX for N layers: .*give N a value"),
    ],
)
def test_what_has_no_form_is_refused_by_the_equation(of, message):
    with pytest.raises(CompileError, match=f"the equation (for )?{message}"):
        graph_of(of)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float16"}, "float32 or float64"),
        ({"sizes": {"nn": 3}}, "has no size nn"),
        ({"sizes": {"n": 0}}, "integer >= 1"),
        ({"scalars": {"rate": 0.5}}, "has no scalar rate"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        graph_of(scaled_dot_product_attention(), **options)
