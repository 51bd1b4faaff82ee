"""Work on many things in several processes, its results in the order of the things.

The processes are forked from one that has imported what they need (`announce`), where the system can do so; so they are
there at once, and none of them inherits a thread. As with all of Python's processes, a script that starts some keeps
its own work under `if __name__ == "__main__":`.
"""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import active_children, forkserver, get_all_start_methods, get_context, resource_tracker
from typing import Any, TypeVar

__all__ = ["announce", "in_order", "rarely_collecting", "workers"]

T = TypeVar("T")
_TOGETHER = 8  # neighbours go to one process: they build and read the same things
METHOD = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"  # Windows has no fork


def in_order(work: Callable[..., T], things: Iterable[Any], jobs: int | None = 1) -> Iterator[T]:
    """Yield `work(thing)` for each thing, computed in `jobs` processes.

    With `jobs=None` the number and the place of the workers are those of the surrounding `joblib.parallel_config`,
    such as a Dask or Ray backend.
    """
    if jobs == 1:
        yield from map(work, things)
    elif jobs is None:
        joblib = import_module("joblib")  # it brings NumPy, which the processes of this machine do without
        yield from joblib.Parallel(n_jobs=None, return_as="generator")(joblib.delayed(work)(each) for each in things)
    else:
        listed = list(things)
        with workers(jobs) as pool:
            yield from pool.map(work, listed, chunksize=max(1, min(_TOGETHER, len(listed) // (4 * jobs))))


def announce(*modules: str) -> None:
    """Let the process that workers are forked from start and import modules, while this one goes on.

    It is for a command that is about to import the same; where there is nothing to fork from, it does nothing.
    """
    if METHOD == "forkserver":
        with _stopping_left_to_the_parent():
            get_context(METHOD).set_forkserver_preload(list(modules))
            forkserver.ensure_running()


@contextmanager
def workers(jobs: int) -> Iterator[Executor]:
    """Yield an executor with `jobs` processes; an interruption or an error inside the block ends them at once."""
    before = set(active_children())
    pool = ProcessPoolExecutor(jobs, get_context(METHOD))
    try:
        with _stopping_left_to_the_parent():
            pool.submit(int)  # the first task starts all processes
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - before:
            process.terminate()
        raise
    pool.shutdown()


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Look for circular garbage rarely inside the block.

    Expressions and normal forms are trees of tuples: they hold no circles, there are millions, and to look at all of
    them again and again takes a fifth of the time of a proof.
    """
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


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
