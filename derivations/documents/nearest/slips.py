"""Which edits of a formula correct a slip, and which only undo an author's choice.

Definition   an edit changes one place; what changes which letters stand there, or which function is applied, is free,
             unless the handbook has the formula
Result       `is_free(slip, right)`, `renames(right, new, slip, counts)`: whether an author may choose so
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.canon.slips import Slip, SlipKind
from derivations.documents.syntax import Aggregate, Name, Node, Number, Power, Quotient, Sum

__all__ = ["is_free", "is_of_a_number", "is_of_the_index", "renames"]

K = SlipKind
FREE = {  # edits that change which letters stand there, or what an author may choose
    K.FACTOR, K.FACTOR_TOO_MANY, K.FACTOR_INSIDE, K.FACTOR_OF_ALL, K.SUMMAND, K.SUMMAND_INSIDE, K.SUBTRACTED,
    K.ROOT_DIVISION, K.NO_DIVISION, K.NO_ROOT, K.NO_ROOT_OF_SQUARE, K.A_PRODUCT, K.A_QUOTIENT,
    K.LOGARITHM, K.FUNCTION,
}  # fmt: skip
IN_NUMBERS = {K.FACTOR, K.FACTOR_TOO_MANY, K.SUMMAND, K.SUMMAND_TOO_MANY}
SQUASHING = ("sigma", "tanh")
LEAST_SETTING = 1000  # a base of frequencies, or a number of steps, that an author sets otherwise


def is_of_a_number(slip: Slip) -> bool:
    """Return whether a number is wrong, missing or too many, among them the square of a part."""
    return slip.kind in (K.SQUARE, K.NUMBER, K.NO_EXPONENT) or (slip.kind in IN_NUMBERS and slip.of_number)


def is_of_the_index(slip: Slip) -> bool:
    """Return whether a sum runs over another index than its terms have."""
    return slip.kind in (K.SUM_INDEX, K.SUM_PLACE)


def renames(right: Node, new: Node, slip: Slip, counts: frozenset[str]) -> bool:
    """Return whether an edit exchanges counts or labels, squares a letter, or changes the bounds of a sum."""
    if slip.kind is K.LETTER:
        one, other = slip.about
        return one in counts or other in counts or one.partition("_")[0] == other.partition("_")[0]
    if _bounds(right) != _bounds(new):
        return True
    before, after = (
        {part.base for part in each.walk() if isinstance(part, Power) and isinstance(part.base, Name)}
        for each in (right, new)
    )
    return any(isinstance(base, Name) and not base.subscripts for base in before ^ after)


def _bounds(node: Node) -> list[tuple[Node | None, Node | None]]:
    return [(part.lower, part.upper) for part in node.walk() if isinstance(part, Aggregate)]


def is_free(slip: Slip, right: Node) -> bool:
    """Return whether an edit undoes an author's choice.

    The division by the number of terms of a sum is no choice, as it makes a mean.
    """
    counts = {part.upper.key for part in right.walk() if isinstance(part, Aggregate) and isinstance(part.upper, Name)}
    match slip:
        case Slip(K.SUMMAND, ("1",)):  # the variance of a sample is divided by one less than its size
            return any(_is_one_less(part, counts) for part in right.walk())
        case Slip(K.NUMBER, (new, old)):  # a scale, as the 255 of pixels, or a setting
            return new == "1" or (old.isdigit() and int(old) >= LEAST_SETTING)
        case Slip(K.DIVISION, (letter,)):  # 1 / (n m) is divided by m
            return letter not in counts or any(letter == name.key for name in _divisors(right))
        case Slip(K.NO_FUNCTION, (function,)):
            return function in SQUASHING
    return slip.kind in FREE and not (slip.kind in IN_NUMBERS and slip.of_number)


def _divisors(node: Node) -> Iterator[Name]:
    """Yield the letters in denominators."""
    below = (part.denominator for part in node.walk() if isinstance(part, Quotient))
    return (part for each in below for part in each.walk() if isinstance(part, Name))


def _is_one_less(part: Node, counts: set[str]) -> bool:
    """Return whether a part is n - 1, where n is one of the counts."""
    if not isinstance(part, Sum) or part.signs != (1, -1):
        return False
    first, second = part.terms
    return isinstance(first, Name) and first.key in counts and isinstance(second, Number) and second.value == 1
