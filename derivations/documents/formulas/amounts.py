"""A scale or a unit directly after a formula: `$= 315$ 万`, `$= 14$ GB`, `$= 174$B`, `$25$%`.

Definition   what changes the value of the number before it belongs to this number; bytes, tokens and the like do not
Result       `with_amount(reading, after)`: the last number with its scale and unit. Where they could belong to more
             than the last number, or could be none, the last statement is not understood
"""

from __future__ import annotations

import re
from dataclasses import replace

from derivations.documents.formulas.numbers import printed_number
from derivations.documents.formulas.statements import Reading, Stop
from derivations.documents.formulas.vocabulary import AMOUNT, SCALES, UNITS
from derivations.documents.syntax import Name, Negative, Node, Number, Product, Words

__all__ = ["with_amount"]

_BEHIND = re.compile(rf"(?P<space>[ \u00a0\u202f]?)(?P<word>%|％|\\%|(?:{AMOUNT}))(?![A-Za-z0-9_])")
_COUNTED = re.compile(
    r"\s*(?:total |trainable |learnable )?(?:param|tokens?\b|weights?\b|FLOPs?\b|MACs?\b|op(?:eration)?s\b)"
    r"|\s*(?:[个個]?(?:参数|參數)|[个個]|パラメータ|トークン)"
)
_PREFIXED = re.compile(r"[KkMGTP]i?(?:B|FLOPs|FLOPS|MACs)\Z|ms\Z|(?:hour|day)s?\Z")


def with_amount(reading: Reading, behind: str) -> Reading:
    """Return the reading of a formula, with the scale and the unit at the start of the text after it added."""
    match = _BEHIND.match(behind) if reading.statements and reading.stopped is None else None
    if match is None:
        return reading
    word, scale, unit = match["word"], "", ""
    percent = word in ("%", "％", "\\%")
    single = len(word) == 1 and word.isascii() and not percent
    if word in SCALES:
        scale = word
        following = re.compile(r"[ \u00a0]?(" + AMOUNT + ")").match(behind, match.end())
        unit = following[1] if following and _PREFIXED.match(following[1]) else ""
    elif word in UNITS and _PREFIXED.match(word):
        unit = word
    if not (scale or unit or percent):
        return reading
    *before, last = reading.statements
    doubtful = single and bool(match["space"]) and not _COUNTED.match(behind, match.end())
    if doubtful and (not last.relations or isinstance(last.sides[-2], Name | Words)):
        return reading  # a letter of the next words: `$h = 8$ K`
    side = None if doubtful or last.condition else _attached(last.sides[-1], scale, unit, percent)
    if side is not None:
        return Reading((*before, replace(last, sides=(*last.sides[:-1], side))))
    if any(isinstance(part, Name) for part in last.sides[-1].walk()):
        return reading
    return Reading(tuple(before), Stop(last.start, f"whether {word!r} after the formula belongs to it cannot be told"))


def _attached(side: Node, scale: str, unit: str, percent: bool) -> Node | None:
    """Return a side with scale and unit added to its last number, or None if they may belong to more of it."""
    match side:
        case Number(unit="", text=text) if " " not in text and not text.endswith("%") and text.isascii():
            return printed_number(text, side.start, side.end, scale, unit, percent)
        case Negative(operand=Number() as number):
            attached = _attached(number, scale, unit, percent)
            return replace(side, operand=attached) if attached else None
        case Product(factors=(*factors, Number() as number)) if all(isinstance(each, Number) for each in factors):
            attached = _attached(number, scale, unit, percent)
            return replace(side, factors=(*factors, attached)) if attached else None
    return None
