r"""A row of a product as the weighted sum of rows: (W V)_i = W_{i1} V_1 + W_{i2} V_2 + ...

Definition   every term is a weight times a line; a weight is an entry with two places, or a number
Result       holds where the first place of every weight is the row that is told, and the second the line that it
             weighs; conditional for numbers, which must be weights of lines in order; wrong where one term alone breaks
             the order that all others keep
Assumes      two terms tell no order: at least two must keep it before another is refused
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from derivations.documents.formulas.building import unfenced
from derivations.documents.judge.rows.row_vectors import Line, index_text, line_of
from derivations.documents.syntax import Dots, Entry, Name, Node, Number, Product, Sum
from derivations.documents.verdicts import Finding

__all__ = ["of_weighted_sum"]

CHECK = "entries.weighted"


@dataclass(frozen=True)
class _Term:
    """A weight with its places, or its value, and the line that it weighs."""

    letter: str
    places: tuple[str, ...]
    value: Fraction | None
    line: Line


def of_weighted_sum(row: Line, whole: Node) -> Iterator[Finding]:
    """Judge that a row is a weighted sum of lines."""
    terms = _terms(whole)
    if row.transposed or any(each.line.transposed for each in terms):
        return
    if len(terms) < 2 or len({each.line.kind for each in terms}) > 1 or len({each.letter for each in terms}) > 1:
        return
    if terms[0].value is not None:
        yield from _by_numbers(terms)
        return
    index = row.place
    broken = [each for each in terms if each.places != (index, each.line.place)]
    if not broken:
        first = terms[0]
        yield Finding("holds", CHECK, f"{row.text} is that row of the product {first.letter} {first.line.matrix.key}")
    elif len(broken) == 1 and len(terms) > 2:
        (term,) = broken
        right = f"{term.letter}_{{{index},{term.line.place}}} with {term.line.text}"
        shown = f"{term.letter}_{{{','.join(term.places)}}}"
        yield Finding("wrong", CHECK, f"{shown} is not the weight of {term.line.text} in {row.text}", right=right)


def _by_numbers(terms: Sequence[_Term]) -> Iterator[Finding]:
    """Judge numbers: weights, none below 0, that do not exceed 1 together, of lines in order."""
    places = [each.line.index.value for each in terms if isinstance(each.line.index, Number)]
    values = [each.value for each in terms if each.value is not None]
    if len(places) != len(terms) or len(values) != len(terms) or min(values) < 0 or sum(values) > 1:
        return
    if all(after == before + 1 for before, after in pairwise(places)):
        assumption = "the numbers are the attention weights of this position"
        yield Finding("conditional", CHECK, "a sum of lines in order, with weights", assumptions=(assumption,))


def _terms(whole: Node) -> tuple[_Term, ...]:
    """Return the terms of a sum; none where one of them is no weight times a line."""
    if not isinstance(whole, Sum) or any(sign != 1 for sign in whole.signs):
        return ()
    found = [_term(each) for each in whole.terms if not isinstance(each, Dots)]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else ()


def _term(node: Node) -> _Term | None:
    node = unfenced(node)
    if not isinstance(node, Product) or len(node.factors) != 2 or node.operators[0] not in ("", "dot", "times", "star"):
        return None
    weight, line = node.factors[0], line_of(node.factors[1])
    if line is None:
        return None
    match weight:
        case Number(value=value):
            return _Term("", (), value, line)
        case Name(base=base, subscripts=(first, second)) | Entry(of=Name(base=base), indices=(first, second)):
            return _Term(base, (index_text(first), index_text(second)), None, line)
    return None
