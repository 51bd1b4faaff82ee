"""Printed numbers: their value, exactly, and half a unit of the last digit that is printed.

Definition   4.8 億 is 480000000, printed to 10^7, so half a unit is 5000000; 20% is 1/5, printed to 1/100
Assumes      a comma, a thin space or an underscore between groups of digits separates thousands
"""

from __future__ import annotations

import re
from fractions import Fraction

from derivations.documents.formulas.tokens import Token, stop
from derivations.documents.formulas.vocabulary import SCALES
from derivations.documents.syntax import Number

__all__ = ["number_of", "printed_number"]

MAX_DIGITS = 120
MAX_EXPONENT = 400
_SEPARATORS = re.compile(r"\{,\}|\\[,;! ]|[~_\u2009\u202f\u00a0 ]")


def printed_number(
    written: str, start: int, end: int, scale: str = "", unit: str = "", percent: bool = False
) -> Number:
    """Return the number that `written` prints, with a word for a power of ten, a unit, or a percent sign behind it."""
    text = _SEPARATORS.sub(",", written)
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


def number_of(token: Token) -> Number:
    """Return the number of a token."""
    return token.number or printed_number(token.text, token.start, token.end)
