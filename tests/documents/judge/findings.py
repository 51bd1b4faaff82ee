"""What the checks of shapes and of consistency say of a document that is written in a test."""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.formulas import read_formula
from derivations.documents.judge.shapes.consistency import check_consistency
from derivations.documents.judge.shapes.shapes import check_shapes
from derivations.documents.readers import read_text
from derivations.documents.scope import Scopes, read_scopes, section_numbers
from derivations.documents.statements import Statement
from derivations.documents.verdicts import Finding, settled

CHECKS = (check_shapes, check_consistency)


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


def findings(text: str) -> Iterator[tuple[int, str, Finding]]:
    """Yield line, text and what is said, of every link of which something is said."""
    statements, scopes = read(text)
    for statement in statements:
        for link in statement.links or (None,):
            found = [each for check in CHECKS for each in check(statement, link, scopes.at(statement))]
            if found:
                place = statement.passage.place(statement.chain.start)
                yield place.line, statement.text(statement.chain.start, statement.chain.end), settled(found)


def verdict(text: str, part: str) -> Finding:
    """Return what is said of the one formula that holds a part."""
    found = [finding for _, formula, finding in findings(text) if part in formula]
    assert found, f"nothing is said of {part}"
    return found[0]
