"""Compiled layers against the loops of the reference, and the compiled source itself."""

import ast
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from mpmath import mp
from sympy import Function, Heaviside, Integer, Lambda, Max, Min, Ne, Piecewise, Symbol, erf, exp, pi, sqrt, tanh

from derivations.architectures.description import Rotary
from derivations.architectures.projections import rotary_layer
from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Concatenate, Explicit, Tabulated, column_block
from derivations.language.arrays.expression import ColumnBroadcast, RowBroadcast, array, mask_array, token_array
from derivations.language.arrays.functions import (
    Hadamard,
    Interleave,
    Lookup,
    RowSum,
    gelu,
    named,
    relu,
    row_softmax,
    uninterpreted_function,
)
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Blocks, ShapeError
from derivations.language.layers.layer import Equations, Layer, part
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.softmax.softmax import softmax
from derivations.symbols import N, d, d_k, d_model, d_out, h, i, j, m, n, vocab
from derivations.transformer.encoder import encoder_layer
from numeric import CompileError, compile_layer, initialise, source
from numeric.verification import reference
from numeric.verification.agreement.cases import subjects

PRIMES = {"n": 5, "m": 3, "h": 2, "d_k": 7, "d_v": 11, "d_model": 13, "d_ff": 17, "d": 11, "d_in": 7, "d_out": 3}
EVEN = {"n": 5, "m": 3, "h": 2, "d_k": 7, "d_v": 11, "d_model": 6, "d_ff": 13, "vocab": 17, "N": 2}
DTYPES = [np.float32, np.float64]
x = Symbol("x", real=True)


# What each layer is compared with: the loops of the reference, on the same arguments


def gelu_reference(X, **weights):
    return reference.feed_forward(X, **weights, activation="gelu")


def transformer_reference(source, target, E, encoder, decoder):
    return reference.transformer(source, target, {"E": E}, encoder, decoder)[1]


def with_mask(layer, position):
    """Return a layer of the reference that takes its mask as an input in its place."""
    return lambda *inputs, **weights: layer(*inputs[:position], *inputs[position + 1 :], M=inputs[position], **weights)


REFERENCE = {
    "softmax": reference.softmax,
    "linear": reference.linear,
    "scaled_dot_product_attention": reference.scaled_dot_product_attention,
    "masked_scaled_dot_product_attention": reference.scaled_dot_product_attention,
    "multi_head_attention": reference.multi_head_attention,
    "masked_multi_head_attention": with_mask(reference.multi_head_attention, 3),
    "multi_head_attention_with_biases": reference.multi_head_attention,
    "feed_forward": reference.feed_forward,
    "feed_forward_gelu": gelu_reference,
    "layer_norm": reference.layer_norm,
    "positional_encoding": reference.positional_encoding,
    "embedding": reference.embedding,
    "dropout": lambda X, D, rate: [
        [x * k / (1 - mp.mpf(rate)) for x, k in zip(*r, strict=True)] for r in zip(X, D, strict=True)
    ],
    "encoder_layer": reference.encoder_layer,
    "encoder": reference.encoder,
    "decoder_layer": with_mask(reference.decoder_layer, 2),
    "decoder": with_mask(reference.decoder, 2),
    "transformer": transformer_reference,
}
EXTRA = {"positional_encoding": {"n": 11, "d_model": 6}, "dropout": {"rate": 0.25}}


def random_array(variable, sizes, rng, dtype, batch=()):
    """Return random entries for an input: tokens below `vocab`, a mask that shows and hides, or normal numbers."""
    shape = (*batch, *(sizes[along.name] for along in variable.shape))
    if variable.kind == "integer":
        return rng.integers(0, sizes["vocab"], shape)
    if variable.kind == "boolean":
        return rng.random(shape) < 0.6
    return rng.normal(size=shape).astype(dtype)


