r"""Causal masks by cases: `M_{ij} = 0` where key j is not behind query i, and minus infinity elsewhere.

Definition   a mask has two indices, of the query and of the key, and two cases, 0 and minus infinity
Result       `shown_keys(left, right)`: how the keys that are shown stand to the query, "≤" for a causal mask; None
             where it is no mask
Assumes      the first index is that of a row; where queries are columns, K^T Q, "≥" may be right
"""

from __future__ import annotations

from derivations.documents.syntax import Cases, Chain, Fence, Name, Negative, Node, Number, Words

__all__ = ["shown_keys"]

CATALOGUE = "attention.causal_weights"
TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">"}


def shown_keys(left: Node | None, right: Cases) -> str | None:
    """Return the relation of the keys that are shown to the query: j ≤ i, j ≥ i, j < i or j > i."""
    if not isinstance(left, Name) or len(left.subscripts) != 2 or len(right.branches) != 2:
        return None
    query, key = left.subscripts
    seen = [_shown(value, condition, query, key) for value, condition in right.branches]
    (first, _), (second, condition) = right.branches
    if {_kind(first), _kind(second)} != {"0", "-oo"} or seen[0] is None:
        return None
    if seen[1] not in (None, seen[0]) or (seen[1] is None and not isinstance(condition, Words | None)):
        return None
    return seen[0]


def _shown(value: Node, condition: Node | None, query: Node, key: Node) -> str | None:
    """Return how keys that are shown stand to the query, as one branch tells it."""
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
