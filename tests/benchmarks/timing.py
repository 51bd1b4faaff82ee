"""Contestants timed in turn, one round after the other.

Definition   a round calls every contestant once, and the order moves on by one from round to round
Assumes      every contestant may use the same cores. Idle threads of a library spin for some milliseconds after its
             turn, so each turn begins with a pause and, if `warm`, with one call that is not timed
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.verdicts import PEER

__all__ = ["ROUNDS", "Contestant", "progress", "timed"]

ROUNDS = 11  # at least so many, for what is published
PAUSE = 0.05  # seconds: OpenBLAS spins for some 26 ms after a product, libgomp for less


@dataclass(frozen=True)
class Contestant:
    """A call to time, its name, and its role: ours, a peer to race against, or shown beside them."""

    name: str
    call: Callable[[], Any]
    role: str = PEER


def progress(text: str) -> None:
    """Say on standard error what is going on."""
    print(text, file=sys.stderr, flush=True)


def timed(
    contestants: Sequence[Contestant], rounds: int = ROUNDS, *, warm: bool = True, pause: float = PAUSE
) -> dict[str, list[float]]:
    """Return the seconds that every contestant takes, round by round."""
    seconds: dict[str, list[float]] = {each.name: [] for each in contestants}
    for number in range(rounds):
        first = number % len(contestants)
        for each in (*contestants[first:], *contestants[:first]):
            time.sleep(pause)
            if warm:
                each.call()
            start = time.perf_counter()
            each.call()
            seconds[each.name].append(time.perf_counter() - start)
    return seconds