def randomised(weights, rng):
    """Return weights of the same shapes with normal entries: neither biases of 0 nor gammas of 1."""
    if isinstance(weights, dict):
        return {name: randomised(value, rng) for name, value in weights.items()}
    if isinstance(weights, list):
        return [randomised(value, rng) for value in weights]
    return rng.normal(size=weights.shape).astype(weights.dtype)


def sizes_of(layer):
    sizes = EVEN if layer.name in ("positional_encoding", "transformer") else PRIMES | {"N": 2, "vocab": 17}
    return {symbol.name: sizes[symbol.name] for symbol in layer.sizes}


def arguments(name, layer, dtype, batch=(), seed=0):
    """Return random inputs and weights for a layer of the catalogue."""
    rng, sizes = np.random.default_rng(seed), sizes_of(layer)
    inputs = [random_array(variable, sizes, rng, dtype, batch) for variable in layer.inputs]
    return inputs, randomised(initialise(layer, sizes, seed, dtype), rng) | EXTRA.get(name, {})


def largest_error(actual, expected):
    """Return the largest error, in units in the last place of the largest entry of its row (of 1 where that is 0)."""
    if actual.ndim > 1:
        return max(largest_error(a, e) for a, e in zip(actual, expected, strict=True))
    assert len(actual) == len(expected)
    with mp.workdps(50):
        error = max(abs(mp.mpf(float(a)) - e) for a, e in zip(actual, expected, strict=True))
        return float(error / mp.mpf(float(np.spacing(actual.dtype.type(max(abs(e) for e in expected) or 1)))))


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_every_layer_of_the_catalogue_has_a_reference():
    """Those that are not here are compared in tests/numeric/verification/agreement, where their loops have a case."""
    assert REFERENCE.keys() <= layers().keys() <= subjects().keys()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REFERENCE)
def test_layers_agree_with_the_reference(name, dtype):
    layer = layers()[name]
    inputs, weights = arguments(name, layer, dtype)
    actual = compile_layer(layer)(*inputs, **weights)
    expected = REFERENCE[name](*inputs, **weights)
    assert actual.dtype == (np.float64 if name == "positional_encoding" else dtype)
    assert largest_error(actual, expected) < 16  # the largest one seen is 6.3


def test_an_error_of_a_few_units_in_the_last_place_is_seen():
    exact = [mp.mpf(1), mp.mpf(8)]
    near = np.array([1, 8 + 32 * np.spacing(8.0)])
    assert largest_error(near, exact) == 32
    assert largest_error(near.astype(np.float32), exact) == 0


# Batches


@pytest.mark.parametrize("name", [name for name in REFERENCE if name != "positional_encoding"])
def test_a_batch_gives_what_its_items_give(name):
    layer = layers()[name]
    inputs, weights = arguments(name, layer, np.float64, batch=(2, 3))
    compiled = compile_layer(layer)
    together = compiled(*inputs, **weights)
    assert together.shape[:2] == (2, 3)
    for place in np.ndindex(2, 3):
        alone = compiled(*(each[place] for each in inputs), **weights)
        np.testing.assert_allclose(together[place], alone, rtol=1e-12, atol=1e-13)


def test_inputs_without_a_batch_serve_every_item_of_the_others():
    layer = layers()["decoder_layer"]
    (X, memory, M), weights = arguments("decoder_layer", layer, np.float64)
    batch = np.random.default_rng(1).normal(size=(2, *X.shape))
    compiled = compile_layer(layer)
    together = compiled(batch, memory, M, **weights)
    for item, alone in zip(together, batch, strict=True):
        np.testing.assert_allclose(item, compiled(alone, memory, M, **weights), rtol=1e-12, atol=1e-13)


# Masks and extremes


def test_a_hidden_key_has_weight_zero_and_a_row_without_keys_is_zero():
    compiled = compile_layer(scaled_dot_product_attention(masked=True).until("A"))
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(5, 7)), rng.normal(size=(3, 7)), rng.normal(size=(3, 2))
    M = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0], [0, 0, 0]], bool)
    A = compiled(Q, K, V, M)
    assert (A[~M] == 0).all() and (A[[1, 4]] == 0).all()
    np.testing.assert_allclose(A[[0, 2, 3]].sum(axis=-1), 1, rtol=1e-15)
    assert (compile_layer(scaled_dot_product_attention(masked=True))(Q, K, V, M)[[1, 4]] == 0).all()


