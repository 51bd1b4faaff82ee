"""The boundaries of formulas in running text: no part of a longer formula may be read as a whole one.

Definition   a run goes on where an operator, a factor, a function or a bracket follows it that could belong to it, and
             begins before where one of them stands in front of it
Result       `begins_before` and `goes_on` say whether a run would be cut out of something longer
Assumes      a dash between spaces after a number, and a bracket that holds words or a relation, belong to the prose
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from derivations.documents.readers.operands import Run, Token, is_article, skip_spaces

__all__ = ["begins_before", "goes_on"]

_FUNCTIONS = frozenset(
    ("log", "ln", "exp", "sin", "cos", "tan", "tanh", "sqrt", "max", "min", "argmax", "argmin", "sum", "softmax")
) | {"det", "mod"}
_REACH = 100  # tokens of a bracket
_SIGNS = frozenset("∘‖∥⌊⌋⌈⌉†∪∩∧∨⊕∫")
_SUMS = frozenset("+^·⊙*-−/")


def goes_on(tokens: Sequence[Token], run: Run, closing: Mapping[int, int]) -> bool:
    """Return whether what follows a run looks like more of the formula."""
    position = skip_spaces(tokens, run.next)
    if position >= len(tokens):
        return False
    token, spaced = tokens[position], position > run.next
    match token.kind:
        case "operator":
            dash = token.text in "-−" and spaced and _is_space(tokens, position + 1)
            return not dash or run.operands[-1].kind != "number"
        case "relation":
            return True
        case "number":
            return True
        case "name":
            return token.text in _FUNCTIONS
        case "open" if run.operands[-1].kind in ("name", "call", "open"):
            return _holds_more(tokens, position, closing) if spaced else position not in closing
    return _is_sign(tokens, position)


def begins_before(tokens: Sequence[Token], position: int, closing: Mapping[int, int]) -> bool:
    """Return whether what stands in front of a run looks like the beginning of the formula."""
    before = position - 1
    spaced = _is_space(tokens, before)
    before -= spaced
    if before < 0:
        return False
    token = tokens[before]
    if token.text == "|":  # the bar of a condition, after what it is a condition of
        subject = before - 1 - _is_space(tokens, before - 1)
        if before and tokens[before - 1].text == "|":
            return True  # `10 || 20`, in parallel
        return subject >= 0 and (tokens[subject].is_mathematical and tokens[subject].kind in ("name", "number"))
    match token.kind:
        case "operator":
            first = before - 1 - _is_space(tokens, before - 1)
            if first < 0 or tokens[first].text == "\n":  # the mark of an item
                return False
            dash = token.text in "-−" and spaced and _is_space(tokens, before - 1)
            return not dash or tokens[first].kind in ("number", "close")
        case "number":
            return True
        case "arrow":
            return not spaced  # 256→256 = 590K
        case "name":
            if token.text in _FUNCTIONS or (spaced and token.is_mathematical and not is_article(tokens, before)):
                return True
            return spaced and _is_added(tokens, before)
        case "close":
            reach = range(before, max(before - _REACH, -1), -1)
            opening = next((start for start in reach if closing.get(start) == before), None)
            return spaced and opening is not None and _holds_more(tokens, opening, closing)
    return _is_sign(tokens, before)


def _is_added(tokens: Sequence[Token], position: int) -> bool:
    """Return whether an operator between spaces stands in front of a word, and a number or a bracket before it.

    Such a word says of what the next number is: `2 MB + buffer 3 MB = 5 MB`.
    """
    sign, first = position - 2, position - 4
    if first < 0 or not (_is_space(tokens, position - 1) and _is_space(tokens, position - 3)):
        return False
    return tokens[sign].text in "+*×" and tokens[first].kind in ("number", "close", "name")


def _is_space(tokens: Sequence[Token], position: int) -> bool:
    return 0 <= position < len(tokens) and tokens[position].kind == "space"


def _is_sign(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a token is a mathematical sign outside of runs, or a point between spaces for a dot product."""
    text = tokens[position].text
    if text == ".":
        return _is_space(tokens, position - 1) and _is_space(tokens, position + 1)
    return text in _SIGNS


def _holds_more(tokens: Sequence[Token], position: int, closing: Mapping[int, int]) -> bool:
    """Return whether a bracket could be a factor: it holds a sum, or a condition in square brackets."""
    if not 0 < closing.get(position, 0) - position < _REACH:
        return False
    inside = range(position + 1, closing[position])
    if any(tokens[k].kind == "relation" for k in inside):
        return tokens[position].text == "["
    if any(tokens[k].kind in ("comma", "other") for k in inside):
        return False
    return any(tokens[k].text in _SUMS and (tokens[k].text in "+^·⊙" or _is_space(tokens, k - 1)) for k in inside)
