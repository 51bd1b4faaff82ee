"""Values of row maxima, and of the row exponentials and normalised rows of a softmax.

As a scalar, the largest of some entries is written as a function of the sum of all visible entries of the row. The sum
is evaluated as a collection: an entry times 0 is left out (a hidden entry), and + joins two collections.
"""

from __future__ import annotations

from typing import Any

from sympy.core.function import AppliedUndef

from derivations.language.arrays.exponentials import Normalised, RowExponentials, RowMax
from derivations.language.arrays.scalars import LARGEST, SHARE
from derivations.language.cross_check.arrays import deep
from derivations.language.cross_check.assignment import Assignment, Meaning, NotCovered, Undefined, meaning, rule
from derivations.language.cross_check.choices import sign_of
from derivations.language.cross_check.real_functions import number, power

__all__: list[str] = []


def _largest(entries: list[Any], assignment: Assignment) -> Any:
    if not entries:
        raise Undefined("no entry of the row is visible")
    ordered = sorted(entries, reverse=True)
    if len(ordered) > 1:
        sign_of(ordered[0] - ordered[1], assignment)  # inside a derivative, a tie is a kink and raises `Unfit`
    return ordered[0]


@rule.register
def _(node: RowMax) -> Meaning:
    inner, *masks = map(meaning, node.args)
    rank = len(node.shape)

    def value(assignment: Assignment) -> Any:
        if not masks:
            return deep(rank, lambda row: _largest(row, assignment), inner(assignment))

        def visible(row: list[Any], mask: list[Any]) -> Any:
            return _largest([entry for entry, shown in zip(row, mask, strict=True) if shown], assignment)

        return deep(rank, visible, inner(assignment), masks[0](assignment))

    return value


@rule.register
def _(node: RowExponentials) -> Meaning:
    inner, base = meaning(node.args[0]), meaning(node.base)
    mask, rank = None if node.mask is None else meaning(node.mask), len(node.shape)

    def value(assignment: Assignment) -> Any:
        of = number(base(assignment))

        def powers(row: list[Any], shown: list[Any]) -> list[Any]:
            visible = [entry for entry, seen in zip(row, shown, strict=True) if seen]
            # a row that is hidden entirely has no largest entry, and only zeros
            largest = _largest(visible, assignment) if visible else 0
            return [power(of, entry - largest) if seen else 0 for entry, seen in zip(row, shown, strict=True)]

        scores = inner(assignment)
        if mask is None:
            return deep(rank - 1, lambda row: powers(row, [1] * len(row)), scores)
        return deep(rank - 1, powers, scores, mask(assignment))

    return value


@rule.register
def _(node: Normalised) -> Meaning:
    rows, sums = map(meaning, node.args)
    rank = len(node.args[1].shape)

    def divided(row: list[Any], by: Any) -> list[Any]:
        return [entry / number(by) if by else 0 for entry in row]  # a row of hidden entries is 0

    return lambda assignment: deep(rank, divided, rows(assignment), sums(assignment))


class _Entries:
    """The visible entries of a row, collected from a sum: an entry times 0 is left out, and + joins two collections."""

    def __init__(self, entries: list[Any]) -> None:
        self.entries = entries

    def __add__(self, other: Any) -> _Entries:
        return _Entries(self.entries + (other.entries if isinstance(other, _Entries) else []))

    __radd__ = __add__

    def __mul__(self, shown: Any) -> _Entries:
        if shown not in (0, 1):
            raise NotCovered("an entry of a row that is neither visible nor hidden")
        return self if shown else _Entries([])

    __rmul__ = __mul__


@rule.register(SHARE)
def _(node: AppliedUndef) -> Meaning:
    entry = meaning(node.args[1])
    return lambda assignment: _Entries([entry(assignment)])


@rule.register(LARGEST)
def _(node: AppliedUndef) -> Meaning:
    shares = meaning(node.args[0])

    def value(assignment: Assignment) -> Any:
        found = shares(assignment)
        return _largest(found.entries if isinstance(found, _Entries) else [], assignment)

    return value
