"""The results about softmax at extremes are proved; broken ones are not; large and small temperatures agree."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Basic, Integer, Limit, exp, oo

from derivations.language.arrays.expression import array, mask_array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.softmax.limits import cold_limit, gap, hot_limit, saturation, saturation_bound
from derivations.softmax.softmax import total, y
from derivations.symbols import i, j, n
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.softmax.limits")
M, r = mask_array("M", n), array("r", n)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


WRONG = [
    ("a saturation bound off by one", saturation_bound, 0, 5, (n - 2) * exp(-gap)),
    ("a saturation bound of the wrong rate", saturation_bound, 0, 5, (n - 1) * exp(-2 * gap)),
    ("a slope that stays", saturation, 1, 0, 1),
    ("cold: all weight on every maximum", cold_limit, 1, 0, M[i]),
    ("cold: uniform over all places", cold_limit, 1, 0, 1 / n),
    ("cold: the maxima take nothing", cold_limit, 1, 0, (1 - M[i]) / total(1 - M[j])),
    ("cold: the deficits forgotten", cold_limit, 0, 0, M[i] / total(M[j])),
    ("hot: uniform over one place fewer", hot_limit, 1, 0, 1 / (n + 1)),
    ("hot: nothing is left", hot_limit, 1, 0, 0),
    ("hot: the inputs still count", hot_limit, 1, 0, y[i]),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_a_saturation_bound_needs_the_leading_input() -> None:
    """Without the assumption that one input leads, the step that puts the gap in is refused."""
    evidence = judge(replace(saturation_bound(), assumptions=()))
    assert is_refused(evidence.claims[0][4])


def test_a_wrong_squeeze_is_refused() -> None:
    slope = saturation().claims[0].rhs
    for certificate in ((0, exp(-gap), slope, exp(-gap) - slope), (1, 1, slope - 1, 1 - slope)):
        assert is_refused(with_step(saturation(), 1, 0, 1, certificate=certificate))
    assert saturation().claims[1].lhs == Limit(slope, gap, oo)


def test_the_cold_limit_needs_a_maximum_and_deficits() -> None:
    some, positive = cold_limit().assumptions
    for left in ((some,), (positive,)):
        assert is_refused(judge(replace(cold_limit(), assumptions=left)).claims[1][0])


# --- the same by plain loops ----------------------------------------------------------------------------------------


def plain_softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]


def test_the_saturation_bound_holds_and_not_with_one_term_fewer() -> None:
    """All other inputs level at a gap g: (n - 1) e^-g / (1 + (n - 1) e^-g) is left, more than (n - 2) e^-g."""
    left = 1 - plain_softmax([1.0, 1.0, 9.0, 1.0, 1.0])[2]
    assert left <= float(saturation_bound().rhs.xreplace({gap: Integer(8), n: Integer(5)}))
    assert left > 3 * math.exp(-8)


def test_cold_and_hot_by_numbers() -> None:
    inputs = [0.5, 3.0, -1.0, 3.0, 2.5]
    cold = plain_softmax([200 * value for value in inputs])
    assert cold == pytest.approx([0, 0.5, 0, 0.5, 0], abs=1e-12)
    hot = plain_softmax([value / 1e9 for value in inputs])
    assert hot == pytest.approx([0.2] * 5, abs=1e-8)
