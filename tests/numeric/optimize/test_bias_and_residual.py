"""Where fixed rows of a residual sum are added once, and where that would cost more than it saves."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from derivations.costs.memory import pre_norm_layer
from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.expression import Array, array
from derivations.language.arrays.functions import Hadamard, relu
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, d_ff, d_model, h, i, n
from derivations.transformer.decoder import decoder_layer
from derivations.transformer.encoder import encoder_layer
from numeric.codegen.compile import compile_layer
from numeric.optimize import PASSES, optimize, packed
from tests.numeric.optimize.layers import made, model, refused

X, A = array("X", n, d), array("A", n, d)
W, V, b, c, e = array("W", d, d), array("V", d, d), array("b", d), array("c", d), array("e", d)
ONCE = Counter(bias_and_residual=1)
OTHERS = [name for name in PASSES if name != "bias_and_residual"]


def block(*, second: bool = True, bias: bool = True, output: bool = False, entrywise: bool = False) -> Layer:
    """Y = A o X + b, then Y + (Y W + c) V + e, or with something that does not fit.

    `second`: the branch ends in a product with a bias; `bias`: the first product has one; `output`: Y is one, too;
    `entrywise`: the branch reads Y by more than a product.
    """
    let = Equations()
    Y = let("Y")(Hadamard(A, X) + b)
    H = let("H")(Y @ W + c if bias else Y @ W)
    G = let("G")(Hadamard(relu(H), Y) if entrywise else relu(H))
    F = let("F")(G @ V + e if second else G @ V)
    S = let("S")(Y + F)
    parameters = (W, V, b, *([c] if bias else []), *([e] if second else []))
    return Layer("block", (X, A), parameters, let, (S, Y) if output else S)


def of_sum(value: Array, *parameters: Array) -> Layer:
    """A layer that returns a sum."""
    let = Equations()
    return Layer("sum", (X, A), parameters, let, let("S")(value))


def test_the_shift_of_a_norm_joins_the_biases_of_what_reads_it() -> None:
    found = optimize(encoder_layer(biases=True))
    (rewrite,) = [r for r in found.rewrites if r.name == "bias_and_residual"]
    assert rewrite.evidence == "proved"
    assert [str(equation) for equation in rewrite.after] == [
        "Y_plain = attention_norm.gamma * attention_norm.X_hat",
        "F_plain = feed_forward.G @ feed_forward.W_2",
        "feed_forward.H = Y_plain @ feed_forward.W_1 + feed_forward.b_1_shifted",
        "feed_forward_norm.X = Y_plain + F_plain + feed_forward_norm.X_bias",
    ]
    assert [str(equation) for equation in rewrite.packed] == [
        "feed_forward.b_1_shifted = attention_norm.beta @ feed_forward.W_1 + feed_forward.b_1",
        "feed_forward_norm.X_bias = attention_norm.beta + feed_forward.b_2",
    ]
    assert [p.name for p in found.layer.parameters].count("attention_norm.beta") == 0


@pytest.mark.parametrize(
    ("subject", "times"),
    [
        (encoder_layer(), 1),
        (decoder_layer(), 1),  # queries have no bias: those of the other norms stay
        (model("bert-base"), 1),
        (model("gpt-j-6b"), 1),  # two branches beside one another
        (model("gpt2"), 0),  # the norm reads every sum
        (model("llama-2-7b"), 0),  # no biases
        (pre_norm_layer(dropping=False), 0),
    ],
    ids=lambda value: value.name if isinstance(value, Layer) else "",
)
def test_layers_of_every_kind(subject: Layer, times: int) -> None:
    found = optimize(subject)
    assert made(found)["bias_and_residual"] == times
    assert refused(found) == []


def test_a_block_has_one_row_less_to_add() -> None:
    found = optimize(block(), without=OTHERS)
    assert made(found) == ONCE
    texts = [str(equation) for equation in found.layer.equations]
    assert texts == [
        "Y_plain = A * X", "H = Y_plain @ W + c_shifted", "G = relu(H)", "F_plain = G @ V",
        "S = Y_plain + F_plain + S_bias",
    ]  # fmt: skip
    assert optimize(found.layer, without=OTHERS).layer == found.layer


def test_rows_that_stand_in_one_sum_are_added_once() -> None:
    found = optimize(of_sum(X + b + (A + c), b, c), without=OTHERS)
    assert [str(equation) for equation in found.layer.equations] == ["S = X + A + S_bias"]
    assert [str(equation) for equation in found.packing.equations] == ["S_bias = b + c"]


def test_a_term_that_is_a_name_gets_no_second_one() -> None:
    let = Equations()
    Y = let("Y")(X + b)
    S = let("S")(Y + A + c)
    found = optimize(Layer("named", (X, A), (b, c), let, S), without=OTHERS)
    assert [str(equation) for equation in found.layer.equations] == ["S = X + A + S_bias"]


@pytest.mark.parametrize(
    "layer",
    [
        block(second=False),  # one row: it would only move
        block(bias=False),  # Y W would get a bias that it has not
        block(output=True),
        block(entrywise=True),
        of_sum(X + A + b, b),
        of_sum(X + A),
        of_sum(X @ W + b, W, b),
    ],
    ids=["one row", "no bias", "output", "read otherwise", "one row in a sum", "none", "product"],
)
def test_what_would_cost_as_much_or_more_stays(layer: Layer) -> None:
    found = optimize(layer, without=OTHERS)
    assert (made(found), refused(found), found.layer) == (Counter(), [], layer)


@pytest.mark.parametrize("other", ["H", "Y"])
def test_a_sum_that_reads_its_rows_twice_stays(other: str) -> None:
    let = Equations()
    Y = let("Y")(Hadamard(A, X) + b)
    H = let("H")(Y @ W + c)
    S = let("S")(Y + {"H": H, "Y": Y}[other])
    layer = Layer("twice", (X, A), (W, b, c), let, S if other == "H" else (S, H))
    assert made(optimize(layer, without=OTHERS)) == Counter()


def test_rows_that_a_caller_gives_are_not_packed() -> None:
    let = Equations()
    S = let("S")(X + b + (A + c))
    assert made(optimize(Layer("given", (X, A, b, c), (), let, S))) == Counter()


def test_rows_go_through_the_weights_of_all_heads() -> None:
    W_i, b_i = array("W_i", h, d_model, d_ff), array("b_i", h, d_ff)
    U, O = array("U", n, d_model), array("O", n, d_model)
    beta, last = array("beta", d_model), array("last", d_model)
    let = Equations()
    Y = let("Y")(Hadamard(O, U) + beta)
    H = let("H", over=(i, h))(Y @ W_i[i] + b_i[i])
    Z = let("Z")(Concatenate(H[i], i, h))
    F = let("F")(U + last)
    S = let("S")(Y + F)
    layer = Layer("heads", (U, O), (W_i, b_i, beta, last), let, (S, Z))
    found = optimize(layer, without=OTHERS)
    assert made(found) == ONCE
    rng = np.random.default_rng(3)
    sizes = {"n": 5, "h": 3, "d_model": 7, "d_ff": 2}
    arrays = {v.name: rng.standard_normal([sizes[s.name] for s in v.shape]) for v in (*layer.inputs, *layer.parameters)}
    weights: dict[str, Any] = {p.name: arrays[p.name] for p in layer.parameters}
    inputs = [arrays[v.name] for v in layer.inputs]
    old = compile_layer(layer)(*inputs, **weights)
    new = compile_layer(found.layer)(*inputs, **packed(found, weights))
    assert all(np.allclose(a, z, rtol=0, atol=1e-13) for a, z in zip(old, new, strict=True))
