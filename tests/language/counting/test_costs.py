"""Counts read off the equations, against counts made elsewhere: by running loops, by hand, by published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from typing import ClassVar

import pytest
from sympy import Abs, Derivative, Integer, Lambda, Max, Piecewise, Symbol, cos, erf, exp, expand, pi, sin, sqrt, tanh

from derivations.attention.attention import scaled_dot_product_attention
from derivations.attention.multi_head import multi_head_attention
from derivations.catalogue import layers
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import Concatenate, Tabulated
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowMean, RowSum, gelu, named, relu, uninterpreted_function
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Blocks, ShapeError
from derivations.language.counting.costs import (
    CONVENTION,
    Convention,
    Count,
    Flops,
    count_flops,
    count_operations,
    count_parameters,
    parameters_by_part,
    shape_table,
)
from derivations.language.layers.layer import Equations, Layer, part
from derivations.linear.linear import linear
from derivations.normalisation.layer_norm import layer_norm
from derivations.positions.positional_encoding import positional_encoding
from derivations.symbols import N, batch, d, d_ff, d_in, d_k, d_model, d_out, d_v, h, i, j, m, n, vocab
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.encoder import encoder, encoder_layer
from derivations.transformer.transformer import transformer
from tests.tiers import few

BASE = {"d_model": 512, "h": 8, "d_k": 64, "d_v": 64, "d_ff": 2048}
x, v = Symbol("x", real=True), Symbol("v", real=True)


def small(layer: Layer, *sizes: int) -> Layer:
    """The layer at distinct primes."""
    return layer.at(**dict(zip((s.name for s in layer.sizes), sizes or (2, 3, 5, 7, 11, 13, 17, 19, 23), strict=False)))


def one(value: Array, inputs: Iterable[Array]) -> Layer:
    """A layer of one equation."""
    let = Equations()
    result = let("Y")(value)
    return Layer("one", tuple(inputs), (), let, result)


# --- parameters


def test_parameters_of_multi_head_attention():
    assert count_parameters(multi_head_attention()) == 2 * d_model * h * d_k + 2 * d_model * h * d_v
    with_biases = count_parameters(multi_head_attention(biases=True)) - count_parameters(multi_head_attention())
    assert expand(with_biases - (2 * h * d_k + h * d_v + d_model)) == 0


def test_parameters_of_the_base_layers_by_hand():
    encoder_weights = 4 * 512 * 512 + 2 * 512 * 2048 + 2048 + 512 + 4 * 512
    assert encoder_weights == 3150336
    assert count_parameters(encoder_layer().at(**BASE)) == encoder_weights
    assert count_parameters(decoder_layer().at(**BASE)) == encoder_weights + 4 * 512 * 512 + 2 * 512


@pytest.mark.parametrize(
    ("layer", "published"),
    [
        (encoder_layer(biases=True), 3152384),
        (decoder_layer(biases=True), 4204032),
        (transformer(), 63045632),
        (transformer(biases=True, final_norm=True), 63045632 + 12288 + 24576 + 2048),
    ],
    ids=["encoder layer", "decoder layer", "transformer", "transformer with attention biases and final norms"],
)
def test_parameters_of_the_base_transformer_as_pytorch_counts_them(layer: Layer, published: int):
    """torch.nn.Transformer (2.13.0) at the base size with a shared vocabulary of 37000, counted module by module."""
    sizes = {"N": 6, "vocab": 37000} if vocab in layer.free_symbols else {}
    assert count_parameters(layer.at(**BASE, **sizes)) == published


def test_every_weight_is_counted_once_by_name():
    """The embedding serves source, target and output; the positions have no weights."""
    counts = parameters_by_part(transformer())
    assert set(counts) == {"E", "encoder", "decoder"}
    assert counts["E"] == vocab * d_model
    assert expand(sum(counts.values()) - count_parameters(transformer())) == 0


def test_a_repetition_counts_every_layer():
    assert expand(count_parameters(encoder()) - N * count_parameters(encoder_layer())) == 0


@pytest.mark.parametrize("name", few(sorted(layers()), fast=5))
def test_parameters_agree_with_the_shape_table(name: str):
    """Another walk: the parameters found by name in the table, of one layer of each stack."""
    layer = layers()[name].at(**{s.name: 1 for s in layers()[name].sizes if s == N})
    of_parts = "gamma beta W b W_Q W_K W_V W_O b_Q b_K b_V b_O W_1 W_2 b_1 b_2 W_gate W_up W_down"
    declared = {p.name for p in layer.parameters} | set(of_parts.split())
    weights = {path: shape for path, shape in shape_table(layer) if path.rpartition(".")[2] in declared}
    sizes = [
        reduce(lambda a, b: a * (b.count * b.size if isinstance(b, Blocks) else b), s, 1) for s in weights.values()
    ]
    assert expand(sum(sizes) - count_parameters(layer)) == 0


def test_a_part_applied_twice_under_one_name_counts_once():
    X, let = array("X", n, d), Equations()
    first, second = part("map", linear()), part("other", linear())
    Y = let("Y")(first(first(X)) + second(X))
    twice = Layer("twice", (X,), (), let, Y).at(d_out=5, d=5)
    assert parameters_by_part(twice) == {"map": 30, "other": 30}


def test_two_parts_of_one_name_and_different_weights_are_refused():
    X, Z, let = array("X", n, 3), array("Z", n, 5), Equations()
    Y = let("Y")(part("map", linear())(X) + part("map", linear())(Z))
    with pytest.raises(ShapeError, match=r"layer clash: map\.W is 1 x \(3, d_out\) in one place and 1 x \(5, d_out\)"):
        count_parameters(Layer("clash", (X, Z), (), let, Y))


def test_what_is_bound_is_no_parameter_of_the_part():
    X, W, let = array("X", n, d_in), array("W", d_in, d_out), Equations()
    Y = let("Y")(part("map", linear())(X, W=W))
    assert parameters_by_part(Layer("bound", (X,), (W,), let, Y)) == {"W": d_in * d_out, "map": d_out}


# --- operations of formulas

HAND_COUNTED = [
    (relu.formula.expr, 1),
    (gelu.formula.expr, 5),  # x / sqrt(2), erf, 1 +, x *, / 2
    (x * (1 + tanh(sqrt(2 / pi) * (x + x**3 * Integer(44715) / 10**6))) / 2, 9),
    (1 / (1 + exp(-x)), 3),
    (x / (1 + exp(-x)), 3),
    (x**2, 1),
    (x**5, 4),
    (1 / x, 1),
    (2 / x, 1),
    (1 / x**2, 2),
    (1 / (x * v), 2),
    (x / sqrt(v + 1), 3),
    (x ** Integer(3) * v ** (-Integer(3) / 2), 2 + 1 + 3),
    (-x, 0),
    (x - v, 1),
    (x + v + 1, 2),
    (Max(x, v, 0), 2),
    (Abs(x) * Iverson(x > 0), 3),
    (Piecewise((x, x > 0), (exp(x) - 1, True)), 3),
    (2**x, 1),
    (x**v, 1),
    (sqrt(2) + pi, 0),
]


@pytest.mark.parametrize(("formula", "count"), HAND_COUNTED, ids=lambda value: str(value))
def test_operations_counted_by_hand(formula, count):
    assert count_operations(formula) == count


def test_a_formula_without_a_rule_is_refused():
    with pytest.raises(TypeError, match="no rule counts Derivative"):
        count_operations(Derivative(erf(x), x, evaluate=False))


# --- operations of layers


def test_flops_of_attention_are_those_of_its_products():
    flops = count_flops(scaled_dot_product_attention())
    assert flops.matmul == 2 * n * m * d_k + 2 * n * m * d_v
    assert flops.by_kind == {
        "matmul": flops.matmul, "bias": 0, "softmax": 5 * n * m, "norm": 0, "activation": 0, "reduction": 0,
        "elementwise": n * m,
    }  # fmt: skip
    assert expand(flops.total - flops.matmul - 6 * n * m) == 0
    assert flops.convention == CONVENTION


def test_heads_multiply():
    matmul = count_flops(multi_head_attention()).matmul
    per_head = 2 * n * d_model * d_k + 2 * m * d_model * (d_k + d_v) + 2 * n * m * (d_k + d_v)
    assert expand(matmul - h * per_head - 2 * n * h * d_v * d_model) == 0


def test_flops_of_the_feed_forward_network():
    flops = count_flops(feed_forward(), batch)
    assert flops.matmul == 4 * batch * n * d_model * d_ff
    assert count_flops(feed_forward(), batch, Convention(unit="mac")).total == 2 * batch * n * d_model * d_ff
    assert flops.bias == batch * n * d_ff + batch * n * d_model
    assert flops.activation == batch * n * d_ff


def test_an_activation_brings_its_own_count():
    """Nothing is known of it here: the difference is what its formula says."""
    cubic = named("cubic", x**3 + x, x)
    difference = count_flops(feed_forward(cubic)).activation - count_flops(feed_forward()).activation
    assert difference == (3 - 1) * n * d_ff
    assert count_flops(feed_forward(uninterpreted_function("f"))).matmul == count_flops(feed_forward()).matmul


def test_repeated_rows_and_columns_are_computed_once():
    X, r, c = array("X", n, d), array("r", d), array("c", n)
    f = named("f", x * (exp(v) + 1), x, v)
    assert count_flops(one(f(X, RowBroadcast(r, n)), (X, r))).activation == 2 * d + n * d
    assert count_flops(one(f(X, ColumnBroadcast(c, d)), (X, c))).activation == 2 * n + n * d
    assert count_flops(one(f(X, X), (X,))).activation == 3 * n * d
    assert count_flops(one(RowBroadcast(r, n) * 2 + ColumnBroadcast(c, d), (r, c))).elementwise == d + n * d


def test_a_bias_is_a_vector_added_to_every_row():
    X, b = array("X", n, d), array("b", d)
    assert count_flops(one(X + b, (X, b))) == Flops(bias=n * d)
    assert count_flops(one(X - b, (X, b))) == Flops(bias=n * d)
    assert count_flops(one(X + X, (X,))) == Flops(elementwise=n * d)
    assert count_flops(one(X - X, (X,))) == Flops(elementwise=n * d)


def test_vectors_multiply_too():
    X, w, u = array("X", n, d), array("w", d), array("u", d)
    assert count_flops(one(X @ w, (X, w))).matmul == 2 * n * d
    assert count_flops(one(w @ u, (w, u))).matmul == 2 * d
    assert count_flops(one(w @ X.T, (w, X))).matmul == 2 * d * n


def test_reductions_and_families_inside_an_expression():
    W = array("W", h, n, d)
    assert count_flops(one(RowSum(W[i]), (W,)).xreplace({})).reduction == n * d
    assert count_flops(one(RowMean(W[i]), (W,))).reduction == n * d + n
    assert count_flops(one(Concatenate(W[i] * 2, i, h), (W,))).elementwise == h * n * d
    assert count_flops(one(Hadamard(W[i], W[i]), (W,))).elementwise == n * d


def test_a_batch_multiplies_what_depends_on_the_inputs():
    """The positions are the same for every example: only their addition is done for each."""
    assert count_flops(positional_encoding(), batch) == count_flops(positional_encoding())
    single, several = count_flops(transformer()), count_flops(transformer(), batch)
    positions = count_flops(positional_encoding(n)).total + count_flops(positional_encoding(m)).total
    assert expand(several.total - batch * single.total + (batch - 1) * positions) == 0
    assert expand(several.matmul - batch * single.matmul) == 0


def test_a_repetition_multiplies():
    assert expand(count_flops(encoder()).total - N * count_flops(encoder_layer()).total) == 0


def test_a_batch_reaches_the_later_layers_through_the_output_of_the_first():
    """x' = 2 x + y from a constant x: every layer scales, but the first scales what no example changes."""
    state, memory, let = array("state", n, d), array("memory", n, d), Equations()
    body = Layer("body", (state, memory), (), let, let("Y")(state * 2 + memory))
    start, outer = Tabulated(Lambda((i, j), 0), n, d), Equations()
    Z = outer("Z")(part("layers", body, count=N)(start, memory))
    counted = count_flops(Layer("stack", (memory,), (), outer, Z), batch).elementwise
    assert expand(counted - N * 2 * batch * n * d) == 0  # one layer stands for all: the first is counted as the others


