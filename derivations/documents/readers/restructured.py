r"""reStructuredText: sections, paragraphs, lists, tables and directives, by their indentation.

Definition   a paragraph is lines of one indentation; a directive holds the lines that are indented below it
Result       formulas of the role and of the directive `math`, one for each paragraph of the directive; the text of
             notes and of directives that are not known is text; literal blocks are code
Assumes      files that are included, raw text and what a directive would draw are not read
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from derivations.documents.passages import Block, BlockKind, Document
from derivations.documents.readers.code import code_blocks
from derivations.documents.readers.dialects import RESTRUCTURED
from derivations.documents.readers.running_text import passages
from derivations.documents.readers.source import Excerpt, joined, normalised

__all__ = ["read", "restructured_blocks"]

_DIRECTIVE = re.compile(
    r"\s*\.\.\s+(?:\|[^|\n]{1,80}\|\s+)?(?P<name>[A-Za-z][\w:.+-]{0,40}?)::(?:\s+(?P<argument>\S.*))?\s*$"
)
_EXPLICIT = re.compile(r"\s*\.\.(?:\s|$)")
_FOOTNOTE = re.compile(r"\s*\.\.\s+\[[^\]\n]{1,40}\]\s*")
_OPTION = re.compile(r"\s*:[\w-]{1,40}:(?:\s|$)")
_ITEM = re.compile(r"\s*(?:[-*+•‣]|(?:\d{1,3}|[A-Za-z]|#)[.)]|\((?:\d{1,3}|[A-Za-z]|#)\))\s+")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
_SIMPLE = re.compile(r"\s*={2,}(?: +={2,})+\s*$")
_CODE = ("code", "code-block", "sourcecode", "literal", "parsed-literal", "doctest", "testcode", "ipython", "prompt")
_UNREAD = (
    "raw", "include", "literalinclude", "image", "toctree", "contents", "graphviz", "plot", "csv-table", "bibliography",
    "highlight", "default-role", "role", "only", "mermaid", "tikz", "index", "meta", "testsetup", "testoutput",
)  # fmt: skip


def read(text: str, file: str) -> Document:
    """Read a document in reStructuredText."""
    source, problems = normalised(text)
    return Document(file, tuple(restructured_blocks(source.whole)), tuple(problems))


def restructured_blocks(excerpt: Excerpt) -> Iterator[Block]:
    """Yield the blocks of a text in reStructuredText."""
    yield from _Reader(excerpt).blocks()


class _Reader:
    """One walk over the lines of a text."""

    def __init__(self, excerpt: Excerpt) -> None:
        self.source, self.lines = excerpt.source, excerpt.lines
        self.levels: dict[str, int] = {}  # of sections, by their adornment
        self.position = 0

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks."""
        literal: int | None = None  # the indentation of a paragraph that announced a literal block
        while self.position < len(self.lines):
            line = self.lines[self.position].text
            if not line.strip():
                self.position += 1
            elif literal is not None and _indent(line) > literal:
                yield from code_blocks(self.body(literal), "")
            elif _EXPLICIT.match(line):
                yield from self.explicit(line)
            elif _GRID.match(line):
                yield from self.grid()
            elif _SIMPLE.match(line):
                yield from self.simple()
            elif self.is_heading():
                yield from self.heading()
            else:
                literal = _indent(line)
                paragraph, kind = self.paragraph()
                literal = literal if paragraph.text.rstrip().endswith("::") else None
                if paragraph.text.lstrip().startswith(">>>"):
                    yield from code_blocks(paragraph, "python")
                else:
                    yield from _block(paragraph, kind)
                continue
            literal = literal if not line.strip() else None

    def body(self, indent: int) -> Excerpt:
        """Return the lines that are indented more than a line, without their indentation."""
        first = self.position
        while self.position < len(self.lines):
            text = self.lines[self.position].text
            if text.strip() and _indent(text) <= indent:
                break
            self.position += 1
        lines = self.lines[first : self.position]
        return joined(self.source, (line.part(_indent(line.text)) if line.text.strip() else line for line in lines))

    def explicit(self, line: str) -> Iterator[Block]:
        """Yield what a directive or a footnote holds; comments and targets hold nothing."""
        directive, indent = _DIRECTIVE.match(line), _indent(line)
        footnote = _FOOTNOTE.match(line)
        here = self.lines[self.position]
        self.position += 1
        if footnote:
            yield from _block(here.part(footnote.end()), "paragraph")
            return
        if not directive:
            self.body(indent)
            return
        name = directive["name"].split(":")[-1].lower()
        argument = here.part(*directive.span("argument")) if directive["argument"] else here.part(0, 0)
        if name == "math":
            yield from self.formulas(argument, indent)
        elif name in _CODE:
            self.options()
            yield from code_blocks(self.body(indent), argument.text)
        elif name in _UNREAD:
            self.body(indent)
        else:
            if name not in ("figure", "table", "list-table") and not name.startswith("auto"):
                yield from _block(argument, "paragraph")
            self.options()

    def options(self) -> None:
        """Pass over the options of a directive."""
        while self.position < len(self.lines) and _OPTION.match(self.lines[self.position].text):
            self.position += 1

    def formulas(self, argument: Excerpt, indent: int) -> Iterator[Block]:
        """Yield the formulas of a directive: an empty line stands between two of them."""
        self.options()
        written: list[Excerpt] = [argument]
        for line in (*self.body(indent).lines, None):
            if line is not None and line.text.strip():
                written.append(line)
                continue
            formula = joined(self.source, written).stripped()
            written = []
            if formula.text:
                yield Block("paragraph", (formula.passage("latex", display=True),))

    def is_heading(self) -> bool:
        """Say whether a line is underlined, or stands between two lines of marks."""
        here = self.lines[self.position].text
        follower = self.lines[self.position + 1].text if self.position + 1 < len(self.lines) else ""
        if _ADORNMENT.match(here):
            return True
        marks = _ADORNMENT.match(follower)
        return bool(marks) and not here.startswith(" ") and len(follower.rstrip()) >= min(len(here.rstrip()), 4)

    def heading(self) -> Iterator[Block]:
        """Yield a heading; a line of marks alone separates, and is none."""
        here = self.lines[self.position]
        over = bool(_ADORNMENT.match(here.text))
        if over and (
            self.position + 2 >= len(self.lines)
            or self.lines[self.position + 2].text[:1] != here.text[:1]
            or not _ADORNMENT.match(self.lines[self.position + 2].text)
        ):
            self.position += 1
            return
        title = self.lines[self.position + 1] if over else here
        mark = ("over " if over else "") + self.lines[self.position + (2 if over else 1)].text[0]
        self.position += 3 if over else 2
        yield from _block(title, "heading", self.levels.setdefault(mark, len(self.levels) + 1))

    def paragraph(self) -> tuple[Excerpt, BlockKind]:
        """Return a paragraph, and whether it is an item of a list."""
        first = self.lines[self.position]
        item = _ITEM.match(first.text)
        start = item.end() if item and item.end() < len(first.text) else _indent(first.text)
        written = [first.part(start)]
        self.position += 1
        indent = start if item else _indent(first.text)
        while self.position < len(self.lines):
            line = self.lines[self.position]
            if not line.text.strip() or _indent(line.text) != indent or _ITEM.match(line.text):
                break
            if _EXPLICIT.match(line.text) or (not item and self.is_heading()):
                break
            written.append(line.part(indent))
            self.position += 1
        return joined(self.source, written), "item" if item else "paragraph"

    def grid(self) -> Iterator[Block]:
        """Yield the rows of a table drawn with lines."""
        headers: tuple[str, ...] = ()
        row: list[list[Excerpt]] = []
        while self.position < len(self.lines) and self.lines[self.position].text.lstrip()[:1] in ("+", "|"):
            line = self.lines[self.position]
            self.position += 1
            if line.text.lstrip().startswith("+"):
                yield from (blocks := list(_row(row, headers)))
                headers = headers or (blocks[0].headers if blocks else ())
                row = []
                continue
            bars = [match.start() for match in re.finditer(r"\|", line.text)]
            cells = [line.part(left + 1, right) for left, right in pairwise(bars)]
            row = row or [[] for _ in cells]
            for column, cell in zip(row, cells, strict=False):
                column.append(cell)
        yield from _row(row, headers)

    def simple(self) -> Iterator[Block]:
        """Yield the rows of a table whose columns stand below lines of equals signs."""
        spans = [match.span() for match in re.finditer("=+", self.lines[self.position].text)]
        self.position += 1
        headers: tuple[str, ...] = ()
        while self.position < len(self.lines) and self.lines[self.position].text.strip():
            line = self.lines[self.position]
            self.position += 1
            if _SIMPLE.match(line.text):
                continue
            starts = [start for start, _ in spans]
            ends = [*starts[1:], len(line.text)]
            cells = [
                [line.part(min(s, len(line.text)), min(e, len(line.text)))] for s, e in zip(starts, ends, strict=True)
            ]
            blocks = list(_row(cells, headers))
            headers = headers or (blocks[0].headers if blocks else ())
            yield from blocks


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _block(text: Excerpt, kind: BlockKind, level: int = 0) -> Iterator[Block]:
    inside = passages(text, RESTRUCTURED)
    if inside:
        yield Block(kind, inside, level)


def _row(row: list[list[Excerpt]], headers: tuple[str, ...]) -> Iterator[Block]:
    """Yield a row whose cells may run over several lines; without a head it is the head itself."""
    cells = [joined(cell[0].source, cell).stripped() for cell in row if cell]
    found = [(column, each) for column, cell in enumerate(cells) for each in passages(cell, RESTRUCTURED)]
    if found:
        columns, inside = zip(*found, strict=True)
        yield Block("row", inside, columns=columns, headers=headers or tuple(cell.text for cell in cells))
