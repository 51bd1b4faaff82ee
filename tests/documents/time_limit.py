"""A limit on processor time, which stops what does not end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["TooLong", "within"]


class TooLong(BaseException):
    """Not an Exception, so that nothing on the way swallows it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Stop what takes more processor time than this; other programs on the machine do not count."""

    def stop(number: int, frame: object) -> None:
        raise TooLong(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
