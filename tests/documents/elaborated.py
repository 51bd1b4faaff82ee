"""What the tests of elaboration share: the statements of a text with their scopes."""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents import checking
from derivations.documents.readers import read_text
from derivations.documents.scope import Scope, read_scopes
from derivations.documents.statements import Statement


def statements(text: str) -> Iterator[tuple[Statement, Scope]]:
    """Yield the statements of a Markdown text, each with its scope."""
    document = read_text(text, "markdown", "")
    found = [each for read in checking._readings(document, frozenset()) for each in read.statements]
    scopes = read_scopes(document, found, None)
    for each in found:
        yield each, scopes.at(each)


def said(check, text):
    """Return the verdicts of a check on all links of a text."""
    return [
        finding
        for statement, scope in statements(text)
        for link in statement.links
        for finding in check(statement, link, scope)
    ]
