r"""LaTeX: sections, paragraphs, items and tables, with the macros of the document replaced.

Definition   a block ends at an empty line, a section, an item or a row of a table; comments, the preamble, and what is
             set as it is typed are no text; listings are code
Result       formulas between dollar signs and brackets and in the environments of mathematics
Assumes      commands mean what LaTeX and amsmath mean by them; files that are included are not read
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from derivations.documents.passages import Block, BlockKind, Document, headers_of, row_of
from derivations.documents.readers.code import code_blocks
from derivations.documents.readers.dialects import LATEX
from derivations.documents.readers.macros import PACKAGES, Expansion, defined_macros, group_end, without_definitions
from derivations.documents.readers.running_text import passages
from derivations.documents.readers.snippets import snippet_syntax
from derivations.documents.readers.source import Excerpt, joined, normalised

__all__ = ["read"]

_TEXTS = (
    "itemize|enumerate|description|compactitem|quote|quotation|center|flushleft|abstract|figure|table|minipage|document"
    "|theorem|lemma|proposition|corollary|definition|remark|example|proof|exercise|block|frame|tcolorbox|multicols"
)
_LISTINGS = ("verbatim", "Verbatim", "lstlisting", "minted", "pythoncode")
_UNREAD = ("comment", "tikzpicture", "filecontents", "thebibliography", "picture", "pgfpicture")
_SET_ASIDE = re.compile(
    rf"\\begin\{{(?P<environment>(?:{'|'.join((*_LISTINGS, *_UNREAD))})\*?)\}}"
    r"|(?P<verbatim>\\(?:verb|lstinline)\*?(?P<bar>[^A-Za-z\s{*]))|(?P<escape>\\(?:[A-Za-z]+|.|\n))|(?P<comment>%[^\n]*)"
)
_LANGUAGE = re.compile(r"(?:\[[^\[\]\n]*?\blanguage=\{?|(?:\[[^\[\]\n]*\])?\{)(\w+)", re.IGNORECASE)
_SECTIONS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
_MARK = re.compile(
    r"\\(?P<section>part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?\s*(?:\[[^\[\]]{0,300}\])?\s*(?=\{)"
    r"|\\item(?![A-Za-z])\s*(?:\[(?P<term>[^\[\]]{0,300})\])?"
    r"|\\begin\{(?P<table>tabular[x*]?|longtable|tabulary)\}(?:\[[^\[\]]{0,20}\])?(?:\{[^{}]{0,100}\})?\s*(?:\{(?:[^{}]|\{[^{}]{0,80}\}){0,200}\})?"
    rf"|(?P<break>\n[ \t]*\n|\\par(?![A-Za-z])|\\(?:begin|end)\{{(?:{_TEXTS})\*?\}}(?:\[[^\[\]$]{{0,200}}\])?)"
)
_ROW = re.compile(
    r"\\\\(?:\[[^\[\]]{0,20}\])?|\\(?:hline|toprule|midrule|bottomrule)(?![A-Za-z])|\\c(?:mid)?(?:rule|line)(?:\([lr]*\))?\{[\d-]+\}"
)
_CELL = re.compile(r"(?<!\\)&")


def read(text: str, file: str) -> Document:
    """Read a document in LaTeX."""
    source, problems = normalised(text)
    return Document(file, tuple(_blocks(source.whole)), tuple(problems))


def _blocks(whole: Excerpt) -> Iterator[Block]:
    text, listings = _set_aside(whole)
    macros = Expansion.in_document(len(whole.text))
    macros.macros.update(PACKAGES)
    for _, _, name, macro in defined_macros(text.text):
        macros.macros[name] = macro
    text = without_definitions(text)
    begin, end = text.text.find("\\begin{document}"), text.text.find("\\end{document}")
    text = text.part(begin + 16 if begin >= 0 else 0, end if end > begin else None)
    blocks = [(block.passages[0].place(0), block) for block in _structured(text, macros)]
    listed = [(block.passages[0].place(0), block) for code in listings for block in code_blocks(*code)]
    yield from (block for _, block in sorted([*blocks, *listed], key=lambda pair: pair[0]))


def _set_aside(whole: Excerpt) -> tuple[Excerpt, list[tuple[Excerpt, str]]]:
    """Return the text without comments and verbatim material, and the listings with their languages."""
    text, position = whole.text, 0
    kept: list[Excerpt] = []
    listings: list[tuple[Excerpt, str]] = []
    absent: set[str] = set()
    start = 0
    while mark := _SET_ASIDE.search(text, start):
        start = end = mark.end()
        if mark["escape"]:
            continue
        closing = f"\\end{{{mark['environment']}}}" if mark["environment"] else mark["bar"] or ""
        if closing:
            found = -1 if closing in absent else text.find(closing, mark.end())
            if found < 0:
                absent.add(closing)
                continue
            if mark["environment"] and mark["environment"].rstrip("*") in _LISTINGS:
                first_line = text.find("\n", mark.end(), found)
                language = _LANGUAGE.match(text, mark.end(), max(first_line, mark.end()))
                listings.append((whole.part(max(first_line, mark.end()), found), language[1] if language else ""))
            elif mark["verbatim"] and snippet_syntax(text[mark.end() : found]):  # it is a formula, and stays
                start = found + 1
                continue
            start = end = found + len(closing)
        kept.append(whole.part(position, mark.start()))
        position = end
    return joined(whole.source, [*kept, whole.part(position)]), listings


def _structured(text: Excerpt, macros: Expansion) -> Iterator[Block]:
    """Yield the blocks of a text, which sections, items, tables and empty lines separate."""
    position = 0
    kind: BlockKind = "paragraph"
    term = text.part(0, 0)  # in the square brackets of an item
    absent: set[str] = set()  # ends of tables that do not come any more
    while mark := _MARK.search(text.text, position):
        yield from _block(joined(text.source, (term, text.part(position, mark.start()))), macros, kind)
        term, kind, position = text.part(0, 0), "paragraph", mark.end()
        if mark["section"]:
            end = group_end(text.text, position)
            if end:
                yield from _block(text.part(position + 1, end - 1), macros, "heading", _SECTIONS[mark["section"]])
                position = end
        elif mark["table"]:
            closing = f"\\end{{{mark['table']}}}"
            end = -1 if closing in absent else text.text.find(closing, position)
            if end < 0:
                absent.add(closing)
            else:
                yield from _rows(text.part(position, end), macros)
                position = end
        elif not mark["break"]:
            kind = "item"
            term = text.part(*mark.span("term")) if mark["term"] else term
    yield from _block(joined(text.source, (term, text.part(position))), macros, kind)


def _block(text: Excerpt, macros: Expansion, kind: BlockKind, level: int = 0) -> Iterator[Block]:
    inside = passages(macros.of(text), LATEX) if text.text and not text.text.isspace() else ()
    for _, together in groupby(inside, key=lambda passage: passage.display and id(passage)):
        yield Block(kind, tuple(together), level)  # what is displayed stands alone


def _rows(table: Excerpt, macros: Expansion) -> Iterator[Block]:
    """Yield the rows of a table; the first is its head."""
    headers: tuple[str, ...] = ()
    position = 0
    for end, following in [*((mark.start(), mark.end()) for mark in _ROW.finditer(table.text)), (len(table.text), 0)]:
        row = table.part(position, end)
        position = following
        if not row.text.strip():
            continue
        starts = [0, *(mark.end() for mark in _CELL.finditer(row.text))]
        ends = [*(mark.start() for mark in _CELL.finditer(row.text)), len(row.text)]
        cells = [row.part(*span).stripped() for span in zip(starts, ends, strict=True)]
        headers = headers or headers_of(cell.text for cell in cells)
        yield from row_of((passages(macros.of(cell), LATEX) for cell in cells), headers)
