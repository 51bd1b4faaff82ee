"""Contestants timed in turn, and what their times say: medians, quartiles, ratios taken round by round, a verdict.

Definition   a round calls every contestant once; a ratio is formed within each round, then its median and quartiles
Result       `faster` where the upper quartile of ours / peer is below 1, `slower` where the lower one is above 1,
             `within the spread` otherwise
Assumes      every contestant may use the same cores. Idle threads of a library spin for some milliseconds after its
             turn, so each turn begins with a pause and, if `warm`, with one call that is not timed; the order of the
             turns moves on by one from round to round
"""

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "OURS",
    "PEER",
    "ROUNDS",
    "SHOWN",
    "Contestant",
    "Spread",
    "fastest",
    "paired",
    "progress",
    "spread",
    "timed",
    "verdict",
]

ROUNDS = 11  # at least so many, for what is published
PAUSE = 0.05  # seconds: OpenBLAS spins for some 26 ms after a product, libgomp for less
OURS, PEER, SHOWN = "ours", "peer", "shown"  # what is shown is measured beside the others, and not raced against
Seconds = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Contestant:
    """A call to time, its name, and its role: ours, a peer to race against, or shown beside them."""

    name: str
    call: Callable[[], Any]
    role: str = PEER


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles of several figures."""

    median: float
    low: float
    high: float


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


def spread(figures: Sequence[float]) -> Spread:
    """Return the median and the quartiles; of one figure, that figure."""
    if len(figures) < 2:
        return Spread(*[*figures] * 3)
    low, median, high = statistics.quantiles(figures, n=4, method="inclusive")
    return Spread(median, low, high)


def paired(seconds: Seconds, one: str, other: str) -> Spread:
    """Return the ratio of two contestants, taken within each round."""
    return spread([a / b for a, b in zip(seconds[one], seconds[other], strict=True)])


def fastest(seconds: Seconds, roles: Mapping[str, str]) -> str:
    """Return the peer with the smallest median."""
    peers = [name for name in seconds if roles[name] == PEER]
    return min(peers, key=lambda name: statistics.median(seconds[name]))


def verdict(ratio: Spread) -> str:
    """Return what a ratio of ours to a peer says."""
    if ratio.high < 1:
        return "faster"
    return "slower" if ratio.low > 1 else "within the spread"
