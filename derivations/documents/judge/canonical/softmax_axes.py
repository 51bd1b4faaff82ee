r"""The index over which a softmax of a matrix is taken, inferred from formulas nearby.

Definition   the second index counts keys where a sum over it weighs values, `o_i = \sum_j A_{ij} v_j`, where weights
             stand in front of the values, `A V`, and in scores `S_{ij} = q_i \cdot k_j` or `S = Q K^T`
Result       `counts_keys(left, right, statement, scope)`: a line around says so of the weights or of the scores, and
             none says the opposite
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Chain, Name, Node, Product, Transpose

__all__ = ["counts_keys"]

OVER_QUERIES = re.compile(
    r"\b(?:over|across|along) (?:all |the )?(?:quer|slot)|对所有查询|對所有查詢|クエリ方向|全クエリ",
    re.IGNORECASE,
)
NEAR = 8  # statements on either side
QUERIES, KEYS, VALUES = ("q", "Q"), ("k", "K"), ("V",)


def counts_keys(left: Node, right: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether the lines around show that the second index of the weights or scores counts the keys."""
    names = [part for part in chain(left.walk(), right.walk()) if isinstance(part, Name) and _pair(part)]
    bases = {each.base for each in names}
    near = scope.document.around(statement, NEAR, NEAR + 1)
    around = [other for other in near if other.section in scope.reach.sections]
    said = {place for other in around for place in _keys_at(other.chain, bases)}
    return said == {1} and not OVER_QUERIES.search(scope.words(statement))


def _keys_at(line: Chain, bases: set[str]) -> Iterator[int]:
    """Yield 0 or 1: the position of the index that counts the keys in a line."""
    for side in line.sides:
        for part in side.walk():
            if isinstance(part, Aggregate) and part.kind == "sum" and isinstance(part.body, Product):
                yield from _weighted(part, bases)
            elif isinstance(part, Product):
                yield from _of_matrices(part, bases)
    match line.sides:
        case (Name(subscripts=()) as scores, *rest) if scores.base in bases:
            products = (part for side in rest for part in side.walk() if isinstance(part, Product))
            yield from (place for product in products for place in _of_scores(product))
        case (Name() as scores, *rest) if scores.base in bases and (pair := _pair(scores)):
            names = [part for side in rest for part in side.walk() if isinstance(part, Name)]
            indices = {each.base: each.subscripts for each in names if each.base in QUERIES + KEYS}
            found = [next((indices[base] for base in group if base in indices), ()) for group in (QUERIES, KEYS)]
            if len(indices) == 2 and found == [(pair[0],), (pair[1],)]:
                yield 1
            elif len(indices) == 2 and found == [(pair[1],), (pair[0],)]:
                yield 0


def _weighted(total: Aggregate, bases: set[str]) -> Iterator[int]:
    """Yield the position of the index over which a sum weights the values."""
    factors = total.body.factors if isinstance(total.body, Product) else ()
    match factors:
        case (Name() as weight, Name() as value) if len(total.index) == 1 and weight.base in bases:
            pair = _pair(weight)
            if total.index[0] in pair and value.subscripts == total.index:
                yield pair.index(total.index[0])


def _of_matrices(product: Product, bases: set[str]) -> Iterator[int]:
    """Yield 1 for weights before values, `A V`, and 0 for weights after values, `V A`."""
    for first, second in pairwise(product.factors):
        turned = [isinstance(each, Transpose) for each in (first, second)]
        bare = [each.operand if isinstance(each, Transpose) else each for each in (first, second)]
        names = [each.base if isinstance(each, Name) and not each.subscripts else "" for each in bare]
        if names[0] in bases and names[1] in VALUES and not turned[1]:
            yield 0 if turned[0] else 1
        elif names[1] in bases and names[0] in VALUES and turned[0] is turned[1]:
            yield 0


def _of_scores(product: Product) -> Iterator[int]:
    """Yield 1 for `Q K^T`, whose columns are the keys, and 0 for `K Q^T` and `K^T Q`, whose rows are."""
    match product.factors:
        case (Name(subscripts=()) as first, Transpose(operand=Name(subscripts=()) as second)):
            names = first.base, second.base
        case (Transpose(operand=Name(subscripts=()) as second), Name(subscripts=()) as first):
            names = second.base, first.base  # a column for each position
        case _:
            return
    if names == ("Q", "K"):
        yield 1
    elif names == ("K", "Q"):
        yield 0


def _pair(name: Name) -> tuple[Node, ...]:
    indices = flat(name.subscripts)
    return indices if len(indices) == 2 and indices[0] != indices[1] else ()