def test_what_a_hidden_key_holds_changes_no_bit():
    compiled = compile_layer(scaled_dot_product_attention(masked=True))
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(5, 7)), rng.normal(size=(3, 7)), rng.normal(size=(3, 2))
    M = np.array([[True, False, True]] * 5)
    other_K, other_V = K.copy(), V.copy()
    other_K[1], other_V[1] = 1e6, -77
    assert (compiled(Q, K, V, M) == compiled(Q, other_K, other_V, M)).all()
    assert (compiled(Q, K, V, ~M) != compiled(Q, other_K, other_V, ~M)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_of_extreme_entries(dtype):
    """Warnings are errors here, so that an overflow, a division 0/0 or inf - inf would fail."""
    largest, minus_infinity = np.finfo(dtype).max, -np.inf
    rows = [
        [largest, 0, -largest],
        [-largest, -largest, minus_infinity],
        [minus_infinity, 2, minus_infinity],
        [minus_infinity, minus_infinity, minus_infinity],
    ]
    y = compile_layer(softmax())(np.array(rows, dtype))
    assert y.dtype == dtype
    assert y.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0, 0]]


def test_softmax_of_no_entry_and_of_no_row():
    assert compile_layer(softmax())(np.zeros((2, 0))).shape == (2, 0)
    assert compile_layer(softmax())(np.zeros((0, 3))).shape == (0, 3)


def test_the_jacobian_of_softmax_by_a_complex_step():
    """dy_i/dx_k = y_i (delta_ik - y_k): the compiled function is analytic, a complex step exact to rounding."""
    compiled = compile_layer(softmax())
    x = np.random.default_rng(0).normal(size=5)
    y = compiled(x)
    jacobian = compiled(x + 1e-30j * np.eye(5), check=False).imag.T / 1e-30
    np.testing.assert_allclose(jacobian, np.diag(y) - np.outer(y, y), rtol=1e-14, atol=1e-16)


# Elementwise functions are data


INVENTED = {
    "swish": x / (1 + exp(-x)),
    "leaky": Piecewise((x, x > 0), (x / 5, True)),
    "bump": Piecewise((1 - x**2, (x > -1) & (x < 1)), (0, (x >= 2) | (x <= -2)), (exp(-(x**2)) - 1, True)),
    "indicator": Piecewise((1, x > 0), (0, True)),
    "three_way": Max(x, -1, Min(1, 2 * x)),
    "iverson": Iverson(x > 0) * x + 1 - Iverson(x > 1),
    "not_zero": Iverson(Ne(x, 0)),
    "heaviside": Heaviside(x, Integer(0)),
    "gelu_by_tanh": x * (1 + tanh(sqrt(2 / pi) * (x + x**3 / 10))) / 2,
    "error_function": erf(x) - sqrt(3) * x,
    "reciprocal": 1 / (2 + x**2) - x**-2,
    "constant": sqrt(2) + 0 * x,
    "negative": -x / 3,
}
POINTS = [-11.0, -2.0, -1.0, -0.5, -0.0625, 0.125, 1.0, 1.5, 3.0, 7.0]


