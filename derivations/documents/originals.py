r"""The original text of a file, and the offsets of places in it. In a notebook they lie in JSON strings.

Definition   a place counts lines and columns of the file, or of one cell of a notebook; an offset counts the characters
             of the file
Result       `original.span(start, end)` is the stretch of offsets between two places; `original.written(text)` is a
             text as it must be put there (in JSON `\top` is `\\top`); `original.place(offset)` is a line of the file
Assumes      a line ends with \r\n, \n or \r; a mark of the order of bytes is no character
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path

from derivations.documents.passages import Place
from derivations.documents.readers.source import MAX_FILE, decoded

__all__ = ["Original", "read_original"]

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16")  # without and with a mark of the order of bytes
_END_OF_LINE = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]', re.DOTALL)
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]", re.DOTALL)  # one character in JSON


@dataclass(frozen=True)
class Stretch:
    """Consecutive characters of a part: they begin at `start` in the part, and the file has `raw` for them at `at`."""

    start: int
    at: int
    raw: str
    escaped: bool = False

    @cached_property
    def offsets(self) -> list[int]:
        """The offset of each character, and that of the end."""
        if not self.escaped:
            return list(range(self.at, self.at + len(self.raw) + 1))
        return [self.at, *(self.at + match.end() for match in _CHARACTER.finditer(self.raw))]


@dataclass(frozen=True)
class Part:
    """The text of a file or of one cell, and its stretches in order."""

    text: str
    stretches: tuple[Stretch, ...]

    @cached_property
    def lines(self) -> Sequence[int]:
        """Where each line starts."""
        return array("q", chain((0,), (match.end() for match in _END_OF_LINE.finditer(self.text))))

    def offset(self, place: Place) -> int | None:
        """Return how many characters of the part come before a place; None if the place does not exist."""
        if not 1 <= place.line <= len(self.lines):
            return None
        offset = self.lines[place.line - 1] + place.column - 1
        return offset if 0 <= offset <= len(self.text) else None

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character, both counted from 1."""
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1

    def line(self, number: int) -> str:
        """Return a line without its end, or the empty text after the last one."""
        if number > len(self.lines):
            return ""
        end = self.lines[number] if number < len(self.lines) else len(self.text)
        return self.text[self.lines[number - 1] : end].rstrip("\r\n")

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the offsets in the file of a part's characters, if they stand in one stretch."""
        number = bisect_right(self.stretches, start, key=lambda each: each.start) - 1
        if number < 0 or end < start:
            return None
        stretch = self.stretches[number]
        first, last = start - stretch.start, end - stretch.start
        if not stretch.escaped:  # without a list of all the offsets
            return (stretch.at + first, stretch.at + last) if last <= len(stretch.raw) else None
        offsets = stretch.offsets
        return (offsets[first], offsets[last]) if last < len(offsets) else None


@dataclass(frozen=True)
class Original:
    """The text of a file. `encoding` reproduces its bytes, or is None if no encoding does."""

    text: str
    notebook: bool = False
    encoding: str | None = "utf-8"

    @cached_property
    def parts(self) -> dict[int | None, Part]:
        """The cells of a notebook by their numbers from 1, or the whole file under None."""
        if not self.notebook:
            return {None: self._whole}
        return dict(_cells(self.text))

    @cached_property
    def _whole(self) -> Part:
        return Part(self.text, (Stretch(0, 0, self.text),))

    def span(self, start: Place, end: Place) -> tuple[int, int] | None:
        """Return the file offsets of two places, or None if the text between them is not contiguous in the file."""
        part = self.parts.get(start.cell)
        if part is None or end.cell != start.cell:
            return None
        first, last = part.offset(start), part.offset(end)
        return None if first is None or last is None else part.span(first, last)

    def characters(self, start: Place, end: Place) -> str | None:
        """Return the text between two places, in a notebook without the escapes of JSON."""
        part = self.parts.get(start.cell)
        first, last = (None, None) if part is None else (part.offset(start), part.offset(end))
        return None if part is None or first is None or last is None else part.text[first:last]

    def written(self, text: str) -> str:
        """Return a text as it must be written into the file."""
        return json.dumps(text, ensure_ascii=self.text.isascii())[1:-1] if self.notebook else text

    def place(self, offset: int) -> Place:
        """Return the line and the column of the file where an offset lies."""
        return Place(*self._whole.position(offset))


def read_original(path: Path) -> Original:
    """Return the original text of a file, decoded in the same way as by the readers."""
    with path.open("rb") as file:
        data = file.read(MAX_FILE + 1)
    text = decoded(data)[0].removeprefix("\ufeff")
    notebook = path.suffix.lower() == ".ipynb"
    return Original(text, notebook, next((each for each in ENCODINGS if text.encode(each, "replace") == data), None))


def _cells(text: str) -> Iterator[tuple[int, Part]]:
    """Yield the cells of a notebook; nothing if the text is not JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return
    cells: dict[int, list[tuple[int, str]]] = {}
    for path, at, raw in _texts(text):
        match path:
            case ["cells", int(number), "source"] | ["cells", int(number), "source", int(_)]:
                cells.setdefault(number + 1, []).append((at, raw))
    for number, texts in cells.items():
        decoded = [str(json.loads(f'"{raw}"', strict=False)) for _, raw in texts]
        starts = accumulate(map(len, decoded), initial=0)
        stretches = (Stretch(start, at, raw, True) for start, (at, raw) in zip(starts, texts, strict=False))
        yield number, Part("".join(decoded), tuple(stretches))


def _texts(text: str) -> Iterator[tuple[list[str | int], int, str]]:
    """Yield every JSON string except keys, with the path to it, its offset and its raw characters."""
    path: list[str | int] = []  # of each bracket that is open: a number in a list, a key in an object
    keys: list[bool] = []  # of each: whether a key comes next
    for token in _TOKEN.finditer(text):
        match token.group():
            case "{":
                path.append("")
                keys.append(True)
            case "[":
                path.append(0)
                keys.append(False)
            case "}" | "]":
                path.pop()
                keys.pop()
            case ",":
                last = path[-1]
                keys[-1] = isinstance(last, str)
                path[-1] = last if isinstance(last, str) else last + 1
            case quoted if keys and keys[-1]:
                path[-1] = str(json.loads(quoted, strict=False))
                keys[-1] = False
            case quoted:
                yield list(path), token.start() + 1, quoted[1:-1]
