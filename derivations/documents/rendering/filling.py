"""Finds the stale blocks of a file, and the replacements that bring them up to date.

Definition   a block is stale where its lines are not those that are emitted now
Result       replacements of stretches of the file as written, also inside the texts of a notebook's JSON; newlines,
             encoding and all else stay, and a second run finds nothing stale
Raises       ValueError, one sentence with file and line, for what cannot be filled
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derivations.documents.originals import Original, Part, Stretch, read_original
from derivations.documents.passages import Place
from derivations.documents.readers import SUFFIXES
from derivations.documents.rendering.emitting import emitted, label_of
from derivations.documents.rendering.marks import MarkedBlock, MarkError, blocks_of
from derivations.documents.rendering.options import Options
from derivations.documents.replacing import Replacement
from derivations.documents.reports.text_report import place_of

__all__ = ["Rendered", "Stale", "rendered"]


@dataclass(frozen=True)
class Stale:
    """A block that is out of date: the name that it shows, the place of its mark, and its replacement."""

    name: str
    place: Place
    replacement: Replacement


@dataclass(frozen=True)
class Rendered:
    """A file with marked blocks: its text, how many blocks it has, and the stale ones in order."""

    file: str
    original: Original
    blocks: int
    stale: tuple[Stale, ...]

    @property
    def replacements(self) -> tuple[Replacement, ...]:
        """The replacements of the stale blocks, in order."""
        return tuple(each.replacement for each in self.stale)


def rendered(path: Path, options: Options) -> Rendered:
    """Return the stale blocks of a file, with the replacements that bring them up to date."""
    form = SUFFIXES.get(path.suffix.lower())
    if form is None or form == "python":
        known = ", ".join(suffix for suffix, each in SUFFIXES.items() if each != "python")
        raise ValueError(f"{path} cannot be filled: blocks stand in files that end in {known}")
    original = read_original(path)
    if original.encoding is None:
        raise ValueError(f"{path} is not sound UTF-8, or too long: save it as UTF-8 or split it")
    printed = "quarto" if path.suffix.lower() == ".qmd" else "markdown" if form == "notebook" else form
    filling = _Filling(original, options, printed, "markdown" if form == "notebook" else form, Counter())
    count, stale = 0, list[Stale]()
    for cell, part in _parts(original, path):
        place = Place(1, 1, cell)
        try:
            for block in blocks_of(part.text, filling.form):
                place, count = Place(block.line, 1, cell), count + 1
                if replacement := filling.replacement(block, part):
                    stale.append(Stale(block.name, place, replacement))
        except (LookupError, ValueError) as error:
            place = Place(error.line, 1, cell) if isinstance(error, MarkError) else place
            raise ValueError(f"{place_of(str(path), place)}: {error.args[0]}") from error
    return Rendered(str(path), original, count, tuple(stale))


def _parts(original: Original, path: Path) -> Iterator[tuple[int | None, Part]]:
    """Yield the file, or the cells of a notebook that hold Markdown."""
    if not original.notebook:
        yield from original.parts.items()
        return
    try:
        cells = json.loads(original.text)["cells"]
        kinds = [cell["cell_type"] for cell in cells]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is no notebook: its JSON holds no list of cells") from error
    yield from ((cell, part) for cell, part in original.parts.items() if cell and kinds[cell - 1] == "markdown")


@dataclass(frozen=True)
class _Filling:
    """Fills blocks one after another. `labels` counts how often each label was requested."""

    original: Original
    options: Options
    printed: str
    form: str
    labels: Counter[str]

    def replacement(self, block: MarkedBlock, part: Part) -> Replacement | None:
        """Return the replacement of a block, or None if it is up to date."""
        options = self.options.with_words(block.words[1:])
        label = self._label(block, options.label) if options.label else ""
        lines = block.lines(emitted(block, options, self.printed, label))
        start, end, new = _difference(block.start, part.text[block.start : block.end], lines)
        return _replacement(self.original, part, start, end, new) if start < end or new else None

    def _label(self, block: MarkedBlock, prefix: str) -> str:
        first = label_of(block, prefix, self.printed, 1)
        self.labels[first] += 1
        return label_of(block, prefix, self.printed, self.labels[first])


def _difference(start: int, old: str, new: str) -> tuple[int, int, str]:
    """Return the start and the end of the old lines that differ from the new text, and the lines that replace them."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    end = start + len(old)
    while before and after and before[0] == after[0]:
        start += len(before.pop(0))
        after.pop(0)
    while before and after and before[-1] == after[-1]:
        end -= len(before.pop())
        after.pop()
    return start, end, "".join(after)


def _replacement(original: Original, part: Part, start: int, end: int, new: str) -> Replacement:
    """Return the replacement of a stretch of a part by a new text, at its offsets in the file.

    In a notebook a text may be a list of texts, usually one a line: the stretch then begins in one of them and ends in
    another, and what stands between these two in the JSON stands between the new ones too.
    """
    first = part.stretches[max(bisect_right(part.stretches, start - 1, key=_start) - 1, 0)]
    last = part.stretches[bisect_right(part.stretches, end, key=_start) - 1]
    begin, behind = _offset(first, start), _offset(last, end)
    if first is last:
        return Replacement(begin, behind, original.written(new))
    follower = part.stretches[part.stretches.index(first) + 1]
    between = original.text[first.offsets[-1] : follower.at]
    return Replacement(begin, behind, between.join(["", *map(original.written, new.splitlines(keepends=True)), ""]))


def _start(stretch: Stretch) -> int:
    return stretch.start


def _offset(stretch: Stretch, place: int) -> int:
    """Return the offset in the file of a character of a part, which lies in the given stretch."""
    return stretch.offsets[place - stretch.start] if stretch.escaped else stretch.at + place - stretch.start
