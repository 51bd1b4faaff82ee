"""Relations that are not meant literally: a share in per cent, an order of magnitude, π or e as a letter.

Definition   a percentage beside whole numbers, an order of magnitude, and π or e as a letter with bounds
"""

from __future__ import annotations

from derivations.documents.judge.numbers.number_links import NumberLink
from derivations.documents.judge.numbers.orders import ORDERS
from derivations.documents.judge.numbers.printed import printed
from derivations.documents.syntax import Name, Node, Number, Power, Quotient

__all__ = ["CONSTANTS", "bounds_a_letter", "is_order_of_magnitude", "is_share"]

ABOUT = 20  # a bare power of ten stands for what differs from it by less than one part of so many
NEARLY = 1000  # a power of two stands for what differs from it by less than one part of so many
CONSTANTS = ("e", "π", "pi")


def bounds_a_letter(question: NumberLink) -> bool:
    """Return whether π or e is one side of an inequality: `0 ≤ π ≤ 1` is about a letter, not the constant."""
    sides = (question.left, question.right)
    return question.relation in ORDERS and any(isinstance(side, Name) and side.key in CONSTANTS for side in sides)


def is_share(left: Node, right: Node) -> bool:
    """Return whether a percentage is compared with whole numbers: `0 + 1 = 75%` gives the share of two classes."""
    for side, other in ((left, right), (right, left)):
        shown = printed(side)
        if shown is not None and "%" in shown.number.text:
            numbers = [part for part in other.walk() if isinstance(part, Number)]
            divided = any(isinstance(part, Quotient) for part in other.walk())
            return not divided and all(each.exact and "%" not in each.text for each in numbers)
    return False


def is_order_of_magnitude(question: NumberLink) -> bool:
    """Return whether one side is a power of ten or two that is close to the other: 1024 ≈ 10^3, 65504 ≈ 65536."""
    for side, other in ((question.left, question.right), (question.right, question.left)):
        if question.loose and isinstance(side, Number) and _is_power_of_two(side):
            near = question.enclosures(other)
            if near is not None and abs(near[0].middle - side.value) * NEARLY < side.value:
                return True
        if isinstance(side, Power) and isinstance(side.base, Number) and side.base.value == 10:
            power, value = (question.enclosures(each, each) for each in (side, other))
            if question.loose or not power or not value:
                return bool(power and value and power[0].low < 4 * value[0].high and value[0].low < 4 * power[0].high)
            return abs(power[0].middle - value[0].middle) * ABOUT < power[0].middle
    return False


def _is_power_of_two(number: Number) -> bool:
    size = int(number.value)
    return number.exact and size == number.value and size >= 1024 and size & (size - 1) == 0
