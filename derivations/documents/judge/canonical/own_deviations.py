r"""A norm that is written out divides deviations by the root of their own mean square.

Definition   (X - M) / sqrt(mean((X - M)^2) + epsilon): the deviations above the line are those whose mean square is
             taken below it
Result       wrong where they are made of the same letters, with a transpose or a factor at another place; wrong where
             deviations are multiplied by such a root, in which epsilon keeps a divisor from being 0
Assumes      other letters may be other names of the same means; entries commute, so that only matrices are told, which
             a transpose gives away; what is multiplied above a line may be divided below it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from derivations.documents.judge.numbers.letters import bare
from derivations.documents.judge.shapes.fitting import is_equation
from derivations.documents.scope import Scope
from derivations.documents.scope.functions import folded
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number, Power, Product, Quotient, Root, Sum, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_own_deviations"]

CHECK, RESULT = "canonical", "layer_norm.definition"
MEANS = frozenset({"rowmean", "mean", "avg"})
SMALL = ("epsilon", "eps")
MOST_NODES = 160


def check_own_deviations(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield that a norm divides other deviations than those below the line, or multiplies them by their root."""
    if link is None or not is_equation(statement.chain.relations[link]):
        return
    right = bare(statement.chain.sides[link + 1])
    if len(list(islice(right.walk(), MOST_NODES + 1))) > MOST_NODES:
        return
    reason = next(_slips(right), None)
    if reason is not None:
        yield Finding("wrong", CHECK, reason, result=RESULT)


def _slips(node: Node) -> Iterator[str]:
    """Yield what is wrong with the norms in a formula; a product above a line may be mended below it."""
    match node:
        case Quotient(numerator=above, denominator=below):
            inner = _deviations(below)
            if inner is not None and _are_mixed_up(above, inner):
                yield "what stands above the line is not that of which the mean square is taken below it"
        case Product(factors=factors):
            roots = [inner for each in factors if (inner := _deviations(each)) is not None]
            if any(each in roots for each in factors):
                yield "deviations are multiplied by the root of their own mean square, by which a norm divides"
    if not isinstance(node, Quotient):
        for child in node.children:
            yield from _slips(child)


def _deviations(node: Node) -> Node | None:
    r"""Return X of `\sqrt{mean(X^2) + \epsilon}`."""
    match node:
        case Root(radicand=Sum(terms=(Call(function=function, arguments=(square,)), Name(base=small)), signs=(1, 1))):
            if folded(function) in MEANS and small in SMALL:
                return _base_of(square)
    return None


def _base_of(square: Node) -> Node | None:
    match square:
        case Power(base=base, exponent=Number(value=two)) if two == 2:
            return base
    return None


def _are_mixed_up(above: Node, inner: Node) -> bool:
    """Say whether two sums have the same letters, and differ in more than the order or the sign of their terms."""
    if not isinstance(above, Sum) or not isinstance(inner, Sum):
        return False
    parts = [part for each in (above, inner) for part in each.walk()]
    if not any(isinstance(part, Transpose) for part in parts) or any(map(_is_product_turned, parts)):
        return False
    first, second = (dict(zip(each.terms, each.signs, strict=True)) for each in (above, inner))
    if first == second or first == {term: -sign for term, sign in second.items()}:
        return False
    return _letters(above) == _letters(inner)


def _is_product_turned(part: Node) -> bool:
    """Say whether a product is transposed as a whole, which may be written in two ways."""
    return isinstance(part, Transpose) and isinstance(part.operand, Product | Sum)


def _letters(node: Node) -> Counter[str]:
    return Counter(part.key for part in node.walk() if isinstance(part, Name))
