"""Working memory of a forward pass: by hand, against a replay of the equations, and layers that need more."""

import pytest
from sympy import Max

from derivations.attention.attention import scaled_dot_product_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.expression import Variable, array
from derivations.language.arrays.functions import gelu
from derivations.language.counting.live_arrays import live_entries
from derivations.language.counting.operations import entries
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import d_ff, d_k, d_model, d_v, m, n

SIZES = {n: 5, m: 7, d_model: 11, d_ff: 31, d_k: 3, d_v: 2}


def fullest(layer: Layer) -> int:
    return int(Max(*live_entries(layer)).xreplace(SIZES))


def test_a_network_holds_its_hidden_rows_twice():
    """X, H; then H, G, X being read no more; then G, Y: the hidden rows before and after the activation."""
    assert set(live_entries(feed_forward(gelu))) == {
        n * d_model + n * d_ff,
        2 * n * d_ff,
        n * d_ff + n * d_model,
    }


def chain(*, keeps: bool) -> Layer:
    """Y = (X A) B, with X added at the end when `keeps`."""
    X, A, B = array("X", n, d_model), array("A", d_model, d_ff), array("B", d_ff, d_model)
    let = Equations()
    H = let("H")(X @ A)
    Y = let("Y")(H @ B)
    Z = let("Z")(Y + X if keeps else Y + Y)
    return Layer("chain", (X,), (A, B), let, Z)


def test_a_value_that_is_read_later_is_kept():
    assert fullest(chain(keeps=False)) == 5 * (11 + 31)
    assert fullest(chain(keeps=True)) == 5 * (11 + 31 + 11)


def test_an_argument_that_is_read_later_stays_beside_the_part():
    X = array("X", n, d_model)

    def around(keeps: bool) -> Layer:
        let = Equations()
        F = let("F")(part("network", feed_forward(gelu))(X))
        Z = let("Z")(F + X if keeps else F + F)
        return Layer("around", (X,), (), let, Z)

    assert fullest(around(False)) == 5 * 2 * 31
    assert fullest(around(True)) == 5 * (2 * 31 + 11)


def test_an_array_of_a_part_is_another_one_than_its_namesake_outside():
    """H is read by the second equation and never again, although the network has an array of that name."""
    X, A, B = array("X", n, d_model), array("A", d_model, d_ff), array("B", d_ff, d_model)
    let = Equations()
    H = let("H")(X @ A)
    F = let("F")(H @ B)
    Z = let("Z")(part("network", feed_forward(gelu))(F))
    layer = Layer("before", (X,), (A, B), let, Z)
    assert any(equation.variable == H for equation in feed_forward(gelu).equations)
    assert fullest(layer) == fullest(feed_forward(gelu)) == 5 * 2 * 31


def test_a_repetition_works_in_one_place():
    X = array("X", n, d_model)
    let = Equations()
    Z = let("Z")(part("layers", feed_forward(gelu), count=13)(X))
    assert fullest(Layer("stack", (X,), (), let, Z)) == fullest(feed_forward(gelu))


def test_attention_is_one_kernel_unless_nothing_is():
    """Fused, only the output is made beside Q, K and V; apart, first the scores beside them, then both pairs and V."""
    Q, K, V = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v)
    let = Equations()
    O = let("O")(part("attention", scaled_dot_product_attention())(Q, K, V))
    layer = Layer("outer", (Q, K, V), (), let, O)
    assert fullest(layer) == 5 * 3 + 7 * 3 + 7 * 2 + 5 * 2
    assert set(live_entries(layer, lambda _: False)) >= {
        n * d_k + m * d_k + m * d_v + n * m,
        2 * n * m + m * d_v,
        n * m + m * d_v + n * d_v,
    }


# --- a replay: names bound one by one, dropped after their last use -----------------------------------------------


def replayed(layer: Layer) -> int:
    """The most entries held at once when the equations run in order and a value is dropped after its last reader."""
    reads = [e.nodes(Variable) for e in layer.equations]
    held = {v.name: int(entries(v.shape).xreplace(SIZES)) for v in layer.inputs}
    most = sum(held.values())
    for number, equation in enumerate(layer.equations):
        held[equation.variable.name] = int(entries(equation.variable.shape).xreplace(SIZES))
        most = max(most, sum(held.values()))
        later = {v.name for read in reads[number + 1 :] for v in read} | {v.name for v in layer.outputs}
        held = {name: size for name, size in held.items() if name in later}
    return most


@pytest.mark.parametrize("layer", [chain(keeps=False), chain(keeps=True), feed_forward(gelu)], ids=lambda l: l.name)
def test_a_replay_holds_as_much(layer: Layer):
    assert fullest(layer) == replayed(layer)
