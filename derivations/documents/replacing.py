"""Applies replacements to the text of a file, and writes the file.

Result       newlines and encoding stay as they are, and a file is replaced as a whole
Raises       OSError where a file cannot be written
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Replacement", "repaired", "write"]


@dataclass(frozen=True, order=True)
class Replacement:
    """A stretch of a text, from `start` to `end`, and the text that replaces it."""

    start: int
    end: int
    text: str


def repaired(text: str, changes: Sequence[Replacement]) -> str:
    """Return a text with replacements applied, which must be in order."""
    pieces, done = [], 0
    for each in changes:
        pieces += [text[done : each.start], each.text]
        done = each.end
    return "".join([*pieces, text[done:]])


def write(path: Path, text: str, encoding: str) -> None:
    """Write a text to a file as a whole or not at all. Its mode is kept, and a symbolic link stays a link."""
    path = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding=encoding, newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode & 0o7777)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
