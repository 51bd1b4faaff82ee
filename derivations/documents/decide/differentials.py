r"""Products of derivatives: the chain rule read as a product of fractions, one of which may be inverted.

Definition   a derivative of a by b counts a once above and b once below; by the chain rule what is left of a product of
             derivatives is what the left side has: `\frac{\partial L}{\partial x} = \frac{\partial L}{\partial y}
             \frac{\partial y}{\partial x}`
Result       wrong where something is above on one side and below on the other, and it is not once one of the fractions
             is turned: nothing is differentiated by a loss whose own derivative is asked for
Assumes      letters are told by their names; what else is multiplied is not looked at
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from derivations.documents.conditions import is_condition
from derivations.documents.formulas import formula_text
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Derivative, Fence, Node, Product, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_differentials"]

CHECK = "derivative"


def check_differentials(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare the numerators and denominators of the derivatives on both sides of a link."""
    if link is None or statement.chain.relations[link] not in ("=", ":=") or is_condition(statement):
        return
    left, right = statement.chain.sides[0], statement.chain.sides[link + 1]
    if not isinstance(left, Derivative) or len(left.by) != 1:
        return
    found = _derivatives(right)
    if not found:
        return
    ours, theirs = _counted([left]), _counted(found)
    crossed = [key for key, count in ours.items() if count * theirs[key] < 0]
    for at, each in enumerate(found):
        others = [*found[:at], Derivative(each.by[0], (each.of,)), *found[at + 1 :]]
        turned = _counted(others)
        if any(turned[key] == ours[key] for key in crossed):
            reason = f"{formula_text(each, statement.notation)} is turned round: the chain rule cancels nothing with it"
            yield Finding("wrong", CHECK, reason)
            return


def _derivatives(node: Node) -> list[Derivative]:
    """Return the derivatives among the factors of a formula, also inside brackets, transposes and indexed sums."""
    match node:
        case Derivative(by=(_,)):
            return [node]
        case Product(factors=factors):
            return [found for factor in factors for found in _derivatives(factor)]
        case Fence(inside=inside) | Transpose(operand=inside):
            return _derivatives(inside)
        case Aggregate(kind="sum", body=body):
            return _derivatives(body)
    return []


def _counted(derivatives: list[Derivative]) -> Counter[Node]:
    counts: Counter[Node] = Counter()
    for each in derivatives:
        counts[each.of] += 1
        counts[each.by[0]] -= 1
    return counts