def unary(function, *inner):
    """Return the layer Y = function(X W), or of X alone."""
    X, W = array("X", n, d), array("W", d, d)
    let = Equations()
    Y = let("Y")(function(X @ W if inner else X))
    return Layer("unary", (X,), (W,) if inner else (), let, Y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", INVENTED)
def test_an_invented_activation_is_compiled_from_its_formula(name, dtype):
    formula = Lambda(x, INVENTED[name])
    X = np.array([POINTS[:5], POINTS[5:]], dtype)
    Y = compile_layer(unary(named(name, INVENTED[name], x)))(X)
    assert Y.dtype == dtype and Y.shape == X.shape
    for given, actual in zip(X.flat, Y.flat, strict=True):
        exact = formula(Integer(int(given * 16)) / 16).doit().rewrite(Piecewise).evalf(40)
        assert abs(float(actual) - float(exact)) <= 8 * np.finfo(dtype).eps * max(1, abs(float(exact)), abs(given))


def test_an_activation_of_a_product_computes_the_product_once():
    assert "Y = (x := (X @ W)) * (special.erf(math.sqrt(2) * x / 2) + 1) / 2" in source(unary(gelu, 1))
    X, W = np.random.default_rng(0).normal(size=(2, 3, 3))
    once, twice = compile_layer(unary(gelu, 1))(X, W), compile_layer(unary(gelu))(X @ W)
    assert (once == twice).all()


def test_activations_nest():
    square_of_sum = named("square_of_sum", (x + 1) ** 2 + x, x)
    X = array("X", n, d)
    let = Equations()
    Y = let("Y")(square_of_sum(square_of_sum(X + X)))
    given = np.random.default_rng(0).normal(size=(2, 3))
    inner = (2 * given + 1) ** 2 + 2 * given
    np.testing.assert_allclose(compile_layer(Layer("nested", (X,), (), let, Y))(given), (inner + 1) ** 2 + inner)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (Function("unknown")(x), "unknown"),
        (x * Symbol("loose", real=True), "loose is neither a size nor a scalar"),
    ],
)
def test_a_formula_without_a_numpy_form_is_refused(formula, words):
    with pytest.raises(CompileError, match=words):
        compile_layer(unary(named("refused", formula, x)))


def test_a_function_of_which_nothing_is_known_is_refused():
    with pytest.raises(CompileError, match="act"):
        compile_layer(feed_forward(uninterpreted_function("act")))


# Every node of the language, on layers made for it; expected values by NumPy alone


def one_equation(value, *inputs, parameters=(), name="example"):
    let = Equations()
    Y = let("Y")(value)
    return Layer(name, inputs, parameters, let, Y)


X, Z, u, v, w = array("X", n, d), array("Z", d, m), array("u", n), array("v", d), array("w", d)
T, WIDE, D = token_array("T", n), array("WIDE", n, Blocks(h, d_k)), mask_array("D", n, d)
RNG = np.random.default_rng(7)
VALUES = {
    name: RNG.normal(size=shape)
    for name, shape in {
        "X": (5, 3),
        "Z": (3, 7),
        "u": (5,),
        "v": (3,),
        "w": (3,),
        "WIDE": (5, 6),
        "F": (2, 3, 5),
    }.items()
}
VALUES |= {"T": np.array([2, 0, 1, 2, 2]), "D": RNG.random((5, 3)) < 0.5}
SWAP, ONES = Explicit([[0, 1], [1, 0]]), Explicit([[1], [1]])
QUOTIENTS = [[(row + 1) / (column + 2) for column in range(3)] for row in range(5)]


def table(entry):
    """Return the n x d table of the entries given by a formula in i and j."""
    return Tabulated(Lambda((i, j), entry), n, d)


