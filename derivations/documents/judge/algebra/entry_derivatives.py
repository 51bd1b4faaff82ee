r"""Derivatives of sums by an entry: `\frac{\partial}{\partial x_i} \log \sum_j e^{x_j} = \text{softmax}(x)_i`.

Definition   the derivative of a written formula by a number, or by an entry whose indices are free, taken by
             differences in several draws of the letters
Result       holds where the right side has its numbers in every draw; wrong where it has others in every draw
Assumes      letters without a definition do not depend on the entry
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from derivations.documents.judge.algebra.conditions import is_condition
from derivations.documents.judge.algebra.sampled import POSITIVE, Bound, Sampler, ends_of, reaching
from derivations.documents.judge.algebra.written_derivatives import (
    WrittenDerivative,
    is_settled,
    letters_of_numbers,
    written_derivative,
)
from derivations.documents.judge.arrays.array_reading import function_word
from derivations.documents.judge.numbers.letters import bare
from derivations.documents.scope import Scope
from derivations.documents.statements import Statement
from derivations.documents.syntax import (
    Aggregate,
    Call,
    Entry,
    Fence,
    MatrixLiteral,
    Name,
    Node,
    Number,
    Power,
    Quotient,
    Transpose,
    rebuilt,
)
from derivations.documents.verdicts import Finding

__all__ = ["check_entry_derivatives"]

CHECK = "derivative"
STEP = 1e-4
CLOSE, APART = 1e-6, 1e-3
MOST_INDICES = 2
PLACE = Name("the place in a softmax")


def check_entry_derivatives(statement: Statement, link: int | None, scope: Scope) -> Iterator[Finding]:
    """Yield whether a formula has the numbers of a derivative by a number or an entry."""
    if link is None or statement.chain.relations[link] not in ("=", ":=", "≡"):
        return
    left, right = statement.chain.sides[link : link + 2]
    found = written_derivative(left, right)
    if found is None or not _is_of_numbers(found.of, scope) or not is_settled(found, scope):
        return
    calls = (part for side in (left, right) for part in side.walk() if isinstance(part, Call))
    if {"log", "ln"} <= {call.function.base for call in calls}:
        return  # the first may be to the base 10 or 2
    of, right = (reaching(_written(side), PLACE, *ends_of(found.of, right)) for side in (found.of, right))
    bound = _places(found, of, right)
    if bound is None:
        return
    moved = [_Moved(found.by, step, bound, of, right) for step in (STEP, -STEP, 0.0)]
    agreed = [
        _agree([each.number_at(of, draw) for each in moved[:2]], moved[2].number_at(right, draw)) for draw in POSITIVE
    ]
    if all(agreed):
        yield Finding(
            "holds", CHECK, f"the derivative by {found.by.key} has these numbers in every draw of the letters"
        )
    elif not any(each in (True, None) for each in agreed) and not is_condition(statement):
        yield Finding("wrong", CHECK, f"the derivative by {found.by.key} has other numbers")


def _is_of_numbers(of: Node, scope: Scope) -> bool:
    """Say whether a formula is one of numbers and entries: no norm, no transpose, and no letter of an array."""
    for part in of.walk():
        if isinstance(part, Transpose | MatrixLiteral) or (isinstance(part, Fence) and part.bracket == "||"):
            return False
    whole = (name for name in letters_of_numbers(of) if not name.subscripts)
    return all(scope.shape(name) == () or not (name.base.isupper() or scope.is_vector(name)) for name in whole)


def _agree(ends: Sequence[float | None], claimed: float | None) -> bool | None:
    """Say whether a number is the slope between two ends; None where that is not known."""
    high, low = ends
    if high is None or low is None or claimed is None or high == low:
        return None
    slope = (high - low) / (2 * STEP)
    apart = abs(slope - claimed) / max(abs(slope), abs(claimed))
    return True if apart < CLOSE else False if apart > APART else None


def _places(found: WrittenDerivative, *sides: Node) -> dict[str, int] | None:
    """Return which entry is meant: its free indices are other places each, that all sums reach."""
    indices = found.by.subscripts
    if len(indices) > MOST_INDICES:
        return None
    sums = [part for side in sides for part in side.walk() if isinstance(part, Aggregate)]
    first = 0 if any(isinstance(part.lower, Number) and part.lower.value == 0 for part in sums) else 1
    free = {index.key for part in sums for index in part.index if isinstance(index, Name)}
    names = [each.key for each in indices if isinstance(each, Name)]
    if len(names) < len(indices) or free & set(names):
        return None
    return {key: first + at for at, key in enumerate(names)}


class _Moved(Sampler):
    """Numbers of formulas in which one entry is a little larger than it is drawn."""

    def __init__(self, entry: Name, step: float, bound: Bound, *formulas: Node) -> None:
        super().__init__(*formulas)
        self.entry, self.step, self.places = entry, step, dict(bound)
        self.at = tuple(float(bound[each.key]) for each in entry.subscripts if isinstance(each, Name))

    def number_at(self, node: Node, draw: int) -> float | None:
        """Return the number of a formula with its free indices at their places."""
        return self.number(node, draw, self.places)

    def _letter(self, name: Name, bound: Bound) -> float:
        number = super()._letter(name, bound)
        is_same = replace(name, subscripts=()).key == replace(self.entry, subscripts=()).key
        if is_same and tuple(self._place(each, bound) for each in name.subscripts) == self.at:
            return number + self.step
        return number


def _written(node: Any) -> Any:
    """Return a formula with the entries of softmax written out."""
    match node:
        case Entry(of=Call(function=function, arguments=(argument,)), indices=(index,)) if function_word(
            function
        ) == "softmax" and isinstance(bare(argument), Name):
            letter = bare(argument)
            if isinstance(letter, Name):
                powers = [Power(Name("e"), replace(letter, subscripts=(at,))) for at in (index, PLACE)]
                return Quotient(powers[0], Aggregate("sum", powers[1], (PLACE,)))
    return rebuilt(node, _written)