def test_a_batch_must_be_a_size():
    with pytest.raises(ShapeError, match="a size must be an integer >= 1, not 0"):
        count_flops(linear(), 0)


def test_a_node_without_a_rule_is_refused():
    class Mystery(Array):
        def _infer(self):
            return self.args[0].shape

    X = array("X", n, d)
    with pytest.raises(TypeError, match="no rule counts a Mystery; register one"):
        count_flops(one(Mystery(X), (X,)))


CONSTANTS_FOLD = {
    "rotary_embedding_axes",
    "rotary_embedding_halves",
    "lightning_indexer",
}  # with numbers for sizes, their table of angles needs fewer operations
HALVED = {"d_model", "d_k", "d_r", "frames"}
MOVE_ALONE = {"class_token", "relative_position_bias", "relative_position_bias_looking_back"}  # entries, at no cost


@pytest.mark.parametrize("name", few(sorted(layers()), fast=5))
def test_every_layer_of_the_catalogue_is_counted(name: str):
    """Every count is a positive polynomial in the sizes, the same whether the numbers come before or after."""
    layer = layers()[name]
    total = count_flops(layer).total
    assert total.is_polynomial(*layer.sizes)
    primes = dict(zip((s.name for s in layer.sizes), (3, 17, 11, 2, 5, 7, 13, 19, 23, 29), strict=False))
    numbers = {name: 2 * size if name in HALVED else size for name, size in primes.items()} | {"E": 31, "buckets": 37}
    numbers = {name: numbers[name] for name in primes}
    counted = count_flops(layer.at(**numbers)).total
    later = total.xreplace({s: Integer(numbers[s.name]) for s in layer.sizes})
    assert counted < later if name in CONSTANTS_FOLD else counted == later
    assert (counted > 0) == (name not in MOVE_ALONE)


