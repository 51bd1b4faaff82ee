"""Letters of scalar formulas: which are spelled like sizes, and whether capitals may be matrices.

Definition   a size is a whole number, at least 1: d_k, n, h, `batch_size`; any other letter is real
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import chain, pairwise, product
from typing import TypeGuard

from sympy import Expr, Symbol

from derivations.documents.scope import Scope
from derivations.documents.scope.lexicon import WIDTHS
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node, Number, Power, Product, Quotient, Transpose
from derivations.symbols import scalar, size

__all__ = [
    "EXPECTATIONS",
    "POSITIVE",
    "VARIANCES",
    "in_one_alphabet",
    "in_one_order",
    "is_moment",
    "is_of_a_group",
    "is_of_differences",
    "is_size",
    "symbol",
]

POSITIVE = "positive"  # the font of a letter for a positive number
GROUP = re.compile(r"\bgroups?\b|\b(?:neutral|identity) element|单位元|單位元|単位元|群", re.IGNORECASE)
_SIZE_LETTERS = frozenset("nmhdLNHTBSVDCPM") | {
    "batch", "batch_size", "seq", "seq_len", "seq_length", "n_layer", "n_layers", "n_head", "n_heads", "num_heads",
    "num_layers", "vocab", "vocab_size", "V", "hidden_size", "d_model", "d_ff", "d_k", "d_v", "d_head", "head_dim",
}  # fmt: skip
VARIANCES = frozenset({"Var", "var", "Variance", "𝕍", "V"})
EXPECTATIONS = frozenset({"E", "𝔼", "Mean"})
_SIZES_OF_CODE = frozenset("NDLHBTCP")
_DIFFERENCES = frozenset({"d", "D", "Δ", "Delta", "δ", "delta", "∂", "∇"})
_SIZE_BASES = frozenset("ndNLhHm")


def is_size(name: Name, scope: Scope | None = None) -> bool:
    """Return whether a letter is spelled like a size, such as d_k, n, L or batch_size, or is called a width."""
    if name.accent or name.primes or name.superscripts:
        return False
    told = scope is not None and any(scope.document.distinctions.is_called(name.key, width) for width in WIDTHS)
    return told or name.key in _SIZE_LETTERS or (name.base in _SIZE_BASES and len(name.subscripts) == 1)


def is_of_a_group(left: Node, right: Node, statement: Statement, scope: Scope) -> bool:
    """Return whether e is a factor, and the words around speak of a group or its neutral element."""
    products = (part for side in (left, right) for part in side.walk() if isinstance(part, Product))
    return (
        any(Name("e") in product.factors for product in products) and GROUP.search(scope.words(statement)) is not None
    )


def is_of_differences(node: Quotient) -> bool:
    r"""Return whether a quotient is one of differentials or differences, `dy / dx`, in which nothing cancels."""
    match node.numerator, node.denominator:
        case Product(factors=(Name() as one, _, *_)), Product(factors=(Name() as other, _, *_)):
            return one == other and one.key in _DIFFERENCES
    return False


def symbol(name: Name, *, sized: bool = False) -> Symbol:
    """Return the symbol of a letter."""
    if name.font == POSITIVE:
        return scalar(name.key, positive=True)
    return size(name.key) if sized or is_size(name) else scalar(name.key)


def in_one_alphabet(first: Expr, second: Expr) -> tuple[Expr, Expr]:
    """Return two scalars in which a letter that is a size in one is a size in both."""
    letters = [each for each in first.free_symbols | second.free_symbols if isinstance(each, Symbol)]
    sizes = {each.name: each for each in letters if each.is_integer and each.is_positive}
    table = {each: sizes[each.name] for each in letters if each.name in sizes}
    return first.xreplace(table), second.xreplace(table)


def in_one_order(*nodes: Node, scope: Scope | None = None) -> bool:
    """Return whether letters that may be matrices have the same order in all products.

    It then does not matter whether they commute.

    Brackets are looked into: A (B C) has A before B and C. An inverse, a power or a function of a product of matrices
    is none of the factors.
    """
    before: set[tuple[str, str]] = set()
    among = {
        each.key for node in nodes for each in node.walk() if isinstance(each, Name) and _may_be_matrix(each, scope)
    }
    arrays = {each.key for node in nodes for each in node.walk() if isinstance(each, Name) and not is_size(each, scope)}
    among |= {each.key for node in nodes for each in _beside(node, among & arrays) if not is_size(each, scope)}
    if among <= _SIZES_OF_CODE:
        among = set()  # batch, time, channels: sizes, where no other capital stands beside them
    for part in chain.from_iterable(node.walk() for node in nodes):
        if isinstance(part, Transpose):
            return False
        if isinstance(part, Product):
            if "at" in part.operators:
                return False
            factors = [_letters(each) & among for each in part.factors]
            behind: frozenset[str] = frozenset()
            for letters in reversed(factors):
                before.update(product(letters, behind))
                behind |= letters
        elif isinstance(part, Power | Call) and not is_moment(part) and len(_letters(part) & among) > 1:
            return False
    return not any((second, first) in before for first, second in before if first != second)


def _beside(node: Node, capitals: Set[str]) -> Iterator[Name]:
    """Yield the small letters next to a capital in a product. In W x, the x may be a vector."""
    for part in (part for part in node.walk() if isinstance(part, Product)):
        for pair in pairwise(part.factors):
            names = [each for each in pair if isinstance(each, Name)]
            if any(each.key in capitals for each in names):
                yield from (each for each in names if len(each.base) == 1 and each.base.islower())


def is_moment(node: Node) -> TypeGuard[Call]:
    """Return whether a part is a mean or a variance."""
    return isinstance(node, Call) and node.function.base in VARIANCES | EXPECTATIONS


def _letters(node: Node) -> frozenset[str]:
    return frozenset(each.key for each in node.walk() if isinstance(each, Name))


def _may_be_matrix(name: Name, scope: Scope | None) -> bool:
    """Return whether a letter may be an array: it has a shape, or is a capital without a known shape.

    An entry, such as S_{ij}, is not an array.
    """
    if len(name.subscripts) > 1 and all(_is_place(each) for each in name.subscripts):
        return False
    shape = scope.shape(name) if scope is not None else None
    if shape is not None:
        return shape != ()
    return len(name.base) == 1 and name.base.isupper()


def _is_place(node: Node) -> bool:
    return isinstance(node, Number) or (isinstance(node, Name) and len(node.base) == 1 and node.base.islower())
