"""The results about the decoder are proved; broken ones are not, and counting by hand agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Basic, Eq, Lambda, Le, Lt, Sum

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import row_softmax
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Equations
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_ff, d_k, d_model, d_v, h, i, j, k, m, n
from derivations.transformer.decoder import (
    X,
    Y,
    Z,
    causal,
    cross_attention,
    cross_attention_weights,
    decoder_layer,
    first_sub_layer,
    flops,
    memory,
    memory_shapes,
    parameters,
    second_norm,
    second_sub_layer,
    self_attention,
    sub_layers,
    third_norm,
    third_sub_layer,
)
from tests.broken import broken_steps, is_refused, of_topic, with_step

Q, K, V, weights = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), array("W", n, m)
NEW = {x.name: array(f"{x.name}_new", n, d_model) for x in (X, Y, Z)}
heads = h * d_model * (d_k + d_v)


@pytest.mark.parametrize("name", of_topic("decoder"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "decoder.sub_layers" else "proved")


WRONG = [
    ("the scale dropped", cross_attention_weights, 0, 0, row_softmax(Q @ K.T)),
    ("a wrong shape of the weights", cross_attention_weights, 0, 0, row_softmax(K @ Q.T)),
    ("memory for queries", sub_layers, 1, 0, second_norm(Y + cross_attention(Y, Y, Y))),
    ("no residual in the second sub-layer", sub_layers, 1, 0, second_norm(cross_attention(Y, memory, memory))),
    ("the network left out", sub_layers, 2, 0, third_norm(Z)),
    ("the weights sum to the number of keys", cross_attention_weights, 1, 0, m),
    ("values left out", memory_shapes, 0, 0, Tabulated(Lambda((i, k), Sum(weights[i, j], (j, 0, m - 1))), n, d_v)),
    (
        "a key too few",
        memory_shapes,
        0,
        0,
        Tabulated(Lambda((i, k), Sum(weights[i, j] * V[j, k], (j, 0, m - 2))), n, d_v),
    ),
    ("m output rows", memory_shapes, 0, 0, Tabulated(Lambda((i, k), V[i, k]), m, d_v)),
    ("conformable for the wrong sizes", memory_shapes, 1, 0, Eq(n, d_v)),
    ("another row", causal, 2, 0, third_sub_layer(NEW["Z"])[0]),
    ("two norms", parameters, 0, 1, 4 * heads + 2 * d_model * d_ff + d_ff + 5 * d_model),
    ("one attention", parameters, 0, 1, 2 * heads + 2 * d_model * d_ff + d_ff + 7 * d_model),
    (
        "a memory of n positions",
        flops,
        0,
        1,
        2 * n * h * (d_k + d_v) * (n + 2 * d_model)
        + 2 * h * (d_k + d_v) * n * (2 * d_model + n)
        + 4 * n * d_model * d_ff,
    ),
]


@broken_steps(WRONG, fast=1)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def replaced_from(condition: Callable[[Basic, Basic], Basic]) -> tuple:
    """The definitions of `causal` with other rows replaced: kept are those for which the condition holds."""
    let, other = Equations(), array("R", n, d_model)
    for x in (X, Y, Z):
        seen = Iverson(condition(i, k))
        let(f"{x.name}_new")(Tabulated(Lambda((i, j), seen * x[i, j] + (1 - seen) * other[i, j]), n, d_model))
    return tuple(let)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "condition", "number"),
    [
        ("row k itself replaced, the network", lambda place, row: Lt(place, row, evaluate=False), 2),
        ("the rows up to k replaced, the network", lambda place, row: Le(row + 1, place, evaluate=False), 2),
    ],
)
def test_what_a_row_does_depend_on_may_not_be_replaced(what: str, condition: Callable, number: int) -> None:
    right = causal()
    wrong = replace(right, definitions=replaced_from(condition), claims=(right.claims[number],))
    assert is_refused(judge(wrong).claims[0][0]), what


@pytest.mark.slow
def test_without_the_mask_later_rows_are_seen() -> None:
    """The outputs of unmasked attention at row k differ when rows after k are replaced."""
    right, X_new = causal(), NEW["X"]
    old, new = cross_attention(X, X, X)[k], cross_attention(X_new, X_new, X_new)[k]
    chain = replace(right.claims[0], lhs=old, steps=(replace(right.claims[0].steps[0], expression=new),))
    assert is_refused(judge(replace(right, claims=(chain,))).claims[0][0])


@pytest.mark.slow
def test_the_mask_must_be_causal() -> None:
    """Under any other mask nothing is known of later rows."""
    right, X_new, M = causal(), NEW["X"], mask_array("M", n, n)
    old, new = self_attention(X, X, X, M)[k], self_attention(X_new, X_new, X_new, M)[k]
    chain = replace(right.claims[0], lhs=old, steps=(replace(right.claims[0].steps[0], expression=new),))
    assert is_refused(judge(replace(right, claims=(chain,))).claims[0][0])


def test_the_claims_of_causal_are_about_the_sub_layers() -> None:
    assert [c.lhs for c in causal().claims] == [first_sub_layer(X)[k], second_sub_layer(Y)[k], third_sub_layer(Z)[k]]
    assert "causal(n)" in str(causal().claims[0].lhs)


@pytest.mark.parametrize("sizes", [(2, 3, 5, 7, 11), (3, 2, 7, 5, 13)])
def test_the_parameters_are_those_of_the_matrices_by_hand(sizes: tuple[int, ...]) -> None:
    heads, key, value, width, inner = sizes
    attention = heads * (2 * width * key + width * value) + heads * value * width
    put = dict(zip((h, d_k, d_v, d_model, d_ff), sizes, strict=True))
    assert parameters().rhs.xreplace(put) == 2 * attention + 2 * width * inner + inner + width + 3 * 2 * width


def test_the_layer_has_three_norms_and_each_follows_a_sum() -> None:
    norms = [part for name, part in decoder_layer().parts.items() if name.endswith("norm")]
    assert [str(norm.arguments[0]) for norm in norms] == ["X + A", "Y + C", "Z + F"]