NODES = {
    "vector times matrix": (v @ Z, lambda v, Z: np.einsum("i,ij->j", v, Z)),
    "matrix times vector": (X @ v, lambda X, v: np.einsum("ij,j->i", X, v)),
    "vector times vector": (v @ w, lambda v, w: np.einsum("i,i->", v, w)),
    "transposes": (Z.T @ X.T, lambda X, Z: np.einsum("ij,ki->jk", Z, X)),
    "difference": (X - 3 * X / 2 - X, lambda X: -1.5 * X),
    "row": (X[1], lambda X: X[1]),
    "sum of a row": (RowSum(X), lambda X: np.einsum("ij->i", X)),
    "vector in every row": (X + v, lambda X, v: X + v),
    "rows alone": (RowBroadcast(v, n) @ Z + RowBroadcast(v @ Z, n), lambda Z, v: np.ones((5, 1)) * 2 * (v @ Z)),
    "vector in every column": (X - ColumnBroadcast(u, d), lambda X, u: X - u.reshape(5, 1)),
    "columns alone": (row_softmax(ColumnBroadcast(u, d)), lambda u: np.full((5, 3), 1 / 3)),
    "rows and columns": (ColumnBroadcast(u, d) + RowBroadcast(v, n), lambda u, v: np.add.outer(u, v)),
    "rows by columns": (Hadamard(ColumnBroadcast(u, d), RowBroadcast(v, n)), lambda u, v: np.outer(u, v)),
    "mask as numbers": (Hadamard(X, D) + X, lambda X, D: np.where(D, 2 * X, X)),
    "interleaved": (Interleave(X, -X), lambda X: np.stack([X, -X], 2).reshape(5, 6)),
    "one block": (column_block(WIDE, 1), lambda WIDE: WIDE[:, 3:]),
    "blocks again": (Concatenate(column_block(WIDE, i), i, h), lambda WIDE: WIDE),
    "explicit": (Explicit([[1, sqrt(2)], [n, -1]]) @ SWAP @ ONES @ RowBroadcast(u @ X, 1),
                 lambda X, u: np.outer([1 + np.sqrt(2), 4], u @ X)),
    "table": (table((i + 1) / (j + 2)) + X, lambda X: X + QUOTIENTS),
    "table of columns": (table(2**j) - X, lambda X: [1, 2, 4] - X),
    "table of numbers": (X - table(n), lambda X: X - 5),
    "table of conditions": (table(Iverson(j <= i)) + X, lambda X: X + np.tri(5, 3)),
}  # fmt: skip
SIZES = {"n": 5, "d": 3, "m": 7, "h": 2, "d_k": 3}


def variables_of(value):
    known = [X, Z, u, v, w, T, WIDE, D]
    return [variable for variable in known if variable in value.atoms(type(variable))]


@pytest.mark.parametrize("batch", [(), (2, 3)])
@pytest.mark.parametrize("name", NODES)
def test_nodes(name, batch):
    value, expected = NODES[name]
    inputs = variables_of(value)
    compiled = compile_layer(one_equation(value, *inputs))
    values = {variable.name: VALUES[variable.name] for variable in inputs}
    wanted = expected(**values)
    asked = {size.name: SIZES[size.name] for size in compiled.sizes}
    for dtype in DTYPES:
        given = {name: each.astype(dtype) if each.dtype == float else each for name, each in values.items()}
        given = {name: np.broadcast_to(each, batch + each.shape) for name, each in given.items()}
        Y, close = compiled(**given, **asked), 32 * np.finfo(dtype).eps
        assert Y.dtype == dtype
        np.testing.assert_allclose(Y, np.broadcast_to(wanted, batch + wanted.shape), rtol=close, atol=close)


def test_the_members_of_a_family_lie_along_the_axis_before_their_own(rng):
    F, S = array("F", h, d, m), mask_array("S", n, m)
    let = Equations()
    P = let("P", over=(i, h))(row_softmax(X @ F[i], S))
    R = let("R")(P[1] - P[0])
    compiled = compile_layer(Layer("family", (X, S), (F,), let, R))
    given, weights = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 3, 7))
    visible = rng.random((2, 5, 7)) < 0.7
    visible[..., 0] = True
    scores = np.where(visible, np.exp(np.einsum("bnd,hdm->hbnm", given, weights)), 0)
    share = scores / scores.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(compiled(given, visible, weights), share[1] - share[0], rtol=1e-13, atol=1e-15)


def test_blocks_of_a_vector_side_by_side(rng):
    F = array("F", h, d, d_k)
    let = Equations()
    p = let("p", over=(i, h))(v @ F[i])
    q = let("q")(Concatenate(p[i], i, h))
    given, weights = rng.normal(size=(7, 3)), rng.normal(size=(2, 3, 5))
    expected = np.einsum("bd,hdk->bhk", given, weights).reshape(7, 10)
    np.testing.assert_allclose(compile_layer(Layer("blocks", (v,), (F,), let, q))(given, weights), expected, rtol=1e-13)


