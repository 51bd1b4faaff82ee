"""The results about the encoder are proved; broken ones are not, and counting by hand agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Basic, Lambda

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_ff, d_k, d_model, d_v, h, i, j, l, n
from derivations.transformer.encoder import (
    A,
    F,
    X,
    Y,
    encoder_layer,
    first_norm,
    flops,
    layer_definition,
    network,
    output_row,
    parameters,
    permutation_equivariance,
    second_norm,
    sub_layers,
)
from tests.broken import broken_steps, is_refused, of_topic, with_step

DEFINITIONS = {"encoder.layer_definition", "encoder.sub_layers"}
y = array("y", 1, d_model)
X_P = array("X_P", n, d_model)


@pytest.mark.parametrize("name", of_topic("encoder"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name in DEFINITIONS else "proved")


heads = h * d_model * (d_k + d_v)
WRONG = [
    ("no residual", layer_definition, 0, 0, first_norm(A)),
    ("the residual subtracted", layer_definition, 0, 0, first_norm(X - A)),
    ("the residual of the first sub-layer's input", layer_definition, 1, 0, second_norm(X + F)),
    ("no norm between the sub-layers", layer_definition, 1, 1, second_norm(X + A + F)),
    ("the weights of the other norm", layer_definition, 0, 0, second_norm(X + A)),
    ("the norm before the residual sum", sub_layers, 0, 0, X + first_norm(A)),
    ("no feed-forward network", sub_layers, 1, 0, second_norm(Y)),
    (
        "the network of another row",
        output_row,
        0,
        0,
        second_norm(y + network(Tabulated(Lambda((l, j), Y[0, j]), 1, d_model))),
    ),
    ("the norm left out", output_row, 0, 0, y + network(y)),
    ("the attention left out", permutation_equivariance, 0, 0, first_norm(X_P)),
    ("one norm forgotten", parameters, 0, 1, 2 * heads + 2 * d_model * d_ff + d_ff + 3 * d_model),
    ("no biases in the network", parameters, 0, 1, 2 * heads + 2 * d_model * d_ff + 4 * d_model),
    ("three projections", parameters, 0, 1, h * d_model * (2 * d_k + d_v) + 2 * d_model * d_ff + d_ff + 5 * d_model),
    ("multiply-adds for FLOPs", flops, 0, 2, n * h * (d_k + d_v) * (n + 2 * d_model) + 2 * n * d_model * d_ff),
    ("scores linear in n", flops, 0, 2, 2 * n * h * (d_k + d_v) * (1 + 2 * d_model) + 4 * n * d_model * d_ff),
]


@broken_steps(WRONG, fast=1)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.slow
def test_a_permutation_needs_to_be_one() -> None:
    """An index function that may take a value twice does not commute with attention."""
    assert is_refused(judge(replace(permutation_equivariance(), bijections=())).claims[0][0])


@pytest.mark.slow
def test_the_row_must_be_the_same_on_both_sides() -> None:
    right = output_row()
    other = Tabulated(Lambda((l, j), Y[n - 1 - i, j]), 1, d_model)
    assert is_refused(with_step(right, 0, 0, second_norm(other + network(other))))


@pytest.mark.parametrize("sizes", [(2, 3, 5, 7, 11), (3, 2, 7, 5, 13)])
def test_the_parameters_are_those_of_the_matrices_by_hand(sizes: tuple[int, ...]) -> None:
    heads, key, value, width, inner = sizes
    matrices = heads * (2 * width * key + width * value) + heads * value * width + 2 * width * inner
    vectors = inner + width + 2 * (width + width)
    put = dict(zip((h, d_k, d_v, d_model, d_ff), sizes, strict=True))
    assert parameters().rhs.xreplace(put) == matrices + vectors


def test_the_layer_has_two_norms_and_each_follows_a_sum() -> None:
    norms = [part for name, part in encoder_layer().parts.items() if name.endswith("norm")]
    assert [str(norm.arguments[0]) for norm in norms] == ["X + A", "Y + F"]
