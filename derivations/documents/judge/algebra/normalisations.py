r"""Normalised sums: `\sum_j e^{x_j} / \sum_k e^{x_k} = 1`, `1 / (1 + e^t) + 1 / (1 + e^{-t}) = 1`.

Definition   a normalisation divides exponentials by their sum and is 1, or adds fractions with sums below to a number
Result       `is_normalisation(left, right)`; `is_aggregate` and `is_exponential` tell of the parts of a formula
Assumes      other equations with a number, `x^2 = 1` and `e^t = 1`, may be conditions
"""

from __future__ import annotations

from derivations.documents.judge.numbers.letters import bare
from derivations.documents.syntax import Aggregate, Call, Name, Node, Number, Power, Quotient, Sum

__all__ = ["is_aggregate", "is_exponential", "is_normalisation"]


def is_normalisation(left: Node, right: Node) -> bool:
    """Return whether an equation says that exponentials over a sum are 1, or that fractions over sums are a number."""
    for side, other in ((left, right), (right, left)):
        number, whole = bare(other), bare(side)
        if not isinstance(number, Number):
            continue
        if isinstance(whole, Sum) and all(isinstance(term, Quotient) for term in whole.terms):
            return any(isinstance(bare(term.denominator), Sum) for term in whole.terms if isinstance(term, Quotient))
        below = [part.denominator for part in side.walk() if isinstance(part, Quotient)]
        summed = any(is_aggregate(part) for each in below for part in each.walk())
        return number.value == 1 and (
            (summed and any(map(is_exponential, side.walk()))) or (isinstance(whole, Quotient) and _is_share(whole))
        )
    return False


def _is_share(whole: Quotient) -> bool:
    """Return whether a fraction has another one above, and all denominators are sums with an exponential."""
    above = [part for part in whole.numerator.walk() if isinstance(part, Quotient)]
    sums = [bare(part.denominator) for part in (whole, *above)]
    return bool(above) and all(isinstance(each, Sum) and any(map(is_exponential, each.terms)) for each in sums)


def is_aggregate(node: Node) -> bool:
    """Return whether a part is a sum or a product over an index."""
    return isinstance(node, Aggregate)


def is_exponential(node: Node) -> bool:
    """Return whether a part is a power of e."""
    match node:
        case Power(base=Name(key="e")) | Call(function=Name(key="exp")):
            return True
    return False
