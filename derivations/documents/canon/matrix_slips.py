"""Slips of formulas of matrices: transposes, the order of factors, the scale, inverses, signs, other letters.

Result       `matrix_edits(side, parts)` yields edits of a side; `parts` are the letters, roots and inverses that may
             stand in it, with the indices of letters as names without a letter (`indices_of`)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from derivations.documents.canon.letter_slips import exchanged, letters_changed, orders, signs, transposes
from derivations.documents.canon.places import Edit, places
from derivations.documents.formulas import formula_text
from derivations.documents.syntax import Fence, Name, Node, Power, Product, Quotient, Root, Transpose

__all__ = ["indices_of", "matrix_edits"]


def matrix_edits(side: Node, parts: Sequence[Name | Root | Power]) -> Iterator[Edit]:
    """Yield the edits of a side, the plainest slips first."""
    letters = [part for part in parts if isinstance(part, Name)]
    roots = [part for part in parts if isinstance(part, Root)]
    for rule in (transposes, _brackets_transposed, _in_longer_products, orders):
        for node, at in places(side):
            for new, slip in rule(node, letters):
                yield at(new), slip
    for node, at in places(side) if roots else ():
        for new, slip in _scales(node, roots):
            yield at(new), slip
    inverses = [part for part in parts if isinstance(part, Power)]
    for node, at in places(side) if inverses else ():
        for new, slip in _inverted(node, inverses):
            yield at(new), slip
    yield from exchanged(side, letters)
    for rule in (signs, letters_changed):
        for node, at in places(side):
            for new, slip in rule(node, letters):
                yield at(new), slip


def _brackets_transposed(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield that what stands in brackets must be transposed."""
    if isinstance(node, Fence) and node.bracket == "(":
        yield Transpose(node), "what stands in brackets must be transposed"


def _scales(node: Node, roots: Sequence[Root]) -> Iterator[Edit]:
    """Yield divisions by a root of the equation that are missing, too many, or by what stands under it."""
    match node:
        case Product(factors=(*_, Root())):
            kept = Product(node.factors[:-1], node.operators[:-1]) if len(node.factors) > 2 else node.factors[0]
        case Quotient():
            kept = node.numerator
        case Product() | Name():
            kept = node
        case _:
            return
    if kept is not node:
        yield kept, "the scale is too many"
    for root in roots:
        yield Quotient(kept, root), f"it must be divided by {formula_text(root, 'plain')}"


def _inverted(node: Node, inverses: Sequence[Power]) -> Iterator[Edit]:
    """Yield a matrix for its inverse, and the inverse for the matrix, where the equation has it."""
    for inverse in inverses:
        if node == inverse:
            yield inverse.base, f"{formula_text(inverse.base, 'plain')} must not be inverted"
        elif node == inverse.base:
            yield inverse, f"{formula_text(node, 'plain')} must be inverted"


def _in_longer_products(node: Node, letters: Sequence[Name]) -> Iterator[Edit]:
    """Yield the slips of two neighbours in a product of more factors."""
    if not isinstance(node, Product) or len(node.factors) < 3:
        return
    for at, operator in enumerate(node.operators):
        for new, slip in transposes(Product(node.factors[at : at + 2], (operator,)), letters):
            if isinstance(new, Product):
                yield replace(node, factors=(*node.factors[:at], *new.factors, *node.factors[at + 2 :])), slip


def indices_of(letters: Sequence[Name]) -> Iterator[Name]:
    """Yield a name without a letter for every index of the letters, as edits take them."""
    indices = (each for name in letters for each in name.subscripts)
    yield from dict.fromkeys(Name("", (each,)) for each in indices if isinstance(each, Name) and len(each.base) == 1)
