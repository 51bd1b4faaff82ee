r"""Python: its docstrings, its comments, and the shapes that stand in comments beside code.

Definition   a docstring is a string that stands alone as a statement; comments one below another are one text
Result       docstrings read as reStructuredText or as Markdown, by their look; comments read as Markdown; a line of
             code with a shape in its comment, as a line of code; in a file of its own, a function or a class opens a
             section, inside that of the class it stands in, and so does what follows it
Assumes      nothing is run; a backslash in a docstring stands for itself, also where Python reads `\f` as a form feed;
             two of them are one, unless the docstring is raw or writes `\frac` with one
"""

from __future__ import annotations

import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import replace

from derivations.documents.passages import Block, Document, Place, Problem
from derivations.documents.readers.code import comment_passages, has_shape, statement_line
from derivations.documents.readers.markdown import markdown_blocks
from derivations.documents.readers.restructured import restructured_blocks
from derivations.documents.readers.source import Excerpt, Source, joined, normalised

__all__ = ["python_blocks", "read"]

_STRING = re.compile(r"[rRbBuUfF]{0,2}(\"\"\"|'''|\"|')")
_ESCAPE = re.compile(r"\\(?:([\\\"'])|\n)")
_WRITTEN_RAW = re.compile(r"(?<!\\)\\(?:\\\\)*[A-Za-z]{2}")
_RESTRUCTURED = re.compile(r":math:`|^\s*\.\. \w[\w-]*::|:param \w|::[ \t]*\n[ \t]*\n|^\s*-{4,}\s*$", re.MULTILINE)
_MARKDOWN = re.compile(r"\$|^\s*```|^\s*#{1,4} |\\\(|\\\[", re.MULTILINE)
_MAGIC = re.compile(r"^[ \t]*[%!?].*", re.MULTILINE)
_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\b")
_DEEPEST_HEADING = 10  # headings of a docstring lie below its function
_STATES = re.compile(r"[^=!<>＝≈\s]\s*[=＝≈]\s*[^=\s]")
_NO_TEXT = re.compile(r"!|\s*(?:type:|noqa|pylint:|fmt:|mypy:|-\*-|%%|region|endregion)")


def read(text: str, file: str) -> Document:
    """Read a Python file."""
    source, problems = normalised(text)
    blocks = tuple(_in_sections(python_blocks(source, problems, sections=True)))
    return Document(file, blocks, tuple(problems))


