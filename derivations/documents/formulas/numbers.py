r"""Printed numbers: the exact value, half a unit of the last printed digit, and the scale or unit that follows.

Definition   4.8 億 is 480000000, printed to 10^7, so half a unit is 5000000; 20% is 1/5, printed to 1/100
Assumes      a comma, a space, an apostrophe or an underscore between groups of digits separates thousands; in LaTeX a
             single italic letter after a number is a factor, `2B`, unless both are a whole side, `N = 175B`
"""

from __future__ import annotations

import re
from fractions import Fraction
from unicodedata import normalize

from derivations.documents.formulas.tokens import Token, stop
from derivations.documents.formulas.vocabulary import AMOUNT, SCALES, UNITS
from derivations.documents.syntax import Number

__all__ = ["latex_amount", "number_of", "printed_number", "vulgar_fraction"]

MAX_DIGITS = 120
MAX_EXPONENT = 400
_BEHIND = re.compile(
    r"(?:\\[,;: ]|[ ~])*(?P<open>\\(?:text|mathrm|textrm)\s*\{\s*)?(?P<word>" + AMOUNT + r")(?P<close>\s*\})?"
)
_PERCENT = re.compile(r"(?:\\[,;]|[ ~])*\\%|%| %(?=\s*(?:\Z|[,;.)=}]|\\(?:approx|q?quad|text)\b))")
_BYTES = frozenset(("KB", "kB", "MB", "GB", "TB", "PB"))  # units even in italics, after a space that shows
_SIDE_ENDS = re.compile(r"\s*(?:\Z|[,=]|\\)")
_SEPARATORS = re.compile(r"\{,\}|\\[,;! ]|[~_\u2009\u202f\u00a0 ']")


def printed_number(
    written: str, start: int, end: int, scale: str = "", unit: str = "", percent: bool = False
) -> Number:
    """Return the number that `written` denotes, with an optional scale, unit and percent sign after it."""
    text = normalize("NFKC", _SEPARATORS.sub(",", written))
    digits, _, exponent = text.replace(",", "").lower().partition("e")
    whole, _, decimals = digits.partition(".")
    if len(digits) > MAX_DIGITS:
        stop(start, f"the number has more than {MAX_DIGITS} digits")
    if len(exponent) > 5 or abs(int(exponent or "0")) > MAX_EXPONENT:
        stop(start, f"the power of ten is beyond {MAX_EXPONENT}")
    power = int(exponent or "0") + SCALES.get(scale, 0) - (2 if percent else 0)
    one = Fraction(10) ** power
    value = Fraction(int(whole + decimals or "0"), 10 ** len(decimals)) * one
    half_unit = one / (2 * 10 ** len(decimals))
    exact = not ("." in digits or exponent or scale or percent)
    shown = text + (f" {scale}" if scale else "") + ("%" if percent else "")
    return Number(shown, value, half_unit, exact, unit, start=start, end=end)


def vulgar_fraction(character: str, start: int, end: int) -> Number | None:
    """Return the value of a character such as ½, or None."""
    above, slash, below = normalize("NFKC", character).partition("\u2044")
    if not (slash and above.isdecimal() and below.isdecimal()):
        return None
    return Number(character, Fraction(int(above), int(below)), start=start, end=end)


def number_of(token: Token) -> Number:
    """Return the number of a token."""
    return token.number or printed_number(token.text, token.start, token.end)


def latex_amount(text: str, digits: str, end: int, limit: int, side: bool) -> tuple[str, str, bool, int]:
    """Return the scale, the unit and the percent sign after a number, and where they end.

    `side` is true if the number begins a side.
    """
    if match := _PERCENT.match(text, end, limit):
        if text[match.end() : match.end() + 3].lstrip()[:1].isdigit():
            stop(match.start(), "whether this is a percentage or a remainder cannot be told")
        return "", "", True, match.end()
    scale, unit, following = "", "", end
    match = _BEHIND.match(text, end, limit)
    if match and _has_scale(match, text, digits, side):
        scale, following = match["word"], _end(match)
        match = _BEHIND.match(text, following, limit)
    if match and match["word"] in UNITS and (_is_upright(match, 2) or _is_of_bytes(match, text, digits, side)):
        unit, following = match["word"], _end(match)
    return scale, unit, False, following


def _has_scale(match: re.Match[str], text: str, digits: str, side: bool) -> bool:
    word = match["word"]
    if word not in SCALES:
        return False
    if _is_upright(match, 2):
        return True
    glued = match.start() == match.start("word") and word.isupper() and len(digits) > 1
    return glued and not match["open"] and side and bool(_SIDE_ENDS.match(text, match.end("word")))


def _is_upright(match: re.Match[str], letters: int) -> bool:
    r"""Return whether a word cannot be a product of letters: in `\text{}`, not ASCII, or longer than `letters`."""
    if match["open"]:
        return bool(match["close"])
    return not match["word"].isascii() or len(match["word"]) > letters


def _is_of_bytes(match: re.Match[str], text: str, digits: str, side: bool) -> bool:
    """Return whether GB is a unit in italics: after a visible space, or where `84GB` is a whole side."""
    glued = match.start() == match.start("word") and side and len(digits) > 1
    whole = glued and bool(_SIDE_ENDS.match(text, match.end("word")))
    return match["word"] in _BYTES and (whole or _is_apart(match))


def _is_apart(match: re.Match[str]) -> bool:
    """Return whether there is a visible space before a word."""
    return "\\" in match[0] or "~" in match[0]


def _end(match: re.Match[str]) -> int:
    return match.end() if match["open"] else match.end("word")
