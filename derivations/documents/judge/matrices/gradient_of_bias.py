r"""The gradient by a bias: `\partial L/\partial b = \sum_i \partial L/\partial y_i`, one summand for every row.

Result       holds where the document adds the bias to every row, conditional where it does not say; wrong where the
             sum leaves out the last row of as many as there are
Assumes      all rows have a gradient, unless they are said to predict what follows them
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from derivations.documents.judge.matrices.gradient_entries import is_over_all
from derivations.documents.judge.matrices.gradient_surroundings import around
from derivations.documents.judge.matrices.matrix_words import gradient_of
from derivations.documents.scope import Scope
from derivations.documents.scope.letters import flat, is_bias, is_index
from derivations.documents.scope.sizes import size_of
from derivations.documents.statements import Statement
from derivations.documents.syntax import Aggregate, Name, Node, Number, Sum
from derivations.documents.verdicts import Finding

__all__ = ["gradient_of_bias"]

_CHECK = "gradient"
_PREDICTED = re.compile(
    r"\bnext[ -](?:token|word|step|position)|\bshift|\btarget|\blogit"
    r"|\blast (?:row|token|word|position|step|entry)"
    r"|下[一个個]*[词詞字]|最[后後]の?[一行个個位]|次の(?:単語|トークン|語)|目标|目標",
    re.IGNORECASE,
)


def gradient_of_bias(by: Name, right: Aggregate, statement: Statement, scope: Scope) -> Iterator[Finding]:
    """Yield that the gradient by a bias is the sum of the gradients of all rows."""
    row = gradient_of(right.body, scope)
    lacks_last = _lacks_last(right)
    if not (is_over_all(right) or lacks_last) or row is None:
        return
    places = [each for part in row.subscripts for each in flat((part,))]
    rest = tuple(each for each in places if each != right.index[0])
    if len(places) != len(rest) + 1 or (rest and rest[-1] not in flat(by.subscripts)):
        return
    whole = replace(row, base=row.base.upper(), subscripts=rest)
    matrix = _without_indices(row)
    made = [each for name in (row, whole, matrix) if (each := scope.near_definition(name)) is not None]
    bias = {by, _without_indices(by)}
    added = any(isinstance(each, Sum) and bias & {*each.terms} for each in made)
    reason = f"the gradient by {by.key}, which is added to every row, is the sum of those of the rows"
    if lacks_last:
        if added or _has_all_rows(by, matrix, right, statement, scope):
            yield Finding("wrong", _CHECK, f"{reason}, and the last is left out", result="linear.gradient")
        return
    assumption = () if added else (f"{by.key} is added to every row",)
    yield Finding("holds" if added else "conditional", _CHECK, reason, result="linear.gradient", assumptions=assumption)


def _without_indices(name: Name) -> Name:
    """Return a letter without the letters below it that count its rows and columns."""
    kept = tuple(each for each in flat(name.subscripts) if not (isinstance(each, Name) and len(each.key) == 1))
    return replace(name, subscripts=kept)


def _lacks_last(total: Aggregate) -> bool:
    """Say whether a sum goes from 1 to a letter less a number."""
    match total:
        case Aggregate(
            kind="sum", index=(_,), lower=Number(value=first), upper=Sum(terms=(Name(), Number()), signs=(1, -1))
        ):
            return first == 1
    return False


def _has_all_rows(by: Name, matrix: Name, total: Aggregate, statement: Statement, scope: Scope) -> bool:
    """Say whether the bias of a layer is added to as many rows as the gradient has, by its shape or another sum.

    Where the rows predict what follows them, by words or by an index t + 1, the last one has no gradient.
    """
    upper = total.upper.terms[0] if isinstance(total.upper, Sum) else None
    if not (is_bias(by) or by.base == "beta") or _PREDICTED.search(scope.section_words(statement)):
        return False
    others = (side for other in around(statement, scope) for side in other.chain.sides)
    parts = [part for side in others for part in side.walk()]
    if any(map(_is_next, parts)):
        return False
    gradient = replace(matrix, accent="d"), replace(matrix, base=f"d{matrix.base}")
    shapes = [scope.shape(each) for each in (matrix, *gradient)]
    if any(shape is not None and len(shape) == 2 and shape[0] == size_of(upper) for shape in shapes if upper):
        return True
    return any(_is_over_rows(part, matrix, upper, scope) for part in parts if isinstance(part, Aggregate))


def _is_next(node: Node) -> bool:
    """Say whether this is the index behind another one, t + 1."""
    match node:
        case Sum(terms=(Name() as index, Number(value=one)), signs=(1, 1)):
            return one == 1 and is_index(index)
    return False


def _is_over_rows(total: Aggregate, matrix: Name, upper: Node | None, scope: Scope) -> bool:
    """Say whether a sum goes over all rows of the gradient by a matrix, up to a letter."""
    if not is_over_all(total) or total.upper != upper:
        return False
    rows = [row for part in total.body.walk() if (row := gradient_of(part, scope)) is not None]
    return any(_without_indices(row) == matrix and flat(row.subscripts)[:1] == total.index for row in rows)
