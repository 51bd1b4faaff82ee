"""The statistics of the benchmarks, on times that are made up: nothing here is timed."""

import itertools
import time

import pytest

from tests.benchmarks.timing import Contestant, timed
from tests.benchmarks.verdicts import OURS, PEER, SHOWN, Spread, fastest, paired, spread, verdict

ROLES = {"yardstick": SHOWN, "slow": PEER, "quick": PEER, "ours": OURS}


def test_median_and_quartiles() -> None:
    assert spread([5, 1, 4, 2, 3]) == Spread(3, 2, 4)
    assert spread([7]) == Spread(7, 7, 7)


def test_ratios_are_taken_within_each_round() -> None:
    """A round in which everything takes ten times as long changes nothing."""
    seconds = {"a": [1, 2, 30, 3], "b": [2, 4, 60, 6]}
    assert paired(seconds, "a", "b") == Spread(0.5, 0.5, 0.5)


def test_unequal_numbers_of_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        paired({"a": [1, 2], "b": [1]}, "a", "b")


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        ([0.8, 0.9, 0.7, 0.8, 0.9], "faster"),
        ([1.2, 1.1, 1.3, 1.2, 1.1], "slower"),
        ([0.8, 1.2, 0.9, 1.1, 1.0], "within the spread"),
        ([0.9, 1.0, 1.0, 1.0, 1.0], "within the spread"),
        ([1.1, 1.2, 1.2, 1.1, 0.1], "slower"),
    ],
)
def test_the_verdict_says_slower_when_it_is_slower(ours: list[float], said: str) -> None:
    assert verdict(paired({"ours": ours, "peer": [1.0] * 5}, "ours", "peer")) == said


def test_only_peers_are_raced_against() -> None:
    seconds = {"yardstick": [1, 1, 1], "slow": [9, 9, 9], "quick": [5, 50, 4], "ours": [2, 2, 2]}
    assert fastest(seconds, ROLES) == "quick"
    assert fastest({**seconds, "quick": [10, 50, 4]}, ROLES) == "slow"


def test_every_contestant_is_called_once_a_round_and_the_order_moves_on() -> None:
    called: list[str] = []
    contestants = [Contestant(name, lambda name=name: called.append(name)) for name in "abc"]
    seconds = timed(contestants, 4, warm=False, pause=0)
    assert "".join(called) == "abcbcacababc"
    assert {name: len(column) for name, column in seconds.items()} == {"a": 4, "b": 4, "c": 4}


def test_a_warm_turn_times_its_second_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    called: list[float] = []
    assert timed([Contestant("a", lambda: called.append(next(clock)))], 2, pause=0) == {"a": [2, 2]}
    assert called == [0, 2, 4, 6]
