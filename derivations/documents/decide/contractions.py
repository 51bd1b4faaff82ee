r"""Which axes of two arrays a document multiplies: `Q K^T` everywhere, and once `Q K`.

Definition   where two arrays stand side by side in a product, an axis of one is summed with an axis of the other: their
             columns in Q K^T and in K Q^T, the columns of B and the rows of A in B A and in A^T B^T
Result       wrong where two other formulas or more sum over the same axes of two arrays, none over others, and this
             one over others alone; and one transpose, order or exchange of letters makes it do as they do
Assumes      a capital is an array where it or the letter beside it is transposed somewhere, and no size; of a trace
             both tr(A B) and tr(A^T B) are usual
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from derivations.documents.budget import spend
from derivations.documents.canon.letter_slips import exchanged, orders, transposes
from derivations.documents.canon.places import places
from derivations.documents.canon.slips import Slip
from derivations.documents.conditions import is_condition
from derivations.documents.formulas import formula_text
from derivations.documents.scope import Scope
from derivations.documents.scope.declared import Contractions, Declared
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Fence, Name, Node, Product, Transpose
from derivations.documents.verdicts import Finding

__all__ = ["check_contractions"]

CHECK = "contraction"
LEAST, LEAST_IN_ORDER = 2, 3  # other formulas: the order alone may be that of another convention
TRACES = ("tr", "Tr", "trace")
Axis = tuple[str, str]  # a letter, and "rows" or "columns"
Contraction = tuple[Axis, Axis]
OF_NUMBERS = {"times", "star", "odot", "otimes"}  # between sizes, or by entry


def check_contractions(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Compare the axes that a side sums over with those in other products of the document."""
    if link is None or statement.chain.relations[link] not in ("=", ":=", "≡") or is_condition(statement):
        return
    right = statement.chain.sides[link + 1]
    own = {each for side in statement.chain.sides for each in _contracted(side)}
    traces = [part for part in right.walk() if isinstance(part, Call) and part.function.base in TRACES]
    traced = {each for trace in traces for inside in trace.arguments for each in _contracted(inside)}
    for here in sorted(_contracted(right)):
        if (
            here in traced
            or any(scope.is_declared_size(letter) for letter, _ in here)
            or not _is_of_arrays(here, scope.document)
        ):
            continue
        by_axes = _contractions(scope.document)[_letters(here)]
        others = [each for each in by_axes if each != here]
        if len(others) != 1 or others[0] in own or len(by_axes[here]) > 1 or len(by_axes[others[0]]) < LEAST:
            continue
        count = len(by_axes[others[0]])
        for new, slip in _edited(right):
            spend(10)
            if count < LEAST_IN_ORDER and _transposed(new) == _transposed(right):
                continue
            found = _contracted(new)
            if others[0] in found and here not in found:
                (one, rows), (other, columns) = others[0]
                reason = (
                    f"{count} other formulas of the document sum over {rows} of {one} and {columns} of {other}: {slip}"
                )
                yield Finding("wrong", CHECK, reason, formula_text(new, statement.notation))
                return


def _contractions(document: Declared) -> Contractions:
    """Return the formulas of a document, grouped by their letters and by the axes that they sum over. Computed once."""
    if not document.contractions:
        for sides in (statement.own_sides for statement in document.kept):
            for each in {each for side in sides for each in _contracted(side)}:
                document.contractions[_letters(each)].setdefault(each, set()).add(sides)
    return document.contractions


def _letters(contraction: Contraction) -> tuple[str, ...]:
    return tuple(letter for letter, _ in contraction)


def _is_of_arrays(contraction: Contraction, document: Declared) -> bool:
    """Return whether the document transposes one of two letters somewhere."""
    return any(name.key in _letters(contraction) for names in document.arrays.values() for name in names)


def _contracted(side: Node) -> set[Contraction]:
    """Return pairs of axes: where two capital letters are multiplied, the axis of each one that the sum runs over."""
    found = set()
    for part in (part for part in side.walk() if isinstance(part, Product)):
        for (one, turned), (other, turned_too) in pairwise(_factors(part)):
            if one is not None and other is not None and one.key != other.key:
                axes = (one.key, "rows" if turned else "columns"), (other.key, "columns" if turned_too else "rows")
                found.add((min(axes), max(axes)))
    return found


def _factors(node: Node, turned: bool = False) -> list[tuple[Name | None, bool]]:
    """Return the factors of a product, and whether each is transposed. A factor other than a capital is None."""
    match node:
        case Name(base=base) if len(base) == 1 and base.isupper() and base != "I":
            return [(node, turned)]
        case Transpose(operand=inner):
            return _factors(inner, not turned)
        case Fence(bracket="(" | "[", inside=Product() | Transpose() | Fence() as inner):
            return _factors(inner, turned)
        case Product(factors=factors, operators=operators) if not OF_NUMBERS & {*operators}:
            ordered = reversed(factors) if turned else factors
            return [each for factor in ordered for each in _factors(factor, turned)]
    return [(None, False)]


def _transposed(side: Node) -> int:
    """Return the number of transposes in a side."""
    return sum(isinstance(part, Transpose) for part in side.walk())


def _edited(right: Node) -> Iterator[tuple[Node, Slip]]:
    for rule in (transposes, orders):
        for node, put in places(right):
            for new, slip in rule(node, ()):
                yield put(new), slip
    yield from exchanged(right, ())
