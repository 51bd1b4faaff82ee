"""Evidence stored between runs: `list` shows it and proves nothing.

A file in the user's cache folder has the evidence for one exact source: its name is a digest of every file of the
package, and of the versions of Python and of the libraries that the judge trusts. Other sources have other files, so
the evidence shown was decided by the installed code. `verify` and `list --prove` do not read it. Before anything is
proved, the file has the titles and letters alone, and each row says `not judged`; an installed package brings these
rows with it, so that its first list is as quick as the later ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

import derivations

__all__ = ["INDEX", "LAYER", "NOT_JUDGED", "Row", "Stored", "index_of", "indexed", "keep", "read", "source_digest"]

TRUSTED = ("sympy", "mpmath")
LAYER = "layer"  # the topic of the rows of layers
NOT_JUDGED = "not judged"  # the evidence of a result that nobody has asked to prove
INDEX = Path(__file__).with_name("index.json")  # the rows of all results and layers; `python -m docs.build` writes it
KEPT = 8  # sources whose evidence is kept: one for each environment that somebody may use in turn


@dataclass(frozen=True)
class Row:
    """One result or layer in the output of `list`, with the letters in its formula."""

    id: str
    title: str
    topic: str
    evidence: str
    letters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stored:
    """The rows of all results and layers, and the time (UTC) of their proof or of their listing."""

    rows: tuple[Row, ...]
    proved: str

    @property
    def is_judged(self) -> bool:
        """Whether all results have evidence."""
        return all(row.evidence != NOT_JUDGED for row in self.rows)


def source_digest() -> str:
    """Return the digest of everything that determines evidence: the package's files, Python and the libraries."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name in TRUSTED:
        digest.update(f"{name} {version(name)}\n".encode())
    root = Path(derivations.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def store_of(digest: str) -> Path:
    """Return the file for the evidence of a source."""
    return user_cache_path("derivations", appauthor=False) / f"evidence-{digest[:32]}.json"


def read(digest: str) -> Stored | None:
    """Return the stored evidence for this source, or None if it does not exist or cannot be read."""
    try:
        found = json.loads(store_of(digest).read_text(encoding="utf-8"))
        rows = tuple(Row(**{**row, "letters": tuple(row["letters"])}) for row in found["rows"])
        return Stored(rows, found["proved"]) if found["digest"] == digest and rows else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def index_of(rows: Sequence[Row]) -> str:
    """Return the text of the index: one row a line, without evidence."""
    lines = (json.dumps([row.id, row.title, row.topic, list(row.letters)], ensure_ascii=False) for row in rows)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def indexed() -> Stored | None:
    """Return the rows that the package was installed with, none of them judged; None in a checkout.

    In a checkout somebody may have just changed a result, and the index is not yet written anew. A wheel is built from
    sources whose tests have passed, and one of them compares the index with the catalogue.
    """
    if Path(derivations.__file__).parent.parent.joinpath("pyproject.toml").exists():
        return None
    rows = json.loads(INDEX.read_text(encoding="utf-8"))
    return Stored(tuple(_unjudged(*row) for row in rows), "")


def _unjudged(name: str, title: str, topic: str, letters: list[str]) -> Row:
    return Row(name, title, topic, "definition" if topic == LAYER else NOT_JUDGED, tuple(letters))


def keep(digest: str, rows: Sequence[Row]) -> Stored:
    """Store the rows of all results and return them; a folder that is not writable is ignored."""
    stored = Stored(tuple(rows), datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"))
    path = store_of(digest)
    text = json.dumps({"digest": digest, "proved": stored.proved, "rows": [asdict(row) for row in rows]}, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".evidence-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)  # atomic: readers and other writers never see half a file
        newest_first = sorted(path.parent.glob("evidence-*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in newest_first[KEPT:]:
            old.unlink(missing_ok=True)
    except OSError:
        pass
    return stored
