"""Teams of threads that share the work of a loop with the thread that calls them, each on a core of its own.

Definition   a team belongs to the process, and its helpers sleep between loops
Result       while a loop runs, the caller stays on its core, and the helpers use the other cores
Assumes      Linux lets a process choose the cores of its threads; elsewhere the system places them

Linux may wake a thread on the core of the thread that wakes it, although others are idle. Virtual machines do so for
tens of milliseconds, since it costs them much to wake a core. Caller and helpers would then share one core for several
calls of a layer.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

from numeric.runtime.blas_threads import limit_this_thread

__all__ = ["Team", "team_of"]


class Team:
    """Threads that help whichever thread calls them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.helpers = ThreadPoolExecutor(count, "tiles", initializer=self._introduced)
        self.numbers: list[int] = []  # by which the system knows the helpers
        self.placed: tuple[set[int], int] | None = None  # the cores of the helpers, and how many helpers know them

    def _introduced(self) -> None:
        self.numbers.append(threading.get_native_id())
        limit_this_thread()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Keep the calling thread on its core and the helpers away from it; afterwards the caller is free to move.

        A block inside such a block changes nothing.
        """
        core, cores = _core_of_caller()
        if len(cores) < 2:
            yield
            return
        try:
            _place(0, {core})
            others = cores - {core}
            if self.placed != (others, len(self.numbers)):
                self.placed = others, len(self.numbers)
                for number in list(self.numbers):
                    _place(number, others)
            yield
        finally:
            _place(0, cores)

    def begin(self, work: Callable[[], None]) -> list[Future[None]]:
        """Let every helper do the work."""
        return [self.helpers.submit(work) for _ in range(self.count)]


def _place(thread: int, cores: set[int]) -> None:
    """Let a thread run on some cores; 0 is the calling thread."""
    with suppress(OSError):  # the thread has ended, or the system took a core away
        os.sched_setaffinity(thread, cores)


def _core_of_caller() -> tuple[int, set[int]]:
    """Return the core on which the calling thread runs, and those on which it may; none where nobody can choose."""
    ask = _system_call()
    if ask is None:
        return 0, set()
    core, cores = ask(), os.sched_getaffinity(0)
    return (core, cores) if core in cores else (0, set())


@lru_cache(maxsize=1)
def _system_call() -> Any:
    return getattr(ctypes.CDLL(None), "sched_getcpu", None) if hasattr(os, "sched_setaffinity") else None


_lock = threading.Lock()
_teams: dict[int, Team] = {}


def team_of(threads: int) -> Team:
    """Return the team of this process that helps callers that work on so many threads, themselves included."""
    with _lock:
        if threads not in _teams:
            _teams[threads] = Team(threads - 1)
        return _teams[threads]


def _forget_teams() -> None:
    """Begin again in a process that was forked: the threads of its parent are gone."""
    global _lock
    _lock = threading.Lock()
    _teams.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_teams)
