r"""Derivatives by vectors and matrices: `\frac{\partial}{\partial x} x^T A x = (A + A^T) x`, `\nabla_x \|x\|^2 = 2 x`.

Definition   the derivative of a number by an array has the shape of the array, or of its transpose; that of a vector by
             a vector has a row for each entry of the one, and a column for each of the other. Taken by differences
Result       holds        the right side has these numbers, in either layout
             conditional  it has them for symmetric matrices
             wrong        it has others, whatever the letters may be
Assumes      letters without a definition do not depend on the one by which is derived
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.written_derivatives import WrittenDerivative, is_settled, written_derivative
from derivations.documents.judge.arrays.array_reading import function_word
from derivations.documents.judge.matrices.matrix_equations import has_entries
from derivations.documents.judge.matrices.matrix_letters import letters_in_order, readings
from derivations.documents.judge.matrices.matrix_numbers import KNOWN_FUNCTIONS, Kind, Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import (
    Value,
    added,
    are_alike,
    entries_of,
    resized,
    scaled,
    size_of,
    transposed,
)
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import Call, Name, Node
from derivations.documents.verdicts import Finding

__all__ = ["check_matrix_derivatives"]

CHECK = "derivative"
STEP = 1e-5
CLOSE = 1e-5
SYMMETRIC = "the matrices that are multiplied from both sides are symmetric"


def check_matrix_derivatives(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield whether a formula has the numbers of a derivative by a vector or a matrix."""
    if link is None or statement.chain.relations[link] not in ("=", ":=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    found = written_derivative(left, right)
    if found is None or found.by.subscripts or not _is_known(found.of, right) or not is_settled(found, scope):
        return
    names = letters_in_order(found.of, right)
    usual = (each for each in readings(names, (found.of, right), statement, scope) if _is_usual(each, names, scope))
    kinds = (each for each in usual if each[found.by.key] != "number" or set(each.values()) == {"number"})
    answers = {_agree(found, right, each) for each in kinds} - {None}
    if answers == {"always"}:
        yield Finding("holds", CHECK, f"the derivative by {found.by.key} has these numbers")
    elif answers and answers <= {"always", "symmetric"}:
        reason = f"the derivative by {found.by.key} has these numbers where the matrices are symmetric"
        yield Finding("conditional", CHECK, reason, assumptions=(SYMMETRIC,))
    elif answers == {"never"} and not is_condition(statement):
        yield Finding("wrong", CHECK, f"the derivative by {found.by.key} has other numbers")


def _is_usual(kinds: Kinds, names: Sequence[Name], scope: Scope) -> bool:
    """Say whether small letters without a shape are no matrices, and capitals no numbers."""
    free = ((kinds[name.key], name.base) for name in names if scope.shape(name) is None)
    return all(
        not (kind == "matrix" and base.islower()) and not (kind == "number" and base.isupper()) for kind, base in free
    )


def _is_known(*sides: Node) -> bool:
    """Say whether formulas have no entries, and no functions but those that are known."""
    parts = [part for side in sides for part in side.walk()]
    calls = (part for part in parts if isinstance(part, Call))
    return not has_entries(parts) and all(function_word(call.function) in KNOWN_FUNCTIONS for call in calls)


def _agree(found: WrittenDerivative, right: Node, kinds: Kinds) -> str | None:
    """Say for which matrices a right side is the derivative; None where either has no numbers."""
    slope, claimed = _slope(found, kinds), matrix_value(right, kinds)
    if slope is None or claimed is None:
        return None
    if _is_either(slope, claimed):
        return "always"
    balanced = _balanced(found, kinds)
    slope, claimed = _slope(found, balanced), matrix_value(right, balanced)
    return "symmetric" if slope is not None and claimed is not None and _is_either(slope, claimed) else "never"


def _is_either(slope: Value, claimed: Value) -> bool:
    """Say whether numbers are those of a derivative in one of its layouts."""
    return any(are_alike(each, claimed, close=CLOSE) for each in (slope, transposed(slope)))


def _balanced(found: WrittenDerivative, kinds: Kinds) -> Kinds:
    """Return the letters with all matrices but the one by which is derived made symmetric."""
    made: dict[str, Kind | Value] = dict(kinds)
    for key, kind in kinds.items():
        if kind == "matrix" and key != found.by.key:
            value = matrix_value(Name(key), {key: kind})
            if value is not None:
                made[key] = scaled(0.5, added(value, transposed(value)))
    return made


def _slope(found: WrittenDerivative, kinds: Kinds) -> Value | None:
    """Return the derivative by differences: of a number like the letter, of a vector with a row for each entry."""
    at = matrix_value(found.by, kinds)
    if at is None:
        return None
    entries, slopes = entries_of(at), []
    for place in range(len(entries)):
        ends = []
        for step in (STEP, -STEP):
            moved = resized(at, [entry + step * (each == place) for each, entry in enumerate(entries)])
            ends.append(matrix_value(found.of, {**kinds, found.by.key: moved}))
        high, low = ends
        if high is None or low is None:
            return None
        slopes.append(scaled(0.5 / STEP, added(high, scaled(-1.0, low))))
    if all(not isinstance(each, tuple) for each in slopes):
        return resized(at, [entries_of(each)[0] for each in slopes])
    if 1 not in size_of(at) or any(1 not in size_of(each) for each in slopes):
        return None
    return transposed(tuple(entries_of(each) for each in slopes))