def test_members_that_are_all_alike(rng):
    let = Equations()
    P = let("P", over=(i, h))(X @ X.T)
    given = rng.normal(size=(7, 2, 3))
    expected = np.stack([given @ given.mT] * 5, axis=-3)
    np.testing.assert_array_equal(compile_layer(Layer("alike", (X,), (), let, P))(given, h=5), expected)


FAMILY = [
    (lambda F: i * (X @ F[i]), "factor that depends on the index i"),
    (lambda F: X @ F[i + 1], "member at i \\+ 1"),
    (lambda F: (X @ F[i]) + Tabulated(Lambda((j, d_k), i * j), n, m), "table that depends on the index i"),
    (lambda F: RowBroadcast(Concatenate(v @ F[j], j, h), n) + Concatenate(X @ F[i], i, h), "in a family over i"),
]


@pytest.mark.parametrize(("value", "words"), FAMILY)
def test_a_family_without_a_numpy_form_is_refused(value, words):
    F = array("F", h, d, m)
    let = Equations()
    P = let("P", over=(i, h))(value(F))
    with pytest.raises(CompileError, match=words):
        compile_layer(Layer("refused", (X, v), (F,), let, P))


def test_each_item_of_a_batch_may_have_a_table():
    E = array("E", vocab, d)
    tables, tokens = np.random.default_rng(5).normal(size=(2, 7, 3)), np.array([[6, 0, 6, 1, 2], [5, 5, 4, 3, 0]])
    expected = np.stack([table[numbers] for table, numbers in zip(tables, tokens, strict=True)])
    np.testing.assert_array_equal(compile_layer(one_equation(Lookup(E, T), E, T))(tables, tokens), expected)


def test_an_entry_in_a_scalar_is_refused():
    with pytest.raises(ShapeError, match="whole arrays"):
        compile_layer(one_equation(X[0, 0] * X, X))


def test_a_parameter_of_a_part_may_be_bound_to_an_input(rng):
    """Each item of a batch then has a weight of its own."""
    compiled = compile_layer(one_equation(part("inner", linear())(X, W=array("W", d, d_out)), X, array("W", d, d_out)))
    x, W, b = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 3, 7)), rng.normal(size=7)
    np.testing.assert_allclose(compiled(x, W, inner={"b": b}), x @ W + b, rtol=1e-14)


def test_a_parameter_of_a_repetition_bound_to_an_input_is_refused():
    inner, W = part("inner", linear().at(d_out=d), count=N), array("W", d, d)
    with pytest.raises(CompileError, match="which is not a weight"):
        compile_layer(one_equation(inner(X, W=W), X, W))


# Layers in layers


def test_a_repetition_without_weights_asks_for_its_number(rng):
    let = Equations()
    Y = let("Y")(part("again", _halve(), count=N)(X))
    compiled = compile_layer(Layer("repeated", (X,), (), let, Y))
    given = rng.normal(size=(5, 3))
    assert (compiled(given, N=3) == given / 8).all()
    assert "reduce(lambda Y, _: halve(Y), range(N), X)" in compiled.source


def _halve():
    let = Equations()
    return Layer("halve", (X,), (), let, let("Y")(X / 2))


def test_a_number_in_the_place_of_a_size(rng):
    layer = scaled_dot_product_attention().at(d_k=5)
    assert "math.sqrt(5)" in source(layer)
    Q, K, V = rng.normal(size=(2, 5)), rng.normal(size=(3, 5)), rng.normal(size=(3, 7))
    expected = compile_layer(scaled_dot_product_attention())(Q, K, V)
    np.testing.assert_allclose(compile_layer(layer)(Q, K, V), expected, rtol=1e-14)


