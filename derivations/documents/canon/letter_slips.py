"""Edits for mistakes in letters: transposes, order of factors, signs, wrong letters or indices, ranges of sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from derivations.documents.canon.places import Edit, places
from derivations.documents.canon.slips import SlipKind
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Fence,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    Transpose,
    rebuilt,
)

__all__ = [
    "exchanged",
    "indices_changed",
    "letters_changed",
    "orders",
    "ranges",
    "renamed",
    "signs",
    "summands",
    "text_of",
    "transposes",
]


def text_of(node: Node) -> str:
    """Return the text that names a part in a reason, or "it"."""
    return node.key if isinstance(node, Name) else node.text if isinstance(node, Number) else "it"


def transposes(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that add, remove or move a transpose. Outside of code, transposed vectors are left as they are."""
    if isinstance(node, Product) and "at" in node.operators:  # in code a small letter may be a matrix
        for at, factor in enumerate(node.factors):
            if _is_vector(factor):
                turned = (*node.factors[:at], Transpose(factor), *node.factors[at + 1 :])
                yield replace(node, factors=turned), SlipKind.TRANSPOSE(text_of(factor))
    elif _has_turned_vector(node):
        return
    if isinstance(node, Transpose):
        yield node.operand, SlipKind.NO_TRANSPOSE(text_of(node.operand))
    elif isinstance(node, Name) and not _is_vector(node):
        yield Transpose(node), SlipKind.TRANSPOSE(node.key)
    elif isinstance(node, Product) and len(node.factors) == 2:
        left, right = node.factors
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Transpose) and not isinstance(other, Transpose):
                ends = (other, one.operand) if one is left else (one.operand, other)
                crossed = (Transpose(ends[0]), ends[1]) if one is left else (ends[0], Transpose(ends[1]))
                yield replace(node, factors=crossed), SlipKind.EXCHANGED(text_of(other), text_of(one.operand))
                pair = (one.operand, Transpose(other)) if one is left else (Transpose(other), one.operand)
                yield replace(node, factors=pair), SlipKind.OTHER_TRANSPOSE(text_of(other), text_of(one.operand))
            yield replace(node, factors=(right, left)), SlipKind.ORDER()
        if isinstance(left, Transpose):
            yield replace(node, factors=(right, left)), SlipKind.ORDER()


def _is_vector(node: Node) -> bool:
    """Return whether a letter is spelled like a vector or a number: one lower-case letter, with any subscripts."""
    return isinstance(node, Name) and len(node.base) == 1 and node.base.islower()


def _has_turned_vector(node: Node) -> bool:
    parts = node.factors if isinstance(node, Product) else (node,)
    return any(isinstance(each, Transpose) and _is_vector(each.operand) for each in parts)


