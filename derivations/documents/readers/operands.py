"""Operands and operators in plain characters, joined to the longest runs that could be formulas.

Definition   an operand is a number with its unit, a name, a call, a group in brackets, or an ellipsis; a run is
             operands with an operator between each two, where `2 n` and `softmax(x) V` stand side by side
Result       `read_run(tokens, position, closing)` is the longest run from a token on
Assumes      nothing about whether mathematics is meant
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from derivations.documents.formulas.signs import SUBSCRIPTS, SUPERSCRIPTS

__all__ = ["Run", "Token", "closing_brackets", "is_article", "is_word", "read_run", "skip_spaces", "tokens_of"]

_MAX_OPERANDS = 100  # of one run

_UNITS = (
    "bytes?|bits?|[KMGT]i?B|[KMGTP]?FLOPs?|FLOPS|[KMGT]?MACs?|params|parameters|thousand|[mbtr]{1,2}illion"
    "|s|[mµun]s|sec|seconds?|minutes?|hours?|days?|weeks?|months?|years?|[kMG]Hz|USD|dollars"
)
_SCALE = r"\ ?(?:[万萬][亿億]|[十百千]?[万萬億亿兆]|百[万萬])"
_WIDE_UNITS = r"字[节節]|位元[组組]|バイト|[词詞]元|トークン|[层層个個头頭次回枚]"  # after the last they are prose
_RAISED = "⁼⁽⁾" + "".join(SUPERSCRIPTS)
_GREEK = "Α-Ωα-ω"
_LOWERED = "".join(SUBSCRIPTS)
_TOKEN = re.compile(
    rf"(?P<number>(?:\d+(?:,\d\d\d)*(?!\d)(?:\.\d+)?|\.\d+)"
    rf"(?:[eE][+-]?\d+(?![\w.])|\ ?[KMBTGP](?![A-Za-z0-9_])|k(?![A-Za-z0-9_])|\ ?[%％]"
    rf"|\ (?:{_UNITS})(?![A-Za-z])|(?:{_SCALE})?\ ?(?:{_WIDE_UNITS})(?=\ ?[×*/÷＝=≈·+＋−])|{_SCALE})?[{_RAISED}]*)"
    rf"|(?P<name>[A-Za-zℝ𝔼{_GREEK}][A-Za-z0-9_{_GREEK}]*(?:\.[A-Za-z][A-Za-z0-9_]*)*[{_RAISED}{_LOWERED}]*'{{0,2}})"
    r"|(?P<relation>:=|==|<=|>=|!=|[=＝≈≒≠≤≥≪≫∝∈≡≅∼≃<>＜＞])"
    r"|(?P<arrow><?[-=]>|→|⟶|⇒|↦)"
    r"|(?P<operator>\*\*|[-+＋－−±×·∙⋅⊙⊗*/／^@÷])"
    r"|(?P<prefix>[√∑Σ∏∂∇])"
    rf"|(?P<open>[(\[{{])|(?P<close>[)\]}}][{_RAISED}]*)|(?P<comma>,)|(?P<dots>\.\.\.|…)"
    r"|(?P<space>[ \t]+)|(?P<other>.)",
    re.DOTALL,
)
_MARKED = re.compile(rf"[_{_RAISED}{_LOWERED}]|^[A-Za-z]\d{{1,2}}$")  # what prose does not put into a word
_DIFFERENTIAL = re.compile(r"d[A-Z](?:_\w+)?'?")
_CROSSED = ["number", "space", "name", "space", "number"]
_ARTICLES = ("a", "A", "I")
_CLOSES = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """A stretch of text of one kind: "number", "name", "relation", "arrow", "operator", "open", "space", ..."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def is_mathematical(self) -> bool:
        """Whether the token can be an operand of a formula: a number, a letter, a name with an index, `dW`."""
        if self.kind != "name" or len(self.text) == 1 or not self.text.isascii() or self.is_marked:
            return True
        return bool(_DIFFERENTIAL.fullmatch(self.text))

    @property
    def is_marked(self) -> bool:
        """Whether the token is clearly no word of prose: it has an index, a superscript or arguments."""
        return self.kind == "call" or bool(_MARKED.search(self.text))


@dataclass
class Run:
    """Operands, the operators between them (a space for none), and whether each operator has spaces on both sides."""

    operands: list[Token] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    spaced: list[bool] = field(default_factory=list)
    next: int = 0  # the token after the last operand

    @property
    def end(self) -> int:
        """The offset after the last operand."""
        return self.operands[-1].end


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, which cover every character. X between two numbers is an operator."""
    found = [Token(str(match.lastgroup), match[0], *match.span()) for match in _TOKEN.finditer(text)]
    for place, around in enumerate(zip(found, found[1:], found[2:], found[3:], found[4:], strict=False), 2):
        if around[2].text == "x" and [each.kind for each in around] == _CROSSED:
            found[place] = around[2]._replace(kind="operator")
    return found


def is_word(name: str) -> bool:
    """Return whether a name could be a word of prose: three letters or more, or two lower-case ones."""
    return name.isalpha() and name.isascii() and (len(name) > 2 or (len(name) == 2 and name.islower()))


def closing_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Return where brackets close, by where they open, for those whose content could be a formula."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for position, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(position)
        elif token.kind == "close":
            if opened and _CLOSES[tokens[opened[-1]].text] == token.text[0]:
                closing[opened.pop()] = position
            else:
                opened.clear()
        elif token.kind == "other" or (token.kind == "space" and _between_words(tokens, position)):
            opened.clear()
    return closing


def _between_words(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a space separates two words, as in prose."""
    around = tokens[max(position - 1, 0) : position + 2]
    return len(around) == 3 and all(token.kind == "name" and is_word(token.text) for token in (around[0], around[2]))


