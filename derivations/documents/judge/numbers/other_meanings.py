"""Relations that are not meant literally: a share in per cent, an order of magnitude, a range, π or e as a letter.

Definition   a percentage beside whole numbers, an order of magnitude, π or e as a letter with bounds; the range 4 ∼ 8;
             a number near a fraction, 0.507 ≈ 1/2; the shape 7×7; 163 for the third power of 16; and an equation or a
             bound for letters that have other values elsewhere
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice, product
from typing import Any

from derivations.documents.conditions import is_conclusion, is_condition
from derivations.documents.judge.numbers.number_links import NumberLink, touch
from derivations.documents.judge.numbers.orders import ORDERS
from derivations.documents.judge.numbers.printed import printed
from derivations.documents.syntax import Fence, Name, Negative, Node, Number, Power, Product, Quotient, Sum, rebuilt

__all__ = ["CONSTANTS", "is_meant_otherwise"]

ABOUT = 20  # a bare power of ten stands for what differs from it by less than one part of so many
NEARLY = 1000  # a power of two stands for what differs from it by less than one part of so many
CONSTANTS = ("e", "π", "pi")
_ADDS = re.compile(r"\s*(?:plus\b|加上|再加|に加え)", re.IGNORECASE)
MOST_NUMBERS, MOST_EXPONENTS = 3, 40  # numbers of a relation that may have lost an exponent, and ways tried
MOST_IN_A_CELL = 1000  # a number with a word such as million is larger
NEAR_A_FRACTION = 20  # a number stands for a fraction from which it differs by less than one part of so many


def is_meant_otherwise(question: NumberLink) -> bool:
    """Return whether a relation may be no assertion about the numbers of its two sides."""
    return any(may_be(question) for may_be in MEANINGS)


def _is_part_of_words(question: NumberLink) -> bool:
    """Return whether words go on without a space: dist$(B) = 0.2$, $9/9 = 100$th."""
    passages, chain = question.statement.block.passages, question.statement.chain
    at = question.statement.block.number_of(question.statement.passage)
    if at is None or question.statement.passage.syntax != "latex":
        return False
    before = passages[at - 1].text if at and not passages[at - 1].is_formula else ""
    behind = question.statement.block.behind(at)
    opens = isinstance(chain.sides[0], Fence) and question.left is chain.sides[0]
    return (opens and before[-1:].isalpha()) or (
        question.right is chain.sides[-1] and behind[:2].isascii() and behind[:2].isalpha() and behind[:2].islower()
    )


def _goes_on_in_words(question: NumberLink) -> bool:
    """Return whether words behind the last side add something to it: `22B ≈ 8/128 × 235B plus the layers`."""
    block, at = question.statement.block, question.statement.block.number_of(question.statement.passage)
    is_last = question.right is question.statement.chain.sides[-1]
    return is_last and at is not None and _ADDS.match(block.behind(at)) is not None


def _is_bracketed(question: NumberLink) -> bool:
    """Return whether a number in brackets belongs to the words or the number in front: C[i] (4 bytes), 0.5 (50%)."""
    if question.statement.passage.syntax == "latex":
        return False
    if question.left is question.statement.chain.sides[0] and _in_brackets(question.left):
        return True
    for side in (question.left, question.right):
        match side:
            case Product(factors=(Number(), bracket), operators=("",)) if _in_brackets(bracket):
                return True
    return False


def _in_brackets(node: Node) -> bool:
    return (
        isinstance(node, Fence)
        and isinstance(node.inside, Number)
        and bool(node.inside.unit or "%" in node.inside.text)
    )


def _has_its_unit_elsewhere(question: NumberLink) -> bool:
    """Return whether a number is the value in thousands, millions or billions, as the head of a table may say."""
    shown = printed(question.right)
    if shown is None or shown.exact or shown.unit or shown.value >= MOST_IN_A_CELL:
        return False
    value = question.enclosures(question.left)
    scales = (1000**power for power in (1, 2, 3, 4))
    return value is not None and any(abs(value[0].middle / each - shown.value) <= shown.half_unit for each in scales)


def _is_divided_by_all(question: NumberLink) -> bool:
    """Return whether a relation holds if all factors behind a slash divide: 224 × 224 / 16 × 16 = 196."""
    factors = question.left.factors if isinstance(question.left, Product) else ()
    at = next((at for at, each in enumerate(factors) if isinstance(each, Quotient) and each.slashed), None)
    if at is None:
        return False
    first = factors[at]
    assert isinstance(first, Quotient)
    above = Product((*factors[:at], first.numerator), ("times",) * at)
    below = Product((first.denominator, *factors[at + 1 :]), ("times",) * (len(factors) - at - 1))
    sides = question.enclosures(Quotient(above, below), question.right)
    return sides is not None and touch(*sides)


def _lists_settings(question: NumberLink) -> bool:
    """Return whether a slash or a space stands between two settings: L = 192/s = 25, 6 layers / d = 512, a=3 bc=2."""
    goes_on = any(side is question.left for side in question.statement.chain.sides[1:])
    match question.left:
        case Quotient(numerator=Number(unit=unit), denominator=Name(), slashed=True):
            return bool(unit) or goes_on
        case Product(factors=(Number(), Name() as name), operators=("",)) if goes_on:
            return isinstance(question.right, Number) and question.values().get(name.key) == question.right.value
    return False


def _is_signed(question: NumberLink) -> bool:
    """Return whether a plus stands in front of a relation, as of a label or a gain: +6 ≈ 4 KB."""
    statement = question.statement
    first = question.left is statement.chain.sides[0]
    return first and statement.text(statement.chain.start, statement.chain.end).lstrip(" &{").startswith("+")


def _is_no_assertion(question: NumberLink) -> bool:
    """Return whether a relation in letters that have values elsewhere may be a condition, or set them anew."""
    letters = question.values()
    names = (part for side in (question.left, question.right) for part in side.walk() if isinstance(part, Name))
    single = {each.key for each in names if len(each.base) == 1 and each.key in (each.base, each.accent + each.base)}
    if any(not question.scope.is_given_near(key) for key in single & letters.keys()):
        return True
    if not letters or (question.relation in ORDERS and is_conclusion(question.statement)):
        return False
    return _is_equation(question) or is_condition(question.statement)


def _is_a_test(question: NumberLink) -> bool:
    """Return whether two numbers in plain characters are compared: of 3.5 > 4.6 what follows is said behind it."""
    are_numbers = isinstance(question.left, Number) and isinstance(question.right, Number)
    in_words = question.statement.passage.syntax != "latex"
    return question.relation in ORDERS and are_numbers and in_words and not is_conclusion(question.statement)


def _bounds_a_letter(question: NumberLink) -> bool:
    """Return whether π or e is one side of an inequality: `0 ≤ π ≤ 1` is about a letter, not the constant."""
    sides = (question.left, question.right)
    return question.relation in ORDERS and any(isinstance(side, Name) and side.key in CONSTANTS for side in sides)


def _is_share(question: NumberLink) -> bool:
    """Return whether a percentage is compared with whole numbers: `0 + 1 = 75%` gives the share of two classes."""
    for side, other in ((question.left, question.right), (question.right, question.left)):
        shown = printed(side)
        if shown is not None and "%" in shown.number.text:
            numbers = [part for part in other.walk() if isinstance(part, Number)]
            divided = any(isinstance(part, Quotient) for part in other.walk())
            return not divided and all(each.exact and "%" not in each.text for each in numbers)
    return False


def _is_range(question: NumberLink) -> bool:
    r"""Return whether the sign is that of a range, `4 \sim 8`, and not only of numbers that are alike."""
    return question.relation == "∼"


def _is_near_a_fraction(question: NumberLink) -> bool:
    """Return whether a number is said to be near a fraction: 0.507 ≈ 1/2."""
    fraction = question.right
    if not question.loose or not isinstance(fraction, Quotient):
        return False
    if not all(isinstance(part, Number) and part.exact for part in (fraction.numerator, fraction.denominator)):
        return False
    sides = question.enclosures(question.left, fraction)
    return sides is not None and abs(sides[0].middle - sides[1].middle) * NEAR_A_FRACTION < abs(sides[1].middle)


def _is_a_shape(question: NumberLink) -> bool:
    """Return whether sides in plain characters are shapes, which count nothing: 7×7, or 2x3 beside 1x3."""
    if question.statement.passage.syntax == "latex":
        return False
    sides = question.left, question.right
    if all(_is_a_square(side) for side in sides):
        return True  # two 3 * 3 = 5 * 5
    shapes = [shape for shape in map(_sizes, sides) if shape]
    return len(shapes) == 2 or any(len(set(shape)) == 1 for shape in shapes)


def _is_a_square(side: Node) -> bool:
    match side:
        case Product(factors=(Number(text=one), Number(text=other))):
            return one == other
    return False


def _sizes(side: Node) -> tuple[str, ...]:
    """Return the whole numbers of 2×3, written without spaces, of 1×2 · 2×3, or of (2 × 3), or none."""
    is_bracketed = isinstance(side, Fence) and isinstance(side.inside, Product)
    whole = side.inside if is_bracketed and isinstance(side, Fence) else side
    numbers = [each for each in whole.factors if isinstance(each, Number)] if isinstance(whole, Product) else []
    if not isinstance(whole, Product) or len(numbers) != len(whole.factors) or len(numbers) % 2:
        return ()
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    is_tight = all(one.end + 1 == other.start for one, other in pairs)
    are_pairs = (is_bracketed and len(pairs) == 1) or is_tight
    exact = all(each.exact for each in numbers) and set(whole.operators[::2]) == {"times"}
    return tuple(each.text for each in numbers) if are_pairs and exact else ()


def _has_lost_exponents(question: NumberLink) -> bool:
    """Return whether a relation in plain characters holds with exponents in its numbers: 163 − 1 = 4095."""
    if question.statement.passage.syntax == "latex":
        return False
    numbers = [part for side in (question.left, question.right) for part in side.walk() if isinstance(part, Number)]
    written = [
        each for each in numbers if each.exact and not each.unit and 3 <= len(each.text) <= 6 and each.text.isdigit()
    ]
    ways = [[each, *_raised(each)] for each in written[:MOST_NUMBERS]]
    for way in islice(product(*ways), 1, MOST_EXPONENTS):
        put_in = {id(each): other for each, other in zip(written, way, strict=False)}
        sides = question.enclosures(*(_with(side, put_in) for side in (question.left, question.right)))
        if sides is not None and abs(sides[0].middle - sides[1].middle) * NEAR_A_FRACTION <= abs(sides[1].middle):
            return True
    return False


def _raised(number: Number) -> list[Node]:
    digits = number.text
    pairs = ((digits[:at], digits[at:]) for at in range(1, len(digits)) if digits[at] != "0" and len(digits) - at < 4)
    return [Power(Number(a, Fraction(a), exact=True), Number(b, Fraction(b), exact=True)) for a, b in pairs]


def _with(node: Any, put_in: Mapping[int, Node]) -> Any:
    return put_in[id(node)] if id(node) in put_in else rebuilt(node, lambda each: _with(each, put_in))


def _is_equation(question: NumberLink) -> bool:
    """Return whether letters may be bound or set by a relation: m < 20, n - k = 1, sigma^2 = 2.

    Another relation in letters, such as `2 d^2 = 8192`, says what a formula is for values that are given before.
    """
    return question.relation in ORDERS or all(map(_may_be_set, (question.left, question.right)))


def _may_be_set(node: Node) -> bool:
    """Return whether a formula has letters, their powers and numbers, which are added only."""
    match node:
        case Sum(terms=terms):
            return all(map(_may_be_set, terms))
        case Negative(operand=inner) | Power(base=inner, exponent=Number()):
            return _may_be_set(inner)
    return isinstance(node, Name | Number)


def _is_order_of_magnitude(question: NumberLink) -> bool:
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


MEANINGS: tuple[Callable[[NumberLink], bool], ...] = (
    _is_part_of_words,
    _goes_on_in_words,
    _lists_settings,
    _is_signed,
    _is_bracketed,
    _has_its_unit_elsewhere,
    _is_divided_by_all,
    _is_a_shape,
    _has_lost_exponents,
    _is_a_test,
    _bounds_a_letter,
    _is_share,
    _is_range,
    _is_order_of_magnitude,
    _is_near_a_fraction,
    _is_no_assertion,
)
