"""The files to judge: the named ones, and those of a known format in the named folders.

Result       sorted within a folder, each file once; hidden folders, and what the settings exclude, are passed over
Raises       FileNotFoundError for a path where there is nothing
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from derivations.documents.settings import Settings

__all__ = ["files_of"]

PASSED_OVER = ("__pycache__", "node_modules", "site-packages")  # folders of what others wrote


def files_of(names: Iterable[str], suffixes: Iterable[str], settings: Callable[[Path], Settings]) -> tuple[Path, ...]:
    """Return the named files, and those below the named folders. `settings` gives the settings of a folder."""
    known = frozenset(suffixes)
    found: dict[Path, None] = {}
    for name in names:
        path = Path(name)
        if path.is_dir():
            found |= dict.fromkeys(each for each in _below(path, known) if not settings(each.parent).excludes(each))
        elif path.exists():
            found[path] = None
        else:
            raise FileNotFoundError(f"there is no file or folder called {name!r}")
    return tuple(found)


def _below(folder: Path, suffixes: frozenset[str]) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        yield from (Path(where, name) for name in sorted(names) if Path(name).suffix.lower() in suffixes)