def test_epsilon_reaches_the_layers_inside():
    inputs, weights = arguments("encoder_layer", encoder_layer(), np.float64)
    compiled = compile_layer(encoder_layer())
    expected = reference.encoder_layer(*inputs, **weights, eps=2.0)
    assert largest_error(compiled(*inputs, **weights, epsilon=2.0), expected) < 16
    assert largest_error(compiled(*inputs, **weights), expected) > 1000


def test_a_constant_epsilon_is_no_argument():
    assert "def layer_norm(X, gamma, beta):" in source(layer_norm(Integer(1) / 100))


def test_layers_of_one_name_and_different_content_are_two_functions():
    first, second = part("first", feed_forward(relu)), part("second", feed_forward(gelu))
    Y = array("X", n, d_model)
    layer = one_equation(second(first(Y)), Y, name="feed_forward_pair")
    rng = np.random.default_rng(0)
    weights = randomised(initialise(layer, {"d_model": 3, "d_ff": 5}, dtype=np.float64), rng)
    given = rng.normal(size=(2, 3))
    expected = reference.feed_forward(
        reference.feed_forward(given, **weights["first"]), **weights["second"], activation="gelu"
    )
    assert largest_error(compile_layer(layer)(given, **weights), expected) < 16
    assert "def feed_forward(" in source(layer) and "def feed_forward_2(" in source(layer)


def test_layers_that_differ_in_sizes_alone_are_one_function():
    assert [line for line in source(layers()["transformer"]).splitlines() if "def positional_encoding" in line] == [
        "def positional_encoding(n, d_model):"
    ]


def test_names_that_python_or_the_source_needs_are_changed(rng):
    let = Equations()
    names = array("lambda", n, d), array("np", n, d), array("norm.scale", n, d)
    total = let("row_softmax")(names[0] + names[1])
    result = let("d")(total + names[2])
    compiled = compile_layer(Layer("class", names, (), let, result))
    assert "def class_(lambda_, np_, norm_scale):" in compiled.source
    given = rng.normal(size=(3, 2, 5))
    np.testing.assert_allclose(compiled(*given), given.sum(axis=0))


def test_two_arguments_of_one_name_are_refused():
    with pytest.raises(CompileError, match="two arguments are called X"):
        compile_layer(one_equation(part("X", linear())(X), X))


def test_an_unknown_backend_is_refused():
    with pytest.raises(ValueError, match="'fortran' is unknown; choose one of numpy"):
        compile_layer(softmax(), backend="fortran")


# The source


def body(layer):
    """Return the lines of the layer's own function, without its docstring."""
    function = ast.parse(source(layer)).body[-1]
    return [ast.unparse(statement) for statement in function.body if not isinstance(statement, ast.Expr)]


def test_attention_reads_like_the_paper():
    assert body(scaled_dot_product_attention()) == [
        "d_k = Q.shape[-1]",
        "S = Q @ K.mT / math.sqrt(d_k)",
        "A = row_softmax(S)",
        "O = A @ V",
        "return O",
    ]


def test_layer_norm_reads_like_the_paper():
    assert body(layer_norm()) == [
        "mu = X.mean(axis=-1)",
        "X_c = X - mu[..., None]",
        "sigma2 = (X_c ** 2).mean(axis=-1)",
        "X_hat = X_c / np.sqrt(epsilon + sigma2[..., None])",
        "Y = gamma * X_hat + beta",
        "return Y",
    ]


def test_the_encoder_layer_reads_like_the_paper():
    text = source(encoder_layer())
    assert "def encoder_layer(X, attention, attention_norm, feed_forward, feed_forward_norm, epsilon=1e-5):" in text
    assert body(encoder_layer()) == [
        "A = multi_head_attention(X, X, X, **attention)",
        "Y = layer_norm(X + A, **attention_norm, epsilon=epsilon)",
        "F = apply_feed_forward(Y, **feed_forward)",
        "Z = layer_norm(Y + F, **feed_forward_norm, epsilon=epsilon)",
        "return Z",
    ]


