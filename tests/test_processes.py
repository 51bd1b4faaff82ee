"""Work in several processes: results in order, errors passed on."""

import math

import pytest

from derivations.processes import in_order


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_things(jobs: int):
    assert list(in_order(math.factorial, range(7), jobs)) == [1, 1, 2, 6, 24, 120, 720]
    assert list(in_order(math.factorial, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_is_passed_on(jobs: int):
    with pytest.raises(ValueError, match="not defined for negative values"):
        list(in_order(math.factorial, [3, -1], jobs))


def test_one_process_works_as_results_are_asked_for():
    seen: list[int] = []
    results = in_order(lambda number: seen.append(number) or number, range(3))
    assert next(results) == 0
    assert seen == [0]
