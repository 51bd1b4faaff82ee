"""Numbers that were computed against those that a side of a formula shows, entry by entry.

Definition   a side shows a number, a list or a matrix; every entry is a printed number, or is computed itself
Result       `verdict_of(value, shown)`: "right" within half a unit of the last digit, "off", or "unclear" where a whole
             number stands for one that is none, or its ends are far apart; `entries_of(node)` are the rows of a side
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from derivations.documents.judge.numbers.intervals import Value, fraction
from derivations.documents.judge.numbers.number_arrays import NumberArray
from derivations.documents.judge.numbers.printed import Printed, decimal, printed, rounded
from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.syntax import List, MatrixLiteral, Node, Transpose

__all__ = ["ShownNumbers", "Verdict", "enclosure_of", "touches", "verdict_of"]

Verdict = Literal["right", "off", "unclear"]


@dataclass(frozen=True)
class ShownNumbers:
    """The numbers that a side shows, row by row; `axes` is 0 for one number."""

    rows: tuple[tuple[Printed, ...], ...]
    axes: int

    @staticmethod
    def of(node: Node) -> ShownNumbers | None:
        """Return the numbers that a side shows; None where an entry is no printed number."""
        rows, axes = _rows(node)
        found = tuple(tuple(printed(entry) for entry in row) for row in rows)
        known = tuple(tuple(each for each in row if each is not None and _is_plain(each)) for row in found)
        complete = known and all(len(a) == len(b) > 0 for a, b in zip(known, rows, strict=True))
        return ShownNumbers(known, axes) if complete else None

    @property
    def entries(self) -> tuple[Printed, ...]:
        """All numbers, row by row."""
        return tuple(entry for row in self.rows for entry in row)

    def entries_of(self, value: Value | NumberArray) -> tuple[Value, ...] | None:
        """Return the entries of a value that has the shape of what is shown; rows, columns and lists are alike."""
        if not isinstance(value, NumberArray):
            return (value,) if self.axes == 0 else None
        if not self.axes and value.shape == (1, 1):
            return value.entries
        shape = len(self.rows), len(self.rows[0])
        alike = value.shape == shape or (value.is_vector and 1 in shape and len(value.entries) == len(self.entries))
        return value.entries if alike and self.axes else None

    def named(self, place: int) -> str:
        """Return what the entry at a place is called."""
        width = len(self.rows[0])
        return ("the value", f"entry {place + 1}", f"entry ({place // width + 1}, {place % width + 1})")[self.axes]

    def written(self, values: Sequence[Value]) -> list[str]:
        """Return numbers as they ought to be shown here."""
        enclosed = map(enclosure_of, values)
        return [rounded(each, shown) or decimal(each) for each, shown in zip(enclosed, self.entries, strict=True)]


def _rows(node: Node) -> tuple[tuple[tuple[Node, ...], ...], int]:
    match node:
        case MatrixLiteral(rows=rows):
            return rows, 2
        case Transpose(operand=List(items=items)):
            return tuple((item,) for item in items), 2
        case List(items=items) if all(isinstance(item, List) for item in items):
            return tuple(item.items for item in items if isinstance(item, List)), 2
        case List(items=items):
            return (items,), 1
    return ((node,),), 0


def _is_plain(shown: Printed) -> bool:
    return not shown.rough and not shown.unit and "%" not in shown.number.text


def enclosure_of(value: Value) -> Enclosure:
    """Return a number as two fractions with it between them."""
    return Enclosure(value, value) if isinstance(value, Fraction) else Enclosure(fraction(value.a), fraction(value.b))


def verdict_of(value: Value, shown: Printed) -> Verdict:
    """Say whether a number rounds to what is shown; a whole number is shown for a whole number."""
    enclosed = enclosure_of(value)
    least, most = enclosed.low - shown.value, enclosed.high - shown.value
    near, far = max(least, -most, Fraction(0)), max(-least, most)
    if far == 0 or (not shown.exact and far <= shown.half_unit):
        return "right"
    if not shown.exact:
        return "off" if near > shown.half_unit else "unclear"
    whole = enclosed.exact and enclosed.low.denominator == 1
    return "off" if whole or near > 2 * shown.half_unit else "unclear"


def touches(value: Value, shown: Printed) -> bool:
    """Say whether a number that is known between two ends may round to what is shown."""
    enclosed = enclosure_of(value)
    return enclosed.low <= shown.value + shown.half_unit and shown.value - shown.half_unit <= enclosed.high
