"""Map a function over many inputs in several processes; the results keep the order of the inputs.

If the system has `fork`, the processes are forked from a server that has imported the modules they need (`announce`);
so they start quickly, and none of them inherits a thread. As always with Python's `multiprocessing`, a script that
starts processes must keep its own work under `if __name__ == "__main__":`.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import active_children, get_all_start_methods, get_context
from typing import Any, TypeVar

__all__ = ["announce", "in_order", "interruptions_kept", "rarely_collecting", "workers"]

T = TypeVar("T")
_UNTIL_AGAIN = 0.01  # seconds, in which a finaliser ends
_TOGETHER = 8  # neighbouring inputs go to one process, because they build and cache the same expressions
METHOD = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"  # Windows has no fork


def in_order(work: Callable[..., T], things: Iterable[Any], jobs: int | None = 1) -> Iterator[T]:
    """Yield `work(item)` for each item of `things`, computed in `jobs` processes.

    With `jobs=None` the surrounding `joblib.parallel_config`, such as a Dask or Ray backend, decides how many workers
    run and where.
    """
    if jobs == 1:
        yield from map(work, things)
    elif jobs is None:
        joblib = import_module("joblib")  # it imports NumPy, which local processes do not need
        yield from joblib.Parallel(n_jobs=None, return_as="generator")(joblib.delayed(work)(each) for each in things)
    else:
        listed = list(things)
        with workers(jobs) as pool:
            # Chunks are small enough that each process gets about four: one slow chunk then delays the end less.
            yield from pool.map(work, listed, chunksize=max(1, min(_TOGETHER, len(listed) // (4 * jobs))))


def announce(*modules: str) -> None:
    """Start the server that workers are forked from and let it import modules, while this process continues.

    Use it in a command that is about to import the same modules. On a system without `fork` it does nothing.
    """
    if METHOD == "forkserver":
        with _stopping_left_to_the_parent():
            get_context(METHOD).set_forkserver_preload(list(modules))
            _starting("forkserver").ensure_running()
            # While mpmath is imported, a bare `except` of its own swallows whatever is raised, Ctrl-C included.
            import_module("mpmath")


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
    """Run Python's cyclic garbage collector rarely inside the block.

    Expressions and normal forms are trees of tuples without cycles. There are millions of them, and scanning all of
    them again and again takes a fifth of the time of a proof.
    """
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def interruptions_kept() -> Iterator[None]:
    """Raise Ctrl-C again if it arrives in a finaliser inside the block, where Python would only report it."""
    report = sys.unraisablehook

    def keep(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            report(lost)
            return
        # raised here it would be lost again, in this function
        threading.Timer(_UNTIL_AGAIN, _interrupt).start()

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = report


def _interrupt() -> None:
    """Send this process the signal of Ctrl-C, to the main thread if possible, where the signal interrupts a wait."""
    if hasattr(signal, "pthread_kill") and (main := threading.main_thread().ident) is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _starting(name: str) -> Any:
    """Import a module of multiprocessing that starts processes, and return it. Python in a browser lacks it."""
    return import_module(f"multiprocessing.{name}")


@contextmanager
def _stopping_left_to_the_parent() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block. Processes that are started in the block ignore it for good.

    Those processes inherit the signal mask. The mask covers only this thread, so a thread of NumPy's libraries could
    receive the signal meanwhile; a handler notes that, and the signal is raised again at the end.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield  # Windows has no masks, and Python answers signals in its main thread only
        return
    _starting("resource_tracker").ensure_running()  # start it before the mask is set, because its start unblocks SIGINT
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
