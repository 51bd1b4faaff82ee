"""The rules of reverse mode and the gradients of the layers are proved; broken ones are not."""

from dataclasses import replace

import pytest
from sympy import sqrt

from derivations.gradients import gradient, layer_gradients
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import Hadamard
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS
from derivations.symbols import d_k
from tests.broken import is_refused, of_topic, with_step
from tests.tiers import few

RULES = of_topic("gradient")
LAYERS = sorted(name for name, build in RESULTS.items() if build.__module__ == layer_gradients.__name__)


@pytest.mark.parametrize("name", [*RULES, *LAYERS])
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


@pytest.mark.parametrize("name", few(RULES, fast=8))
def test_twice_the_gradient_is_refused(name: str) -> None:
    """No rule holds with a factor 2, so no claim of the topic is one that anything passes."""
    right = RESULTS[name]()
    for number, claim in enumerate(right.claims):
        assert is_refused(with_step(right, number, len(claim.steps) - 1, 2 * claim.rhs)), (name, number)


@pytest.mark.parametrize("name", few(RULES, fast=8))
def test_a_gradient_of_the_wrong_sign_is_refused(name: str) -> None:
    right = RESULTS[name]()
    for number, claim in enumerate(right.claims):
        assert is_refused(with_step(right, number, len(claim.steps) - 1, -1 * claim.rhs)), (name, number)


@pytest.mark.slow
def test_without_its_assumptions_a_rule_is_not_proved() -> None:
    """ReLU has no slope at 0, and tokens outside the table choose no row."""
    for right in (gradient.relu_off_the_kink(), gradient.look_up(), gradient.pick(), gradient.masked_softmax()):
        bare = replace(right, claims=tuple(replace(claim, given=()) for claim in right.claims))
        assert judge(bare).level in ("unknown", "refuted")


def test_the_gradient_of_the_queries_needs_the_root() -> None:
    right = layer_gradients.gradient_q()
    assert is_refused(with_step(right, 0, 0, right.claims[0].rhs * sqrt(d_k)))
    assert is_refused(with_step(right, 1, 0, right.claims[1].steps[0].expression * sqrt(d_k)))


def test_the_gradient_of_layer_norm_needs_both_means() -> None:
    right = layer_gradients.layer_norm_gradient()
    entry = right.claims[0].rhs
    assert is_refused(with_step(right, 0, 0, entry + 1))
    rms = layer_gradients.projected(layer_gradients.G, layer_gradients.X_hat, centred=False)
    s = sqrt(layer_gradients.sigma2[layer_gradients.i] + layer_gradients.epsilon)
    assert is_refused(with_step(right, 0, 0, rms / s))


def test_softmax_without_the_row_sum_is_refused() -> None:
    right = gradient.softmax()
    value = right.claims[0].rhs

    def without_the_mean(array: Array) -> Array:
        weights, difference = array.args
        return Hadamard(weights, difference.args[0])

    assert is_refused(with_step(right, 0, 0, without_the_mean(value)))


def test_the_letters_of_a_rule_are_those_of_its_title() -> None:
    """A title about s with a formula about Y names two arrays."""
    assert "= ds 1^T" in gradient.row_sum().text() and "= dY" not in gradient.row_sum().text()
    assert "diag(dy)" in gradient.pick().text()


def test_a_function_of_two_arguments_is_no_function_of_one() -> None:
    assert "f : R^2 -> R" in gradient.elementwise_of_two().text()
    assert "f : R -> R" in gradient.elementwise().text()