# --- against operations really executed


class Recorded:
    """A number without a value that records what is done to it."""

    done: ClassVar[Counter[str]] = Counter()

    def _record(self, *_: object) -> Recorded:
        Recorded.done[self.kind] += 1
        return self

    kind = ""
    __add__ = __radd__ = __sub__ = __mul__ = __truediv__ = maximum = function = _record


def recorded(kind: str) -> Recorded:
    Recorded.kind = kind
    return Recorded()


def matrix_product(rows: int, inner: int, columns: int) -> None:
    number = recorded("matmul")
    for _ in range(rows * columns):
        reduce(lambda partial, _: partial + number * number, range(inner), number)


def softmax_of_rows(rows: int, columns: int) -> None:
    number = recorded("softmax")
    for _ in range(rows):
        top = reduce(lambda largest, entry: largest.maximum(entry), range(columns), number)
        terms = [(number - top).function() for _ in range(columns)]
        divisor = reduce(lambda partial, term: partial + term, terms, number)
        [term / divisor for term in terms]


def test_attention_counts_what_loops_execute():
    sizes = {"n": 2, "m": 3, "d_k": 5, "d_v": 7}
    Recorded.done = Counter()
    matrix_product(2, 5, 3)
    number = recorded("elementwise")
    [number / number for _ in range(2 * 3)]
    softmax_of_rows(2, 3)
    matrix_product(2, 3, 7)
    counted = count_flops(scaled_dot_product_attention().at(**sizes)).by_kind
    assert {kind: count for kind, count in counted.items() if count} == Recorded.done


