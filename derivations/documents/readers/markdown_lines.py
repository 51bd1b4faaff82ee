r"""Splits Markdown into block tokens with markdown-it, and keeps the lines of displayed formulas together.

Definition   a formula that begins a line with `$$`, `\[` or `\begin{align}` runs to its end, whatever its lines look
             like; what is nested too deeply is a paragraph
Result       `block_tokens(text)` are the tokens of CommonMark with tables, with the text of paragraphs as it stands;
             `pieces(excerpt)` are some thousand lines at a time with their tokens: a long text takes little room
Assumes      definitions of references are text
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from derivations.documents.readers.dialects import DISPLAY_ENVIRONMENTS
from derivations.documents.readers.source import Excerpt

__all__ = ["block_tokens", "pieces"]

_MAX_NESTING = 60  # lists and quotations inside one another
_MAX_DISPLAY = 200  # lines of one formula
_PIECE = 2_000  # lines that are read at once
_OPENING = re.compile(rf"\$\$|\\\\?\[(?=\s|$|.*\\\])|\\begin\{{((?:{'|'.join(DISPLAY_ENVIRONMENTS)})\*?)\}}")


def block_tokens(text: str) -> list[Token]:
    """Return the tokens of the blocks of a text."""
    return _parser().block.parse(text, _parser(), {}, []) or []


def pieces(excerpt: Excerpt) -> Iterator[tuple[Excerpt, list[Token]]]:
    """Yield a text piece by piece, each with the tokens of its blocks.

    A piece ends where an outermost block begins of which the parser saw as many lines as decide what a block is. One
    block that takes all the lines is read again with twice as many.
    """
    start, lines = 0, _PIECE
    while start < len(excerpt.text):
        end = _behind(excerpt.text, start, lines)
        piece = excerpt.part(start, end)
        tokens = block_tokens(piece.text)
        if end == len(excerpt.text):
            yield piece, tokens
            return
        begun = [(number, token.map[0]) for number, token in enumerate(tokens) if not token.level and token.map]
        cut, line = max((each for each in begun if each[1] <= lines - _MAX_DISPLAY), default=(0, lines - _MAX_DISPLAY))
        if line:
            yield piece, tokens[:cut]
            start, lines = _behind(excerpt.text, start, line), _PIECE
        else:
            lines *= 2


def _behind(text: str, start: int, lines: int) -> int:
    """Return the offset at which the given number of lines ends."""
    for _ in range(lines):
        start = text.find("\n", start) + 1
        if not start:
            return len(text)
    return start


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _MAX_NESTING}).enable("table").disable("reference")
    parser.block.ruler.before("table", "flat", _flat)
    parser.block.ruler.before("fence", "display", _display, {"alt": ["paragraph", "blockquote", "list"]})
    return parser


def _flat(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a line as text if it is nested too deeply. The parser alone would leave out all that follows."""
    if silent or state.level < _MAX_NESTING:
        return False
    _push_paragraph(state, start, start + 1)
    return True


def _push_paragraph(state: StateBlock, start: int, end: int) -> None:
    state.line = end
    state.push("paragraph_open", "p", 1).map = [start, end]
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
    """Return the last line of the formula that begins on line `start`, or None if it does not end."""
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
    """Return the offset of the next closing mark, or -1. Every stretch of the text is searched once."""
    known: dict[str, int] = state.env.setdefault("closing", {})
    if closing not in known or 0 <= known[closing] < start:
        known[closing] = state.src.find(closing, start)
    return known[closing]