def read_run(tokens: Sequence[Token], position: int, closing: Mapping[int, int]) -> Run:
    """Return the longest run of operand, operator, operand, ... from a token on."""
    run = Run(next=position + 1)
    operator, spaced = "", False
    while len(run.operands) < _MAX_OPERANDS:
        operand, position = _operand(tokens, position, closing)
        if operand is None or (operand.kind == "dots" and not run.operands):
            break
        if run.operands:
            run.operators.append(operator)
            run.spaced.append(spaced)
        run.operands.append(operand)
        run.next = position
        follower = skip_spaces(tokens, position)
        if follower >= len(tokens):
            break
        token, space_before = tokens[follower], follower > position
        if token.kind in ("relation", "arrow", "operator"):
            position = skip_spaces(tokens, follower + 1)
            operator, spaced = token.text, space_before and position > follower + 1
            if token.text == "-" and space_before and not spaced:  # an option of a command: `python -m name`
                break
        elif _stands_beside(operand, tokens, follower, closing, space_before):
            operator, spaced, position = " ", True, follower
        else:
            break
    return run


def skip_spaces(tokens: Sequence[Token], position: int) -> int:
    """Return the position after a space."""
    return position + 1 if position < len(tokens) and tokens[position].kind == "space" else position


def _operand(tokens: Sequence[Token], position: int, closing: Mapping[int, int]) -> tuple[Token | None, int]:
    """Return the operand at a token, without the signs and roots before it, and the position after it."""
    while position < len(tokens) and (tokens[position].kind == "prefix" or tokens[position].text in ("-", "−")):
        position += 1
    if position >= len(tokens):
        return None, position
    token, last = tokens[position], position
    match token.kind:
        case "open":
            if position not in closing:
                return None, position
            last = closing[position]
        case "name":
            while last + 1 in closing:
                last = closing[last + 1]
        case "number" | "dots":
            pass
        case _:
            return None, position
    kind = "call" if token.kind == "name" and last > position else token.kind
    return Token(kind, token.text, token.start, tokens[last].end), last + 1


def _stands_beside(
    operand: Token, tokens: Sequence[Token], position: int, closing: Mapping[int, int], space_before: bool
) -> bool:
    """Return whether a token begins a factor after an operand: `2 n`, `6ND`, `softmax(x) V`, not `x I`, `8 heads`."""
    token = tokens[position]
    if space_before and len(tokens[position - 1].text) > 1:
        return False  # another column
    behind = tokens[position + 1].kind if position + 1 < len(tokens) else ""
    if not operand.is_mathematical:
        return False
    match token.kind:
        case "prefix":
            return space_before or operand.kind != "name"
        case "open" if space_before:
            return operand.kind != "number" and _is_sum(tokens, position, closing)
        case "open":
            return operand.kind != "name"
        case "number":
            return space_before and tokens[position + 1].text == "^" if behind else False
        case "name":
            if is_article(tokens, position):
                return False
            is_factor = len(token.text) == 1 or token.is_mathematical or position + 1 in closing
            return is_factor or (operand.kind == "number" and not space_before and len(token.text) <= 3)
    return False


def is_article(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a letter is a word: `x I get`, `X = a matrix`, but not `X A + b`, `B A X`."""
    letter = tokens[position].text
    if letter not in _ARTICLES or position + 1 >= len(tokens):
        return False
    if tokens[position + 1].kind != "space":
        return tokens[position + 1].text == "\n"
    if position + 2 >= len(tokens):
        return letter == "a"
    follower = tokens[position + 2]
    if follower.kind in ("operator", "relation", "arrow"):
        return False
    return letter == "a" or follower.kind != "name" or not follower.is_mathematical


def _is_sum(tokens: Sequence[Token], position: int, closing: Mapping[int, int]) -> bool:
    """Return whether a bracket holds a sum, a difference or a product of letters, as in `A (X W + b)`."""
    if not 0 < closing.get(position, 0) - position < _MAX_OPERANDS:
        return False
    signs, beside, last, inside = set(), False, "", position + 1
    while inside < closing[position]:
        token, after = tokens[inside], closing.get(inside + 1 if tokens[inside].kind == "name" else inside, inside)
        match token.kind:
            case "relation" | "arrow" | "comma" | "other" | "dots":
                return False
            case "name" if after == inside and not token.is_mathematical:
                return False
            case "operator":
                signs.add(token.text)
        beside = beside or (last in ("name", "number") and token.kind in ("name", "open"))
        last = last if token.kind == "space" else token.kind
        inside = after + 1
    return bool(signs & set("+-−/^·⊙")) or beside
