r"""An index that belongs to another sum of the formula: `\sum_i y_j = \sum_i e^{x_i} / \sum_j e^{x_j}`.

Definition   an index strays where the terms of a sum have it and not the index of the sum, while it is free on that
             side and nowhere on the other, which sums over it
Result       wrong: the sum is over one index, and its terms have the other
Assumes      nothing of `\sum_i y_j = 1` and `\sum_i y_j = n y_j`, where j may be any place
"""

from __future__ import annotations

from collections.abc import Iterator

from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_strayed_indices"]

Keys = frozenset[str]


def check_strayed_indices(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield the first sum of a link whose terms have the index of a sum on the other side."""
    if link is None or not is_equation(statement.chain.relations[link]):
        return
    left, right = statement.chain.sides[link : link + 2]
    for side, other in ((left, right), (right, left)):
        bound = _bound_in(other)
        for own, stray in _strays(side, bound - _free_in(other)) if bound else ():
            reason = f"the sum is over {own}, and its terms have the index {stray} of another sum"
            yield Finding("wrong", "consistency.index", reason)
            return


def _strays(side: Node, bound: Keys) -> Iterator[tuple[str, str]]:
    """Yield the index of a sum, and that of another sum which is free in its terms."""
    free = _free_in(side) & bound if bound else frozenset()
    for part in side.walk() if free else ():
        if isinstance(part, Aggregate) and part.kind == "sum" and len(part.index) == 1 and not part.index[0].subscripts:
            inside = _free_in(part.body)
            own = part.index[0].key
            if own not in inside and inside & free:
                yield own, min(inside & free)


def _bound_in(node: Node) -> Keys:
    return frozenset(index.key for part in node.walk() if isinstance(part, Aggregate) for index in part.index)


def _free_in(node: Node) -> Keys:
    """Return the names of a formula, scripts among them, that no sum in it binds where they stand."""
    if isinstance(node, Aggregate):
        bounds = [each for each in (node.lower, node.upper) if each is not None]
        inside = _free_in(node.body) - {index.key for index in node.index}
        return inside.union(*map(_free_in, bounds))
    own = frozenset({node.key}) if isinstance(node, Name) else frozenset[str]()
    return own.union(*map(_free_in, node.children))
