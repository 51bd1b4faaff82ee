"""Tables in reStructuredText: grid tables, simple tables, list tables and CSV tables.

Result       the rows as blocks; the first one is the head of the others
Assumes      cells do not span columns
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from derivations.documents.passages import Block, headers_of, row_of
from derivations.documents.readers.dialects import RESTRUCTURED
from derivations.documents.readers.running_text import passages
from derivations.documents.readers.source import Excerpt, joined

__all__ = ["GRID", "SIMPLE", "comma_rows", "grid_rows", "listed_rows", "simple_rows"]

GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
SIMPLE = re.compile(r"\s*={2,}(?: +={2,})+\s*$")
_MARK = r"[-*+•](?:\s+|$)"
_LISTED_ROW = re.compile(rf"(?P<row>\s*[-*+•]\s+){_MARK}")
_LISTED_CELL = re.compile(rf"\s*{_MARK}")
_OPTION, _HEADER = re.compile(r"\s*:[\w-]{1,40}:(?:\s|$)"), re.compile(r"\s*:header:")
_SEPARATOR = re.compile(r"\s*:(?:delim|quote|escape):")
_CELL = re.compile(r'\s*(?:"(?P<quoted>[^"]*(?:""[^"]*)*)"\s*(?=,|$)|(?P<bare>(?:[^,]|(?<=\d),(?=\d{3}(?!\d)))*))')
Cells = list[list[Excerpt]]  # of a row: the pieces of each cell


def grid_rows(lines: Iterable[Excerpt]) -> Iterator[Block]:
    """Yield the rows of a table drawn with lines."""
    rows: list[Cells] = [[]]
    for line in lines:
        if line.text.lstrip().startswith("+"):
            rows.append([])
            continue
        bars = [match.start() for match in re.finditer(r"\|", line.text)]
        cells = [line.part(left + 1, right) for left, right in pairwise(bars)]
        rows[-1] = rows[-1] or [[] for _ in cells]
        for column, cell in zip(rows[-1], cells, strict=False):
            column.append(cell)
    yield from _blocks(rows)


def simple_rows(lines: Sequence[Excerpt]) -> Iterator[Block]:
    """Yield the rows of a simple table, whose first line of equals signs marks the columns."""
    starts = [match.start() for match in re.finditer("=+", lines[0].text)]
    rows: list[Cells] = []
    for line in lines:
        if not SIMPLE.match(line.text):
            ends = [*starts[1:], len(line.text)]
            spans = zip(starts, ends, strict=True)
            rows.append([[line.part(min(s, len(line.text)), min(e, len(line.text)))] for s, e in spans])
    yield from _blocks(rows)


def listed_rows(lines: Iterable[Excerpt]) -> Iterator[Block]:
    """Yield the rows of a table that is written as a list of lists."""
    rows: list[Cells] = []
    columns = 0  # where the marks of cells stand
    for line in lines:
        row, cell = _LISTED_ROW.match(line.text), _LISTED_CELL.match(line.text)
        indent = len(line.text) - len(line.text.lstrip())
        if row and not (rows and indent >= columns):
            columns = row.end("row")
            rows.append([[line.part(row.end())]])
        elif rows and cell and indent == columns:
            rows[-1].append([line.part(cell.end())])
        elif rows:
            rows[-1][-1].append(line)
    yield from _blocks(rows)


def comma_rows(lines: Sequence[Excerpt]) -> Iterator[Block]:
    """Yield the rows of a CSV table, with or without quotes. An option may hold the head."""
    rows: list[Cells] = []
    options = list(takewhile(lambda line: _OPTION.match(line.text), lines))
    for line in options:
        if header := _HEADER.match(line.text):
            rows.append(list(_between_commas(line, header.end())))
    if any(_SEPARATOR.match(line.text) for line in options):
        return  # other signs than commas stand between the cells
    for line in lines[len(options) :]:
        if line.text.strip():
            rows.append(list(_between_commas(line, 0)))
    yield from _blocks(rows)


def _between_commas(line: Excerpt, position: int) -> Iterator[list[Excerpt]]:
    while cell := _CELL.match(line.text, position):
        yield [line.part(*cell.span("bare" if cell["quoted"] is None else "quoted"))]
        position = cell.end() + 1
        if position > len(line.text):
            return


def _blocks(rows: Iterable[Cells]) -> Iterator[Block]:
    """Yield rows whose cells may run over several lines."""
    headers: tuple[str, ...] = ()
    for row in rows:
        cells = [joined(cell[0].source, cell).stripped() for cell in row if cell]
        here = headers or headers_of(cell.text for cell in cells)
        for block in row_of((passages(cell, RESTRUCTURED) for cell in cells), here):
            headers = here  # a row without text is no head
            yield block
