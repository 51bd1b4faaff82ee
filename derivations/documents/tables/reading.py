"""Tables as they are printed: rows with a label, and cells that hold a number or a formula.

Definition   a table is a run of rows with one head; a cell has one formula without a sign of equality, or one number
             in words, and all else says nothing here
Result       `tables(document)` yields the tables of two rows or more that hold numbers; what stands in the head is read
             as well, since a head may be a formula: `e^x`
Assumes      of a table the first 200 rows and 16 columns are looked at
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from derivations.documents.formulas import read_formula
from derivations.documents.judge.numbers.printed import Printed, printed
from derivations.documents.passages import Block, Document, Passage
from derivations.documents.syntax import Chain, Node

__all__ = ["Cell", "Row", "Table", "tables"]

MOST_ROWS, MOST_COLUMNS = 200, 16
LONGEST = 200  # characters of a cell


@dataclass(frozen=True)
class Cell:
    """A cell with what it holds; `shown` is the number that it is."""

    passage: Passage
    node: Node
    shown: Printed | None


@dataclass(frozen=True)
class Row:
    """A row of a table, with the words of its first cell."""

    block: Block
    label: str
    cells: Mapping[int, Cell]

    def columns_of(self, cell: Cell) -> list[int]:
        """Return where a cell stands."""
        return [column for column, each in self.cells.items() if each is cell]


@dataclass(frozen=True)
class Table:
    """The rows of a table, and the formulas in its head."""

    head: Mapping[int, Cell]
    rows: Sequence[Row]

    def column(self, number: int) -> list[tuple[int, Cell, Printed]]:
        """Return the rows that have a number in a column, with the cell and the number."""
        cells = ((place, row.cells.get(number)) for place, row in enumerate(self.rows))
        return [(place, each, each.shown) for place, each in cells if each is not None and each.shown is not None]

    @property
    def numbered(self) -> list[int]:
        """The columns in which there is a number."""
        return sorted({number for row in self.rows for number, each in row.cells.items() if each.shown is not None})


def tables(document: Document) -> Iterator[Table]:
    """Yield the tables of a document."""
    for (kind, head), run in groupby(document.blocks, key=lambda block: (block.kind, block.headers)):
        if kind != "row":
            continue
        blocks = [block for block, _ in zip(run, range(MOST_ROWS), strict=False)]
        first = [_bare(_words(blocks[0], number)) for number in range(len(head))]
        is_head = bool(head) and first == [_bare(cell) for cell in head]
        if len(blocks) - is_head < 2 or not any(_has_digit(block) for block in blocks[is_head:]):
            continue
        rows = [Row(block, _words(block, 0).strip(), _cells(block)) for block in blocks]
        yield Table(rows[0].cells if is_head else {}, rows[is_head:])


def _has_digit(block: Block) -> bool:
    return any(letter.isdigit() for passage in block.passages for letter in passage.text[:LONGEST])


def _bare(text: str) -> str:
    """Return a text without spaces, and without the signs that enclose a formula."""
    return "".join(letter for letter in text if letter not in "$`\\()" and not letter.isspace())


def _words(block: Block, number: int) -> str:
    inside = (passage.text for passage, column in zip(block.passages, block.columns, strict=True) if column == number)
    return "".join(inside)


def _cells(block: Block) -> dict[int, Cell]:
    """Return the cells of a row that hold one thing."""
    inside: dict[int, list[Passage]] = {}
    for passage, column in zip(block.passages, block.columns, strict=True):
        if column < MOST_COLUMNS and passage.text.strip():
            inside.setdefault(column, []).append(passage)
    cells = ((column, _cell(passages[0])) for column, passages in inside.items() if len(passages) == 1)
    return {column: cell for column, cell in cells if cell is not None}


def _cell(passage: Passage) -> Cell | None:
    if len(passage.text) > LONGEST:
        return None
    reading = read_formula(passage.text, passage.syntax if passage.syntax != "prose" else "plain")
    if reading.stopped is not None or len(reading.statements) != 1:
        return None
    match reading.statements[0]:
        case Chain(sides=(side,), relations=()):
            return Cell(passage, side, printed(side)) if passage.is_formula or printed(side) is not None else None
    return None
