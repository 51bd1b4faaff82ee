r"""Dot products under a mean or a variance, as the sums of products that they are.

Definition   `Var(q \cdot k)` is the variance of a sum over as many components as the one size says that stands beside;
             a standard deviation is the root of a variance
Result       `with_sums` writes dot products out; `check_bounds` says no where two sums over the same terms, a moment of
             the sum and the sum of the moments, do not end at the same term
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Expr, Integer, Symbol, expand

from derivations.documents.judge.algebra.scalar_letters import EXPECTATIONS, VARIANCES, is_moment, is_size
from derivations.documents.judge.wording import size_text
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import size_of
from derivations.documents.syntax import (
    Aggregate,
    Annotated,
    Call,
    Name,
    Node,
    Number,
    Product,
    Root,
    Transpose,
    rebuilt,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_bounds", "in_components", "vectors_of", "with_sums"]

CHECK = "chain"
WIDTHS_OF_HEADS = frozenset({"d_k", "d_v"})
WIDTHS = WIDTHS_OF_HEADS | {"d_ff", "d_model"}
DEVIATIONS = frozenset({"Std", "std", "SD"})


def with_sums(left: Node, right: Node, length: Name | None = None, scope: Scope | None = None) -> tuple[Node, Node]:
    """Return sides with `q . k` under a moment written as a sum over the one size that they hold, else over `length`.

    A standard deviation is the root of the variance.
    """
    left, right = _with_roots(left), _with_roots(right)
    parts = [*left.walk(), *right.walk()]
    if not any(map(is_moment, parts)):
        return left, right
    others: set[Node] = {each for part in parts for each in vectors_of(part) or ()}
    others |= {label for part in parts if isinstance(part, Name) for each in part.subscripts for label in each.walk()}
    sizes = (part for part in parts if isinstance(part, Name) and _is_length(part, scope) and part not in others)
    lengths = list({part.key: part for part in sizes}.values())
    if not lengths and length is not None:
        lengths = [length]
    if len(lengths) != 1 or any(isinstance(part, Aggregate) for part in parts):
        return left, right
    return in_components(left, lengths[0]), in_components(right, lengths[0])


def _is_length(name: Name, scope: Scope | None) -> bool:
    """Say whether a letter is that of a size, as it is written or as the document uses it."""
    return is_size(name, scope) or (scope is not None and scope.document.distinctions.is_size(name.key))


def _with_roots(node: Any) -> Any:
    if isinstance(node, Call) and node.function.base in DEVIATIONS and len(node.arguments) == 1:
        return Root(Call(Name("Var"), node.arguments))
    return rebuilt(node, _with_roots)


def in_components(node: Any, length: Name) -> Any:
    """Return a formula with its dot products written as sums over so many components."""
    vectors = vectors_of(node)
    if vectors is not None:
        place = Name("component")
        entries = (Name(each.base, (*each.subscripts, place), each.superscripts, each.primes) for each in vectors)
        return Aggregate("sum", Product(tuple(entries), ("",)), (place,), Number("1", Fraction(1)), length)
    return rebuilt(node, lambda each: in_components(each, length))


def vectors_of(node: Any) -> tuple[Name, Name] | None:
    """Return the two vectors that a node is the dot product of, as far as its letters tell; None for all else."""
    factors = [each.operand if isinstance(each, Transpose) else each for each in getattr(node, "factors", ())]
    vectors = [each for each in factors if isinstance(each, Name) and each.base.islower() and not is_size(each)]
    if len(vectors) == len(factors) == 2 and vectors[0] != vectors[1]:
        return vectors[0], vectors[1]
    return None


def check_bounds(left: Node, right: Node, scope: Scope) -> Iterator[Finding]:
    r"""Say no to `Var(\sum_{i=1}^n x_i) = \sum_{i=1}^{n-1} Var(x_i)`, and to `\sum_{i=1}^{n-1} 1 = n`.

    A sum of ones to one width of a layer is not another one, as far as the section knows.
    Sums that begin elsewhere are left alone: their first term may be no random variable.
    """
    if isinstance(left, Aggregate) and left.kind == "sum" and _is_one(left.body):
        count, said = _count(left), size_of(right)
        more = expand(count - said) if count is not None and said is not None else Integer(0)
        if (more.is_Integer and more != 0) or (count != said and _are_two_widths(count, said, scope)):
            yield Finding("wrong", CHECK, f"the sum has {count} terms", right=size_text(count))
    for whole, terms in ((left, right), (right, left)):
        match whole, terms:
            case (
                Call(function=Name(base=outer), arguments=(Aggregate(kind="sum") as inside,)),
                Aggregate(kind="sum", body=Call(function=Name(base=inner), arguments=(body,))),
            ) if outer == inner in VARIANCES | EXPECTATIONS and _same_range(inside, terms) and body == inside.body:
                counts = [_count(inside), _count(terms)]
                more = expand(counts[0] - counts[1]) if counts[0] is not None and counts[1] is not None else None
                if more is not None and more.is_Integer and more != 0:
                    reason = f"one sum has {counts[0]} terms, the other {counts[1]}"
                    yield Finding("wrong", CHECK, reason, right="both sums over the same terms")


def _are_two_widths(count: Expr | None, said: Expr | None, scope: Scope) -> bool:
    """Say whether two sizes are widths of a layer, not set to one thing: with one head the model may be as wide."""
    pair = (str(count), str(said))
    several = "d_model" not in pair or WIDTHS_OF_HEADS.isdisjoint(pair) or scope.is_used(Name("h"))
    if not several or not WIDTHS.issuperset(pair) or WIDTHS_OF_HEADS.issuperset(pair):
        return False
    first, second = (scope.value_of(key) or Symbol(key) for key in pair)
    return bool(expand(first - second) != 0)


def _same_range(first: Aggregate, second: Aggregate) -> bool:
    return (first.index, first.lower) == (second.index, second.lower)


def _is_one(node: Node) -> bool:
    while isinstance(node, Annotated):
        node = node.of
    return isinstance(node, Number) and node.value == 1


def _count(aggregate: Aggregate) -> Expr | None:
    """Return how many terms a sum has."""
    ends = [size_of(each) if each is not None else None for each in (aggregate.lower, aggregate.upper)]
    return expand(ends[1] - ends[0] + 1) if ends[0] is not None and ends[1] is not None else None
