r"""Over which index a softmax of a matrix is taken, where the lines around tell what its two indices count.

Definition   the second index counts keys where a sum over it weighs values, `o_i = \sum_j A_{ij} v_j`, and in scores
             `S_{ij} = q_i \cdot k_j`
Result       `counts_keys(left, right, statement, scope)`: a line around says so of the weights or of the scores, and
             none says the opposite
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Chain, Name, Node, Product

__all__ = ["counts_keys"]

NEAR = 8  # statements on either side
QUERIES, KEYS = ("q", "Q"), ("k", "K")


def counts_keys(left: Node, right: Node, statement: Statement, scope: Scope) -> bool:
    """Say whether the second index of weights, or of the scores they are made of, counts the keys."""
    names = [part for part in chain(left.walk(), right.walk()) if isinstance(part, Name) and _pair(part)]
    bases = {each.base for each in names}
    around = scope.document.around(statement, NEAR, NEAR + 1)
    said = {place for other in around for place in _keys_at(other.chain, bases)}
    return said == {1}


def _keys_at(line: Chain, bases: set[str]) -> Iterator[int]:
    """Yield 0 or 1, the place of the index that a line takes to count keys."""
    for side in line.sides:
        for part in side.walk():
            if isinstance(part, Aggregate) and part.kind == "sum" and isinstance(part.body, Product):
                yield from _weighted(part, bases)
    match line.sides:
        case (Name() as scores, *rest) if scores.base in bases and (pair := _pair(scores)):
            names = [part for side in rest for part in side.walk() if isinstance(part, Name)]
            indices = {each.base: each.subscripts for each in names if each.base in QUERIES + KEYS}
            found = [next((indices[base] for base in group if base in indices), ()) for group in (QUERIES, KEYS)]
            if len(indices) == 2 and found == [(pair[0],), (pair[1],)]:
                yield 1
            elif len(indices) == 2 and found == [(pair[1],), (pair[0],)]:
                yield 0


def _weighted(total: Aggregate, bases: set[str]) -> Iterator[int]:
    """Yield the place of the index by which values are summed with these weights."""
    factors = total.body.factors if isinstance(total.body, Product) else ()
    match factors:
        case (Name() as weight, Name() as value) if len(total.index) == 1 and weight.base in bases:
            pair = _pair(weight)
            if total.index[0] in pair and value.subscripts == total.index:
                yield pair.index(total.index[0])


def _pair(name: Name) -> tuple[Node, ...]:
    indices = flat(name.subscripts)
    return indices if len(indices) == 2 and indices[0] != indices[1] else ()