def test_the_transformer_reads_like_the_paper():
    assert body(layers()["transformer"])[3:] == [
        "P_source = positional_encoding(m, d_model).astype(E.dtype)",
        "P_target = positional_encoding(n, d_model).astype(E.dtype)",
        "X = embedding(source, E=E) + P_source",
        "memory = apply_encoder(X, **encoder, epsilon=epsilon)",
        "Y = embedding(target, E=E) + P_target",
        "M = np.tri(n, dtype=bool)",
        "Z = apply_decoder(Y, memory, M, **decoder, epsilon=epsilon)",
        "logits = Z @ E.mT",
        "P = row_softmax(logits)",
        "return P",
    ]


def test_softmax_cites_the_theorem_that_permits_the_shift():
    assert "softmax.shift_invariance" in source(softmax())
    assert "softmax.shift_invariance" not in source(linear())


def test_only_what_is_used_is_emitted():
    text = source(linear())
    assert "import" not in text and text.count("def ") == 1
    assert source(layers()["feed_forward_gelu"]).count("import") == 2  # math, special


@pytest.mark.parametrize("name", REFERENCE)
def test_the_source_is_tidy(name):
    text = source(layers()[name])
    compile(text, name, "exec")
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert all(len(line) <= 120 and line == line.rstrip() for line in text.splitlines())
    for function in ast.parse(text).body:
        assert not isinstance(function, ast.FunctionDef) or ast.get_docstring(function)


STANDALONE = """
import pickle, sys
sys.modules["derivations"] = sys.modules["numeric"] = sys.modules["sympy"] = None  # importing them would fail
with open(sys.argv[1], "rb") as file:
    cases = pickle.load(file)
results = {}
for key, (text, name, inputs, weights) in cases.items():
    module = {}
    exec(compile(text, key, "exec"), module)
    results[key] = module[name](*inputs, **weights)
with open(sys.argv[2], "wb") as file:
    pickle.dump(results, file)
"""


@pytest.mark.slow
def test_the_source_runs_without_the_package_and_gives_the_same_bits(tmp_path):
    cases = {}
    compared = {name: layers()[name] for name in REFERENCE}
    for name, layer in compared.items():
        for dtype in DTYPES:
            inputs, weights = arguments(name, layer, dtype)
            cases[f"{name} {dtype.__name__}"] = source(layer), layer.name, inputs, weights
    (tmp_path / "cases").write_bytes(pickle.dumps(cases))
    command = [sys.executable, "-W", "error", "-I", "-c", STANDALONE, tmp_path / "cases", tmp_path / "results"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    results = pickle.loads((tmp_path / "results").read_bytes())
    for name, layer in compared.items():
        for dtype in DTYPES:
            key = f"{name} {dtype.__name__}"
            expected = compile_layer(layer)(*cases[key][2], **cases[key][3])
            assert results[key].dtype == expected.dtype and (results[key] == expected).all(), key


SOURCES = """
import json
from derivations.catalogue import layers
from numeric import source
print(json.dumps({name: source(layer) for name, layer in layers().items()}))
"""


@pytest.mark.slow
def test_the_source_does_not_depend_on_the_hash_seed(repository):
    texts = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", SOURCES],
            cwd=repository,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        texts.append(json.loads(run.stdout))
    assert texts[0] == texts[1] == {name: source(layer) for name, layer in layers().items()}


def test_a_compiled_layer_shows_what_it_is():
    compiled = compile_layer(linear())
    assert compiled.layer == linear() and compiled.function.__name__ == "linear"
    assert repr(compiled) == "<compiled layer linear(X, W, b)>"
    assert compile_layer(linear()) is compiled


def test_a_power_below_is_not_multiplied_by_its_inverse():
    """SymPy leaves b^u b^-u as it is where u is a sum: the angles of rotary halves at a width that is a number."""
    layer = rotary_layer(Rotary())
    X = np.random.default_rng(3).standard_normal((5, 14))
    assert np.allclose(compile_layer(layer.at(d_k=14))(X), compile_layer(layer)(X), rtol=1e-12)
