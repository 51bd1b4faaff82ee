"""The threads of BLAS: one for each product while loops of this package divide their work among threads themselves.

Definition   a library of linear algebra counts its threads either for the whole process (OpenBLAS with threads of its
             own, MKL, BLIS), or for each thread that calls it (OpenBLAS on OpenMP)
Result       `one_thread_in_blas()` limits both, from whichever thread it is entered, and restores the earlier number
             when the last block that entered it ends
Assumes      nothing else changes the number in between: what it is set to then is lost
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["limit_this_thread", "may_use_threads", "one_thread_in_blas"]

_entering = threading.Lock()
_limits: list[None] = []  # one for each that has entered
_before: list[tuple[Any, int]] = []  # libraries with the threads that they had before the first entered


@contextmanager
def one_thread_in_blas() -> Iterator[None]:
    """Limit BLAS to one thread while any thread of this process is inside such a block."""
    # of this thread alone, so no lock is needed
    here = [(library, library.get_num_threads()) for library in _libraries(of_each_thread=True)]
    with _entering:
        if not _limits:
            _before.extend((library, library.get_num_threads()) for library in _libraries(of_each_thread=False))
            for library, _ in _before:
                _set(library, 1)
        _limits.append(None)
    limit_this_thread()
    try:
        yield
    finally:
        for library, threads in here:
            _set(library, threads)
        with _entering:
            _limits.pop()
            if not _limits:
                _restore()


def limit_this_thread() -> None:
    """Limit BLAS to one thread for calls from this thread, in libraries that count threads for each calling thread."""
    for library in _libraries(of_each_thread=True):
        _set(library, 1)


def may_use_threads() -> bool:
    """Return whether products may use several threads: no thread of this process is inside such a block."""
    return not _limits


@lru_cache(maxsize=2)
def _libraries(*, of_each_thread: bool) -> Sequence[Any]:
    """Return the controllers of the BLAS libraries in this process that count threads in the given way."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [each for each in found if _counts_for_each_thread(each) is of_each_thread]


def _counts_for_each_thread(library: Any) -> bool:
    return bool(library.internal_api == "openblas" and library.threading_layer == "openmp")


def _set(library: Any, threads: int) -> None:
    """Set the number of threads of a library, even if another thread set it last and OpenBLAS obeys only that one."""
    let_go = getattr(library, "clear_controlling_thread", None)
    if let_go is not None:
        let_go(force=True)
    library.set_num_threads(threads)
    if let_go is not None:
        let_go(force=True)


def _forget_limits() -> None:
    """Remove all limits in a forked process, in which the loops of its parent do not run."""
    global _entering
    _entering = threading.Lock()
    _limits.clear()
    _restore()


def _restore() -> None:
    while _before:
        _set(*_before.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_limits)
