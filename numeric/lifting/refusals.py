"""The error for an operation that lifting cannot follow, with the line of the user's source.

A refusal derives from `BaseException`, so that no `try: ... except Exception` in the function under study swallows it
and goes on along a way that no array would take.
"""

from __future__ import annotations

import sys
import sysconfig
import traceback
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FrameType

__all__ = [
    "NotFollowed",
    "Unhashable",
    "asked_by_user",
    "calls_function",
    "is_users",
    "kept",
    "line_text",
    "refuse",
    "users_line",
]

kept: ContextVar[list[NotFollowed]] = ContextVar("kept", default=[])  # noqa: B039 - the list of no run

_OWN = Path(__file__).parent
_PYTHON = Path(sysconfig.get_path("stdlib"))
_LIBRARIES = ("numpy", "torch", "jax", "scipy", "sympy")


class NotFollowed(BaseException):
    """An operation that no equation can express. The message names the operation and the user's line."""

    def __init__(self, what: str, line: str = "") -> None:
        super().__init__(f"{what}{f' ({line})' if line else ''}")
        self.what, self.line = what, line


class Unhashable(NotFollowed, TypeError):
    """A symbolic number was looked up in a table; a library may catch the `TypeError` and do without the table."""


def refuse(what: str) -> NotFollowed:
    """Return the refusal of an operation, with the innermost line of the user's code.

    It is kept as well: a function that caught it has gone on along a way of its own, and is refused at its end.
    """
    refusal = NotFollowed(what, users_line())
    kept.get().append(refusal)
    return refusal


def users_line() -> str:
    """Return file, line and function of the innermost frame outside of this package and of the array libraries."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not calls_function(frame.f_code.co_filename, frame.f_code.co_name):
        if is_users(frame.f_code.co_filename):
            return line_text(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return ""


def calls_function(file_name: str, function: str) -> bool:
    """Return whether a frame calls the function under study. The frames outside of it are not the function's code."""
    return function == "called" and Path(file_name) == _OWN / "door.py"


def asked_by_user() -> bool:
    """Return whether the user's code, and not a library, called the caller of this function."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _OWN in Path(frame.f_code.co_filename).parents:
        frame = frame.f_back
    return frame is not None and is_users(frame.f_code.co_filename)


@cache
def is_users(file_name: str) -> bool:
    """Return whether a file is neither of this package's lifting, nor of the array libraries, nor of Python itself."""
    path = Path(file_name)
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    if _OWN in path.parents or (_PYTHON in path.parents and not installed):
        return False
    return not any(root in path.parents for root in _of_libraries())


def _of_libraries() -> list[Path]:
    """Return the folders of the array libraries: other packages have folders called `numpy` or `torch` too."""
    files = (getattr(sys.modules.get(name), "__file__", None) for name in _LIBRARIES)
    return [Path(file).parent for file in files if file]


def line_of_error(error: BaseException) -> str:
    """Return the innermost line of the user's code that an error went through."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if is_users(each.filename)]
    return line_text(frames[-1].filename, frames[-1].lineno or 0, frames[-1].name) if frames else ""


def line_text(file_name: str, line: int, function: str) -> str:
    """Return the text that names a line of code: its number, its file and its function."""
    return f"line {line} of {Path(file_name).name}, in {function}"
