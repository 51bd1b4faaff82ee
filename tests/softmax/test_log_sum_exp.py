"""The results about log-sum-exp and merging are proved; broken ones are not, and plain loops agree with them."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from itertools import permutations
from random import Random

import pytest
from sympy import Basic, exp, log

from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.softmax.log_sum_exp import (
    log_sum_exp_bounds,
    log_sum_exp_conjugate,
    log_sum_exp_gradient,
    online_merge,
    online_tiles,
    temperature,
)
from derivations.softmax.softmax import total, x, y
from derivations.symbols import i, index, j, k, n, scalar
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.softmax.log_sum_exp")
top = index("t")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


def entry(name: str) -> Basic:
    return array(name).entry()


m_1, s_1, m_2, s_2 = map(scalar, ("m_1", "s_1", "m_2", "s_2"))
WRONG = [
    ("a gradient that is the input", log_sum_exp_gradient, 0, 1, x[i]),
    ("a gradient of another entry", log_sum_exp_gradient, 0, 1, y[k]),
    ("a Hessian without its second term", log_sum_exp_gradient, 1, 0, y[i]),
    ("above the maximum by log 2", log_sum_exp_bounds, 0, 1, x[top] + log(2)),
    ("below the maximum plus log(n - 1)", log_sum_exp_bounds, 1, 1, x[top] + log(n) - 1),
    ("below the maximum", log_sum_exp_bounds, 1, 1, x[top]),
    ("equal inputs without their number", log_sum_exp_bounds, 2, 1, scalar("c")),
    ("a largest value without the entropy", log_sum_exp_conjugate, 1, 0, total(y[j] * x[j])),
    ("a bound by more than the value", log_sum_exp_conjugate, 0, 0, 1 + log_sum_exp_conjugate().claims[0].rhs),
    ("a slope that is the plain mean", temperature, 0, 0, total(x[j]) / n),
    ("a second slope without the mean", temperature, 1, 0, total(y[j] * x[j] ** 2)),
    ("a variance about 0", temperature, 1, 1, total(y[j] * x[j] ** 2)),
    ("a merge that forgets the scale", online_merge, 0, 0, s_1 + s_2),
    ("a merge that keeps the wrong maximum", online_merge, 1, 0, entry("m_12")),
    ("a sum of two of three parts", online_merge, 2, 0, entry("s_12")),
    ("a merge with the first part's maximum", online_merge, 3, 0, m_1),
    ("a merge that adds the sums", online_merge, 4, 0, s_1 + s_2),
    ("an identity that resets the maximum", online_merge, 5, 0, 0),
    ("an identity that doubles", online_merge, 6, 0, 2 * s_1),
    ("tiles without the second", online_tiles, 0, 0, entry("s_12") + exp(-entry("m_12"))),
    ("a maximum below its parts", online_tiles, 1, 0, m_1 + 1),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_bounds_need_the_largest_input() -> None:
    evidence = judge(replace(log_sum_exp_bounds(), assumptions=()))
    assert is_refused(evidence.claims[1][1])
    assert evidence.claims[0][1].level == "proved"  # it is at least every input, the largest or not


def test_merging_needs_every_order() -> None:
    """With the order of two of the three maxima alone, the third stays open; algebra goes through all cases itself."""
    right = online_merge().claims[1].rhs
    assert is_refused(with_step(online_merge(), 1, 0, right, certificate=(m_1, m_2)))
    assert with_step(online_merge(), 1, 0, right, rule="algebra", certificate=()).level == "proved"
    assert is_refused(with_step(online_merge(), 1, 0, right + m_1, rule="algebra", certificate=()))


# --- the same by plain loops ----------------------------------------------------------------------------------------


def merge(left: tuple[float, float], right: tuple[float, float]) -> tuple[float, float]:
    top = max(left[0], right[0])
    return top, left[1] * math.exp(left[0] - top) + right[1] * math.exp(right[0] - top)


def test_all_groupings_give_the_whole() -> None:
    source = Random(7)
    tiles = [[source.uniform(-30, 30) for _ in range(size)] for size in (2, 3, 5, 1)]
    parts = [(max(tile), sum(math.exp(value - max(tile)) for value in tile)) for tile in tiles]
    values = [value for tile in tiles for value in tile]
    whole = max(values), sum(math.exp(value - max(values)) for value in values)
    for order in permutations(parts):
        assert reduce(merge, order) == pytest.approx(whole, rel=1e-12)
        assert merge(merge(order[0], order[1]), merge(order[2], order[3])) == pytest.approx(whole, rel=1e-12)
    assert merge((-math.inf, 0.0), whole) == whole
    assert merge(whole, (-math.inf, 0.0)) == whole


def test_log_sum_exp_lies_between_its_bounds() -> None:
    for size in (1, 2, 3, 5, 7, 11):
        values = [Random(size + place).uniform(-3, 3) for place in range(size)]
        found = math.log(sum(map(math.exp, values)))
        assert max(values) <= found + 1e-12
        assert found <= max(values) + math.log(size) + 1e-12
    level = math.log(sum(math.exp(0.3) for _ in range(11)))
    assert level == pytest.approx(0.3 + math.log(11))
