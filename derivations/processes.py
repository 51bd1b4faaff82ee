"""Work on many things in several processes, its results in the order of the things."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import chain, islice
from multiprocessing import resource_tracker
from typing import Any, TypeVar

__all__ = ["in_order"]

T = TypeVar("T")


def in_order(work: Callable[..., T], things: Iterable[Any], jobs: int | None = 1) -> Iterator[T]:
    """Yield `work(thing)` for each thing, computed in `jobs` processes.

    joblib starts the processes; with `jobs=None` the number and the place of the workers are those of the surrounding
    `joblib.parallel_config`, such as a Dask or Ray backend.
    """
    if jobs == 1:
        yield from map(work, things)
        return
    joblib = import_module("joblib")  # it brings NumPy, which one process does without
    results = None
    try:
        with _stopping_left_to_the_parent():
            results = joblib.Parallel(n_jobs=jobs, return_as="generator")(joblib.delayed(work)(each) for each in things)
            first = list(islice(results, 1))  # now the processes are up: one stopped while it starts would complain
        yield from chain(first, results)
    finally:
        if results is not None:
            results.close()  # which stops the processes


@contextmanager
def _stopping_left_to_the_parent() -> Iterator[None]:
    """Hold Ctrl-C back inside the block: the processes started there hold it back for good, this one answers after.

    The mask is what those processes inherit. It covers this thread alone, and threads of NumPy's libraries would take
    the signal in its place, so it is noted meanwhile and raised again at the end.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield  # Windows has no masks, and Python answers signals in its main thread only
        return
    resource_tracker.ensure_running()  # when it starts it lets Ctrl-C through again
    came: list[int] = []
    answer = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, answer or signal.SIG_DFL)
        if came:
            signal.raise_signal(signal.SIGINT)
