"""Inequalities between numbers: `<`, `≤`, `>`, `≥`, `≠`, and `≪`, which needs a factor of at least three."""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.numbers.number_links import CHECK, NumberLink, foreign_units, touch
from derivations.documents.judge.numbers.printed import decimal
from derivations.documents.judge.numbers.values import MOST_BITS, Enclosure
from derivations.documents.syntax import Number
from derivations.documents.verdicts import Finding

__all__ = ["ORDERS", "check_order"]

ORDERS = ("<", "≤", ">", "≥", "≠", "≪", "≫")
_OPPOSITE = {"<": "≥", "≤": ">", ">": "≤", "≥": "<", "≠": "=", "≪": "≥", "≫": "≤"}


def check_order(question: NumberLink) -> Iterator[Finding]:
    """Yield the finding whether an inequality between two numbers holds."""
    bits = 64
    while (sides := question.enclosures(question.left, question.right, bits=bits)) is not None:
        first, second = sides
        if (first.exact and second.exact) or not touch(first, second):
            break
        bits *= 2
        if bits > MOST_BITS:
            return
    if sides is None or foreign_units(question.left, question.right):
        return
    right = _ordered(question.relation, first, second)
    if right is False and question.relation == "≠" and not _all_whole(question):
        return  # a usual sentence about rounded numbers: 0.1 + 0.2 is not 0.3
    if right is None or len(question.bases(question.left, question.right)) > 1:
        return
    shown = f"{decimal(first)} against {decimal(second)}{question.valued()}"
    if right:
        yield Finding("holds", CHECK, shown)
    else:
        yield Finding(
            "wrong", CHECK, f"{shown}: it is {_OPPOSITE[question.relation]}", right=_OPPOSITE[question.relation]
        )


def _all_whole(question: NumberLink) -> bool:
    """Return whether all numbers are printed exactly."""
    sides = (question.left, question.right)
    return all(node.exact for side in sides for node in side.walk() if isinstance(node, Number))


def _ordered(relation: str, first: Enclosure, second: Enclosure) -> bool | None:
    if relation in ("≪", "≫"):
        small, large = (first, second) if relation == "≪" else (second, first)
        return True if 3 * abs(small.high) <= abs(large.low) else False if small.low >= large.high else None
    less, equal = first.high < second.low, first == second and first.exact
    more = first.low > second.high
    return {"<": less, "≤": less or equal, ">": more, "≥": more or equal, "≠": not equal}[relation]
