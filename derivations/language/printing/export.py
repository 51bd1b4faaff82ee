r"""Export: files with every result and layer, ready to \input or to include, and a book of all of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from derivations.language.layers.layer import Layer
from derivations.language.printing.book import book, entry, section_title
from derivations.language.printing.breaking.atoms import expanding
from derivations.language.printing.fragments import TEXT_WIDTH, fragment, points
from derivations.language.printing.labels import label_of
from derivations.language.printing.macros import package, with_macros
from derivations.language.printing.notation import Notation
from derivations.language.printing.references import BIBLIOGRAPHY
from derivations.language.printing.statement import Statement, statement
from derivations.language.printing.views import markdown
from derivations.language.printing.words import language, word
from derivations.language.results.derivation import Derivation

__all__ = ["Layout", "Pages", "check_writable", "export", "pages_of", "write_files", "write_pages"]


@dataclass(frozen=True)
class Layout:
    r"""How LaTeX is laid out: the width of the text as a length of TeX, equation numbers, the prefix of labels, macros.

    With `macros` each letter is a macro, which derivations.sty defines and an author may define before.
    """

    width: str = TEXT_WIDTH
    numbered: bool = False
    label: str = ""
    macros: bool = False


@dataclass(frozen=True)
class Pages:
    """The pages of results and layers by name, `layer-NAME` for a layer, and what the book of them needs.

    `entries` are the entries of the book, `letters` the names of the sizes and arrays in each.
    """

    tex: Mapping[str, str]
    markdown: Mapping[str, str]
    entries: Mapping[str, str]
    letters: Mapping[str, tuple[str, ...]]
    notation: str | Notation = "ours"
    lang: str = "en"
    layout: Layout = Layout()
    macros: Mapping[str, str] = field(default_factory=dict)  # of letters, if the layout has them
    rules: Mapping[str, str] = field(default_factory=dict)  # the laws of the rules by name, for the preface of the book

    def without(self, names: Collection[str]) -> Pages:
        """Return the pages except those with the given names."""

        def kept(texts: Mapping[str, Any]) -> dict[str, Any]:
            return {name: text for name, text in texts.items() if name not in names}

        return replace(
            self,
            tex=kept(self.tex),
            markdown=kept(self.markdown),
            entries=kept(self.entries),
            letters=kept(self.letters),
        )


def export(
    folder: Path,
    results: Mapping[str, Derivation],
    layers: Mapping[str, Layer],
    notation: str | Notation = "ours",
    math: str = "dollars",
    lang: str = "en",
    layout: Layout = Layout(),
    rules: Mapping[str, str] = MappingProxyType({}),
) -> list[Path]:
    r"""Write every result and layer to a folder, and return the files; their use carries no licence obligations.

    Result       latex/ID.tex and markdown/ID.md with the derivation, latex/layer-NAME.tex and markdown/layer-NAME.md
                 with the equations, whose formulas fit into the width of the layout; derivations.tex, a book of all,
                 with references.bib; derivations.md, all of it on one page; with macros derivations.sty
    Assumes      `math` "fence" is for Markdown only: the LaTeX files then use "dollars"
    Raises       OSError where the folder cannot be written; no file is then left half-written; ValueError where the
                 width is not a length such as 12cm
    """
    check_writable(folder)
    return write_pages(folder, pages_of(results, layers, notation, math, lang, layout, rules))


def pages_of(
    results: Mapping[str, Derivation],
    layers: Mapping[str, Layer],
    notation: str | Notation = "ours",
    math: str = "dollars",
    lang: str = "en",
    layout: Layout = Layout(),
    rules: Mapping[str, str] = MappingProxyType({}),
) -> Pages:
    """Return the pages that `export` writes."""
    width = points(layout.width)
    language(lang)  # one without a catalogue is refused before any work
    if layout.label:
        label_of(layout.label, "result")  # a prefix that no label may have is refused before any work
    inline = "brackets" if math == "brackets" else "dollars"
    shown: dict[str, Derivation | Layer] = {**results, **{f"layer-{name}": layer for name, layer in layers.items()}}
    # the notation fills `macros` while it prints, so the table is complete only at the end
    letters, macros = with_macros(notation) if layout.macros else (notation, {})
    parts = {name: statement(each, letters, lang, name) for name, each in shown.items()}
    with expanding(macros):
        return Pages(
            {name: _fragment(each, width, inline, lang, layout) for name, each in parts.items()},
            {name: markdown(each, notation, steps=True, math=math, lang=lang) for name, each in shown.items()},
            {name: entry(each, width, lang) for name, each in parts.items()},
            {name: each.letters for name, each in parts.items()},
            notation,
            lang,
            layout,
            macros,
            rules,
        )


def _fragment(parts: Statement, width: float, math: str, lang: str, layout: Layout) -> str:
    return fragment(parts, width, math=math, lang=lang, numbered=layout.numbered, label=layout.label)


def write_pages(folder: Path, pages: Pages) -> list[Path]:
    """Write pages, and the documents that hold all of them, to a folder, and return the files.

    Raises       OSError where the folder cannot be written; no file is then left half-written
    """
    files: dict[str, str | bytes] = {f"latex/{name}.tex": text for name, text in pages.tex.items()}
    files |= {f"markdown/{name}.md": text for name, text in pages.markdown.items()}
    letters = pages.macros
    width, lang = pages.layout.width, pages.lang
    files["derivations.tex"] = book(
        pages.entries, pages.letters, pages.notation, width, lang, macros=bool(letters), rules=pages.rules
    )
    if letters:
        files["derivations.sty"] = package(letters, pages.letters)
    files["references.bib"] = BIBLIOGRAPHY.read_text(encoding="utf-8")
    title = word("Derivations", pages.lang)
    files["derivations.md"] = f"# {title}\n" + "".join(_sections(pages.markdown, pages.lang))
    return write_files(folder, files)


def _sections(texts: Mapping[str, str], lang: str) -> list[str]:
    parts = []
    for topic, names in groupby(texts, key=lambda name: name.partition(".")[0].partition("-")[0]):
        title = f"## {section_title(topic, lang)}"
        parts.append("\n".join(["", title, "", *(texts[name] for name in names)]))
    return parts


def check_writable(out: Path) -> None:
    """Refuse a folder in which no file can be written, before long work; leave the file system unchanged.

    Raises       OSError where `out` is not a folder, or a file cannot be made in it or in its nearest existing parent
    """
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file, not a folder: choose another folder")
    nearest = out if out.is_dir() else next(parent for parent in out.absolute().parents if parent.exists())
    try:
        tempfile.TemporaryDirectory(prefix=".derivations-", dir=nearest).cleanup()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(f"nothing can be written to {out} ({reason}): choose another folder") from error


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write files under a folder: first all of them to a temporary folder inside it, then each is moved.

    Raises       OSError, one sentence, where the folder cannot be written
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # inside the folder, because a move is atomic only within one file system
        beside = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder))
    except OSError as error:
        raise OSError(
            f"the folder {folder} cannot be written: {error.strerror or error}; choose another one"
        ) from error
    try:
        for name, content in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)  # no newline is translated
        for name in files:  # a move inside one file system is atomic, so no file is ever half-written
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(beside / name, folder / name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return [folder / name for name in files]