def test_layer_norm_counts_what_loops_execute():
    rows, columns = 3, 5
    Recorded.done = Counter()
    for _ in range(rows):
        for _ in ("mean", "variance"):
            number = recorded("reduction")
            reduce(lambda partial, _, number=number: partial + number, range(columns), number) / number
        number = recorded("elementwise")
        deviation = (number + number).function()  # of the variance and epsilon, once for each row
        for _ in range(columns):
            centred = number - number
            centred * centred
            number * (centred / deviation)
        number = recorded("bias")
        [number + number for _ in range(columns)]
    counted = count_flops(layer_norm().at(n=rows, d=columns))
    assert counted == Flops(norm=Integer(sum(Recorded.done.values())))


def test_positions_count_what_loops_execute():
    """The wavelengths once for each pair, the angles for each position and pair, then a sine and a cosine."""
    done = 0
    for _ in range(3):
        done += 2  # the exponent 2i/d_model, the power
    for _ in range(5 * 3):
        done += 1 + sum(1 for _ in (sin, cos))
    assert count_flops(positional_encoding().at(n=5, d_model=6)) == Flops(elementwise=Integer(done))


MEASURED = [  # sizes, batch, products counted by torch.utils.flop_counter.FlopCounterMode of torch 2.13.0, forward
    (multi_head_attention(), {"d_model": 64, "h": 4, "n": 16, "m": 16}, 1, 589824),
    (multi_head_attention(), {"d_model": 128, "h": 8, "n": 32, "m": 32}, 2, 9437184),
    (feed_forward(), {"d_model": 128, "d_ff": 512, "n": 32}, 2, 16777216),
    (encoder_layer(), {"d_model": 64, "h": 4, "d_ff": 256, "n": 16}, 1, 1638400),
    (encoder_layer(), {"d_model": 512, "h": 8, "d_ff": 2048, "n": 128}, 4, 3355443200),
    (decoder_layer(), {"d_model": 64, "h": 4, "d_ff": 256, "n": 8, "m": 16}, 1, 1228800),
    (decoder_layer(), {"d_model": 768, "h": 12, "d_ff": 3072, "n": 256, "m": 512}, 2, 12079595520),
]


