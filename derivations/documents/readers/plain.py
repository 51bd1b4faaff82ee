"""Formulas in plain characters: `2 × batch_size × d_model`, `512→2048`, `h = 8` in running text, or code.

Definition   operands are numbers, names and groups in brackets; a formula is operands with operators between them, of
             which one says that mathematics is meant
Result       `plain_formulas(text)` gives their stretches, and misses rather than takes: words of prose, versions,
             dates, file names, references, `and/or`, `pre-norm`, `GPT-3` are none
Assumes      nothing about the language; a word (letters alone) is an operand only in front of a
             relation, where a clause begins
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from derivations.documents.readers.boundaries import begins_before, goes_on
from derivations.documents.readers.operands import (
    Run,
    Token,
    closing_brackets,
    is_word,
    read_run,
    skip_spaces,
    tokens_of,
)

__all__ = ["has_arrow", "plain_formulas"]

_HINT = re.compile(r"[=＝≈≒≠≤≥≪≫∝∈<>＜＞→⟶⇒×·⋅⊙⊗^*/／√+＋－−]| - |\d\s?[万萬億亿]")
_SHAPE_IN_PROSE = re.compile(
    r"(?:\b(?:shapes?|shaped|sizes?|dimensions?|dims?)\b|形状|形狀|维度|維度|次元)[^\[\](){}\n。.;；]{0,12}"
    r"(?P<sizes>\[\s*[\w*/+ -]{1,40}(?:,\s*[\w*/+ -]{1,40}){0,6}\s*\]"
    r"|\(\s*[\w*/+-]{1,40}(?:\s*,\s*[\w*/+-]{1,40}){1,6}\s*\))"
)
_RELATIONS = frozenset((*"=＝≈≒≠≤≥≪≫∝∈≡≅∼≃<>＜＞", ":=", "==", "<=", ">=", "!="))
_ARROWS = frozenset(("->", "→", "⟶", "=>", "⇒", "↦"))
_NO_SIZES = re.compile(r"^\[\s*-?\d+\s*\]$|\d[KMBT]\b|\w{2} +[A-Za-z]{2}")  # a citation; counts; a phrase
_WITH_UNIT = re.compile(r"\d ?[A-Za-zµ]")
_TIMES = frozenset("*×·⋅")
_STRONG = frozenset("×·⋅∙⊙⊗^")
_CLAUSE_BEGINS = re.compile(r"(?:^|[\n.:;,(（：；，。、「『])[ \t]*$")
_LABEL = 12  # characters before a colon that tell whether words are written without spaces
_WIDE_GROUPS = re.compile(r"\d，\d{3}(?!\d)")  # thousands apart by wide commas
_NOT_BEFORE = frozenset("-./\\@#&?_~'\"$:|")


def plain_formulas(text: str, follows_shape: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the stretches of prose that are formulas, in order. A shape in front may be the first operand."""
    if _is_flow(text):
        yield len(text) - len(text.lstrip()), len(text.rstrip())
        return
    position = 0
    for shape in _SHAPE_IN_PROSE.finditer(text):
        for start, end in _between(text[position : shape.start("sizes")], follows_shape or position > 0):
            yield position + start, position + end
        if not _NO_SIZES.search(shape["sizes"]):
            yield shape.span("sizes")
        position = shape.end("sizes")
    for start, end in _between(text[position:], follows_shape or position > 0):
        yield position + start, position + end


def _between(text: str, follows_shape: bool) -> Iterator[tuple[int, int]]:
    """Yield the stretches that are operands with operators between them, but for one that a shape begins."""
    if not _HINT.search(text):
        return
    tokens = tokens_of(text)
    closing = closing_brackets(tokens)
    position = 0
    sign = skip_spaces(tokens, 0)
    if follows_shape and sign < len(tokens) and tokens[sign].kind in ("operator", "relation"):
        position = read_run(tokens, skip_spaces(tokens, sign + 1), closing).next
    while position < len(tokens):
        token = tokens[position]
        begins = token.kind in ("number", "name", "prefix", "open") or _is_sign_of_a_call(tokens, position, closing)
        run = read_run(tokens, position, closing) if begins else Run()
        accepted = (
            bool(run.operands)
            and _stands_free(run, text, token.start)
            and _means_mathematics(run, text, token.start)
            and not begins_before(tokens, position, closing)
            and not goes_on(tokens, run, closing)
        )
        if accepted:
            yield token.start, run.end
        if accepted or token.kind != "open":  # what stands inside a bracket may be a formula
            position = max(run.next, position + 1)
        else:
            position += 1


