"""What is seen from the structure of a formula alone: residual sums with their norm, causal masks written by cases.

Definition   a causal mask is 0 where key j is not behind query i, and minus infinity elsewhere; residual sums are those
             of `residuals`
Result       `by_structure(left, right, scope)` is what is seen, or None
Assumes      letters are free
"""

from __future__ import annotations

from collections.abc import Iterable

from derivations.documents.judge.arrays.left_sides import parity, places_of
from derivations.documents.judge.canonical.residual_slips import residual_slip
from derivations.documents.judge.canonical.residuals import Seen, residual
from derivations.documents.judge.canonical.rotations import rotation
from derivations.documents.scope import Scope
from derivations.documents.syntax import (
    Call,
    Cases,
    Chain,
    Fence,
    MatrixLiteral,
    Name,
    Negative,
    Node,
    Number,
    Quotient,
    Words,
)

__all__ = ["Seen", "by_structure"]

CAUSAL = "attention.causal_weights"
WAVES = "positional_encoding.definition"
HEAD_WIDTH = "multi_head.head_width"
NO_MODEL_WIDTHS = ("d_k", "d_v", "d_ff")
TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">"}


def by_structure(left: Node | None, right: Node, scope: Scope) -> Seen | None:
    """Return what the structure of a right side, or of a formula that stands alone (no left side), tells."""
    if isinstance(right, Cases):
        return _mask(left, right)
    if isinstance(right, MatrixLiteral):
        return rotation(left, right)
    if isinstance(left, Name) and isinstance(right, Quotient):
        return _width(left, right)
    if left is not None and isinstance(right, Call) and parity(left):
        return _wave(left, right)
    if left is not None and not isinstance(left, Name):
        return None
    return residual(right, scope) or residual_slip(right, scope)


def _wave(left: Node, right: Call) -> Seen | None:
    """Return that columns of a positional encoding that have one frequency are not told apart."""
    column, places, letters = map(_letters, (places_of(left)[-1:], places_of(left), right.arguments))
    if right.function.base not in ("sin", "cos") or len(column) != 1 or column & letters or not letters <= places:
        return None  # another letter may stand for the angle
    return Seen("wrong", f"the frequency does not depend on the column, {column.pop()} is missing", WAVES)


def _letters(nodes: Iterable[Node]) -> set[str]:
    parts = (part for node in nodes for part in node.walk() if isinstance(part, Name | Words))
    return {part.text if isinstance(part, Words) else part.key for part in parts}


def _width(left: Name, right: Quotient) -> Seen | None:
    """Return that the width of a head is no share of that width itself, nor of another that a head has."""
    whole, count = right.numerator, right.denominator
    if (
        left.key in ("d_k", "d_v")
        and isinstance(whole, Name)
        and whole.key in NO_MODEL_WIDTHS
        and isinstance(count, Name)
    ):
        return Seen("wrong", "the width of a head is that of the model divided by the number of heads", HEAD_WIDTH)
    return None


# --- causal masks ---


def _mask(left: Node | None, right: Cases) -> Seen | None:
    if not isinstance(left, Name) or len(left.subscripts) != 2 or len(right.branches) != 2:
        return None
    query, key = left.subscripts
    seen = [_visible(value, condition, query, key) for value, condition in right.branches]
    (first, _), (second, condition) = right.branches
    if {_kind(first), _kind(second)} != {"0", "-oo"} or seen[0] is None:
        return None
    if seen[1] not in (None, seen[0]) or (seen[1] is None and not isinstance(condition, Words | None)):
        return None
    if seen[0] == "≤":
        return Seen("proved", "this is the causal mask: no position sees a later one", CAUSAL)
    if seen[0] == ">":
        reason = "this mask shows later positions alone: 0 and minus infinity have changed places"
        return Seen("wrong", reason, CAUSAL)
    return None


def _visible(value: Node, condition: Node | None, query: Node, key: Node) -> str | None:
    """Return how visible keys stand to the query, as one branch tells it."""
    while isinstance(condition, Fence):
        condition = condition.inside
    if not isinstance(condition, Chain) or len(condition.relations) != 1 or not isinstance(condition.relations[0], str):
        return None
    relation = condition.relations[0]
    if relation not in TURNED or {*condition.sides} != {query, key}:
        return None
    relation = relation if condition.sides[0] == key else TURNED[relation]
    return relation if _kind(value) == "0" else OPPOSITE[relation]


def _kind(value: Node) -> str:
    match value:
        case Number(value=number) if number == 0:
            return "0"
        case Negative(operand=Name(base="infty" | "∞" | "inf" | "infinity")):
            return "-oo"
    return ""
