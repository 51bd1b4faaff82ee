"""A relation between two sides of numbers, with the known values of its letters.

Definition   `enclosures` gives the numbers that nodes mean, under a base of logarithms that the text does not name
Result       what two checks share: rounded numbers, and orders
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction

from derivations.documents.judge.numbers.given_numbers import Given
from derivations.documents.judge.numbers.letters import letters_of
from derivations.documents.judge.numbers.printed import decimal
from derivations.documents.judge.numbers.values import MOST_BITS, Enclosure, Letters, enclose
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number

__all__ = ["CHECK", "FAR", "NumberLink", "check_of", "foreign_units", "touch", "units_of"]

CHECK = "arithmetic"  # by which a finding is ignored
FAR = f"{CHECK}.far"  # a number that no slip explains
BASES = (0, 2, 10)
SLIP, SMALL_SLIP = Fraction(4), Fraction(5, 4)
LARGE, FEW = 6, 3  # digits of a large number; numbers of a relation that says little


@dataclass(frozen=True)
class NumberLink:
    """A relation between two sides, with the values that its letters may have."""

    statement: Statement
    left: Node
    right: Node
    relation: str
    scope: Scope
    given: Given = field(default_factory=dict)

    @property
    def letters(self) -> Letters:
        """The numbers that letters stand for."""
        return letters_of(self.scope, self.given)

    @property
    def loose(self) -> bool:
        """Whether the relation is other than = and ≡, so that a side may be rounded."""
        return self.relation not in ("=", "≡")

    def enclosures(self, *nodes: Node, base: int = 0, bits: int = 64, spread: bool = False) -> list[Enclosure] | None:
        """Return an enclosure for each node, or None if a node has none."""
        found = [enclose(node, self.letters, bits=bits, base=base, spread=spread) for node in nodes]
        return [each for each in found if each is not None] if None not in found else None

    def precisely(self, node: Node, width: Fraction, *, base: int = 0) -> Enclosure | None:
        """Return an enclosure of at most the given width, at growing precision, or None if there is none."""
        bits = 256
        while bits <= MOST_BITS and (found := self.enclosures(node, base=base, bits=bits)) is not None:
            if found[0].high - found[0].low <= width:
                return found[0]
            bits *= 2
        return None

    def bases(self, *nodes: Node) -> tuple[int, ...]:
        """Return the bases that logarithms may have."""
        calls = (part for node in nodes for part in node.walk() if isinstance(part, Call))
        return BASES if any(call.function.base.lower() == "log" for call in calls) else (0,)

    def values(self) -> dict[str, Fraction]:
        """Return the values of the letters on both sides, by key."""
        names = [part for node in (self.left, self.right) for part in node.walk() if isinstance(part, Name)]
        known = ((name.key, self.letters(name)) for name in names)
        values = ((key, value.value if isinstance(value, Number) else value) for key, value in known)
        return {key: value for key, value in values if isinstance(value, Fraction)}

    def valued(self) -> str:
        """Return a text that lists the letters with their values, for the reason of a finding."""
        found = [f"{name} = {decimal(Enclosure(value, value))}" for name, value in self.values().items()]
        return f" with {', '.join(found)}" if found else ""

    def may_be_other_values(self) -> bool:
        """Return whether there are numbers besides the values of letters, which `d / h = 1024 / 16` may set."""
        values = set(self.values().values())
        numbers = {part.value for node in (self.left, self.right) for part in node.walk() if isinstance(part, Number)}
        return bool(values) and not numbers <= values


def check_of(question: NumberLink, value: Fraction, printed: Fraction) -> str:
    """Return the id of the check: FAR if no usual slip leads from a value to a printed number, so that it may be cut.

    A slip leaves the size, up to a factor of four, or the first two digits, or half of the exponent of a large or
    small number. It may change the sign. Two or three numbers may be anything, as 3×3 is a shape, and a letter may have
    another value: there a slip leaves the size up to a quarter, or the digits of numbers.
    """
    sides = (question.left, question.right)
    numbers = [each for side in sides for each in side.walk_outside_names() if isinstance(each, Number)]
    letters = [part for side in (question.left, question.right) for part in side.walk() if isinstance(part, Name)]
    one, other = abs(value), abs(printed)
    if len(numbers) > FEW:
        return FAR if _is_far(one, other, SLIP) else CHECK
    is_shifted = not letters and one and other and _first_digits(one) == _first_digits(other)
    return CHECK if is_shifted or (other <= SMALL_SLIP * one and one <= SMALL_SLIP * other) else FAR


def _is_far(one: Fraction, other: Fraction, limit: Fraction) -> bool:
    if not one or not other:
        return one != other
    if one <= limit * other and other <= limit * one:
        return False
    magnitudes = sorted(abs(_magnitude(each)) for each in (one, other))
    same_side = (one < 1) == (other < 1)
    if same_side and magnitudes[0] >= LARGE and magnitudes[1] <= 2 * magnitudes[0]:
        return False
    return _first_digits(one) != _first_digits(other)


def _magnitude(value: Fraction) -> int:
    """Return the number of digits before the decimal point, negative for a small number."""
    return len(str(int(value))) if value >= 1 else -len(str(int(1 / value)))


def _first_digits(value: Fraction) -> int:
    """Return the first two digits."""
    return int(value * Fraction(100) / Fraction(10) ** _magnitude(value)) if value >= 1 else _first_digits(1000 * value)


def touch(first: Enclosure, second: Enclosure) -> bool:
    """Return whether two enclosures have a number in common."""
    return first.low <= second.high and second.low <= first.high


def units_of(node: Node) -> set[str]:
    """Return the units of the numbers in a node."""
    return {part.unit for part in node.walk() if isinstance(part, Number)} - {""}


def foreign_units(source: Node, target: Node | None = None, *, units: Collection[str] = ()) -> bool:
    """Return whether the source has units that neither the target nor the collection has."""
    return not units_of(source) <= {*units, *(units_of(target) if target is not None else ())}
