"""A limit on the work that one formula may cost. A formula over the limit is left `unknown`.

Definition   a step is a part of a formula that is visited, or as much work as that; whoever does more says so
Result       `spend` raises `TooCostly` where the steps of the formula are used up, or its seconds of processor time
Assumes      the steps decide, so that a document is judged alike on every machine; the seconds are for what no loop
             counts. Outside of a budget nothing is limited
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf

from derivations.language.judge.normal_form.context import ALLOWANCE

try:
    from time import thread_time
except ImportError:  # in a browser, where Python has one thread
    from time import process_time as thread_time

__all__ = ["MOST_SECONDS", "MOST_STEPS", "MOST_TERMS", "Budget", "TooCostly", "budget_of", "current_budget", "spend"]

MOST_STEPS = 200_000  # about a second
# of the processor, and several times what the steps take, so that a busy computer decides nothing; what is under way is
# not interrupted. In a browser Python runs at a third of the speed, and its clock counts what other programs do as well
MOST_SECONDS: float = 15 if sys.platform == "emscripten" else 5
MOST_TERMS = 40_000  # that one decision of the judge may write down: formulas of documents need less than half of it
BETWEEN = 256  # steps between two looks at the clock


class TooCostly(Exception):
    """A formula costs more than its budget."""


@dataclass
class Budget:
    """The steps that one formula may use, its deadline in processor time, and the steps used so far."""

    steps: float
    seconds: float = inf
    spent: int = 0
    until_look: int = 0

    def spend(self, steps: int = 1) -> None:
        """Count `steps`, and raise TooCostly if the budget is used up."""
        self.spent += steps
        if self.spent > self.steps:
            raise TooCostly(f"more than {self.steps} steps")
        self.until_look -= steps
        if self.until_look < 0 and self.seconds < inf:
            self.until_look = BETWEEN
            if thread_time() > self.seconds:
                raise TooCostly("more time than a formula has")


_current: ContextVar[Budget] = ContextVar("budget", default=Budget(inf))  # noqa: B039  # shared, and has no end


@contextmanager
def budget_of(steps: float = MOST_STEPS, seconds: float | None = None) -> Iterator[Budget]:
    """Limit the work inside a `with` block. That work takes no steps and no time from an enclosing budget."""
    around, begin = _current.get(), thread_time()
    end = begin + (MOST_SECONDS if seconds is None else seconds)
    token, allowed = _current.set(Budget(steps, end)), ALLOWANCE.set(MOST_TERMS)
    try:
        yield _current.get()
    finally:
        _current.reset(token)
        ALLOWANCE.reset(allowed)
        around.seconds += thread_time() - begin


def current_budget() -> Budget:
    """Return the budget of the formula that is judged."""
    return _current.get()


def spend(steps: int = 1) -> None:
    """Count work for the formula that is judged.

    Raises       TooCostly
    """
    _current.get().spend(steps)
