r"""Export: files with every result and layer, ready to \input or to include, and one complete document."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from derivations.language.layers.layer import Layer
from derivations.language.printing.notation import Notation
from derivations.language.printing.views import latex, markdown
from derivations.language.results.derivation import Derivation

__all__ = ["Pages", "export", "pages_of", "write_files", "write_pages"]

# amsmath limits matrices to 10 columns unless MaxMatrixCols is raised.
PREAMBLE = r"""\documentclass{article}
\usepackage{amsmath,amssymb}
\usepackage[margin=2cm]{geometry}
\allowdisplaybreaks
\setcounter{MaxMatrixCols}{20}
\begin{document}
"""


@dataclass(frozen=True)
class Pages:
    """The pages of results and layers by name, `layer-NAME` for a layer: in LaTeX and in Markdown."""

    tex: Mapping[str, str]
    markdown: Mapping[str, str]

    def without(self, names: Collection[str]) -> Pages:
        """Return the pages except those with the given names."""
        tex, pages = ({n: t for n, t in texts.items() if n not in names} for texts in (self.tex, self.markdown))
        return Pages(tex, pages)


def export(
    folder: Path,
    results: Mapping[str, Derivation],
    layers: Mapping[str, Layer],
    notation: str | Notation = "ours",
    math: str = "dollars",
    lang: str = "en",
) -> list[Path]:
    r"""Write every result and layer to a folder, and return the files, which the user may use without licence duty.

    Result       latex/ID.tex and markdown/ID.md with the derivation, latex/layer-NAME.tex and markdown/layer-NAME.md
                 with the equations; derivations.tex, a complete document, and derivations.md, all of it on one page
    Assumes      `math` "fence" is for Markdown only: the LaTeX files then use "equation"
    Raises       OSError where the folder cannot be written; no file is then left half-written
    """
    return write_pages(folder, pages_of(results, layers, notation, math, lang))


def pages_of(
    results: Mapping[str, Derivation],
    layers: Mapping[str, Layer],
    notation: str | Notation = "ours",
    math: str = "dollars",
    lang: str = "en",
) -> Pages:
    """Return the pages that `export` writes."""
    tex_math = "equation" if math == "fence" else math
    shown = {**results, **{f"layer-{name}": layer for name, layer in layers.items()}}
    tex = {name: latex(each, notation, steps=True, math=tex_math, lang=lang) for name, each in shown.items()}
    pages = {name: markdown(each, notation, steps=True, math=math, lang=lang) for name, each in shown.items()}
    return Pages(tex, pages)


def write_pages(folder: Path, pages: Pages) -> list[Path]:
    """Write pages, and the documents that hold all of them, to a folder, and return the files.

    Raises       OSError where the folder cannot be written; no file is then left half-written
    """
    files = {f"latex/{name}.tex": text for name, text in pages.tex.items()}
    files |= {f"markdown/{name}.md": text for name, text in pages.markdown.items()}
    files["derivations.tex"] = PREAMBLE + "".join(_sections(pages.tex, r"\section*{{{}}}")) + "\\end{document}\n"
    files["derivations.md"] = "# Derivations\n" + "".join(_sections(pages.markdown, "## {}"))
    return write_files(folder, files)


def _sections(texts: Mapping[str, str], heading: str) -> list[str]:
    parts = []
    for topic, names in groupby(texts, key=lambda name: name.partition(".")[0].partition("-")[0]):
        title = heading.format(topic.replace("_", " ").capitalize())
        parts.append("\n".join(["", title, "", *(texts[name] for name in names)]))
    return parts


def write_files(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Write files under a folder: first all of them to a temporary folder inside it, then each is moved.

    Raises       OSError, one sentence, where the folder cannot be written
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder))
    except OSError as error:
        raise OSError(
            f"the folder {folder} cannot be written: {error.strerror or error}; choose another one"
        ) from error
    try:
        for name, text in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        for name in files:  # a move inside one file system is atomic, so no file is ever half-written
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(beside / name, folder / name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return [folder / name for name in files]
