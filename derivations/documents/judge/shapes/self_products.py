r"""Queries, keys and values that are the input times itself, `Q = X X`, where a weight belongs.

Definition   queries, keys and values are products of the input with a weight each; X X is one only where X is square
Result       wrong where one of them is X X, and another one of the block is X times a weight
Assumes      the input has a row for each position and a column for each feature, which are as many by chance alone;
             nothing is said of a matrix that is declared to be square, and nothing of X X^T
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.numbers.letters import bare
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name, Node, Product
from derivations.documents.verdicts import Finding

__all__ = ["check_self_products"]

CHECK = "shapes.clash"
PROJECTED = frozenset("QKV")
MOST_STATEMENTS = 32


def check_self_products(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that an input is multiplied by itself where the others are multiplied by a weight."""
    if link is None or not is_equation(statement.chain.relations[link]):
        return
    left, right = statement.chain.sides[link : link + 2]
    pair = _factors(right)
    if not _is_projected(left) or pair is None or pair[0] != pair[1] or is_weight(pair[0]):
        return
    shape = scope.shape(pair[0])
    if shape is not None and (len(shape) != 2 or shape[0] == shape[1]):
        return
    for other in scope.document.in_block.get(scope.block, ())[:MOST_STATEMENTS]:
        sides = other.chain.sides
        weighted = _factors(sides[1]) if len(sides) > 1 and _is_projected(sides[0]) and sides[0] != left else None
        if weighted is not None and weighted[0] == pair[0] and is_weight(weighted[1]):
            own, usual = pair[0].key, weighted[1].key
            reason = f"{own} {own} needs as many rows as columns: a weight belongs here, as in {own} {usual}"
            yield Finding("wrong", CHECK, reason)
            return


def _is_projected(node: Node) -> bool:
    return isinstance(node, Name) and node.base in PROJECTED


def _factors(node: Node) -> tuple[Name, Name] | None:
    """Return the letters of a product of two matrices."""
    match bare(node):
        case Product(factors=(Name() as first, Name() as second), operators=("" | "dot" | "at",)):
            return (first, second) if first.base.isupper() else None
    return None
