"""Formulas in lines of code and pseudo-code: statements, shapes in comments, arrows between sizes.

Definition   a line is code and a comment. A statement that assigns is a formula; a list of sizes between brackets is
             one, and what runs from size to size by arrows; the rest is prose
Result       a block for every line that is not empty, and none for a language in which no formulas are written
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.passages import Block, Passage, Syntax
from derivations.documents.readers.plain import has_arrow, plain_formulas
from derivations.documents.readers.source import Excerpt

__all__ = ["FORMULA_LANGUAGES", "code_blocks", "comment_passages", "has_shape", "statement_line"]

FORMULA_LANGUAGES = frozenset(
    ("", "text", "txt", "plain", "plaintext", "pseudo", "pseudocode", "algorithm", "math-text", "none",
     "python", "py", "python3", "pycon", "ipython", "ipython3", "numpy", "pytorch", "julia", "jax")
)  # fmt: skip
_NOT_PYTHON = frozenset(("", "text", "txt", "plain", "plaintext", "pseudo", "pseudocode", "algorithm", "none"))
_MAX_STATEMENT = 2_000  # characters of a line of code
#: `(32, 784) @ (784, 10) = (32, 10)`: only the last of these is the shape of what is computed.
_FACTOR_FOLLOWS = re.compile(r"\s*[@×*·=]\s*[(\[]|\s*@")
_FACTOR_PRECEDES = re.compile(r"[)\]]\s*[@×*·]\s*$|@\s*$")
_COMMENT = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?P<comment>#+|//(?=\s))")
_PYTHON_COMMENT = re.compile(_COMMENT.pattern.replace(r"|//(?=\s)", ""))  # where two strokes divide
_DIVIDED = re.compile(r"//\s+(?![A-Za-z]{3,}\s*(?:#|$))[\w.]+\s*(?:#|$)|[^\d\s]\s*//\s+[\w.]+\s*(?:#|$)")
_KEYWORDS = re.compile(
    r"\s*(?:>>>\s*)?(?:@|(?:import|from|class|for|while|if|elif|else|with|assert|raise|try|except|return|yield|print|del"
    r"|global|async|await|lambda|pass|break|continue)\b)"
)
_DEFINITION = re.compile(r"\s*(?:async\s+)?def\s+\w+\s*\(")
_DEFAULT = re.compile(r"\b[A-Za-z_]\w*\s*(?::\s*\w+\s*)?=\s*\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*[,)])")
_TARGETS = r"[^\W\d][\w.]*(?:\[[^\[\]=]{0,80}\]|\([^()=]{0,80}\))?"
_ASSIGNMENT = re.compile(
    rf"\s*(?:>>>\s*)?(?P<formula>(?P<target>{_TARGETS}(?:\s*,\s*{_TARGETS})*)\s*[-+*/@]?(?:=|≈|:=)(?!=)\s*\S.*)"
)
_METHOD = re.compile(
    r"(?<![\w.])(?!(?:torch|np|numpy|jnp|math|F|nn|tf|jax|scipy|special)\.)[A-Za-z_]\w*(?:\[[^\[\]]{0,80}\]|\([^()]{0,80}\))?"
    r"\.(?!m?T\b|transpose\()[A-Za-z_]"
)
_KEYWORD_ARGUMENT = re.compile(r"[(,]\s*\*|[(,]\s*(?!(?:dim|axis|keepdims?)\b)[A-Za-z_]\w*\s*=")
_STRINGS = re.compile(r"[\"'\\$;]|\b(?:for|if|lambda|else|in|is|not|None|True|False)\b")
_SHAPE = re.compile(
    r"(?<![\w)\]])(?P<list>\[\s*[\w.*/+ -]{1,60}(?:,\s*[\w.*/+ -]{1,60}){0,8},?\s*\]"
    r"|\(\s*[\w.*/+-]{1,40}(?:\s*,\s*[\w.*/+-]{1,40}){1,8}\s*\))"
)
_PHRASE = re.compile(r"\w{2} +[A-Za-z]{2}")
_LABEL = re.compile(r"\s*(?:[-*•]\s+)?(?P<label>[^\s:：=()\[\]→]{1,40}(?: [^\s:：=()\[\]→]{1,20}){0,4})\s*[:：]\s*")
_NAME = re.compile(r"[A-Za-z](?:\w{0,3}|\w*[_\d]\w*)'?", re.ASCII)
_SENTENCE = re.compile(r"[。！？!?；;]|\.(?:\s|$)")
_ASIDE = re.compile(r"\s{2,}|\s+-\s+|\s*[（(](?=[^()（）]*[^\x00-\x7f])")


def code_blocks(excerpt: Excerpt, language: str) -> Iterator[Block]:
    """Yield a block for every line of a block of code."""
    language = language.strip().lower()
    if language not in FORMULA_LANGUAGES:
        return
    for line in excerpt.lines:
        passages = tuple(statement_line(line.stripped(), language not in _NOT_PYTHON))
        if passages:
            yield Block("code", passages)


def statement_line(line: Excerpt, python: bool) -> Iterator[Passage]:
    """Yield the passages of one line: its statement, and its comment."""
    if len(line.text) > _MAX_STATEMENT or (not python and _DIVIDED.search(line.text)):
        yield line.passage("prose")  # `d // h` may be a quotient, or d and a remark
        return
    comments = (_PYTHON_COMMENT if python else _COMMENT).finditer(line.text)
    comment = next((match for match in comments if match["comment"]), None)
    code = line.part(0, comment.start() if comment else None).stripped()
    if code.text:
        yield from _statement(code, python, comment is not None and has_shape(line.text[comment.end() :]))
    if comment:
        yield from comment_passages(line.part(comment.end()).stripped())


def _is_mathematical(statement: str) -> bool:
    """Return whether a statement is a whole formula, without methods, slices, or keyword arguments other than axes."""
    if (
        any(statement.count(left) != statement.count(right) for left, right in ("()", "[]", "{}"))
        or ":" in statement[:-1]
    ):
        return False
    return not _METHOD.search(statement) and not _KEYWORD_ARGUMENT.search(statement)


def _statement(code: Excerpt, python: bool, beside_shape: bool) -> Iterator[Passage]:
    text = code.text
    if _DEFINITION.match(text):
        yield from _cut(code, ((match.start(), match.end(), "code") for match in _DEFAULT.finditer(text)))
        return
    assignment = _ASSIGNMENT.match(text)
    if assignment and not _KEYWORDS.match(text) and not _STRINGS.search(text) and _is_mathematical(text):
        formula = code.part(*assignment.span("formula"))
        plain = re.search(r"[^\x00-\x7f]|\^", text) or re.search(
            r"\w \w|\) \w|\w \(" if not python else r"\w \w|\) \w", text
        )
        yield formula.passage("plain" if plain else "code")
    elif python and beside_shape and assignment and not _KEYWORDS.match(text):
        yield from _cut(code, iter([(*assignment.span("target"), "code")]))
    elif python:
        yield code.passage("prose")
    else:
        yield from _written_line(code, arrows=True)


def has_shape(text: str) -> bool:
    """Return whether a comment contains a shape: sizes in brackets, `[batch, seq, d_ff]`."""
    return any(re.search(r"[\d_]|\b\w\b", shape["list"]) for shape in _SHAPE.finditer(text))


def comment_passages(comment: Excerpt) -> Iterator[Passage]:
    """Yield the passages of a comment beside or between code."""
    if comment.text:
        yield from _written_line(comment, arrows=False)


def _written_line(line: Excerpt, arrows: bool) -> Iterator[Passage]:
    """Yield the passages of a line of text: `W1: [512, 2048] - widens`, `x → [1, 10, 2048]`."""
    label = _LABEL.match(line.text)
    if label and label.end() < len(line.text):
        name = _NAME.fullmatch(label["label"])
        if name:
            yield line.part(*label.span("label")).passage("code")
            yield from _prose(line.part(label.end("label"), label.end()))
        else:
            yield from _prose(line.part(0, label.end()))
        line = line.part(label.end())
    aside = _ASIDE.search(line.text)
    chain = line.part(0, aside.start() if aside else None).stripped()
    if has_arrow(chain.text) and not _SENTENCE.search(chain.text) and (arrows or _SHAPE.search(chain.text)):
        yield chain.passage("plain")
        yield from _prose(line.part(len(chain.text)))
        return
    yield from _cut(line, _formulas(line.text))


def _formulas(text: str) -> Iterator[tuple[int, int, Syntax]]:
    """Yield shapes that are no operands, and other formulas between them."""
    position = 0
    for shape in _SHAPE.finditer(text):
        for start, end in plain_formulas(text[position : shape.start()], position > 0):
            yield position + start, position + end, "plain"
        is_list = re.search(r"[\d_]|\b\w\b", shape["list"]) and not _PHRASE.search(shape["list"])
        if is_list and not (_FACTOR_FOLLOWS.match(text, shape.end()) or _FACTOR_PRECEDES.search(text[: shape.start()])):
            yield shape.start(), shape.end(), "code"
        position = shape.end()
    for start, end in plain_formulas(text[position:], position > 0):
        yield position + start, position + end, "plain"


def _cut(line: Excerpt, formulas: Iterator[tuple[int, int, Syntax]]) -> Iterator[Passage]:
    position = 0
    for start, end, syntax in formulas:
        yield from _prose(line.part(position, start))
        yield line.part(start, end).stripped().passage(syntax)
        position = end
    yield from _prose(line.part(position))


def _prose(excerpt: Excerpt) -> Iterator[Passage]:
    if excerpt.text and not excerpt.text.isspace():
        yield excerpt.passage("prose")
