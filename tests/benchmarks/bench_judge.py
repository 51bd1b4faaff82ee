"""How long the judge takes: three gradients with symbolic shapes, and the whole catalogue by both routes.

Run on its own, in one process; the ordinary suite does not collect this file:

    python -m pytest -n0 tests/benchmarks/bench_judge.py

The gradients are timed in processor time after import, so that other processes count little; the catalogue by the
clock, in two fresh processes, imports included. The last table gives each time in units of one fixed piece of SymPy's
own work, measured in the same run, and as a share of its target.
"""

import json
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from sympy import Symbol, expand

from derivations.language.judge.proof import judge
from tests.benchmarks.statements import STATEMENTS

RATIOS: dict[str, tuple[float, float, float]] = {}  # median, spread and target, in milliseconds
COUNT = iter(range(1, 1_000_000))


def unit() -> None:
    """SymPy's own work, as a yardstick of the machine: (a + b + c)^12 multiplied out, with fresh symbols each time."""
    number = next(COUNT)
    expand(sum(Symbol(f"{letter}_{number}") for letter in "abc") ** 12)


def record(name: str, benchmark: Any, target: float = 0) -> None:
    """Keep the median, the spread of the middle half, and the target for the table of ratios."""
    data = sorted(benchmark.stats.stats.data)
    middle = data[len(data) // 4 : len(data) - len(data) // 4]
    RATIOS[name] = (1000 * statistics.median(data), 1000 * (middle[-1] - middle[0]), target)


@pytest.fixture(scope="module", autouse=True)
def ratios(request: pytest.FixtureRequest) -> Any:
    """Print the table of ratios at the end of the run."""
    yield
    own = RATIOS.get("unit", (1.0, 0.0, 0.0))[0]
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\n{'':38}{'median':>12}{'spread':>12}{'units':>10}{'of target':>11}")
        for name, (median, spread, target) in RATIOS.items():
            share = f"{median / target:11.2f}" if target else ""
            print(f"{name:38}{median:9.1f} ms{spread:9.1f} ms{median / own:10.2f}{share}")


@pytest.mark.benchmark(timer=time.process_time, warmup=True, min_rounds=20)
def test_unit(benchmark: Any) -> None:
    """The yardstick."""
    benchmark(unit)
    record("unit", benchmark)


@pytest.mark.benchmark(timer=time.process_time, warmup=True, min_rounds=20)
@pytest.mark.parametrize("name", STATEMENTS)
def test_gradient(benchmark: Any, name: str) -> None:
    """One gradient, proved from the derivative on the left to the textbook's answer on the right."""
    build, target = STATEMENTS[name]
    built = build()
    evidence = benchmark(lambda: judge(replace(built)))  # an object keeps its evidence, so each round decides a new one
    assert evidence.level == "proved", evidence.failures
    record(name, benchmark, target)


def test_catalogue(benchmark: Any) -> None:
    """Every result proved again and cross-checked numerically: the command, in two processes."""

    def command() -> list[dict[str, Any]]:
        program = [sys.executable, "-m", "derivations.cli", "verify", "--jobs", "2", "--json"]
        ran = subprocess.run(program, capture_output=True, text=True, encoding="utf-8")
        return json.loads(ran.stdout)

    rows = benchmark.pedantic(command, rounds=3)
    assert {row["evidence"] for row in rows} <= {"proved", "definition"}
    assert "disagrees" not in {row["cross_check"] for row in rows}
    record(f"the catalogue ({len(rows)} results)", benchmark, 10_000)
