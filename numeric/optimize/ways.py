"""The ways in which a prepared layer can be called, and the one that was measured to be the fastest.

Definition   NumPy's products, or those of packed weights on one thread or on several (numeric.runtime.packed_weights);
             some hundred rows divided among threads, or left to the threads of BLAS
Result       the first call with about so many rows times each way on these very inputs; later ones take the fastest
Assumes      rows from one power of two to the next behave alike; where one way is possible, there is no timing
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numeric.runtime.packed_weights import PackedWeight
from numeric.runtime.tiles import FEW

__all__ = ["Way", "Ways", "ways_of"]

ROUNDS = 5  # of which the fastest counts: what else the processor does can only make a call slower
SECONDS = 0.1  # after which a way is not called again
PAUSE = 0.03  # seconds after which the threads that one way woke no longer spin

WHOLE = 512  # rows, below which it depends on the processor whether dividing them is a gain


@dataclass(frozen=True)
class Way:
    """One way to call a layer: its name, its arguments, its limits of rows, and how threads share the work."""

    name: str
    arguments: Mapping[str, Any]
    least: int = 0
    most: float = math.inf
    one_thread: bool = True  # in BLAS
    undivided: int = FEW  # rows, below which tiles are not divided


@dataclass
class Ways:
    """The ways to call a layer, and the fastest for each range of row counts, with its gain over the first way."""

    ways: tuple[Way, ...]
    taken: dict[int, tuple[Way, float]] = field(default_factory=dict)

    def way(self, rows: int, call: Callable[[Way], Any]) -> Way:
        """Return the fastest way for a number of rows. The first call in a range of row counts times each way."""
        possible = [way for way in self.ways if way.least <= rows < way.most]
        if len(possible) == 1:
            return possible[0]
        size = rows.bit_length()
        if size not in self.taken:
            times = _timed(possible, call)
            best = min(possible, key=lambda way: times[way.name])
            self.taken[size] = best, times[possible[0].name] / times[best.name]
        return self.taken[size][0]

    def text(self) -> str:
        """Return which way was taken from how many rows on, with the time of the first way divided by its own."""
        if len(self.ways) == 1:
            return ""
        rows = (
            f"from {(1 << size) // 2} rows {way.name} ({gain:.2f})" for size, (way, gain) in sorted(self.taken.items())
        )
        return f"ways: {', '.join(rows) or f'{len(self.ways)}, timed at the first call with about so many rows'}"


def _timed(ways: Sequence[Way], call: Callable[[Way], Any]) -> dict[str, float]:
    """Return the least time of a call in each way, in calls one after another, as they will be later."""
    times: dict[str, float] = {}
    for way in ways:
        time.sleep(PAUSE)
        begun = time.perf_counter()
        for _ in range(ROUNDS):
            before = time.perf_counter()
            call(way)
            taken = time.perf_counter() - before
            times[way.name] = min(taken, times.get(way.name, taken))
            if time.perf_counter() - begun > SECONDS:
                break
    return times


def ways_of(plain: Mapping[str, Any], packed: Mapping[str, Any], threads: int) -> Ways:
    """Return the ways of a layer on some threads, from its arguments with plain weights and with packed ones."""
    ways = [Way("numpy", plain, one_thread=False)]
    if threads > 1:
        ways.append(Way("numpy, undivided", plain, least=FEW, most=WHOLE, one_thread=False, undivided=WHOLE))
    if any(isinstance(weight, PackedWeight) for weight in _leaves(list(packed.values()))):
        threaded = {name: _threaded(argument) for name, argument in packed.items()}
        # where there are more rows, the threads have tiles of their own
        ways += [Way("packed", packed), Way("packed, on threads", threaded, most=FEW)]
    return Ways(tuple(ways))


def _leaves(argument: Any) -> list[Any]:
    return [leaf for each in argument for leaf in _leaves(each)] if isinstance(argument, list | tuple) else [argument]


def _threaded(argument: Any) -> Any:
    if isinstance(argument, list | tuple):
        return type(argument)(map(_threaded, argument))
    return argument.threaded() if isinstance(argument, PackedWeight) else argument