def orders(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that change the order of the factors of a product."""
    if not isinstance(node, Product) or ("at" not in node.operators and _has_turned_vector(node)):
        return
    for at in range(len(node.factors) - 1):
        swapped = (*node.factors[:at], node.factors[at + 1], node.factors[at], *node.factors[at + 2 :])
        yield replace(node, factors=swapped), SlipKind.ORDER()
    for at in range(1, len(node.factors)):
        turned = (*node.factors[at:], *node.factors[:at])
        yield replace(node, factors=turned), SlipKind.ORDER()


def letters_changed(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that replace a letter or one of its indices, or exchange its two indices."""
    if not isinstance(node, Name):
        return
    for letter in letters:
        if letter.base and not _spelled_alike(letter, node):
            yield replace(letter, start=node.start, end=node.end), SlipKind.LETTER(letter.key, node.key)
    indices = _indices_of(letters)
    for number, subscript in enumerate(node.subscripts):
        for inner, put in places(subscript):
            if not isinstance(inner, Name):
                continue
            for key, other in indices.items():
                if key != inner.key:
                    changed = (*node.subscripts[:number], put(other), *node.subscripts[number + 1 :])
                    yield replace(node, subscripts=changed), SlipKind.INDEX(node.base, key, inner.key)
    if len(node.subscripts) == 2 and node.subscripts[0] != node.subscripts[1]:
        yield replace(node, subscripts=node.subscripts[::-1]), SlipKind.INDEX_ORDER(node.base)


def _spelled_alike(one: Name, other: Name) -> bool:
    """Return whether two letters differ only by case or accent, which need not be a mistake."""
    return replace(one, accent="").key.lower() == replace(other, accent="").key.lower()


def signs(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that change a sign, exchange the terms of a difference, or drop one of them."""
    if isinstance(node, Sum):
        # The last term first: under an even power a flip of any sign is right, and 1 + x reads better than -1 - x.
        for at in reversed(range(len(node.signs))):
            signs = (*node.signs[:at], -node.signs[at], *node.signs[at + 1 :])
            yield replace(node, signs=signs), SlipKind.A_SIGN()
        if len(node.terms) == 2 and isinstance(node.terms[0], Number) and node.signs == (1, -1):
            yield node.terms[1], SlipKind.NO_DIFFERENCE(text_of(node.terms[1]), text_of(node.terms[0]))
        if len(node.terms) == 2 and _is_mean(node.terms[1]) and node.signs == (1, -1):
            yield node.terms[0], SlipKind.NOT_SUBTRACTED(text_of(node.terms[1]))
        if len(node.terms) == 2 and -1 in node.signs:
            yield replace(node, terms=node.terms[::-1]), SlipKind.DIFFERENCE()
    elif isinstance(node, Negative):
        yield node.operand, SlipKind.SIGN()
    elif isinstance(node, Product | Quotient | Call | Name | Aggregate | Power):
        yield Negative(node), SlipKind.SIGN()


def _is_mean(node: Node) -> bool:
    return isinstance(node, Name) and (node.base == "mu" or node.accent == "bar")


def _indices_of(names: Iterable[Name]) -> dict[str, Name]:
    """Return the single lower-case letters in the subscripts of names, in order."""
    parts = (part for name in names for each in name.subscripts for part in each.walk())
    return {part.key: part for part in parts if isinstance(part, Name) and len(part.base) == 1 and part.base.islower()}


def _indices_in(node: Node) -> dict[str, Name]:
    return _indices_of(each for each in node.walk() if isinstance(each, Name))


def indices_changed(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that exchange two indices in a product, a function or a sum, or sum over another index."""
    if not isinstance(node, Product | Call | Aggregate):
        return
    keys = list(_indices_in(node))
    outside = list(_indices_of(letters))
    if isinstance(node, Aggregate) and len(node.index) == 1:
        bound = node.index[0].key
        for free in outside:
            for other in keys:
                if len({other, bound, free}) == 3 and bound in keys:
                    yield (
                        replace(node, body=_reindexed(node.body, {bound: free, other: bound})),
                        SlipKind.SUM_PLACE(other),
                    )
    for at, one in enumerate(keys):
        for other in keys[at + 1 :]:
            yield _reindexed(node, {one: other, other: one}), SlipKind.INDICES_EXCHANGED(one, other)


def _reindexed(node: Any, names: dict[str, str], inside: bool = False) -> Any:
    if isinstance(node, Name):
        base = names.get(node.base, node.base) if inside and not node.subscripts else node.base
        if base in ("d", "D") and not inside:
            return node
        return replace(node, base=base, subscripts=tuple(_reindexed(each, names, True) for each in node.subscripts))
    return rebuilt(node, lambda each: _reindexed(each, names, inside))


def exchanged(root: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that exchange two letters throughout a formula."""
    present = list(dict.fromkeys(part for part, _ in places(root) if isinstance(part, Name)))[:8]
    for at, one in enumerate(present):
        for other in present[at + 1 :]:
            if _spelled_alike(one, other):
                continue
            yield renamed(root, {one: other, other: one}), SlipKind.EXCHANGED(one.key, other.key)


def renamed(node: Any, names: Mapping[Name, Name]) -> Any:
    """Return a formula with some names replaced throughout."""
    if isinstance(node, Name):
        return names.get(node, node)
    return rebuilt(node, lambda each: renamed(each, names))


def ranges(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits of the bounds and of the index of a sum."""
    match node:
        case Aggregate(upper=Sum(terms=(Name() as size, Number()))):
            yield replace(node, upper=size), SlipKind.LAST(size.key)
        case Aggregate(kind="sum", lower=Number(text=text) as first) if text not in ("0", "1"):
            yield (
                replace(node, lower=replace(first, text="1", value=Fraction(1))),
                SlipKind.FIRST(),
            )
    if isinstance(node, Aggregate) and len(node.index) == 1:
        for key, other in _indices_in(node.body).items():
            if key != node.index[0].key:
                yield replace(node, index=(other,)), SlipKind.SUM_INDEX(key)


def summands(node: Node, lacking: Sequence[Name]) -> Iterator[Edit]:
    """Yield edits that add or subtract a letter that the formula lacks."""
    if isinstance(node, Product | Name | Quotient | Aggregate | Power | Call):
        for letter in lacking:
            yield Fence("(", Sum((node, letter), (1, -1))), SlipKind.SUBTRACTED(letter.key)
            yield Fence("(", Sum((node, letter), (1, 1))), SlipKind.SUMMAND(letter.key)
