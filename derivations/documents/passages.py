"""A document that was read: blocks of passages in reading order, each with its place in the file.

Definition   a passage is prose or one formula without its delimiters; a block is what stands together: a heading, a
             paragraph, an item of a list, a row of a table, a line of code or pseudo-code
Result       `passage.place(offset)` is where a character of the passage stands in the file
Assumes      lines and columns count from 1, columns in characters; cells of a notebook count from 1
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal

__all__ = ["Block", "Document", "Passage", "Place", "Problem", "headers_of", "row_of"]

MOST_COLUMNS = 40  # of a table whose heads tell something
MOST_CHARACTERS = 100  # of one of them

BlockKind = Literal["heading", "paragraph", "item", "row", "code"]
Syntax = Literal["prose", "latex", "plain", "code"]


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """The position of a character in a file. In a notebook, line and column count within the cell."""

    line: int
    column: int
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text: prose, or one formula in LaTeX, in plain characters (`2 × n × d`), or in code (`x @ w1`).

    `runs` ties offsets to places: the characters from an offset on lie one after another from that place on, until the
    next run. `display` says that a formula stands alone.
    """

    syntax: Syntax
    text: str
    runs: tuple[tuple[int, Place], ...]
    display: bool = False

    @property
    def is_formula(self) -> bool:
        """Whether this is a formula."""
        return self.syntax != "prose"

    def place(self, offset: int) -> Place:
        """Return the place of the character at an offset. The end of the text is one column after the last one."""
        number = bisect_right(self.runs, offset, key=lambda run: run[0]) - 1 if len(self.runs) > 1 else 0
        start, place = self.runs[max(number, 0)]
        return Place(place.line, place.column + offset - start, place.cell)


@dataclass(frozen=True)
class Block:
    """The passages of a heading, a paragraph, an item of a list, a row of a table, or a line of code.

    `level` is that of a heading. In a row of a table `columns` tells the cell of each passage, and `headers` holds the
    text of the head of the table, cell by cell. A line of code and the comment beside it are one block.
    """

    kind: BlockKind
    passages: tuple[Passage, ...]
    level: int = 0
    columns: tuple[int, ...] = ()
    headers: tuple[str, ...] = ()

    @property
    def formulas(self) -> tuple[Passage, ...]:
        """The passages that are formulas."""
        return tuple(passage for passage in self.passages if passage.is_formula)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(passage): number for number, passage in enumerate(self.passages)}

    def number_of(self, passage: Passage) -> int | None:
        """Return the index of a passage in this block, found by identity, or None if it is not there."""
        return self._numbers.get(id(passage))

    def behind(self, number: int) -> str:
        """Return the prose right after a passage, in the same cell of a table."""
        after = self.passages[number + 1 : number + 2]
        apart = number + 1 < len(self.columns) and self.columns[number + 1] != self.columns[number]
        return after[0].text if after and not after[0].is_formula and not apart else ""


def headers_of(cells: Iterable[str]) -> tuple[str, ...]:
    """Return the header cells of a table, cut short, as every formula in its rows reads them."""
    return tuple(cell[:MOST_CHARACTERS] for cell in islice(cells, MOST_COLUMNS))


def row_of(cells: Iterable[Iterable[Passage]], headers: tuple[str, ...]) -> Iterator[Block]:
    """Yield the row of a table from the passages of its cells, nothing where these are empty."""
    found = [(column, passage) for column, cell in enumerate(cells) for passage in cell]
    if found:
        columns, inside = zip(*found, strict=True)
        yield Block("row", inside, columns=columns, headers=headers)


@dataclass(frozen=True)
class Problem:
    """What a reader could not read, with its place; the rest of the file was read."""

    place: Place
    message: str


@dataclass(frozen=True)
class Document:
    """A file that was read: its blocks, and the problems met in reading it."""

    file: str
    blocks: tuple[Block, ...]
    problems: tuple[Problem, ...] = ()
