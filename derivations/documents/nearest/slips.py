"""Which edits of a formula correct a slip, and which only undo an author's choice.

Definition   an edit changes one place; what changes which letters stand there, or which function is applied, is free,
             unless the handbook has the formula
Result       `is_free(slip, right)`, `renames(right, new, slip, counts)`: whether an author may choose so
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from derivations.documents.syntax import Aggregate, Name, Node, Number, Power, Quotient, Sum

__all__ = ["EXCHANGED", "FACTOR", "NUMBER", "QUOTED", "is_free", "renames"]

FREE = re.compile(  # edits that change which letters stand there, or what an author may choose
    r"the (?:factor|summand) \D|the division by|there must be no (?:division|factor|root|sigma|tanh)"
    r"|it must be a (?:product|quotient)|the logarithm is missing|the function must be|\S+ must be (?:added|subtracted)"
)
QUOTED = re.compile(
    r"the function must be|the logarithm is missing|(\S+) belongs where"
)  # what nobody chooses in a formula of the handbook
DIVISION = re.compile(r"the division by (\S+) is missing")
EXCHANGED = re.compile(r"(\S+) belongs where (\S+) stands")
NUMBER = re.compile(r"the (?:factor|summand) \d|the square is missing|the (?:number|exponent) must be")
FACTOR = re.compile(r"the factor \d")  # which a letter may have in its definition
SETTING = re.compile(r"the number must be \S+, not (\d+)$")
LEAST_SETTING = 1000  # a base of frequencies, or a number of steps, that an author sets otherwise
NO_SCALE = "the number must be 1, not"  # a scale, as the 255 of pixels
ONE_MORE = "the summand 1 is missing"


def renames(right: Node, new: Node, slip: str, counts: frozenset[str]) -> bool:
    """Return whether an edit exchanges counts or labels, squares a letter, or changes the bounds of a sum."""
    exchanged = EXCHANGED.match(slip)
    if exchanged:
        one, other = exchanged.groups()
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


def is_free(slip: str, right: Node) -> bool:
    """Return whether an edit undoes an author's choice.

    The division by the number of terms of a sum is no choice, as it makes a mean.
    """
    counts = {part.upper.key for part in right.walk() if isinstance(part, Aggregate) and isinstance(part.upper, Name)}
    if slip == ONE_MORE:  # the variance of a sample is divided by one less than its size
        return any(_is_one_less(part, counts) for part in right.walk())
    setting = SETTING.match(slip)
    if slip.startswith(NO_SCALE) or (setting and int(setting[1]) >= LEAST_SETTING):
        return True
    division = DIVISION.match(slip)
    if division and any(division[1] == name.key for name in _divisors(right)):
        return True  # 1 / (n m) is divided by m
    return bool(FREE.match(slip)) and not (division and division[1] in counts)


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
