r"""Printed numbers: how many digits they have, and how another number is printed in the same form.

Definition   a printed number is right when it is within half a unit of its last digit; it is truncated when it is the
             number with further digits left off; `2 \times 10^4`, 4.8 億 and 22,000 are printed numbers as well, and in
             a whole number that is said to be approximate, zeros at the end need not count
Result       `printed(node)` is the printed number that a side of a formula is, or None; `rounded(value, number)` is
             the number that ought to stand there, in the same form
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.syntax import Annotated, Fence, Negative, Node, Number, Power, Product

__all__ = ["Printed", "decimal", "printed", "rounded"]

_FORM = re.compile(r"^(?P<digits>\d[\d.,_ ]*?(?:\\[,;:! ][\d.]+|\{,\}[\d.]+)*)(?P<rest>[^\d]*(?:[eE][-+]?\d+)?[^\d]*)$")
_LARGEST_POWER = 400
_MOST_BITS = 4_000  # of a number that is written out


@dataclass(frozen=True)
class Printed:
    r"""A printed number: its signed value, half a unit of its last digit, and the node it was read from.

    `exact` says that it is a whole number, `rough` that a word for a power of ten belongs to it (4.8 億, 175B);
    `scale` is the power of ten that stands apart from the digits in `2 \times 10^4`.
    """

    value: Fraction
    half_unit: Fraction
    number: Number
    exact: bool
    rough: bool = False
    scale: Fraction = Fraction(1)

    @property
    def unit(self) -> str:
        """The unit after the number, or "" if there is none."""
        return self.number.unit

    @property
    def coarse_half_unit(self) -> Fraction:
        """Half a unit of the last nonzero digit for a whole number, else half a unit of the last digit."""
        if not self.exact or self.value == 0 or self.value.denominator != 1:
            return self.half_unit
        digits = str(abs(self.value.numerator))
        return Fraction(10 ** (len(digits) - len(digits.rstrip("0"))), 2)


def printed(node: Node) -> Printed | None:
    """Return the printed number in a node, also inside brackets, signs and notes; else None."""
    sign = 1
    while isinstance(node, Fence | Annotated | Negative):
        if isinstance(node, Fence):
            if node.bracket not in ("(", "[", "{", ""):
                return None
            node = node.inside
        elif isinstance(node, Annotated):
            node = node.of
        else:
            node, sign = node.operand, -sign
    if isinstance(node, Number):
        if node.value.numerator.bit_length() > _MOST_BITS:
            return None
        half = node.half_unit if node.half_unit else Fraction(1, 2) if node.value.denominator == 1 else Fraction(0)
        return Printed(sign * node.value, half, node, node.exact, rough=_has_word(node))
    if isinstance(node, Product) and len(node.factors) == 2 and node.operators[0] in ("times", "dot", "star"):
        return _scientific(node, sign)
    return None


def _scientific(node: Product, sign: int) -> Printed | None:
    r"""Return the printed number in scientific notation, as `4.85 \times 10^8`, or None."""
    number, power = node.factors
    if not (isinstance(number, Number) and isinstance(power, Power) and isinstance(power.base, Number)):
        return None
    exponent = printed(power.exponent)
    if power.base.value != 10 or exponent is None or exponent.value.denominator != 1:
        return None
    if abs(exponent.value) > _LARGEST_POWER or number.value == 0 or (not number.exact and _has_word(number)):
        return None
    scale = Fraction(10) ** int(exponent.value)
    half = (number.half_unit or Fraction(1, 2)) * scale
    return Printed(sign * number.value * scale, half, number, exact=False, scale=scale)


def _has_word(number: Number) -> bool:
    """Return whether a word for a power of ten belongs to the number: 4.8 億, 3 million, 175B."""
    rest = re.sub(r"\d[eE][-+]?\d", "", number.text)
    return not number.exact and re.search(r"(?<!\\)(?:[^\W\d_])", re.sub(r"\\[a-zA-Z]+", "", rest)) is not None


def rounded(value: Enclosure, number: Printed) -> str | None:
    """Return a number as text in the form of another, rounded to its digits, or None if these are not certain."""
    form = _FORM.match(number.number.text.strip())
    if form is None or (number.number.value == 0 and not number.half_unit):
        return None
    digits = re.sub(r"\\[,;:! ]|\{,\}|[,_ ]", "", form["digits"])
    try:
        mantissa = Fraction(digits)
    except ValueError:
        return None
    places = len(digits.partition(".")[2])
    within = number.number.value / mantissa if mantissa else 2 * number.half_unit / number.scale * 10**places
    ends = {_nearest(end / (number.scale * within), places) for end in (value.low, value.high)}
    if len(ends) != 1:
        return None
    units = ends.pop()
    if units.bit_length() > _MOST_BITS:
        return None
    sign = "-" if units < 0 else ""
    whole, part = divmod(abs(units), 10**places)
    separator = re.search(r"\\[,;:! ]|\{,\}|[,_]", form["digits"])
    text = f"{whole:,}".replace(",", separator.group()) if separator else str(whole)
    return sign + text + (f".{part:0{places}d}" if places else "") + form["rest"]


def _nearest(value: Fraction, places: int) -> int:
    """Return a number as a whole count of units of a decimal place, rounded half away from zero."""
    scaled = abs(value) * 10**places
    units = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return units if value >= 0 else -units


def decimal(value: Enclosure, digits: int = 6) -> str:
    """Return a number with some significant digits, or in full if it is exactly a whole number."""
    middle = value.middle
    if value.exact and middle.denominator == 1 and abs(middle) < 10**18:
        return f"{middle.numerator:,}"
    if middle == 0:
        return "0"
    exponent = _exponent(abs(middle))
    if -5 <= exponent < 15:
        places = max(digits - 1 - exponent, 0)
        units = _nearest(middle, places)
        whole, part = divmod(abs(units), 10**places)
        fraction = f"{part:0{places}d}".rstrip("0") if places else ""
        return ("-" if units < 0 else "") + f"{whole:,}" + (f".{fraction}" if fraction else "")
    units = _nearest(middle / Fraction(10) ** exponent, digits - 1)
    text = f"{abs(units) / 10 ** (digits - 1):.{digits - 1}f}".rstrip("0").rstrip(".")
    return ("-" if units < 0 else "") + f"{text} × 10^{exponent}"


def _exponent(value: Fraction) -> int:
    """Return the power of ten of the first digit of a positive number."""
    guess = int((value.numerator.bit_length() - value.denominator.bit_length()) * 30103 / 100000)
    while Fraction(10) ** guess > value:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= value:
        guess += 1
    return guess
