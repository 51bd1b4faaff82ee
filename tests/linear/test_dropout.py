"""The results about dropout are proved; broken ones are not, and enumeration over all masks agrees with them."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product as all_choices
from math import prod

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Rational, Sum, Symbol

from derivations.language.arrays.expression import array, mask_array
from derivations.language.arrays.functions import Hadamard, relu
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.dropout import (
    D,
    E,
    R,
    Var,
    W,
    X,
    b,
    commutes_with_relu,
    composition,
    definition,
    dropout,
    i,
    inference_equals_expectation,
    is_ridge_penalty,
    jacobian,
    k,
    keep,
    kept_entries,
    linear_mean,
    mean_preserved,
    norm,
    rate,
    total,
    variance,
    y,
)
from derivations.symbols import d_model, j, l, n, scalar
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step

second, first_mask = scalar("rate_2", positive=True), mask_array("D_1", n, d_model)
w = array("w", d_model)
error = y[i] - (X @ w)[i]


@pytest.mark.parametrize("name", of_topic("dropout"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes and rates."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "dropout.definition" else "proved")


@broken_steps(
    [
        ("without the division", definition, 0, 0, Hadamard(X, D)),
        ("divided by the rate", definition, 0, 0, Hadamard(X, D) / rate),
        ("without the mask", definition, 1, 0, X[i, k] / (1 - rate)),
        ("what is dropped is kept", definition, 1, 0, (1 - D[i, k]) * X[i, k] / (1 - rate)),
        ("divided twice", definition, 1, 0, D[i, k] * X[i, k] / (1 - rate) ** 2),
        ("the transposed mask", definition, 1, 0, D[k, i] * X[i, k] / (1 - rate)),
        ("no mask backward", jacobian, 0, 1, KroneckerDelta(i, j) * KroneckerDelta(k, l) / keep),
        ("no factor backward", jacobian, 0, 1, KroneckerDelta(i, j) * KroneckerDelta(k, l) * D[i, k]),
        ("one mask for two", composition, 0, 0, Hadamard(X, first_mask) / (keep * (1 - second))),
        ("rates that add up", composition, 0, 0, Hadamard(X, first_mask) / (1 - rate - second)),
        ("no factor after ReLU", commutes_with_relu, 0, 0, Hadamard(relu(X), D)),
        ("no mask after ReLU", commutes_with_relu, 0, 0, relu(X) / keep),
        ("a mean of what is kept alone", mean_preserved, 0, 2, keep * E(X[i, k])),
        ("a mean divided by the rate", mean_preserved, 0, 0, E(R[i, k] * X[i, k]) / rate),
        ("the variance of the input alone", variance, 0, 2, Var(X[i, k])),
        ("the rate without its division", variance, 0, 2, Var(X[i, k]) + rate * E(X[i, k] ** 2)),
        ("the odds the wrong way round", variance, 0, 2, Var(X[i, k]) + keep / rate * E(X[i, k] ** 2)),
        ("the variance in the place of the square", variance, 0, 2, Var(X[i, k]) * (1 + rate / keep)),
        ("a fixed input without a variance", variance, 1, 0, 0),
        ("a norm that stays", norm, 0, 1, total(E(X[i, k] ** 2))),
        ("a norm divided twice", norm, 0, 1, total(E(X[i, k] ** 2)) / keep**2),
        ("as many entries kept as dropped", kept_entries, 0, 1, d_model * rate),
        ("a variance of all entries together", kept_entries, 1, 1, d_model**2 * rate * keep),
        ("the bias divided too", linear_mean, 0, 1, total(E(X[i, k] * W[k, j])) + E(b[j]) / keep),
        ("what is kept alone, after the layer", linear_mean, 0, 1, keep * total(E(X[i, k] * W[k, j])) + E(b[j])),
        ("no factor at inference", inference_equals_expectation, 0, 1, E(X[i, k])),
        ("the factor twice", inference_equals_expectation, 1, 0, keep * Hadamard(X, D)),
        ("the factor at inference for the inverted form", inference_equals_expectation, 2, 0, keep * E(X[i, k])),
        ("no penalty", is_ridge_penalty, 0, 0, E(error**2)),
        ("a penalty on weights alone", is_ridge_penalty, 0, 0, E(error**2) + rate / keep * total(E(w[k] ** 2))),
        (
            "a penalty on the prediction",
            is_ridge_penalty,
            0,
            0,
            E(error**2) + rate / keep * E(Sum(X[i, k] * w[k], (k, 0, d_model - 1)) ** 2),
        ),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_without_the_assumption_the_division_is_not_allowed() -> None:
    """With rate < 1 left out, 1 - rate may be 0."""
    evidence = judge(replace(definition(), assumptions=()))
    assert evidence.level == "unknown"
    assert "nonzero" in evidence.failures[0]


@pytest.mark.parametrize(
    ("right", "words"),
    [
        (mean_preserved, "independently"),
        (mean_preserved, "probability"),
        (variance, "its own square"),
        (kept_entries, "are independent"),
        (linear_mean, "independently"),
        (is_ridge_penalty, "are independent"),
    ],
)
def test_a_dropped_assumption_is_missed(right: Callable[[], Derivation], words: str) -> None:
    """Without the independence or the distribution of the mask nothing follows."""
    kept = tuple(each for each in right().assumptions if words not in each.text)
    assert len(kept) < len(right().assumptions)
    assert judge(replace(right(), assumptions=kept)).level == "unknown"


def test_the_compiled_layer_is_the_loop() -> None:
    """At prime sizes, with a batch axis."""
    rng = np.random.default_rng(5)
    inputs, mask = rng.normal(size=(2, 3, 5)), rng.random((2, 3, 5)) < 0.7
    expected = np.zeros((2, 3, 5))
    for place in np.ndindex(2, 3, 5):
        expected[place] = inputs[place] / 0.7 if mask[place] else 0.0
    np.testing.assert_allclose(compile_layer(dropout())(inputs, mask, rate=0.3), expected, rtol=1e-12)


# --- the same by enumeration over all masks -------------------------------------------------------------------------

RATE = Fraction(1, 3)
ROW = (Fraction(2), Fraction(-3, 2), Fraction(5))


def expected(value: Callable[..., Fraction]) -> Fraction:
    """The expectation of a function of the mask of one row, by going through all masks."""
    chances = {0: RATE, 1: 1 - RATE}
    masks = all_choices((0, 1), repeat=len(ROW))
    return sum((prod((chances[bit] for bit in mask), start=Fraction(1)) * value(mask) for mask in masks), Fraction(0))


def number(formula: Basic, put: dict[Symbol, object]) -> Fraction:
    """The formula with numbers put in, as a fraction."""
    return Fraction(str(formula.subs(put)))


def test_mean_and_variance_are_those_of_all_masks() -> None:
    """Entry 1 of a row that is not random, over the eight masks of the row."""
    dropped = [lambda mask, c=c: mask[c] * ROW[c] / (1 - RATE) for c in range(3)]
    put = {rate: Rational(1, 3), E(X[i, k]): Rational(-3, 2)}
    assert expected(dropped[1]) == ROW[1] == number(mean_preserved().rhs, put)
    spread = expected(lambda mask: dropped[1](mask) ** 2) - ROW[1] ** 2
    assert number(variance().claims[1].rhs, put) == spread
    kept = expected(lambda mask: Fraction(sum(mask) ** 2)) - expected(lambda mask: Fraction(sum(mask))) ** 2
    assert number(kept_entries().claims[1].rhs, {rate: Rational(1, 3), d_model: 3}) == kept


def test_the_ridge_penalty_is_that_of_all_masks() -> None:
    """The expected squared error of a prediction, over the eight masks, against the error and its penalty."""
    weights, target = (Fraction(1, 2), Fraction(4), Fraction(-1)), Fraction(7)
    terms = [x * weight for x, weight in zip(ROW, weights, strict=True)]
    found = expected(lambda mask: (target - sum(bit * t / (1 - RATE) for bit, t in zip(mask, terms, strict=True))) ** 2)
    assert found == (target - sum(terms)) ** 2 + RATE / (1 - RATE) * sum(t**2 for t in terms)