def _in_sections(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks, with the headings of each docstring below the level of its function."""
    depth = 0
    for block in blocks:
        if block.kind == "heading" and block.passages:
            yield replace(block, level=depth + min(block.level, _DEEPEST_HEADING - 1))
        else:
            depth = block.level if block.kind == "heading" else depth
            yield block


def python_blocks(source: Source, problems: list[Problem], *, sections: bool = False) -> Iterator[Block]:
    """Yield the blocks of the docstrings and comments of a source, in order; add what is wrong to the problems.

    With `sections`, a heading without words stands where a function or a class begins, and where one has ended.
    """
    comments: list[tokenize.TokenInfo] = []
    opened: list[int] = []  # the columns of the functions and classes that are open
    for token, stands_alone in _tokens(source, problems):
        if token.type == tokenize.COMMENT and stands_alone:
            if comments and (comments[-1].end[0] + 1, comments[-1].start[1]) != token.start:
                yield from _comments(source, comments)
                comments = []
            if not comments and sections:
                yield from _heading(token, opened)
            comments.append(token)
            continue
        yield from _comments(source, comments)
        comments = []
        if sections and (stands_alone or token.type == tokenize.NAME):
            yield from _heading(token, opened)
        if token.type == tokenize.COMMENT:
            yield from _beside_code(source, token)
        elif token.type == tokenize.STRING:
            yield from _docstring(source, token)
    yield from _comments(source, comments)


def _heading(token: tokenize.TokenInfo, opened: list[int]) -> Iterator[Block]:
    """Yield an empty heading where a function or class begins at a token, or where one has ended."""
    ended = -1
    while opened and opened[-1] >= token.start[1]:
        ended = opened.pop()
    if token.type == tokenize.NAME:
        opened.append(token.start[1])
        ended = token.start[1]
    if ended >= 0:
        yield Block("heading", (), level=_DEEPEST_HEADING * (ended + 1))


def _tokens(source: Source, problems: list[Problem]) -> Iterator[tuple[tokenize.TokenInfo, bool]]:
    """Yield comments and string statements, each with whether it stands alone on its line.

    The words that begin a function or a class are yielded as well. What cannot be divided into tokens ends the text,
    and is a problem.
    """
    layout = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    string: tokenize.TokenInfo | None = None
    begins_line = begins_statement = True
    stream = io.StringIO(_MAGIC.sub("", source.text) if source.cell else source.text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for token in tokenize.generate_tokens(stream.readline):
                if string and token.type in (tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.COMMENT, tokenize.NL):
                    yield string, True
                string = token if token.type == tokenize.STRING and begins_statement else None
                if token.type == tokenize.COMMENT:
                    yield token, begins_line
                    continue
                if begins_statement and _DEFINITION.match(token.line, token.start[1]):
                    yield token, False
                if token.type in (tokenize.NL, tokenize.NEWLINE):
                    begins_line = True
                    begins_statement = begins_statement or token.type == tokenize.NEWLINE
                elif token.type not in layout:
                    begins_line = begins_statement = False
    except (tokenize.TokenError, SyntaxError, ValueError) as error:
        message = f"the code cannot be read to its end ({error.args[0] if error.args else error}); repair it"
        problems.append(Problem(Place(1, 1, source.cell), message))


def _comments(source: Source, comments: list[tokenize.TokenInfo]) -> Iterator[Block]:
    """Yield the blocks of consecutive comment lines."""
    lines = []
    for comment in comments:
        start = source.starts[comment.start[0] - 1] + comment.start[1]
        mark = re.match(r"#+(?: ?%%.*)?", comment.string)
        inside = start + (mark.end() if mark else 1)
        line = source.whole.part(inside, source.starts[comment.start[0]])
        if not _NO_TEXT.match(line.text):
            lines.append(line)
    text = _dedented(source, lines)
    if len(lines) == 1 and has_shape(text.text) and not re.search("[$`]", text.text):
        yield Block("code", tuple(comment_passages(text.stripped())))
    elif text.text.strip():
        yield from markdown_blocks(text)


def _beside_code(source: Source, comment: tokenize.TokenInfo) -> Iterator[Block]:
    """Yield a line of code if its comment has a shape, or else the comment if it states an equation."""
    whole = source.whole.part(source.starts[comment.start[0] - 1], source.starts[comment.start[0]])
    if has_shape(comment.string):
        passages = tuple(statement_line(whole.stripped(), python=True))
        if passages:
            yield Block("code", passages)
    elif _STATES.search(comment.string) and not _NO_TEXT.match(comment.string.lstrip("#")):
        yield from markdown_blocks(whole.part(comment.start[1] + 1).stripped())


def _docstring(source: Source, token: tokenize.TokenInfo) -> Iterator[Block]:
    start = source.starts[token.start[0] - 1] + token.start[1]
    end = source.starts[token.end[0] - 1] + token.end[1]
    opening = _STRING.match(source.text, start)
    if not opening:
        return
    text = source.whole.part(opening.end(), end - len(opening[1]))
    if "r" not in opening[0].lower() and not _WRITTEN_RAW.search(text.text):
        text = _unescaped(source, text)
    text = _dedented(source, text.lines)
    if _RESTRUCTURED.search(text.text) and not _MARKDOWN.search(text.text):
        yield from restructured_blocks(text)
    else:
        yield from markdown_blocks(text)


def _unescaped(source: Source, text: Excerpt) -> Excerpt:
    """Return the text with escaped backslashes and quotes resolved, and continued lines joined."""
    parts, position = [], 0
    for escape in _ESCAPE.finditer(text.text):
        parts.append(text.part(position, escape.start()))
        position = escape.start(1) if escape[1] else escape.end()
        if escape[1]:
            parts.append(text.part(position, escape.end()))
            position = escape.end()
    return joined(source, [*parts, text.part(position)])


def _dedented(source: Source, lines: tuple[Excerpt, ...] | list[Excerpt]) -> Excerpt:
    """Return the lines without the indentation that all but the first share, and the first without any."""
    indents = [len(line.text) - len(line.text.lstrip()) for line in lines[1:] if line.text.strip()]
    indent = min(indents, default=0)
    first = [line.part(len(line.text) - len(line.text.lstrip(" \t"))) for line in lines[:1]]
    rest = [line.part(indent) if line.text.strip() else line.part(len(line.text.rstrip("\n"))) for line in lines[1:]]
    return joined(source, [*first, *rest])
