"""Verdicts from the structure of a formula alone: residual sums with their norm, head widths, positional encodings.

Definition   residual sums are those of `residuals`
Result       `by_structure(left, right, scope)` is what is seen, or None
Assumes      letters are free
"""

from __future__ import annotations

from collections.abc import Iterable

from derivations.documents.judge.arrays.left_sides import parity, places_of
from derivations.documents.judge.canonical.residual_slips import residual_slip
from derivations.documents.judge.canonical.residuals import Seen, residual
from derivations.documents.scope import Scope
from derivations.documents.syntax import (
    Call,
    Name,
    Node,
    Quotient,
    Words,
)

__all__ = ["Seen", "by_structure"]

WAVES = "positional_encoding.definition"
HEAD_WIDTH = "multi_head.head_width"
NO_MODEL_WIDTHS = ("d_k", "d_v", "d_ff")


def by_structure(left: Node | None, right: Node, scope: Scope) -> Seen | None:
    """Return the verdict from the structure of a right side, or None. A formula alone has no left side."""
    if isinstance(left, Name) and isinstance(right, Quotient):
        return _width(left, right)
    if left is not None and isinstance(right, Call) and parity(left):
        return _wave(left, right)
    if left is not None and not isinstance(left, Name):
        return None
    return residual(right, scope) or residual_slip(right, scope)


def _wave(left: Node, right: Call) -> Seen | None:
    """Return "wrong" if the frequency of a positional encoding does not depend on the column."""
    column, places, letters = map(_letters, (places_of(left)[-1:], places_of(left), right.arguments))
    if right.function.base not in ("sin", "cos") or len(column) != 1 or column & letters or not letters <= places:
        return None  # another letter may stand for the angle
    return Seen("wrong", f"the frequency does not depend on the column, {column.pop()} is missing", WAVES)


def _letters(nodes: Iterable[Node]) -> set[str]:
    parts = (part for node in nodes for part in node.walk() if isinstance(part, Name | Words))
    return {part.text if isinstance(part, Words) else part.key for part in parts}


def _width(left: Name, right: Quotient) -> Seen | None:
    """Return "wrong" where d_k or d_v is set to one of d_k, d_v and d_ff divided by a letter."""
    whole, count = right.numerator, right.denominator
    if (
        left.key in ("d_k", "d_v")
        and isinstance(whole, Name)
        and whole.key in NO_MODEL_WIDTHS
        and isinstance(count, Name)
    ):
        return Seen("wrong", "the width of a head is that of the model divided by the number of heads", HEAD_WIDTH)
    return None
