r"""Markdown: its blocks by markdown-it, and formulas in them that keep their lines together.

Definition   a formula that begins a line with `$$`, `\[` or `\begin{align}` runs to its end, whatever its lines look
             like; a fence of the language math is a formula, of another one code
Result       blocks: headings, paragraphs, items of lists, rows of tables, lines of code
Assumes      CommonMark with tables; what stands at the head of a file between lines of three hyphens is not text
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from derivations.documents.passages import Block, Document, Passage
from derivations.documents.readers.code import code_blocks
from derivations.documents.readers.macros import Expansion, defined_macros, without_definitions
from derivations.documents.readers.running_text import DISPLAY_ENVIRONMENTS, MARKDOWN, passages
from derivations.documents.readers.source import Excerpt, joined, normalised

__all__ = ["markdown_blocks", "read"]

_MAX_NESTING = 60  # lists and quotations inside one another
_MAX_DISPLAY = 200  # lines of one formula
_OPENING = re.compile(rf"\$\$|\\\\?\[(?=\s|$|.*\\\])|\\begin\{{((?:{'|'.join(DISPLAY_ENVIRONMENTS)})\*?)\}}")
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
    tokens = _parser().block.parse(excerpt.text, _parser(), {}, []) or []
    yield from _Blocks(excerpt, macros).read(tokens)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _MAX_NESTING}).enable("table").disable("reference")
    parser.block.ruler.before("table", "flat", _flat)
    parser.block.ruler.before("fence", "display", _display, {"alt": ["paragraph", "blockquote", "list"]})
    return parser


def _flat(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a line that is nested too deeply as text: the parser alone would leave out all that follows."""
    if silent or state.level < _MAX_NESTING:
        return False
    _push_paragraph(state, start, start + 1)
    return True


def _push_paragraph(state: StateBlock, start: int, end: int) -> None:
    state.line = end
    state.push("paragraph_open", "p", 1)
    token = state.push("inline", "", 0)
    token.map = [start, end]
    token.content = state.getLines(start, end, state.blkIndent, False).strip()
    token.children = []
    state.push("paragraph_close", "p", -1)


def _display(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Keep the lines of a displayed formula together, as one paragraph."""
    if state.is_code_block(start):
        return False
    opening = _OPENING.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if not opening:
        return False
    mark = opening[0]
    if silent and mark == "$$" and state.src.count("$$", state.bMarks[state.line], state.bMarks[start]) % 2:
        return False  # it closes what the paragraph opened
    last = _last_line(state, start, end, opening)
    if last is None:
        return False
    if silent:
        return True
    _push_paragraph(state, start, last + 1)
    return True


def _last_line(state: StateBlock, start: int, end: int, opening: re.Match[str]) -> int | None:
    """Return the line on which a formula ends that begins on line `start`."""
    mark = opening[0]
    closing = f"\\end{{{opening[1]}}}" if opening[1] else mark.replace("[", "]")
    if _next(state, closing, opening.end()) < 0:
        return None
    alone = mark == "$$" and not state.src[opening.end() : state.eMarks[start]].strip()
    count = 0
    for line in range(start, min(end, start + _MAX_DISPLAY)):
        if state.isEmpty(line):
            if not (alone or opening[1]):
                return None
            continue
        if line > start and state.sCount[line] < state.blkIndent:
            return None
        count += state.src.count(closing, opening.end() if line == start else state.bMarks[line], state.eMarks[line])
        if count % 2 if mark == "$$" else count:
            return line
    return None


def _next(state: StateBlock, closing: str, start: int) -> int:
    """Return where a closing mark comes next, or -1; every stretch of the text is searched once."""
    known: dict[str, int] = state.env.setdefault("closing", {})
    if closing not in known or 0 <= known[closing] < start:
        known[closing] = state.src.find(closing, start)
    return known[closing]


class _Blocks:
    """Blocks from the tokens of the parser."""

    def __init__(self, excerpt: Excerpt, macros: Expansion) -> None:
        self.source, self.lines, self.macros = excerpt.source, excerpt.lines, macros
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
        """Return the content of a token as an excerpt: each of its lines is found on a line of the text."""
        parts = []
        for number, content in enumerate(token.content.split("\n"), first):
            if number >= len(self.lines):
                break
            wanted, line = content.strip(), self.lines[number]
            written = line.text.rstrip()
            start = len(written) - len(wanted) if written.endswith(wanted) else line.text.find(wanted)
            if start >= 0:
                parts.append(line.part(start))
                if not line.text.endswith("\n") or not written.endswith(wanted):
                    parts[-1] = line.part(start, start + len(wanted))
        return self.macros.of(without_definitions(joined(self.source, parts)))

    def fence(self, token: Token) -> Iterator[Block]:
        """Yield the formula of a fence of mathematics, or the lines of code."""
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
        """Yield lines of code that is set off by its indentation; formulas too far to the right are formulas."""
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
                headers = headers or tuple(cell.text for cell in cells)
                found = [(column, passage) for column, cell in enumerate(cells) for passage in passages(cell, MARKDOWN)]
                row = []
                if found:
                    columns, inside = zip(*found, strict=True)
                    yield Block("row", inside, columns=columns, headers=headers)

    def cells(self, row: Sequence[Token]) -> list[Excerpt]:
        """Return the cells of a row, which stand on one line from left to right."""
        line = self.lines[row[0].map[0] if row[0].map else 0]
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
            cells.append(joined(self.source, (cell.part(*span) for span in ends)) if bars else cell)
        return cells


def _displayed(formula: Excerpt) -> Iterator[Block]:
    if formula.text:
        formula_passage: Passage = formula.passage("latex", display=True)
        yield Block("paragraph", (formula_passage,))
