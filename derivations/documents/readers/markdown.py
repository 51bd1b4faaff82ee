r"""Markdown: headings, paragraphs, items, tables and code as blocks of passages.

Definition   a fence of the language math is a formula, of another one code; the text of HTML is text
Result       blocks: headings, paragraphs, items of lists, rows of tables, lines of code
Assumes      CommonMark with tables; what stands at the head of a file between lines of three hyphens is not text
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from derivations.documents.passages import Block, Document, Passage, headers_of, row_of
from derivations.documents.readers.code import code_blocks
from derivations.documents.readers.dialects import MARKDOWN
from derivations.documents.readers.macros import Expansion, defined_macros, without_definitions
from derivations.documents.readers.markdown_lines import pieces
from derivations.documents.readers.running_text import passages
from derivations.documents.readers.source import Excerpt, joined, line_starts, normalised

__all__ = ["markdown_blocks", "read"]

_FRONT_MATTER = re.compile(r"\s*---[ \t]*\n(?:(?!---).*\n){0,300}?(?:---|\.\.\.)[ \t]*(?:\n|$)")
_MATH_FENCES = frozenset(("math", "{math}", "katex"))
_LATEX_FENCES = frozenset(("latex", "tex"))
_OPTIONS = re.compile(r"(?:[ \t]*:[\w-]+:.*\n|---\n(?:.*\n)*?---\n)*")
_UNREAD_HTML = re.compile(r"\s*<(?:script|style|svg|pre)\b", re.IGNORECASE)


def read(text: str, file: str) -> Document:
    """Read a document in Markdown."""
    source, problems = normalised(text)
    return Document(file, tuple(markdown_blocks(source.whole)), tuple(problems))


def markdown_blocks(excerpt: Excerpt, macros: Expansion | None = None) -> Iterator[Block]:
    """Yield the blocks of a text in Markdown; the macros it defines are added to those that are given."""
    macros = macros or Expansion.in_document(len(excerpt.text))
    for _, _, name, macro in defined_macros(excerpt.text):
        macros.macros[name] = macro
    front = _FRONT_MATTER.match(excerpt.text)
    if front:
        excerpt = excerpt.part(front.end())
    for piece, tokens in pieces(excerpt):
        yield from _Blocks(piece, macros).read(tokens)


class _Blocks:
    """Makes blocks from the tokens of the Markdown parser."""

    def __init__(self, excerpt: Excerpt, macros: Expansion) -> None:
        self.excerpt, self.macros = excerpt, macros
        self.starts = line_starts(excerpt.text)
        self.in_item = 0

    def read(self, tokens: Sequence[Token]) -> Iterator[Block]:
        """Yield the blocks of tokens in order."""
        heading, position = 0, 0
        while position < len(tokens):
            token = tokens[position]
            match token.type:
                case "list_item_open" | "list_item_close":
                    self.in_item += token.nesting
                case "heading_open" | "heading_close":
                    heading = int(token.tag[1]) if token.nesting == 1 else 0
                case "inline":
                    inside = passages(self.content(token, token.map[0] if token.map else 0), MARKDOWN)
                    kind = "heading" if heading else "item" if self.in_item else "paragraph"
                    if inside:
                        yield Block(kind, inside, level=heading)  # type: ignore[arg-type]
                case "fence":
                    yield from self.fence(token)
                case "code_block":
                    yield from self.indented(token)
                case "html_block":
                    yield from self.html(token)
                case "table_open":
                    end = next(i for i in range(position, len(tokens)) if tokens[i].type == "table_close")
                    yield from self.table(tokens[position:end])
                    position = end
            position += 1

    def content(self, token: Token, first: int) -> Excerpt:
        """Return the content of a token as an excerpt, with macros expanded.

        Each of its lines is found on a line of the text.
        """
        return self.macros.of(without_definitions(joined(self.excerpt.source, self.found(token, first))))

    def found(self, token: Token, first: int) -> Iterator[Excerpt]:
        """Yield the lines of a token's content as excerpts of the text, from line `first` on."""
        for number, content in enumerate(token.content.split("\n"), first):
            if number >= len(self.starts) - 1:
                break
            wanted, line = content.strip(), self.line(number)
            written = line.text.rstrip()
            start = len(written) - len(wanted) if written.endswith(wanted) else line.text.find(wanted)
            if start >= 0:
                to_the_end = line.text.endswith("\n") and written.endswith(wanted)
                yield line.part(start) if to_the_end else line.part(start, start + len(wanted))

    def line(self, number: int) -> Excerpt:
        """Return a line of the text, with the line feed that ends it."""
        return self.excerpt.part(self.starts[number], self.starts[number + 1])

    def fence(self, token: Token) -> Iterator[Block]:
        """Yield the formula of a math fence, or the text or the lines of code of any other fence."""
        if token.map is None:
            return
        content = self.content(token, token.map[0] + 1)
        language = (token.info.split() or [""])[0].strip()
        if language in _MATH_FENCES:
            formula = content.part(_OPTIONS.match(content.text).end()).stripped()  # type: ignore[union-attr]
            yield from _displayed(formula)
        elif language in _LATEX_FENCES:
            inside = passages(content, MARKDOWN)
            if any(passage.is_formula for passage in inside):
                yield Block("paragraph", inside)
            elif "\\" in content.text and "\n\n" not in content.text:
                yield from _displayed(content.stripped())
        elif language in ("{note}", "{tip}", "{warning}", "{important}", "{admonition}", "{proof}", "{theorem}"):
            yield Block("paragraph", passages(content, MARKDOWN))
        else:
            language = token.info.split("}")[-1] if language.startswith("{code") else language
            yield from code_blocks(content, language.strip("{}. "))

    def indented(self, token: Token) -> Iterator[Block]:
        """Yield the lines of an indented code block, or its passages if it contains displayed formulas."""
        content = self.content(token, token.map[0] if token.map else 0)
        inside = passages(content, MARKDOWN) if "$" in content.text or "\\[" in content.text else ()
        if any(passage.display for passage in inside):
            yield Block("paragraph", inside)
        else:
            yield from code_blocks(content, "")

    def html(self, token: Token) -> Iterator[Block]:
        """Yield the text between tags."""
        if _UNREAD_HTML.match(token.content):
            return
        inside = passages(self.content(token, token.map[0] if token.map else 0), MARKDOWN)
        if inside:
            yield Block("item" if self.in_item else "paragraph", inside)

    def table(self, tokens: Sequence[Token]) -> Iterator[Block]:
        """Yield the rows of a table; the head is a row as well."""
        headers: tuple[str, ...] = ()
        row: list[Token] = []
        for token in tokens:
            if token.type == "inline":
                row.append(token)
            elif token.type == "tr_close" and row:
                cells = self.cells(row)
                headers = headers or headers_of(cell.text for cell in cells)
                row = []
                yield from row_of((passages(cell, MARKDOWN) for cell in cells), headers)

    def cells(self, row: Sequence[Token]) -> list[Excerpt]:
        """Return the cells of a row, which stand on one line from left to right."""
        line = self.line(row[0].map[0] if row[0].map else 0)
        cells, position = [], 0
        for token in row:
            written = token.content.replace("|", "\\|") if "|" in token.content else token.content
            start = line.text.find(written, position)
            if start < 0:
                written = token.content
                start = line.text.find(written, position)
            if start < 0 or not written:
                cells.append(line.part(0, 0))
                continue
            position = start + len(written)
            cell = line.part(start, position)
            bars = [match.start() for match in re.finditer(r"\\(?=\|)", written)]
            ends = zip([0, *(bar + 1 for bar in bars)], [*bars, len(written)], strict=True)
            cells.append(joined(self.excerpt.source, (cell.part(*span) for span in ends)) if bars else cell)
        return cells


def _displayed(formula: Excerpt) -> Iterator[Block]:
    if formula.text:
        formula_passage: Passage = formula.passage("latex", display=True)
        yield Block("paragraph", (formula_passage,))