@pytest.mark.parametrize(("layer", "sizes", "batch_size", "measured"), MEASURED)
def test_products_agree_with_those_measured_while_running(layer: Layer, sizes, batch_size: int, measured: int):
    """Only products are counted there, a multiply-add as 2, causal products full: `matmul` here."""
    width = {"d_k": sizes["d_model"] // sizes["h"], "d_v": sizes["d_model"] // sizes["h"]} if "h" in sizes else {}
    assert count_flops(layer.at(**sizes, **width), batch_size).matmul == measured


# --- shapes


def test_the_shape_table_names_every_intermediate():
    table = dict(shape_table(encoder_layer()))
    assert table["X"] == table["Y"] == table["Z"] == (n, d_model)
    assert table["attention.Q"] == (h, n, d_k)
    assert table["attention.attention.A"] == (h, n, n)
    assert table["attention.Z"] == (n, Blocks(h, d_v))
    assert table["feed_forward.H"] == (n, d_ff)


def test_the_documents_feed_forward_shapes():
    """[10, 512] -> [10, 2048] -> [10, 512] for one example."""
    table = dict(shape_table(feed_forward().at(n=10, d_model=512, d_ff=2048)))
    assert [tuple(map(int, table[name])) for name in ("X", "H", "G", "Y")] == [
        (10, 512),
        (10, 2048),
        (10, 2048),
        (10, 512),
    ]


def test_the_shape_table_is_in_order_of_evaluation():
    names = [name for name, _ in shape_table(multi_head_attention())]
    order = ["X_Q", "W_Q", "Q", "K", "V", "attention.S", "attention.A", "attention.O", "head", "Z", "Y"]
    assert all(names.index(a) < names.index(b) for a, b in pairwise(order))


def test_weights_shared_by_a_family_have_no_axis_of_it():
    X, let = array("X", h, n, d_in), Equations()
    Y = let("Y", over=(i, h))(part("map", linear())(X[i]))
    layer = Layer("shared", (X,), (), let, Y)
    table = dict(shape_table(layer))
    assert (table["map.W"], table["map.Y"], table["Y"]) == ((d_in, d_out), (h, n, d_out), (h, n, d_out))
    assert count_parameters(layer) == d_in * d_out + d_out
    assert count_flops(layer).matmul == 2 * h * n * d_in * d_out


# --- a count as a term


def test_a_count_stays_as_written_and_has_a_value():
    count = Count("parameters", multi_head_attention())
    assert str(count) == "parameters(multi_head_attention)"
    assert str(Count("matmul FLOPs", feed_forward(), batch)) == "matmul FLOPs(feed_forward, batch = batch)"
    assert count.value() == count_parameters(multi_head_attention())
    assert count - count == 0
    assert str(2 * count / d_k) == "2*parameters(multi_head_attention)/d_k"
    assert count.func(*count.args) == count
    assert count.is_real
    assert count.is_positive
    assert not Count("softmax FLOPs", linear()).is_positive


def test_every_count_reads_its_own_figure():
    layer, flops = feed_forward(gelu), count_flops(feed_forward(gelu), 3)
    values = {
        "parameters": count_parameters(layer), "FLOPs": flops.total, "multiply-adds": flops.matmul / 2,
        "matmul FLOPs": flops.matmul, "bias FLOPs": flops.bias, "softmax FLOPs": Integer(0),
        "norm FLOPs": Integer(0), "activation FLOPs": flops.activation,
        "reduction FLOPs": Integer(0), "elementwise FLOPs": flops.activation + flops.elementwise,
    }  # fmt: skip
    assert {what: Count(what, layer, 3).value() for what in values} == values


def test_a_count_follows_its_sizes_and_hides_its_indices():
    count = Count("parameters", multi_head_attention())
    assert i not in count.free_symbols
    assert (
        count.xreplace({h: Integer(8), d_k: Integer(64), d_v: Integer(64), d_model: Integer(512)}).value() == 4 * 512**2
    )


def test_a_count_of_nothing_known_is_refused():
    with pytest.raises(ValueError, match=r"there is no count called 'flops'; the counts are parameters, FLOPs, "):
        Count("flops", linear())
