"""The statements of the five documents, and whether each holds, with the results or arrays that decide it.

The entries are data (`coverage.toml`); the page docs/documents.md is printed from them:

    python -m derivations.documents.coverage docs/documents.md
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derivations.catalogue import LAYERS, names

__all__ = ["VERDICTS", "Document", "Entry", "documents", "page", "unknown_references"]

VERDICTS = {
    "holds": "holds as written",
    "assumption": "holds under the assumption that is named",
    "imprecise": "holds once repaired",
    "wrong": "does not hold",
    "none": "says nothing that could be derived",
}

_HEAD = """# What the five documents say, and what holds

Every formula, shape and number of the five documents, line by line, with every other statement that can be decided. The
last column names the result that decides it (`derivations show ID` prints it), or an array of a layer as `layer:array`.

"""


@dataclass(frozen=True)
class Entry:
    """One statement of a document: its line, its text, a verdict, what holds instead, and the references."""

    line: int
    says: str
    verdict: str
    holds: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """One document: its number, its file, its topic, and its entries in the order of its lines."""

    number: int
    file: str
    topic: str
    entries: tuple[Entry, ...]


def documents() -> tuple[Document, ...]:
    """Return the documents with their entries.

    Raises       ValueError for an unknown verdict, for lines out of order, and for a wrong statement without what holds
    """
    text = Path(__file__).with_name("coverage.toml").read_text(encoding="utf-8")
    return tuple(_document(table) for table in tomllib.loads(text)["document"])


def _document(table: dict[str, Any]) -> Document:
    entries = tuple(
        Entry(row["line"], row["says"], row["verdict"], row.get("holds", ""), tuple(row["refs"]))
        for row in table["entries"]
    )
    for entry, following in zip(entries, (*entries[1:], None), strict=True):
        where = f"document {table['number']}, line {entry.line}"
        if entry.verdict not in VERDICTS:
            raise ValueError(f"{where}: {entry.verdict!r} is no verdict; choose one of {', '.join(VERDICTS)}")
        if entry.verdict in ("wrong", "imprecise", "assumption") and not entry.holds:
            raise ValueError(f"{where}: say what holds where the verdict is {entry.verdict!r}")
        if following and following.line < entry.line:
            raise ValueError(f"{where}: the entry for line {following.line} comes after it; sort them by line")
    return Document(table["number"], table["file"], table["topic"], entries)


def unknown_references() -> Iterator[str]:
    """Yield the position and the name of every reference to a result or an array that does not exist."""
    results, layers = set(names()), {name: set(layer().shapes) for name, layer in LAYERS.items()}
    for document in documents():
        for entry in document.entries:
            for reference in entry.references:
                layer, colon, array = reference.partition(":")
                known = array in layers.get(layer, ()) if colon else reference in results
                if not known:
                    yield f"document {document.number}, line {entry.line}: {reference}"


def page() -> str:
    """Return the page as Markdown."""
    legend = "\n".join(f"- **{verdict}**: {meaning}" for verdict, meaning in VERDICTS.items())
    text = _HEAD + legend + "\n" + "".join(map(_section, documents()))
    return re.sub(r"\$([^$]+)\$", r"$`\1`$", text)  # in these marks GitHub keeps `\,` and underscores


def _section(document: Document) -> str:
    counts = Counter(entry.verdict for entry in document.entries)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    rows = (
        f"| {entry.line} | {entry.says} | {entry.verdict} | {entry.holds} | {_references(entry)} |"
        for entry in document.entries
    )
    lines = [
        f"\n## Document {document.number}: {document.topic}\n",
        f"`{document.file}`: {summary}.\n",
        "| line | the document | verdict | what holds | here |",
        "| ---: | --- | --- | --- | --- |",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _references(entry: Entry) -> str:
    return ", ".join(f"`{reference}`" for reference in entry.references)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
