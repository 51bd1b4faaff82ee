"""Work in several processes: results in order, errors passed on."""

import gc
import math
import time
from multiprocessing import active_children

import pytest

from derivations.processes import announce, in_order, rarely_collecting


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


def test_an_error_ends_the_processes_at_once():
    before = set(active_children())
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        list(in_order(time.sleep, ["no number", 600], 2))
    for process in set(active_children()) - before:
        process.join(60)
        assert not process.is_alive()


def test_processes_are_announced_any_number_of_times():
    announce("math")
    announce("derivations.catalogue")
    assert list(in_order(math.factorial, [3], 2)) == [6]


def test_garbage_is_looked_for_rarely_and_then_as_before():
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rarely_collecting():
        assert gc.get_threshold()[0] > before[0]
        raise ZeroDivisionError
    assert gc.get_threshold() == before
