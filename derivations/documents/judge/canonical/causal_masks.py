r"""Causal masks by cases: `M_{ij} = 0` where key j is not behind query i, and minus infinity elsewhere.

Definition   a mask has two indices, of the query and of the key, and two cases, 0 and minus infinity
Result       `shown_keys(left, right)`: how the keys that are shown stand to the query, "≤" for a causal mask; None
             where it is no mask
             wrong        "≥" where it is called causal and queries are rows, Q K^T: it shows the query itself and all
                          later positions, and hides the earlier ones
Assumes      the first index is that of a row; where queries are columns, K^T Q, "≥" may be right
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Cases, Chain, Fence, Name, Negative, Node, Number, Product, Transpose, Words
from derivations.documents.verdicts import Finding

__all__ = ["check_causal_masks", "shown_keys"]

NEAR = 40  # statements before a mask and behind it
CATALOGUE = "attention.causal_weights"
TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">"}
_CAUSAL = re.compile(r"\bcausal\b|\bauto-?regressive|因果|自[回迴][归歸]|自己回帰", re.IGNORECASE)
_BACKWARDS = re.compile(r"\b(?:anti|non)-?\s?causal|\bbackwards?\b|\brevers|反向|逆|非因果|從右|从右", re.IGNORECASE)


def check_causal_masks(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a mask which is called causal shows the later positions."""
    if link is None or statement.chain.relations[link] not in ("=", ":="):
        return
    left, right = statement.chain.sides[link : link + 2]
    if not isinstance(right, Cases) or shown_keys(left, right) != "≥":
        return
    words = scope.words(statement)
    if _CAUSAL.search(words) and not _BACKWARDS.search(words) and _has_queries_in_rows(statement, scope):
        reason = "this mask shows later positions and hides earlier ones: the inequality is turned"
        yield Finding("wrong", "canonical", reason, result=CATALOGUE)


def _has_queries_in_rows(statement: Statement, scope: Scope) -> bool:
    """Say whether the scores around a mask are Q K^T; where there are none, whether positions are rows."""
    orders: set[str] = set()
    for side in (side for other in scope.document.around(statement, NEAR, NEAR) for side in other.chain.sides):
        for product in (part for part in side.walk() if isinstance(part, Product)):
            for pair in pairwise(product.factors):
                match pair:
                    case (Name() as query, Transpose(operand=Name() as key)):
                        order = "rows"
                    case (Transpose(operand=Name() as key), Name() as query):
                        order = "columns"
                    case _:
                        continue
                if _is(query, "query", scope) and _is(key, "key", scope):
                    orders.add(order)
    return orders == {"rows"} or (not orders and scope.convention == "rows")


def _is(name: Name, role: str, scope: Scope) -> bool:
    """Say whether a matrix is that of the queries or of the keys, by its letter or by what it is called."""
    return name.base == role[0].upper() or role in scope.meaning(name)


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
