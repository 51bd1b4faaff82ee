r"""Systems of equations after one brace: `\left\{\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}\right.`.

Definition   all of a formula stands after a brace that nothing closes, in `cases`, or in an array that nothing
             surrounds, and every line states things by itself: it has a relation before its first comma, and no second
             column
Result       `without_brace(tokens)`: the lines alone, one statement each; what is no such system as it is
Assumes      linear time; `f(x) = \begin{cases} ...` is a function by cases, and no system
"""

from __future__ import annotations

from derivations.documents.formulas.tokens import Token
from derivations.documents.formulas.vocabulary import CASES

__all__ = ["without_brace"]

_OPENS, _CLOSES = ("open", "{", "begin"), ("close", "}", "finish")
_ENDS = ("comma", "period", "semicolon")


def without_brace(tokens: list[Token]) -> list[Token]:
    """Return the lines of a system of equations without the braces or the array around them."""
    inside = tokens[: len(tokens) - 1] if tokens and tokens[-1].kind in _ENDS else tokens
    found = False
    while len(inside) > 2 and _is_around(inside):
        found = found or inside[0].text in CASES or inside[0].text == "array" or inside[-1].text == "."
        inside = inside[1:-1]
    if not found or not _states_in_every_line(inside):
        return tokens
    return [token for token in inside if token.kind != "&"]


def _is_around(tokens: list[Token]) -> bool:
    """Return whether the first and the last token enclose all others: a brace without a partner, an array, cases."""
    first, last = tokens[0], tokens[-1]
    brace = first.kind == "open" and first.text == "{" and last.kind == "close" and last.text == "."
    array = first.kind == "begin" and last.kind == "finish" and (first.text == "array" or first.text in CASES)
    if not (brace or array):
        return False
    depth = 0
    for token in tokens[:-1]:
        depth += (token.kind in _OPENS) - (token.kind in _CLOSES)
        if depth == 0:
            return False
    return True


def _states_in_every_line(tokens: list[Token]) -> bool:
    """Return whether there are several lines, each with a relation, and with & only directly before the relation."""
    depth, lines, before, listing = 0, [False], "", False  # after a comma nothing more is stated, only listed
    for token in tokens:
        if depth == 0 and token.kind == "newline":
            lines.append(False)
            listing = False
        elif (
            (before in _ENDS and not lines[-1])
            or (before == "&" and token.kind != "rel")
            or (token.kind in ("&", "cond") and lines[-1])
        ):
            return False
        elif depth == 0 and token.kind == "rel":
            if listing:
                return False
            lines[-1] = True
        listing = listing or (depth == 0 and token.kind == "comma")
        depth += (token.kind in _OPENS) - (token.kind in _CLOSES)
        before = token.kind if depth == 0 else ""
    return len(lines) > 1 and all(lines)
