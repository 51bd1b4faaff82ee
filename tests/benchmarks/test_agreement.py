"""What must agree before it is timed: other numbers, other shapes and missing arrays are refused."""

import numpy as np
import pytest

from tests.benchmarks.agreement import Disagreement, difference, require_agreement
from tests.benchmarks.race import race
from tests.benchmarks.timing import Contestant


def nested(change: float = 0.0) -> tuple:
    return np.arange(6.0).reshape(2, 3), {"b": np.zeros(5), "W": [np.full(7, 2.0 + change)]}


def test_the_difference_is_a_share_of_the_largest_entry() -> None:
    assert difference(nested(), nested()) == 0
    assert difference(nested(0.5), nested()) == 0.25


def test_an_array_of_zeros_is_held_to_a_thousandth_of_the_others() -> None:
    assert difference([np.full(3, 1e-6), np.ones(2)], [np.zeros(3), np.ones(2)]) == pytest.approx(1e-3)


def test_a_contestant_that_differs_is_refused() -> None:
    assert require_agreement("peer", nested(1e-5), nested()) < 1e-5
    with pytest.raises(Disagreement, match=r"peer differs by 5.0e-04, more than rounding: 1e-04 is allowed"):
        require_agreement("peer", nested(1e-3), nested())
    with pytest.raises(Disagreement, match="peer differs by nan"):
        require_agreement("peer", nested(np.nan), nested())


@pytest.mark.parametrize("found", [nested()[:1], (nested()[0].T, nested()[1]), (nested()[0], {"b": np.zeros(5)})])
def test_other_arrays_are_refused(found: tuple) -> None:
    with pytest.raises(Disagreement, match="these shapes are expected"):
        difference(found, nested())


def test_a_race_against_one_that_differs_does_not_start() -> None:
    calls = []
    wrong = Contestant("wrong", lambda: calls.append(1) or np.full(3, 1.1))
    with pytest.raises(Disagreement, match="wrong differs"):
        race("a race", [wrong], 11, expected=np.ones(3))
    assert len(calls) == 1
