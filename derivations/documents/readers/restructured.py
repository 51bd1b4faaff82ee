r"""reStructuredText: sections, paragraphs, lists, tables and directives, by their indentation.

Definition   a paragraph is lines of one indentation; a directive holds the lines that are indented below it
Result       formulas of the role and of the directive `math`, one for each paragraph of the directive; the text of
             notes and of directives that are not known is text; literal blocks are code
Assumes      files that are included, raw text and what a directive would draw are not read
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derivations.documents.passages import Block, BlockKind, Document
from derivations.documents.readers.code import code_blocks
from derivations.documents.readers.dialects import RESTRUCTURED
from derivations.documents.readers.restructured_tables import (
    GRID,
    SIMPLE,
    comma_rows,
    grid_rows,
    listed_rows,
    simple_rows,
)
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
_CODE = ("code", "code-block", "sourcecode", "literal", "parsed-literal", "doctest", "testcode", "ipython", "prompt")
_UNREAD = (
    "raw", "include", "literalinclude", "image", "toctree", "contents", "graphviz", "plot", "bibliography",
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
    """Reads the lines of a text once, from top to bottom."""

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
            elif GRID.match(line):
                yield from grid_rows(self.grid())
            elif SIMPLE.match(line):
                yield from simple_rows(self.simple())
            elif self.is_heading():
                yield from self.heading()
            else:
                literal = _indent(line)
                paragraph, kind = self.paragraph()
                literal = literal if paragraph.text.rstrip().endswith("::") else None
                if paragraph.text.lstrip().startswith(">>>"):
                    yield from code_blocks(paragraph, "python")
                elif paragraph.text.strip() != "::":
                    yield from _block(paragraph, kind)
                continue
            literal = literal if not line.strip() else None

    def below(self, indent: int) -> tuple[Excerpt, ...]:
        """Return the following lines that are indented by more than `indent`, and move past them."""
        first = self.position
        while self.position < len(self.lines):
            text = self.lines[self.position].text
            if text.strip() and _indent(text) <= indent:
                break
            self.position += 1
        return self.lines[first : self.position]

    def body(self, indent: int) -> Excerpt:
        """Return the following lines that are indented by more than `indent`, without their indentation."""
        lines = self.below(indent)
        return joined(self.source, (line.part(_indent(line.text)) if line.text.strip() else line for line in lines))

    def explicit(self, line: str) -> Iterator[Block]:
        """Yield the blocks of a directive or a footnote. Comments and targets have none."""
        directive, indent = _DIRECTIVE.match(line), _indent(line)
        footnote = _FOOTNOTE.match(line)
        here = self.lines[self.position]
        self.position += 1
        if footnote:
            yield from _block(here.part(footnote.end()), "paragraph")
            return
        if not directive:
            if line.strip() != ".." or (self.position < len(self.lines) and self.lines[self.position].text.strip()):
                self.body(indent)  # two points alone have nothing below them
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
        elif name == "list-table":
            self.options()
            yield from listed_rows(self.below(indent))
        elif name == "csv-table":
            yield from comma_rows(self.below(indent))
        else:
            if name not in ("figure", "table") and not name.startswith("auto"):
                yield from _block(argument, "paragraph")
            self.options()

    def options(self) -> None:
        """Pass over the options of a directive."""
        while self.position < len(self.lines) and _OPTION.match(self.lines[self.position].text):
            self.position += 1

    def formulas(self, argument: Excerpt, indent: int) -> Iterator[Block]:
        """Yield the formulas of a math directive, which empty lines separate."""
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
        """Return whether a line is underlined, or stands between two lines of marks."""
        here = self.lines[self.position].text
        follower = self.lines[self.position + 1].text if self.position + 1 < len(self.lines) else ""
        if _ADORNMENT.match(here):
            return True
        marks = _ADORNMENT.match(follower)
        return bool(marks) and not here.startswith(" ") and len(follower.rstrip()) >= min(len(here.rstrip()), 4)

    def heading(self) -> Iterator[Block]:
        """Yield a heading; a line of marks alone is a separator, not a heading."""
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
        """Return a paragraph and its kind. A formula with an indented explanation is an item of a list."""
        first = self.lines[self.position]
        item = _ITEM.match(first.text)
        start = item.end() if item and item.end() < len(first.text) else _indent(first.text)
        written = [first.part(start)]
        self.position += 1
        is_term = not item and self.is_term(first.text)
        indent = start if item else _indent(self.lines[self.position].text if is_term else first.text)
        while self.position < len(self.lines):
            line = self.lines[self.position]
            if not line.text.strip() or _indent(line.text) != indent or _ITEM.match(line.text):
                break
            if _EXPLICIT.match(line.text) or (not item and self.is_heading()):
                break
            written.append(line.part(indent))
            self.position += 1
        return joined(self.source, written), "item" if item or is_term else "paragraph"

    def is_term(self, line: str) -> bool:
        """Return whether a line with a formula is explained by the one below it."""
        below = self.lines[self.position].text if self.position < len(self.lines) else ""
        indented = bool(below.strip()) and _indent(below) > _indent(line)
        return indented and "`" in line and not line.rstrip().endswith("::") and not _EXPLICIT.match(below)

    def grid(self) -> Sequence[Excerpt]:
        """Return the lines of a table drawn with lines."""
        first = self.position
        while self.position < len(self.lines) and self.lines[self.position].text.lstrip()[:1] in ("+", "|"):
            self.position += 1
        return self.lines[first : self.position]

    def simple(self) -> Sequence[Excerpt]:
        """Return the lines of a table up to an empty one."""
        first = self.position
        while self.position < len(self.lines) and self.lines[self.position].text.strip():
            self.position += 1
        return self.lines[first : self.position]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _block(text: Excerpt, kind: BlockKind, level: int = 0) -> Iterator[Block]:
    inside = passages(text, RESTRUCTURED)
    if inside:
        yield Block(kind, inside, level)
