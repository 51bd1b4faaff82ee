"""What is seen from the structure of a formula alone: residual sums with their norm, causal masks written by cases.

Definition   a causal mask is 0 where key j is not behind query i, and minus infinity elsewhere; residual sums are those
             of `residuals`
Result       `by_structure(left, right, scope)` is what is seen, or None
Assumes      letters are free
"""

from __future__ import annotations

from derivations.documents.judge.residuals import Seen, residual
from derivations.documents.judge.rotations import rotation
from derivations.documents.scope import Scope
from derivations.documents.syntax import Cases, Chain, Fence, MatrixLiteral, Name, Negative, Node, Number, Words

__all__ = ["Seen", "by_structure"]

CAUSAL = "attention.causal_weights"
TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">"}


def by_structure(left: Node | None, right: Node, scope: Scope) -> Seen | None:
    """Return what the structure of a right side, or of a formula that stands alone (no left side), tells."""
    if isinstance(right, Cases):
        return _mask(left, right)
    if isinstance(right, MatrixLiteral):
        return rotation(left, right)
    return residual(right, scope) if left is None or isinstance(left, Name) else None


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
