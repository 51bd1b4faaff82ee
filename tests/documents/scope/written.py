"""A Markdown text that is written in a test, read to its statements."""

from __future__ import annotations

from derivations.documents.formulas import read_formula
from derivations.documents.readers import read_text
from derivations.documents.scope import Scopes, read_scopes, section_numbers
from derivations.documents.statements import Statement

__all__ = ["read"]


def read(text: str, whole: bool = True) -> tuple[list[Statement], Scopes]:
    """Read a Markdown text; every formula of it must be understood, unless `whole` is false."""
    document = read_text(text, "markdown", "")
    statements: list[Statement] = []
    for block, section in zip(document.blocks, section_numbers(document), strict=True):
        for passage in block.formulas:
            assert passage.syntax != "prose"
            reading = read_formula(passage.text, passage.syntax)
            assert reading.stopped is None or not whole, (passage.text, reading.stopped)
            for chain in reading.statements:
                statements.append(Statement(chain, passage, block, section, len(statements)))
    return statements, read_scopes(document, statements)
