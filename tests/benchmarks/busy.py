"""How much slower a layer becomes on a busy computer: `python -m tests.benchmarks.busy --load 5`.

Definition   a round times every contestant twice, beside as many busy processes as the load says and without them;
             its slowdown is the ratio of the two. Printed: times, slowdowns, and ours in multiples of PyTorch's, each
             as median and quartiles over the rounds
Assumes      the busy processes have normal priority and are stopped, not ended, while the others are timed; what else
             runs on the computer slows both down, and is told by the load averages
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numeric.optimize.prepare import prepare
from tests.benchmarks.agreement import require_agreement
from tests.benchmarks.grouped_layer import SIZES, drawn, grouped_layer, torch_grouped_layer
from tests.benchmarks.machine import require_all_cores
from tests.benchmarks.timing import PAUSE, ROUNDS, progress
from tests.benchmarks.verdicts import Spread, spread

__all__ = ["measured", "slowdowns", "table"]

Calls = Mapping[str, Callable[[], Any]]
Seconds = dict[str, list[float]]
CALLS = 5  # to a turn, whose median counts: one slice of the scheduler says little
OURS, PEER = "ours", "PyTorch"


def measured(load: int, rounds: int, n: int = SIZES["n"]) -> tuple[Seconds, Seconds]:
    """Return the seconds of every contestant by round, without and with busy processes beside it.

    Raises       Disagreement where the results differ by more than rounding
    """
    calls, expected = _contestants(n)
    for name, call in calls.items():
        require_agreement(name, call(), expected, 1e-4)
    quiet: Seconds = {name: [] for name in calls}
    busy: Seconds = {name: [] for name in calls}
    with _busy_processes(load) as (go_on, stop):
        for number in range(rounds):
            progress(f"  round {number + 1} of {rounds}")
            order = list(calls)[number % len(calls) :] + list(calls)[: number % len(calls)]
            for act, found in ((stop, quiet), (go_on, busy)):
                act()
                for name in order:
                    found[name].append(_median_seconds(calls[name]))
    return quiet, busy


def _contestants(n: int) -> tuple[Calls, Any]:
    layer = grouped_layer()
    case = drawn(layer, {**SIZES, "n": n})
    weights = {name: value for name, value in case.arguments.items() if name != "X"}
    X = np.asarray(case.arguments["X"])
    ours, theirs = prepare(layer, weights), torch_grouped_layer(weights)
    return {OURS: lambda: ours(X), PEER: lambda: theirs(X)}, case.expected


def _median_seconds(call: Callable[[], Any]) -> float:
    time.sleep(PAUSE)
    call()
    seconds = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[CALLS // 2]


@contextmanager
def _busy_processes(count: int) -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
    """Start processes that compute without end; yield what lets them go on and what stops them."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]

    def all_of_them(number: signal.Signals) -> None:
        for each in processes:
            each.send_signal(number)
        time.sleep(PAUSE)

    try:
        yield lambda: all_of_them(signal.SIGCONT), lambda: all_of_them(signal.SIGSTOP)
    finally:
        for each in processes:
            each.kill()
        for each in processes:
            each.wait()


def slowdowns(quiet: Seconds, busy: Seconds) -> dict[str, Spread]:
    """Return the slowdown of every contestant, taken within each round, and that of ours in multiples of the peer's."""
    by_round = {name: [b / q for b, q in zip(busy[name], quiet[name], strict=True)] for name in quiet}
    found = {name: spread(ratios) for name, ratios in by_round.items()}
    found["ours / PyTorch"] = spread([a / b for a, b in zip(by_round[OURS], by_round[PEER], strict=True)])
    return found


def table(quiet: Seconds, busy: Seconds, load: int) -> str:
    """Return the figures as a table in Markdown."""
    found = slowdowns(quiet, busy)
    rows = [f"| | alone, ms | beside {load} busy processes, ms | slowdown |", "| --- | --- | --- | --- |"]
    for name in quiet:
        times = [_shown(spread([1000 * second for second in column[name]]), 0) for column in (quiet, busy)]
        rows.append(f"| {name} | {times[0]} | {times[1]} | {_shown(found[name])} |")
    rows.append(f"| ours / PyTorch | | | {_shown(found['ours / PyTorch'])} |")
    return "\n".join(rows)


def _shown(figure: Spread, digits: int = 2) -> str:
    return f"{figure.median:.{digits}f} ({figure.low:.{digits}f} - {figure.high:.{digits}f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure at a load and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.busy", description=__doc__.partition("\n")[0])
    parser.add_argument("--load", type=int, default=5, help="busy processes beside the layer")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often every contestant is timed")
    parser.add_argument("--rows", type=int, default=SIZES["n"], help="positions of the sequence")
    given = parser.parse_args(arguments)
    if min(given.load, given.rounds, given.rows) < 1:
        parser.error("--load, --rounds and --rows are at least 1")
    require_all_cores()
    before = os.getloadavg()[0]
    quiet, busy = measured(given.load, given.rounds, given.rows)
    print(table(quiet, busy, given.load))
    print(f"\nThe load was {before:.2f} before and {os.getloadavg()[0]:.2f} after.")


if __name__ == "__main__":
    main()
