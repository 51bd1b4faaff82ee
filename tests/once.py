"""Makes a thing once in a run of the tests, for all of its workers."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

__all__ = ["once"]


def once(folder: Path, name: str, make: Callable[[Path], None]) -> Path:
    """Return the path `folder`/`name`, which `make` writes for the worker that asks first; the others wait for it.

    What is made has its name only when it is whole: where `make` fails, the next worker tries again, and fails too.
    """
    found, unfinished = folder / name, folder / f"unfinished-{name}"
    with (folder / f"{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # closing the file unlocks it
        if not found.exists():
            make(unfinished)
            unfinished.rename(found)
    return found
