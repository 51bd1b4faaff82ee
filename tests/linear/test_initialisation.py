"""The results about initialisation are proved; broken ones are not, and exact enumeration agrees with them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import product as all_choices
from math import prod

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Rational, Symbol

from derivations.feed_forward.symmetry_breaking import X, equal_units_stay_equal, zero_branch
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.initialisation import (
    E,
    a,
    correlated_counterexample,
    fan_in_variance,
    h,
    he,
    he_leaky,
    outputs_are_uncorrelated,
    query_key_variance,
    residual_doubling,
    residual_growth,
    sigma,
    v,
    x,
    xavier,
)
from derivations.symbols import N, d_in, d_k, d_model, d_out, i, index, scalar
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("initialisation"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes, under the moments that it states."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


half, p, q = 2 / (d_in + d_out), index("p"), index("q")
wide = scalar("a", positive=True)
WRONG = [
    ("outputs of mean 1", fan_in_variance, 0, 0, 1),
    ("fan-out in the place of fan-in", fan_in_variance, 1, 2, d_out * sigma**2 * v),
    ("a variance that does not grow", fan_in_variance, 1, 2, sigma**2 * v),
    ("a standard deviation as a variance", fan_in_variance, 1, 2, d_in * sigma * v),
    ("1/d_in that does not keep", fan_in_variance, 2, 0, d_in * v),
    ("outputs that are all equal", outputs_are_uncorrelated, 0, 0, sigma**2 * E((x @ x).entry())),
    (
        "outputs that go together",
        outputs_are_uncorrelated,
        0,
        1,
        1 - KroneckerDelta(*outputs_are_uncorrelated().ranges),
    ),
    ("forward with the fan-out", xavier, 0, 1, d_out * half * v),
    ("backward with the fan-in", xavier, 1, 0, d_in * sigma**2 * v),
    ("both factors 1", xavier, 2, 0, 1),
    ("a product below a half", xavier, 3, 0, Rational(1, 2)),
    ("a uniform distribution with its bound as variance", xavier, 4, 0, wide**2 - half),
    ("a uniform distribution that is half as wide", xavier, 4, 0, (wide**2 - 3 / (d_in + d_out)) / 3),
    ("halves that are the whole each", he, 0, 0, 2 * h[i] ** 2),
    ("the mean square kept by ReLU", he, 1, 1, 2 * E(h[i] ** 2)),
    ("ReLU that does not halve", he, 2, 1, d_in * sigma**2 * v),
    ("ReLU that quarters", he, 2, 1, d_in * sigma**2 * v / 4),
    ("2/d_in off by 2", he, 3, 0, 2 * v),
    ("the slope of leaky ReLU not squared", he_leaky, 0, 1, (1 + a) / 2 * E(h[i] ** 2)),
    ("leaky ReLU with a difference", he_leaky, 0, 1, (1 - a**2) / 2 * E(h[i] ** 2)),
    ("scores of variance d_model", query_key_variance, 1, 1, d_model),
    ("scores of variance 1 before the division", query_key_variance, 1, 1, 1),
    ("scores divided by d_k", query_key_variance, 2, 0, 1 / d_k),
    ("growth with the square of the depth", residual_growth, 0, 2, v + N**2 * sigma**2),
    ("no growth", residual_growth, 0, 2, v + sigma**2),
    ("growth from nothing", residual_growth, 0, 2, N * sigma**2),
    ("damping by 1/N", residual_growth, 1, 0, v + sigma**2 / N),
    ("a covariance once", residual_doubling, 0, 0, 2 * v),
    ("four times the variance", residual_doubling, 0, 2, 4 * v),
    ("a sign of mean 1", correlated_counterexample, 0, 0, 1),
    ("a sign of variance 0", correlated_counterexample, 1, 0, 0),
    ("the variance of the independent case", correlated_counterexample, 2, 1, d_k),
    ("d_k^2 above d_k + 3", correlated_counterexample, 3, 0, d_k + 3),
    ("the variance of the independent case for q = k", correlated_counterexample, 4, 0, d_k),
    ("a zero branch that doubles", zero_branch, 0, 0, 2 * X),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def without(right: Derivation, words: str) -> Derivation:
    """The derivation without the assumptions, general or of a claim, whose text has the words."""

    def kept(assumptions: Iterable[Basic]) -> tuple[Basic, ...]:
        return tuple(each for each in assumptions if words not in each.text)

    claims = tuple(replace(claim, given=kept(claim.given)) for claim in right.claims)
    changed = replace(right, claims=claims, assumptions=kept(right.assumptions))
    assert changed != right
    return changed


@pytest.mark.parametrize(
    ("right", "words", "claim"),
    [
        (fan_in_variance, "uncorrelated", 1),
        (fan_in_variance, "independently", 0),
        (fan_in_variance, "mean 0", 0),
        (fan_in_variance, "mean square", 1),
        (he, "symmetric", 1),
        (he, "symmetric", 3),
        (he_leaky, "symmetric", 0),
        (residual_growth, "zero covariance", 0),
        (residual_doubling, "zero covariance", 0),
        (query_key_variance, "uncorrelated", 1),
        (correlated_counterexample, "independent", 2),
        (equal_units_stay_equal, "equal weights out", 0),
        (equal_units_stay_equal, "equal biases", 1),
    ],
)
def test_a_dropped_assumption_is_missed(right: Callable[[], Derivation], words: str, claim: int) -> None:
    evidence = judge(without(right(), words))
    assert any(step.level in ("unknown", "refuted") for step in evidence.claims[claim])


def test_unequal_units_have_unequal_gradients() -> None:
    """Claimed for two units of which nothing is known, the equality of gradients is refuted."""
    right = equal_units_stay_equal()
    assert is_refused(with_step(replace(right, assumptions=()), 0, 1))
    assert is_refused(with_step(right, 0, 1, right.claims[1].steps[1].expression))


# --- the same by enumeration ----------------------------------------------------------------------------------------

Distribution = list[tuple[Fraction, Fraction]]  # values with their probabilities
FAIR: Distribution = [(Fraction(-1), Fraction(1, 2)), (Fraction(1), Fraction(1, 2))]
WIDE: Distribution = [
    (Fraction(-3), Fraction(1, 8)),
    (Fraction(0), Fraction(3, 4)),
    (Fraction(3), Fraction(1, 8)),
]  # 9/4
SKEW: Distribution = [(Fraction(-1, 2), Fraction(4, 5)), (Fraction(2), Fraction(1, 5))]  # mean 0, mean square 1


def variance_of(distributions: list[Distribution], value: Callable[..., Fraction]) -> Fraction:
    """The variance of a function of independent variables, by going through all their values."""
    first = second = Fraction(0)
    for choice in all_choices(*distributions):
        chance = prod((weight for _, weight in choice), start=Fraction(1))
        result = value(*(number for number, _ in choice))
        first, second = first + chance * result, second + chance * result**2
    return second - first**2


def number(formula: Basic, put: dict[Symbol, object]) -> Fraction:
    """The formula with numbers put in, as a fraction."""
    return Fraction(str(formula.subs(put)))


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("inputs", [FAIR, SKEW, WIDE])
def test_the_fan_in_formula_is_the_enumerated_variance(inputs: Distribution, width: int) -> None:
    mean_square = sum((chance * value**2 for value, chance in inputs), Fraction(0))
    found = variance_of(
        [inputs] * width + [WIDE] * width, lambda *all_: sum(all_[c] * all_[width + c] for c in range(width))
    )
    put = {d_in: width, sigma: Rational(3, 2), v: Rational(str(mean_square))}
    assert number(fan_in_variance().claims[1].rhs, put) == found


@pytest.mark.parametrize("width", [1, 2])
def test_relu_halves_what_is_symmetric_and_not_what_is_skew(width: int) -> None:
    """A symmetric distribution agrees with the formula; a skew one of the same mean square does not."""
    for distribution, agrees in ((FAIR, True), (WIDE, True), (SKEW, False)):
        mean_square = sum((chance * value**2 for value, chance in distribution), Fraction(0))
        found = variance_of(
            [distribution] * width + [FAIR] * width,
            lambda *all_: sum(max(all_[c], Fraction(0)) * all_[width + c] for c in range(width)),
        )
        put = {d_in: width, sigma: 1, v: Rational(str(mean_square))}
        assert (number(he().claims[2].rhs, put) == found) is agrees


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_residual_variances_add_up(depth: int) -> None:
    found = variance_of([SKEW] + [WIDE] * depth, lambda *all_: sum(all_, Fraction(0)))
    assert number(residual_growth().claims[0].rhs, {N: depth, v: 1, sigma: Rational(3, 2)}) == found


@pytest.mark.parametrize("width", [2, 3, 5])
def test_the_counterexamples_are_those_of_fair_signs(width: int) -> None:
    """One sign for all of q, one for all of k; and q = k with signs as components."""
    common = variance_of([FAIR, FAIR], lambda s, t: width * s * t)
    own = variance_of([FAIR] * width, lambda *signs: sum((sign**2 for sign in signs), Fraction(0)))
    claims = correlated_counterexample().claims
    assert (number(claims[2].rhs, {d_k: width}), number(claims[4].rhs, {d_k: width})) == (common, own)
    assert common != width != own


def test_equal_units_keep_equal_gradients_in_numpy() -> None:
    """Central differences of the network with tanh: equal units have equal slopes, a third one has another."""
    rng = np.random.default_rng(5)
    data = {
        "X": rng.normal(size=(2, 3)),
        "W_1": rng.normal(size=(3, 5)),
        "b_1": rng.normal(size=5),
        "W_2": rng.normal(size=(5, 3)),
    }
    back = rng.normal(size=(2, 3))
    for name in ("W_1", "b_1"):
        data[name][..., 1] = data[name][..., 0]
    data["W_2"][1] = data["W_2"][0]

    def slope(feature: int, unit: int) -> float:
        values = []
        for moved in (1e-6, -1e-6):
            first = data["W_1"].copy()
            first[feature, unit] += moved
            values.append((back * (np.tanh(data["X"] @ first + data["b_1"]) @ data["W_2"])).sum())
        return float(values[0] - values[1]) / 2e-6

    for feature in range(3):
        assert slope(feature, 0) == pytest.approx(slope(feature, 1), abs=1e-8)
        assert abs(slope(feature, 0) - slope(feature, 2)) > 1e-3
