r"""Parsing of matrices and cases."""

from __future__ import annotations

from derivations.documents.formulas import building, relations
from derivations.documents.formulas import vocabulary as words
from derivations.documents.formulas.cursor import Grammar
from derivations.documents.formulas.tokens import stop
from derivations.documents.syntax import Annotated, Cases, Chain, Fence, MatrixLiteral, Node, Words

__all__ = ["DASHES", "read_rows"]

DASHES = frozenset("-—–")  # on both sides of the rows of a matrix


def read_rows(reader: Grammar) -> Node:
    """Read a matrix or cases."""
    token = reader.take()
    rows: list[tuple[Node, ...]] = []
    cells: list[Node] = []
    commas = 0  # how many cells of this row end with a comma
    cases = token.text in words.CASES
    while not reader.at("finish"):
        if reader.at("newline") or reader.at("&"):
            cells, commas = _end_row(reader, cells, rows), 0
            continue
        cells.append(_read_condition(reader) if cases and cells else _read_cell(reader))
        if reader.accept("comma") and reader.side_next() and commas == len(cells) - 1:
            valued = len(cells) == 1 and not isinstance(cells[0], Chain)
            if cases and not valued:
                stop(reader.token.start, "expected the next cell")
            commas = len(cells)  # `1, x > 0` in cases, and a row of a matrix between commas
            continue
        if reader.at("period") or reader.at("semicolon"):
            reader.take()
        if not (reader.at("&") or reader.at("newline") or reader.at("finish")):
            stop(reader.token.start, "expected the next cell")
        if reader.at("&"):
            if commas:
                stop(reader.take().start, "cells between commas, and others that are not")
            reader.take()
            if (reader.at("newline") or reader.at("&") or reader.at("finish")) and not cases:
                stop(reader.token.start, "an empty cell")
    if cells:
        rows.append(tuple(cells))
    reader.take()
    if not rows:
        stop(token.start, "an empty matrix")
    if cases:
        branches = tuple(building.branch(row, token.start) for row in rows)
        return Cases(branches, start=token.start, end=reader.end)
    matrix = MatrixLiteral(tuple(rows), start=token.start, end=reader.end)
    bars = words.DETERMINANTS.get(token.text)
    return Fence("||" if bars == "‖" else "|", matrix, start=token.start, end=reader.end) if bars else matrix


def _end_row(reader: Grammar, cells: list[Node], rows: list[tuple[Node, ...]]) -> list[Node]:
    """End a row at a new line."""
    if reader.take().kind == "&":
        stop(reader.tokens[reader.position - 1].start, "an empty cell")
    if cells:
        rows.append(tuple(cells))
    return []


def _read_cell(reader: Grammar) -> Node:
    r"""Read a cell. Arrows on both sides of it, `\leftarrow x_1 \rightarrow`, mark it as a row."""
    start = reader.token.start
    marked = reader.at("rel", "←") or (reader.at("text") and set(reader.token.text) <= DASHES)
    if marked:
        reader.take()
    if reader.at("cond"):
        return _read_condition(reader)
    node = reader.side() if marked else reader.clause()
    if marked:
        if reader.at("arrow") or (reader.at("text") and set(reader.token.text) <= DASHES):
            reader.take()
        return Annotated(node, Words("row"), start=start, end=reader.end)
    if reader.at("cond"):  # a value with its condition, without & between them
        stop(reader.token.start, "a condition inside a cell")
    return node


def _read_condition(reader: Grammar) -> Node:
    """Read a condition: words like `if` are not kept before a formula."""
    token = reader.token
    if reader.at("{") and reader.tokens[reader.position + 1].kind == "cond":
        reader.take()
        condition = _read_condition(reader)
        reader.expect("}", "the brace to be closed")
        return condition
    said = reader.take().text if reader.at("cond") else ""
    if not (reader.side_next() or relations.relation_next(reader)):
        if not said:
            stop(token.start, "a condition is missing")
        return Words(said, start=token.start, end=token.end)
    node = reader.clause()
    parts = [node]
    while reader.at("break") or reader.at("comma"):
        reader.take()
        if reader.side_next():
            parts.append(reader.clause())
    if reader.at("cond"):  # `x > 0 时`
        behind = reader.take()
        parts.append(Words(behind.text, start=behind.start, end=behind.end))
    return building.listed(parts)
