"""The results about softmax are proved; broken ones are not, and plain loops agree with them."""

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sympy import Basic, Derivative, Expr, Indexed, Integer, KroneckerDelta, Rational, Sum, exp

from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import row_softmax
from derivations.language.judge.proof import StepEvidence, judge
from derivations.language.results.derivation import RESULTS, Claim, Derivation, Step, claim, derivation, step
from derivations.softmax.softmax import (
    definition,
    jacobian,
    jacobian_diagonal,
    log_jacobian,
    of_numbers,
    order_preserved,
    others,
    ratio,
    rounded,
    shift_invariance,
    softmax,
    sums_to_one,
    total,
    two_class_is_sigmoid,
    x,
    y,
)
from derivations.symbols import i, index, j, k, n, scalar
from tests.broken import broken_steps, is_refused, of_topic, with_step

NAMES = [name for name in of_topic("softmax") if RESULTS[name].__module__ == "derivations.softmax.softmax"]
pair = array("x", 2)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "softmax.definition" else "proved")


# --- what must be refused -------------------------------------------------------------------------------------------

WRONG = [
    ("no exponential below the line", definition, 0, 0, exp(x[i]) / total(x[j])),
    ("a sum that counts", sums_to_one, 0, 2, n),
    ("a shift of one side alone", shift_invariance, 0, 2, exp(x[i]) / total(exp(x[j] + scalar("c")))),
    ("a ratio with the sum of the inputs", ratio, 0, 1, exp(x[i] + x[k])),
    ("a wrong sign in the Jacobian", jacobian, 0, 2, y[i] * (KroneckerDelta(i, k) + y[k])),
    ("a wrong index in the Jacobian", jacobian, 0, 2, y[k] * (KroneckerDelta(i, k) - y[k])),
    ("a Jacobian without its delta", jacobian, 0, 2, y[i] * (1 - y[k])),
    ("a Jacobian without its second term", jacobian, 0, 2, y[i] * KroneckerDelta(i, k)),
    ("a square too many on the diagonal", jacobian_diagonal, 0, 0, y[i] * (1 - y[i] ** 2)),
    ("an order by twice the entry", order_preserved, 0, 0, 2 * y[k]),
    ("a logarithm without its sum", log_jacobian, 0, 0, x[i]),
    ("a slope of the logarithm with the wrong entry", log_jacobian, 1, 0, KroneckerDelta(i, k) - y[i]),
    ("a sigmoid of the sum", two_class_is_sigmoid, 0, 1, 1 / (1 + exp(-(pair[0] + pair[1])))),
    ("a sigmoid the wrong way round", two_class_is_sigmoid, 0, 1, 1 / (1 + exp(pair[0] - pair[1]))),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def of_softmax(one: Claim) -> StepEvidence:
    """What the judge says of the last step of a claim about y = softmax(x)."""
    return judge(derivation("", one, about=softmax(), ranges={i: n, k: n})).claims[0][-1]


def test_a_rule_that_differentiates_nothing_proves_no_derivative() -> None:
    assert is_refused(of_softmax(claim(Derivative(y[i], x[i]), step("algebra", y[i] * (1 - y[i])))))


def test_a_rule_that_does_not_exist_proves_nothing() -> None:
    assert is_refused(of_softmax(claim(y[i], step("as anyone can see", y[i]))))


def test_a_rule_of_inequalities_proves_no_equality() -> None:
    assert is_refused(of_softmax(Claim(y[i], (Step("bound", Integer(1), "="),))))


def test_the_order_of_entries_needs_that_of_inputs() -> None:
    assert judge(replace(order_preserved(), assumptions=())).level == "refuted"


def test_scaling_the_inputs_is_no_shift() -> None:
    assert is_refused(of_softmax(claim(row_softmax(scalar("c") * x).entry(i), step("algebra", y[i]))))


def test_a_sum_that_starts_too_late_is_not_one() -> None:
    assert is_refused(of_softmax(claim(Sum(y[j], (j, 1, n - 1)), step("algebra", 1))))


def test_an_entry_below_1_needs_a_second_entry() -> None:
    assert is_refused(of_softmax(claim(y[i], step("bound", 1, "<", others(i, y[j])))))


@pytest.mark.parametrize(
    ("number", "decimals", "value"),
    [
        (of_numbers(20, 10)[0] * of_numbers(20, 10)[1], 6, Rational(49, 10**6)),  # rounded twice
        (exp(Integer(20)) + exp(Integer(10)), 0, 485187221),  # the sum of two rounded numbers
        (of_numbers(2, 1)[0], 2, Rational(74, 100)),
    ],
)
def test_a_number_that_is_not_the_rounded_one_is_refused(number: Expr, decimals: int, value: Any) -> None:
    assert is_refused(of_softmax(rounded(number, decimals, value)))


# --- the same by plain loops ----------------------------------------------------------------------------------------


def plain_softmax(values: list[float]) -> list[float]:
    top = max(values)
    powers = [math.exp(value - top) for value in values]
    return [power / sum(powers) for power in powers]


def number(expression: Basic, values: list[float], **places: int) -> float:
    """The value of an expression in entries of x and of y = softmax(x); the second comes from the plain loop."""
    entries = {"x": values, "y": plain_softmax(values)}
    sized = expression.xreplace({n: Integer(len(values))} | {index(name): Integer(at) for name, at in places.items()})
    return float(
        sized.doit().replace(lambda e: isinstance(e, Indexed), lambda e: entries[e.base.label.name][int(e.indices[0])])
    )


def test_the_definition_is_the_plain_loop() -> None:
    values = [Random(11).uniform(-2, 2) for _ in range(7)]
    found = [number(definition().rhs, values, i=at) for at in range(7)]
    assert found == pytest.approx(plain_softmax(values), rel=1e-12)


def test_the_jacobian_is_the_central_difference() -> None:
    values = [Random(7).uniform(-2, 2) for _ in range(5)]
    width = 1e-5
    for at in range(5):
        for by in range(5):
            up, down = ([v + s * width * (p == by) for p, v in enumerate(values)] for s in (1, -1))
            slope = (plain_softmax(up)[at] - plain_softmax(down)[at]) / (2 * width)
            assert number(jacobian().rhs, values, i=at, k=by) == pytest.approx(slope, abs=1e-9)
