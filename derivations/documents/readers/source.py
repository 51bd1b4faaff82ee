"""The text of a file, and excerpts from it that keep the position of each character.

Definition   a source is the text of a file or of a cell of a notebook; an excerpt is text that was taken out of a
             source piece by piece, without marks, prefixes of lines and indentation
Result       `excerpt.passage(...)` is the excerpt with the places of its characters
Assumes      lines end at a line feed, with or without a carriage return; a mark of the order of bytes is no character
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from derivations.documents.passages import Passage, Place, Problem, Syntax

__all__ = ["MAX_FILE", "MAX_LINE", "Excerpt", "Source", "decoded", "joined", "line_starts", "normalised"]

MAX_FILE = 64_000_000  # bytes
MAX_LINE = 100_000  # characters; longer lines are data, and are left out
_LINE_FEED = re.compile("\n")


@dataclass(frozen=True)
class Source:
    """A text to which lines and columns refer: a file, or one cell of a notebook."""

    text: str
    cell: int | None = None

    @cached_property
    def starts(self) -> Sequence[int]:
        """The offsets at which lines start, and after them one past the last line."""
        return line_starts(self.text)

    @property
    def lines(self) -> range:
        """The numbers of the lines, from 0."""
        return range(len(self.starts) - 1)

    def place(self, offset: int) -> Place:
        """Return the place of the character at an offset."""
        line = min(bisect_right(self.starts, offset), len(self.starts) - 1)
        return Place(line, offset - self.starts[line - 1] + 1, self.cell)

    @cached_property
    def whole(self) -> Excerpt:
        """All of the text."""
        return Excerpt(self, self.text, ((0, 0),))


@dataclass(frozen=True)
class Excerpt:
    """Text from a source. From the offset of each run on, its characters are consecutive in the source."""

    source: Source
    text: str
    runs: tuple[tuple[int, int], ...]

    def part(self, start: int, end: int | None = None) -> Excerpt:
        """Return the characters from `start` up to `end`."""
        end = len(self.text) if end is None else end
        if len(self.runs) == 1:
            return Excerpt(self.source, self.text[start:end], ((0, self.runs[0][1] + start),))
        first = max(bisect_right(self.runs, start, key=_offset) - 1, 0)
        last = max(bisect_right(self.runs, end - 1, key=_offset), first + 1)
        runs = ((max(offset, start) - start, at + max(start - offset, 0)) for offset, at in self.runs[first:last])
        return Excerpt(self.source, self.text[start:end], tuple(runs))

    def stripped(self) -> Excerpt:
        """Return the excerpt without white space at its ends."""
        text = self.text.rstrip()
        return self.part(len(text) - len(text.lstrip()), len(text))

    @cached_property
    def lines(self) -> tuple[Excerpt, ...]:
        """The lines, each with the line feed that ends it."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[Excerpt]:
        start = 0
        while start < len(self.text):
            end = self.text.find("\n", start) + 1 or len(self.text)
            yield self.part(start, end)
            start = end

    def at(self, offset: int) -> Place:
        """Return the place of the character at an offset."""
        start, at = self.runs[max(bisect_right(self.runs, offset, key=_offset) - 1, 0)]
        return self.source.place(at + offset - start)

    def passage(self, syntax: Syntax, display: bool = False) -> Passage:
        """Return the excerpt as a passage of the given syntax."""
        return Passage(syntax, self.text, tuple(self._places()), display)

    def _places(self) -> Iterator[tuple[int, Place]]:
        for (start, at), (end, _) in zip(self.runs, (*self.runs[1:], (len(self.text), 0)), strict=True):
            place = self.source.place(at)
            yield start, place
            line_feed = self.text.find("\n", start, end)
            while 0 <= line_feed < end - 1:
                place = Place(place.line + 1, 1, place.cell)
                yield line_feed + 1, place
                line_feed = self.text.find("\n", line_feed + 1, end)


def _offset(run: tuple[int, int]) -> int:
    return run[0]


def joined(source: Source, parts: Iterable[Excerpt]) -> Excerpt:
    """Return the concatenation of excerpts of one source."""
    texts: list[str] = []
    runs: list[tuple[int, int]] = []
    length = 0
    for part in parts:
        if not part.text:
            continue
        texts.append(part.text)
        for offset, at in part.runs:
            if not runs or at - runs[-1][1] != length + offset - runs[-1][0]:
                runs.append((length + offset, at))
        length += len(part.text)
    return Excerpt(source, "".join(texts), tuple(runs) or ((0, 0),))


def line_starts(text: str) -> Sequence[int]:
    """Return the offsets at which lines start, and after them one past the last line."""
    return array("q", chain((0,), (match.end() for match in _LINE_FEED.finditer(text)), (len(text) + 1,)))


def decoded(data: bytes) -> tuple[str, list[Problem]]:
    """Return the text of a file, or "" and a problem if it is too long or not Unicode text."""
    if len(data) > MAX_FILE:
        return "", [Problem(Place(1, 1), f"the file has {len(data)} bytes, over {MAX_FILE}; split it")]
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    encoding = "utf-16" if marked and b"\0" in data else "utf-8-sig"  # each space and end of a line holds a zero byte
    null = data.find(b"\0") if encoding == "utf-8-sig" else -1
    if null >= 0:
        message = f"byte {null} is a null, so this is no text; name a document, saved as UTF-8"
        return "", [Problem(Place(1, 1), message)]
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        line = before.count("\n") + 1
        place = Place(line, len(before) - before.rfind("\n"))
        name = encoding.upper().removesuffix("-SIG")
        message = f"byte {error.start} is not {name}, and nothing was read; save the file as UTF-8"
        return "", [Problem(place, message)]


def normalised(text: str, cell: int | None = None) -> tuple[Source, list[Problem]]:
    """Return a text as a source with uniform line ends, without null characters and without lines that are too long."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    kept: list[str] = []
    problems: list[Problem] = []
    line, behind = 1, 0
    for start, end in _too_long(text):
        line += text.count("\n", behind, start)
        message = f"the line has {end - start} characters, over {MAX_LINE}, and was not read; break it"
        problems.append(Problem(Place(line, 1, cell), message))
        kept.append(text[behind:start])
        behind = end
    return Source("".join((*kept, text[behind:])) if kept else text, cell), problems


def _too_long(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each line that is too long."""
    start = 0
    while len(text) - start > MAX_LINE:
        last = text.rfind("\n", start, start + MAX_LINE + 1)
        if last < 0:
            end = text.find("\n", start)
            last = len(text) if end < 0 else end
            yield start, last
        start = last + 1
