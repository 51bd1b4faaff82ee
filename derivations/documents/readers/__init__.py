"""Reading documents: Markdown, notebooks, reStructuredText, LaTeX and Python become blocks of passages with places.

Result       a document of any file: what cannot be read is a problem of the document
Raises       OSError where a file cannot be opened; ValueError for a format that is not known
Assumes      nothing about what stands in a document: no macro is run, no other file is opened
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from derivations.documents.passages import Document, Place, Problem
from derivations.documents.readers.source import MAX_FILE, decoded

__all__ = ["FORMATS", "SUFFIXES", "read_document", "read_text"]

FORMATS: Mapping[str, str] = {  # with the module that reads it, which is imported when it is needed
    "markdown": "markdown",
    "notebook": "notebooks",
    "restructuredtext": "restructured",
    "latex": "latex",
    "python": "python",
}
SUFFIXES: Mapping[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".qmd": "markdown",
    ".txt": "markdown",
    ".ipynb": "notebook",
    ".rst": "restructuredtext",
    ".tex": "latex",
    ".py": "python",
}


def read_document(path: Path) -> Document:
    """Read a file in the format of its suffix, or as Markdown if the suffix is not known."""
    with path.open("rb") as stream:
        data = stream.read(MAX_FILE + 1)
    text, problems = decoded(data)
    if problems:
        return Document(str(path), (), tuple(problems))
    return read_text(text, SUFFIXES.get(path.suffix.lower(), "markdown"), str(path))


def read_text(text: str, format: str, file: str = "") -> Document:
    """Read a text in a format: "markdown", "notebook", "restructuredtext", "latex" or "python"."""
    if format not in FORMATS:
        raise ValueError(f"{format!r} is no format of documents; choose one of {', '.join(FORMATS)}")
    reader = import_module(f"derivations.documents.readers.{FORMATS[format]}")
    try:
        document: Document = reader.read(text, file)
    except (RecursionError, MemoryError):
        return Document(file, (), (Problem(Place(1, 1), "the document is nested too deeply; take it apart"),))
    return document
