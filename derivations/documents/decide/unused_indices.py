r"""Sums whose terms do not contain the index of the sum: `\sum_{j=1}^{N} x_i`.

Definition   every term of such a sum is the same; it is meant so in `\sum_{j=1}^{N} c`, and not where the terms have an
             index that nothing binds: neither a sum, nor the left side, nor anything else in the statement
Result       wrong, with the index that the sum should run over, where there is one
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Chain, Dots, Name, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_unused_indices"]

CHECK = "index"


def check_unused_indices(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield a finding for a sum whose terms lack its index."""
    sides = statement.chain.sides
    right = sides[0 if link is None else link + 1]
    for part in right.walk():
        if not isinstance(part, Aggregate) or part.kind != "sum" or len(part.index) != 1 or part.upper is None:
            continue
        if part.over is not None:
            continue  # m = n >= 2
        ((bound,), indices) = (part.index, _indices(part.body))
        if bound.key in indices or any(isinstance(each, Name) and bound in each.walk() for each in part.body.walk()):
            continue
        everywhere = sum((_indices(side) for side in dict.fromkeys((*sides[:1], right))), Counter[str]())
        others = {each.key for p in right.walk() if isinstance(p, Aggregate) for each in p.index}
        free = [
            key
            for key, count in indices.items()
            if key not in others
            and everywhere[key] == count
            and scope.is_index(Name(key))
            and not _ends_a_range(key, part.body)
        ]
        if len(free) == 1:
            reason = f"the sum over {bound.key} has no {bound.key} in it, and nothing binds {free[0]}"
            yield Finding("wrong", CHECK, reason, f"a sum over {free[0]}")
            return


def _ends_a_range(key: str, body: Node) -> bool:
    r"""Return whether an index is the end of a range: `s_{1:t}`, `a_t, \dots, a_{t+m}`. Such a t is given."""
    names = (part for part in body.walk() if isinstance(part, Name))
    ranges: list[Node] = [each for name in names for each in name.subscripts if isinstance(each, Chain)]
    ranges += [part for part in body.walk() if any(isinstance(each, Dots) for each in part.children)]
    return any(isinstance(each, Name) and each.key == key for part in ranges for each in part.walk())


def _indices(node: Node) -> Counter[str]:
    """Count the single lower-case letters in subscripts and superscripts, but for those of labels: l of w_{n_l}."""
    names = (part for part in node.walk_outside_names() if isinstance(part, Name))
    scripts = (script for name in names for script in (*name.subscripts, *name.superscripts))
    found = (each for script in scripts for each in script.walk_outside_names() if isinstance(each, Name))
    return Counter(each.key for each in found if len(each.key) == 1 and each.key.islower())
