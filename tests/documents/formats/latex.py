r"""A document in Markdown as its author would have written it in LaTeX.

Result       `in_latex(text)` are the new lines, each with the number of the one it comes from
Assumes      what `tests.documents.formats.lines` assumes
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.documents.formats.lines import Line, left_lists, lines_of, stretches

__all__ = ["in_latex"]

_SECTIONS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph", "subparagraph")
_AROUND = {"row": "tabular", "rule": "tabular", "quote": "quote"}


def in_latex(text: str) -> list[tuple[str, int]]:
    """Return a document in LaTeX."""
    lines = [(r"\documentclass{ctexart}", 1), (r"\begin{document}", 1)]
    lists: list[tuple[int, str]] = []
    around = listing = ""
    for line in lines_of(text):
        new: list[str] = []
        wanted = _AROUND.get(line.kind, "")
        if wanted != around and around:
            new.append(rf"\end{{{around}}}")
        for _ in range(left_lists(line, [place for place, _ in lists])):
            new.append(rf"\end{{{lists.pop()[1]}}}")
        if line.kind == "item" and (not lists or lists[-1][0] < line.indent):
            lists.append((line.indent, "enumerate" if line.mark[0].isdigit() else "itemize"))
            new.append(rf"\begin{{{lists[-1][1]}}}")
        if wanted != around and wanted:
            columns = "l" * (line.text.count("|") + 1)
            new.append(rf"\begin{{{wanted}}}" + (f"{{{columns}}}" if wanted == "tabular" else ""))
        around = wanted
        if line.kind == "fence":
            listing = "lstlisting" if line.mark else "verbatim"
        new.append(_line(line, listing))
        lines += [(each, line.number) for each in new]
    return [*lines, (r"\end{document}", lines[-1][1])]


def _line(line: Line, listing: str) -> str:
    match line.kind:
        case "heading":
            return rf"\{_SECTIONS[len(line.mark) - 1]}{{{_words(line.text)}}}"
        case "rule":
            return r"\hline"
        case "row":
            return " & ".join(_words(cell.strip()) for cell in line.text.split("|")) + r" \\"
        case "fence":
            return rf"\begin{{{listing}}}"
        case "dollars":
            return r"\[" + line.text
        case "end":
            return line.text + r"\]" if line.mark == "dollars" else rf"\end{{{listing}}}"
        case "code" | "display":
            return line.text
        case "item":
            return rf"\item {_words(line.text)}"
    return _words(line.text)


def _words(text: str) -> str:
    return "".join(_stretches(text))


def _stretches(text: str) -> Iterator[str]:
    for kind, inside in stretches(text):
        match kind:
            case "display":
                yield rf"\[{inside}\]"
            case "math":
                yield f"${inside}$"
            case "code":
                yield rf"\texttt{{{_escaped(inside)}}}"
            case "picture":
                yield rf"\includegraphics{{{inside}}}"
            case "tag":
                yield r"\newline " if inside.startswith("<br") else ""
            case "emphasis":
                yield rf"\emph{{{_words(inside)}}}"
            case "bold":
                yield rf"\textbf{{{_words(inside)}}}"
            case _:
                yield "--" if kind == "escaped" and inside == "~" else _escaped(inside)


def _escaped(words: str) -> str:
    return re.sub(r"([%&#_{}])", r"\\\1", words.replace("\\", r"\textbackslash "))
