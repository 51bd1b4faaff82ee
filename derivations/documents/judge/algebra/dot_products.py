r"""Dot products inside a mean or a variance, written out as sums of products.

Definition   `Var(q \cdot k)` is the variance of a sum over as many components as the one size says that stands beside;
             a standard deviation is the root of a variance
Result       `with_sums` writes dot products out
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derivations.documents.judge.algebra.scalar_letters import is_moment, is_size
from derivations.documents.scope import Scope
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Name,
    Node,
    Number,
    Product,
    Root,
    Transpose,
    rebuilt,
)

__all__ = ["with_sums"]

DEVIATIONS = frozenset({"Std", "std", "SD"})


def with_sums(left: Node, right: Node, scope: Scope) -> tuple[Node, Node]:
    """Return the sides with `q . k` inside a moment written as a sum, if the sides contain exactly one size.

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
    if len(lengths) != 1 or any(isinstance(part, Aggregate) for part in parts):
        return left, right
    return in_components(left, lengths[0]), in_components(right, lengths[0])


def _is_length(name: Name, scope: Scope) -> bool:
    """Return whether a letter is a size, by its spelling or by its use in the document."""
    return is_size(name, scope) or scope.document.distinctions.is_size(name.key)


def _with_roots(node: Any) -> Any:
    if isinstance(node, Call) and node.function.base in DEVIATIONS and len(node.arguments) == 1:
        return Root(Call(Name("Var"), node.arguments))
    return rebuilt(node, _with_roots)


def in_components(node: Any, length: Name) -> Any:
    """Return a formula with its dot products written as sums over `length` components."""
    vectors = vectors_of(node)
    if vectors is not None:
        place = Name("component")
        entries = (Name(each.base, (*each.subscripts, place), each.superscripts, each.primes) for each in vectors)
        return Aggregate("sum", Product(tuple(entries), ("",)), (place,), Number("1", Fraction(1)), length)
    return rebuilt(node, lambda each: in_components(each, length))


def vectors_of(node: Any) -> tuple[Name, Name] | None:
    """Return the two vectors whose dot product a node is, judged by its letters, or None."""
    factors = [each.operand if isinstance(each, Transpose) else each for each in getattr(node, "factors", ())]
    vectors = [each for each in factors if isinstance(each, Name) and each.base.islower() and not is_size(each)]
    if len(vectors) == len(factors) == 2 and vectors[0] != vectors[1]:
        return vectors[0], vectors[1]
    return None
