r"""What the letters of a formula of matrices may be: a matrix, a row, a column or a number.

Definition   a letter is what its declared shape says; a capital is a matrix where it is a weight, where the section
             transposes it or adds it to a matrix that is given by its entries, where it is an input X beside a weight
             of both sides, or where words beside the formula speak of matrices; else a number too. One matrix, or all,
             may be orthogonal where words speak of orthogonal matrices
Result       `readings` yields what all letters may be together; nothing where a letter is an array of more axes, or
             where there are too many readings
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise, product
from math import prod

from derivations.documents.formulas.vocabulary import GREEK
from derivations.documents.judge.algebra.scalar_letters import is_size
from derivations.documents.judge.matrices.matrix_numbers import Kind, Kinds
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat, is_index, is_scalar_letter, is_weight
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Call, Entry, Fence, Name, Node, Product, Quotient, Sum, Transpose

__all__ = ["ORTHOGONAL", "letters_in_order", "options", "readings", "turned_letters"]

MOST_READINGS, MOST_BESIDE = 32, 16
_MATRICES = re.compile(r"\bmatri(?:x|ces)\b|矩[陣阵]|行列", re.IGNORECASE)
ORTHOGONAL = re.compile(
    r"\b(?:orthogonal|orthonormal|rotation) matri(?:x\b|ces\b)|(?:正交|旋轉|旋转)矩[陣阵]|(?:直交|回転)行列",
    re.IGNORECASE,
)
_COUNTS = frozenset("NTHLDE")  # capitals that count as often as they are matrices
_UNKNOWN: tuple[Kind, ...] = ("number", "row", "column", "matrix")


def letters_in_order(*sides: Node) -> tuple[Name, ...]:
    """Return the letters of formulas, in order: no functions, no indices, no labels of other letters."""
    parts = [part for side in sides for part in side.walk()]
    names = [part for part in parts if isinstance(part, Name)]
    inside = {id(each) for name in names for label in name.children for each in label.walk()}
    inside |= {id(part.function) for part in parts if isinstance(part, Call)}
    bound = {index.key for part in parts if isinstance(part, Aggregate) for index in part.index}
    return tuple(dict.fromkeys(name for name in names if id(name) not in inside and name.key not in bound))


def readings(names: Sequence[Name], sides: Sequence[Node], statement: Statement, scope: Scope) -> Iterator[Kinds]:
    """Yield what the letters may be, all together."""
    turned = turned_letters(sides, statement, scope) | frozenset(_surely_matrices(sides, scope))
    texts = scope.words(statement), *scope.document.texts[max(scope.block - 12, 0) : scope.block + 4]
    spoken = any(map(_MATRICES.search, (texts[0], *scope.document.texts[max(scope.block - 6, 0) : scope.block])))
    parts = (part for side in sides for part in side.walk() if isinstance(part, Transpose))
    alone = {part.operand.key for part in parts if isinstance(part.operand, Name)}
    each_may_be = [
        options(name, turned=name.key in turned, spoken=spoken, scope=scope, alone=name.key in alone) for name in names
    ]
    orthogonal = any(ORTHOGONAL.search(text[:2000]) for text in texts)
    if prod(map(len, each_may_be)) <= MOST_READINGS:
        for kinds in product(*each_may_be):
            plain = dict(zip((name.key for name in names), kinds, strict=True))
            yield plain
            yield from _with_rotations(plain) if orthogonal else ()


def _surely_matrices(sides: Sequence[Node], scope: Scope) -> Iterator[str]:
    """Yield the capitals that are added to `[a_{ij}]_{i,j}` in this block, and X beside a weight of all sides."""
    beside = (side for each in scope.document.in_block.get(scope.block, ())[:MOST_BESIDE] for side in each.chain.sides)
    for part in (part for formula in (*sides, *beside) for part in formula.walk()):
        if isinstance(part, Sum) and any(map(_is_of_entries, part.terms)):
            names = (each for each in part.terms if isinstance(each, Name) and each.base[:1].isupper())
            yield from (each.key for each in names if each.base not in _COUNTS)
    shared = set[Name].intersection(*({*letters_in_order(side)} for side in sides)) if sides else set()
    for part in (part for side in sides for part in side.walk() if isinstance(part, Product)):
        for pair in pairwise(part.factors):
            named = [each for each in pair if isinstance(each, Name) and each.base == "X"]
            yield from (each.key for each in named if any(_is_of_weights(other, shared) for other in pair))


def _is_of_weights(node: Node, among: Set[Name]) -> bool:
    """Say whether this is one of some matrices of weights; w and U may be random numbers as X may."""
    match node:
        case Transpose(operand=Name() as name) | Quotient(numerator=Name() as name) | (Name() as name):
            return name.base[:1] == "W" and is_weight(name) and name in among
    return False


def _is_of_entries(node: Node) -> bool:
    """Say whether this is a matrix by its entries: `[a_{ij}]_{i,j}`."""
    match node:
        case Entry(of=Fence(bracket="["), indices=(Name() as row, Name() as column)):
            return is_index(row) and is_index(column)
    return False


def _with_rotations(kinds: Kinds) -> Iterator[Kinds]:
    """Yield that one of the matrices is orthogonal, or all of them are."""
    matrices = [key for key, kind in kinds.items() if kind == "matrix"]
    for some in (*([key] for key in matrices), *([matrices] if len(matrices) > 1 else ())):
        yield {**kinds, **dict.fromkeys(some, "rotation")}


def options(name: Name, *, turned: bool, spoken: bool, scope: Scope, alone: bool = False) -> tuple[Kind, ...]:
    """Return what a letter may be, which is `turned` in a product or `alone`; nothing for an array of more axes."""
    shape = scope.shape(name)
    if shape is not None:
        return {0: ("number",), 1: ("row", "column"), 2: ("matrix",)}.get(len(shape), ())  # type: ignore[return-value]
    is_number = is_scalar_letter(name) and not alone  # nobody transposes a number
    if (is_size(name, scope) and name.base[:1].islower()) or is_number or _is_entry(name):
        return ("number",)
    if name.base[:1].isupper() or (len(name.base) > 1 and name.base not in GREEK):
        sure = turned or is_weight(name) or (spoken and name.base not in _COUNTS)
        return ("matrix",) if sure else ("number", "matrix")
    if scope.is_index(name):
        return ("number",)
    if scope.is_vector(name):
        return "row", "column"
    return _UNKNOWN[1:] if turned else _UNKNOWN


def _is_entry(name: Name) -> bool:
    """Say whether this is an entry of a matrix, or of one of a family: `X_{ij}`."""
    places = flat(name.subscripts)
    return len(places) > 1 and all(map(is_index, places))


def turned_letters(sides: Sequence[Node], statement: Statement, scope: Scope) -> frozenset[str]:
    """Return the letters that are transposed, alone or in a product, here or before in the section."""
    formulas = (*sides, *(side for each in scope.earlier(statement) for side in each.chain.sides))
    operands = (part.operand for formula in formulas for part in formula.walk() if isinstance(part, Transpose))
    return frozenset(name.key for operand in operands for name in letters_in_order(operand))
