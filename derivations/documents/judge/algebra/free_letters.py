"""The letters of a scalar formula, as they are compared between the two sides of an equation.

Definition   a letter is free that is no index of a sum, no constant, no function that is known, no label or index of
             another one: the O of W^O; a letter cancels that stands above and below the line of a fraction
Result       `letters_of`, `free_letters`, `indices_of`, `cancellable`; `may_be_means` and
             `has_differentials` tell of letters that may be tied to others, or be no letters
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from derivations.documents.judge.algebra.sampled import DELTAS, is_known_function
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Fence,
    Name,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Words,
)

__all__ = [
    "PLACE",
    "cancellable",
    "free_letters",
    "has_differentials",
    "indices_of",
    "letters_of",
    "may_be_complex",
    "may_be_means",
    "may_be_whole",
]  # fmt: skip

PLACE = Words("·")  # of the index of a sum
DIFFERENTIAL = Name("d")


def free_letters(side: Node) -> set[Name]:
    """Return the letters of a side without the indices of its sums. A placeholder replaces these in subscripts."""
    bound = {name for part in side.walk() if isinstance(part, Aggregate) for name in part.index}
    return {_with_places(name, bound) for name in letters_of(side) if name not in bound}


def _with_places(name: Name, bound: set[Name]) -> Name:
    subscripts = tuple(PLACE if each in bound else each for each in name.subscripts)
    return replace(name, subscripts=subscripts) if bound else name


def has_differentials(side: Node) -> bool:
    """Return whether d may be that of a derivative, both parts of a fraction begin with it, or of d(A B) = (dA) B."""
    fractions = (part for part in side.walk() if isinstance(part, Quotient))
    if any(_first(part.numerator) == _first(part.denominator) == DIFFERENTIAL for part in fractions):
        return True
    products = (part for part in side.walk() if isinstance(part, Product) and part.factors[0] == DIFFERENTIAL)
    return any(not part.operators[0] and isinstance(part.factors[1], Fence) for part in products)


def _first(node: Node) -> Node:
    while isinstance(node, Product | Power):
        node = node.factors[0] if isinstance(node, Product) else node.base
    return node


def may_be_complex(*sides: Node) -> bool:
    """Return whether i or j is a factor of a product, where it may be the imaginary unit."""
    return any(
        isinstance(factor, Name) and factor.key in ("i", "j")
        for side in sides
        for part in side.walk()
        if isinstance(part, Product)
        for factor in part.factors
    )


def may_be_whole(*sides: Node) -> bool:
    """Return whether square brackets stand around a part of a letter alone, [n/2], which to some is a whole number."""
    fences = (part for side in sides for part in side.walk() if isinstance(part, Fence) and part.bracket == "[")
    parts = (each.inside for each in fences if isinstance(each.inside, Quotient))
    return any(isinstance(each.numerator, Name) and isinstance(each.denominator, Number) for each in parts)


def may_be_means(side: Node, bases: set[str]) -> bool:
    """Return whether letters in `bases`, or accented letters, may be means: a sum subtracts them from its entries."""
    pending = [part.body for part in side.walk() if isinstance(part, Aggregate)]
    while pending:
        part = pending.pop()
        if isinstance(part, Sum):
            signed = zip(part.terms, part.signs, strict=True)
            taken = [each for each, sign in signed if sign < 0 and not _is_delta(each)]
            if any(isinstance(each, Name) and (each.base in bases or each.accent) for each in taken):
                return True
        pending.extend([part.base] if isinstance(part, Power) else () if isinstance(part, Call) else part.children)
    return False


def _is_delta(node: Node) -> bool:
    """Return whether a part is Kronecker's delta with two indices, which cannot be a mean."""
    return isinstance(node, Name) and node.base in DELTAS and len(node.subscripts) == 2


def cancellable(side: Node) -> set[str]:
    """Return the letters that occur in both the numerator and the denominator of a fraction."""
    fractions = [part for part in side.walk() if isinstance(part, Quotient)]
    return {name.base for part in fractions for name in free_letters(part.denominator) & free_letters(part.numerator)}


def letters_of(side: Node) -> Iterator[Name]:
    """Yield the letters of a side, without constants, known functions, indices, and labels such as the O of W^O."""
    parts = list(side.walk_outside_names())
    others = {id(part.function) for part in parts if isinstance(part, Call) and is_known_function(part.function)}
    others |= {id(each) for part in parts if isinstance(part, Aggregate) for each in part.index}
    names = (each for each in parts if isinstance(each, Name))
    return (each for each in names if id(each) not in others and each.base not in ("e", "π", "pi"))


def indices_of(side: Node) -> Iterator[str]:
    """Yield the indices of a side: those of sums, and single letters in subscripts."""
    for part in side.walk():
        if isinstance(part, Aggregate):
            yield from (each.key for each in part.index if isinstance(each, Name))
        elif isinstance(part, Name) and part.base != "d":
            yield from (each.key for each in part.subscripts if isinstance(each, Name) and len(each.base) == 1)