def _is_sign_of_a_call(tokens: Sequence[Token], position: int, closing: Mapping[int, int]) -> bool:
    """Return whether a minus right before a function is its sign, `-log(0.5) = 0.693`, and not a subtraction."""
    if tokens[position].text not in ("-", "−") or position + 2 not in closing:
        return False
    before = position - 1 - (tokens[position - 1].kind == "space") if position else -1
    alone = before < 0 or tokens[before].kind not in ("number", "close", "operator") or before == position - 1
    letter = before >= 0 and tokens[before].kind == "name" and tokens[before].is_mathematical
    return tokens[position + 1].kind == "name" and alone and not letter


def _stands_free(run: Run, text: str, start: int) -> bool:
    """Return whether a run is not part of a path, a version or a compound word."""
    before, behind = text[start - 1 : start], text[run.end : run.end + 2]
    label = text[max(start - _LABEL, 0) : start - 1]  # 參數量:4 × 512, 兩個 LN:4 × 768
    labelled = before == ":" and label[-1:].isalpha() and not label.isascii()
    if start and not labelled and (before in _NOT_BEFORE or (before.isalnum() and before.isascii())):
        return False
    if _WIDE_GROUPS.match(text, start - 2) and (text[start] == "0" or _WIDE_GROUPS.match(text, run.end - 1)):
        return False
    return not re.match(r"\.[\w.]|[\w&/@\\]|[-–~～〜][A-Za-z0-9]", behind, re.ASCII)


def _means_mathematics(run: Run, text: str, start: int) -> bool:
    """Return whether operands and operators are a formula beyond doubt."""
    operators = set(run.operators)
    if not operators:  # a large number that is repeated in words: 485,165,195 (4.8 億)
        around = text[start - 1 : start] + text[run.end : run.end + 1]
        return text[run.end - 1] in "万萬億亿" and around in ("()", "（）")
    if _is_ambiguous(run):
        return False
    relation = bool(operators & _RELATIONS)
    words = [operand for operand in run.operands if operand.kind == "name" and is_word(operand.text)]
    if words:
        begins = _CLAUSE_BEGINS.search(text[max(start - 40, 0) : start])
        others = any(operand.is_mathematical for operand in run.operands)
        named = words == run.operands[:1] and run.operators[0] in ("=", "＝", "≈")
        return bool(begins) and others and (named or _multiplies_words(run))
    if relation and _is_legend(run.operands, text):
        return False
    if relation:
        return any(operand.is_mathematical for operand in run.operands)
    if not all(operand.is_mathematical for operand in run.operands):
        return bool(operators & _STRONG)
    if operators & _STRONG:
        return True
    marked = any(operand.is_marked for operand in run.operands)
    if operators & _ARROWS:
        return marked or any(operand.kind != "name" for operand in run.operands)
    if any(sign in "-/" and not spaced for sign, spaced in zip(run.operators, run.spaced, strict=True)) and not marked:
        return False
    letters = any(operand.kind not in ("number", "dots") for operand in run.operands)
    if operators & {"*", "**", "@"}:
        return "@" not in operators or (letters and all(run.spaced))
    if "/" in operators:
        return marked
    return letters and all(run.spaced) and " " not in operators


def _multiplies_words(run: Run) -> bool:
    """Return whether words are factors of a product that is a number: `vocab * d_model = 50304 * 768`."""
    first = next((place for place, sign in enumerate(run.operators) if sign in _RELATIONS), 0)
    inside, behind = run.operands[: first + 1], run.operands[first + 1 :]
    is_product = first > 0 and {*run.operators[:first]} <= _TIMES and all(run.spaced[:first])
    is_number = len(behind) > 1 and all(each.kind == "number" for each in behind)
    return is_product and is_number and all(each.kind in ("name", "number") for each in inside)


def _is_ambiguous(run: Run) -> bool:
    """Return whether adjacent factors follow a slash between spaces, `a / b c`, so the divisor is not clear."""
    signs = zip(run.operators, run.spaced, run.operators[1:], strict=False)
    return any(sign == "/" and spaced and following == " " for sign, spaced, following in signs)


def _is_legend(operands: Sequence[Token], text: str) -> bool:
    """Return whether a plain number is equated with one that has a unit, as a scale is: `1 = 6.4 ms`."""
    if len(operands) != 2 or any(operand.kind != "number" for operand in operands):
        return False
    bare, measured = (text[operand.start : operand.end] for operand in operands)
    return bare.isdecimal() and bool(_WITH_UNIT.search(measured))


def has_arrow(text: str) -> bool:
    """Return whether a text is names, sizes and shapes with arrows between them."""
    sides = re.split(r"->|→|⟶|=>", text[:1000])
    return (
        len(sides) > 1 and len(text) <= 1000 and "|" not in text and all(0 < len(side.strip()) <= 60 for side in sides)
    )


def _is_flow(text: str) -> bool:
    """Return whether a whole text is sizes with arrows between them."""
    text = text.strip()
    return has_arrow(text) and not re.search(r"[\s。，,;；()（）「」]", text) and all(
        re.search(r"\d|^\w{1,3}$", side) for side in re.split(r"->|→|⟶|=>", text)
    )  # fmt: skip
