"""Two sides of an equation of matrices, compared by numbers, with what defines their letters put in or not.

Result       `differ` where they differ whatever their letters are; `agreeing` is the edit that makes them equal for all
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from sympy import Rational

from derivations.documents.budget import current_budget
from derivations.documents.canon.places import Edit
from derivations.documents.judge.matrices.matrix_numbers import Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import Value, are_alike
from derivations.documents.judge.numbers.letters import put
from derivations.documents.scope import Scope
from derivations.documents.syntax import Aggregate, Cases, Derivative, Entry, MatrixLiteral, Name, Node, Number

__all__ = ["COST", "Equation", "has_entries", "numbers_set", "unfolded"]

COST = 150_000  # steps that must be left to a formula where its edits are tried
MOST_WORK = 40_000  # steps that edits of one side may take
MOST_UNFOLDED, MOST_ROUNDS = 150, 3


@dataclass(frozen=True)
class Equation:
    """What the sides of an equation are compared by: what letters may be, and what the section defines them to be."""

    kinds: Sequence[Kinds]
    near: Mapping[str, Node]  # defined in this section
    known: Mapping[str, Node]  # defined anywhere

    def differ(self, first: Node, second: Node) -> bool:
        """Say whether two sides surely differ, whatever their letters are, and whichever definitions are put in."""
        some = False
        for defined in ({}, self.near, self.known):
            sides = unfolded(first, defined), unfolded(second, defined)
            values = [tuple(matrix_value(side, kinds) for side in sides) for kinds in self.kinds]
            if any(are_alike(*pair) for pair in values):
                return False
            some = any(None not in pair for pair in values)  # at last with all definitions put in
        return some

    def agreeing(self, other: Node, edited: Iterable[Edit]) -> Edit | None:
        """Return the first edit that is equal to a side wherever both have a value, by what this section defines."""
        budget = current_budget()
        end = budget.spent + MOST_WORK
        whole = unfolded(other, self.near)
        wanted = [(kinds, value) for kinds in self.kinds if (value := matrix_value(whole, kinds)) is not None]
        for edit, slip in edited:
            if budget.spent > end:
                return None
            if self._are_all_alike(edit, wanted):
                return edit, slip
        return None

    def _are_all_alike(self, side: Node, wanted: Sequence[tuple[Kinds, Value]]) -> bool:
        """Say whether a side has some of the values that are wanted, and no others."""
        side, some = unfolded(side, self.near), False
        for kinds, value in wanted:
            found = matrix_value(side, kinds)
            if found is not None and not are_alike(found, value):
                return False
            some = some or found is not None
        return some


def unfolded(side: Node, defined: Mapping[str, Node], rounds: int = MOST_ROUNDS) -> Node:
    """Return a formula with definitions put in, also those of the letters in them."""
    for _ in range(rounds if defined else 0):
        made: Node = put(side, defined)
        if made is side or sum(1 for _ in islice(made.walk(), MOST_UNFOLDED + 1)) > MOST_UNFOLDED:
            break
        side = made
    return side


def numbers_set(names: Iterable[Name], scope: Scope) -> dict[str, Node]:
    """Return the letters that are set to a number: two sizes may be one."""
    values = {name.key: scope.value(name) for name in names}
    return {
        key: Number(str(value), Fraction(value.p, value.q))
        for key, value in values.items()
        if isinstance(value, Rational)
    }


def has_entries(parts: Iterable[Node]) -> bool:
    """Say whether a formula is of entries, of sums over them or of derivatives, which are no matrices here."""
    return any(isinstance(part, Aggregate | Entry | Derivative | Cases | MatrixLiteral) for part in parts)
