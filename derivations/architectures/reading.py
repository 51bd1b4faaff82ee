"""Read a JSON object from an untrusted file.

The file is never evaluated. A file that is not a plain JSON object of plain values is refused with one sentence, which
names the file and, if there is one, the field.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

__all__ = ["LARGEST_FILE", "ConfigError", "read_json"]

LARGEST_FILE = 10 * 2**20  # bytes; configurations in use have a few thousand
MOST_DIGITS, DEEPEST = 100, 50  # digits of a whole number; levels of nesting


class ConfigError(ValueError):
    """A configuration that cannot be read: one sentence with file and field."""


@dataclass(frozen=True)
class _Unreadable:
    """A value that JSON allows and a configuration does not."""

    why: str


def read_json(path: str | Path) -> dict[str, object]:
    """Return the JSON object in a file, or in `config.json` of a folder.

    Raises       ConfigError if the file does not exist, is larger than LARGEST_FILE, is not UTF-8, JSON or an object,
                 is nested too deeply, has a field twice, a number that is not finite or one of over 100 digits
    """
    path = Path(path)
    path = path / "config.json" if path.is_dir() else path
    value = _parsed(_text(path), path)
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: a JSON object of fields is needed, not {_kind(value)}")
    _refuse_unreadable(value, path)
    return value


def _text(path: Path) -> str:
    """Return the text of the file; one byte more than LARGEST_FILE is read, to see that a file is too large."""
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file")
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"{path}: the file cannot be read ({error.strerror})") from None
    if len(data) > LARGEST_FILE:
        raise ConfigError(f"{path}: the file has more than {LARGEST_FILE} bytes, too many for a configuration")
    try:
        # skips a byte order mark, which some editors write
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: the file is not UTF-8 text (byte {error.start})") from None


def _parsed(text: str, path: Path) -> object:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        fields: dict[str, object] = {}
        for name, value in pairs:
            if name in fields:
                raise ConfigError(f"{path}: the field {name!r:.60} is given twice")
            fields[name] = value
        return fields

    try:
        return json.loads(
            text, object_pairs_hook=once, parse_int=_whole, parse_float=_decimal, parse_constant=_Unreadable
        )
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}: the file is not JSON ({error.msg}, line {error.lineno})") from None
    except RecursionError:
        raise ConfigError(f"{path}: the file is nested too deeply") from None


def _whole(digits: str) -> int | _Unreadable:
    return int(digits) if len(digits) <= MOST_DIGITS else _Unreadable(f"a number of {len(digits)} digits")


def _decimal(digits: str) -> float | _Unreadable:
    value = float(digits)
    return value if isfinite(value) else _Unreadable(f"{digits[:20]}, which is out of range")


def _refuse_unreadable(value: dict[str, object], path: Path) -> None:
    """Refuse values that JSON allows and a configuration does not, and name their fields."""
    waiting: list[tuple[str, int, object]] = [(field, 1, inner) for field, inner in value.items()]
    while waiting:
        place, depth, there = waiting.pop()
        if isinstance(there, _Unreadable):
            raise ConfigError(f"{path}: {place!r:.60} is {there.why}; a finite number is needed")
        if depth > DEEPEST:
            raise ConfigError(f"{path}: {place.partition('.')[0]!r:.60} is nested too deeply, over {DEEPEST} levels")
        if isinstance(there, dict):
            waiting += [(f"{place}.{name}"[:200], depth + 1, inner) for name, inner in there.items()]
        elif isinstance(there, list):
            waiting += [(place, depth + 1, inner) for inner in there]


def _kind(value: object) -> str:
    """Return the kind of a JSON value in words."""
    if isinstance(value, _Unreadable):
        return value.why
    if isinstance(value, list):
        return "a list"
    return "a text" if isinstance(value, str) else f"{value!s:.30}"
