"""Teams of threads: which cores the caller and its helpers may use, during the work and after it."""

import os
import threading
from collections.abc import Iterator

import pytest

from numeric.runtime import teams
from numeric.runtime.teams import Team, team_of
from numeric.runtime.tiles import each_one

PATIENCE = 120  # seconds after which something hangs
CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()

pytestmark = pytest.mark.skipif(len(CORES) < 2, reason="the cores of a thread cannot be chosen here, or there is one")


@pytest.fixture
def team() -> Iterator[Team]:
    made = Team(1)
    for begun in made.begin(lambda: None):
        begun.result(PATIENCE)
    yield made
    made.helpers.shutdown()


def cores_of_work(team: Team) -> set[int]:
    """The cores that a helper may use."""
    found: list[set[int]] = []
    (begun,) = team.begin(lambda: found.append(os.sched_getaffinity(0)))
    begun.result(PATIENCE)
    return found[0]


def test_caller_and_helpers_have_different_cores_while_they_work(team: Team) -> None:
    with team.apart():
        (own,) = os.sched_getaffinity(0)
        assert cores_of_work(team) == CORES - {own}
    assert os.sched_getaffinity(0) == CORES


def test_a_block_inside_another_changes_nothing(team: Team) -> None:
    with team.apart():
        before = os.sched_getaffinity(0), cores_of_work(team)
        with team.apart():
            assert (os.sched_getaffinity(0), cores_of_work(team)) == before
        assert (os.sched_getaffinity(0), cores_of_work(team)) == before
    assert os.sched_getaffinity(0) == CORES


def test_after_an_error_the_caller_may_move_again(team: Team) -> None:
    with pytest.raises(ZeroDivisionError), team.apart():
        raise ZeroDivisionError
    assert os.sched_getaffinity(0) == CORES


def test_a_choice_of_the_user_is_put_back(team: Team) -> None:
    chosen = {min(CORES)}
    os.sched_setaffinity(0, chosen)
    try:
        with team.apart():  # with one core nothing can be placed
            assert os.sched_getaffinity(0) == chosen
        assert os.sched_getaffinity(0) == chosen
    finally:
        os.sched_setaffinity(0, CORES)


def test_where_nobody_can_choose_nothing_is_placed(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "_system_call", lambda: None)
    with team.apart():
        assert os.sched_getaffinity(0) == CORES == cores_of_work(team)


def test_work_of_several_callers_is_done_and_all_may_move_again() -> None:
    done: list[int] = []

    def call() -> None:
        each_one(done.append, range(50), 2)
        assert os.sched_getaffinity(0) == CORES

    callers = [threading.Thread(target=call) for _ in range(4)]
    for each in callers:
        each.start()
    for each in callers:
        each.join(PATIENCE)
    assert sorted(done) == sorted([*range(50)] * 4)
    assert team_of(2) is team_of(2)
