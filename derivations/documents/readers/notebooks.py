"""Jupyter notebooks: each cell is read as a separate source, in Markdown or in Python.

Result       blocks in the order of the cells; line and column count within a cell
Assumes      version 3 or 4 of the format; outputs are not read
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from derivations.documents.passages import Block, Document, Place, Problem
from derivations.documents.readers.macros import Expansion
from derivations.documents.readers.markdown import markdown_blocks
from derivations.documents.readers.python import python_blocks
from derivations.documents.readers.source import Source, normalised

__all__ = ["read"]


def read(text: str, file: str) -> Document:
    """Read a notebook."""
    try:
        notebook = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        return Document(file, (), (Problem(Place(error.lineno, error.colno), f"no JSON: {error.msg}; repair it"),))
    except (RecursionError, ValueError):  # an integer of more digits than Python converts
        return Document(file, (), (Problem(Place(1, 1), "no notebook: the JSON holds no cells; repair it"),))
    cells = _cells(notebook)
    if cells is None:
        return Document(file, (), (Problem(Place(1, 1), "no notebook: the JSON holds no cells; repair it"),))
    macros = Expansion.in_document(len(text))  # what one cell defines holds in those after it
    blocks: list[Block] = []
    problems: list[Problem] = []
    for number, cell in enumerate(cells, 1):
        text_of_cell = _text(cell)
        if text_of_cell is None:
            problems.append(Problem(Place(1, 1, number), "the cell has no source that is text; repair it"))
            continue
        source, found = normalised(text_of_cell, number)
        problems += found
        blocks += _blocks(cell.get("cell_type"), source, macros, problems)
    return Document(file, tuple(blocks), tuple(problems))


def _cells(notebook: Any) -> list[Any] | None:
    """Return the cells; in version 3 they stand in worksheets."""
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):
        sheets = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        cells = list(chain.from_iterable(sheet["cells"] for sheet in sheets if isinstance(sheet.get("cells"), list)))
    return cells if isinstance(cells, list) else None


def _text(cell: Any) -> str | None:
    """Return the text of a cell, which may be written as a list of lines."""
    if not isinstance(cell, dict):
        return None
    text = cell.get("source", cell.get("input", ""))
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        return "".join(text)
    return text if isinstance(text, str) else None


def _blocks(kind: Any, source: Source, macros: Expansion, problems: list[Problem]) -> Iterator[Block]:
    if kind in ("markdown", "heading"):
        yield from markdown_blocks(source.whole, macros)
    elif kind == "code":
        yield from python_blocks(source, problems)
