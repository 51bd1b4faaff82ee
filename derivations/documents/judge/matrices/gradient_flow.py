r"""How letters follow from each other, and the gradient by one of them, in numbers.

Definition   Y is below X where X stands in what Y is defined as, its letters put in. With G for the gradient by Y, the
             gradient by X is that of the sum of G_ij Y_ij, by the differences that a step of every entry of X makes
Result       `Flow.gradient(by, seeds, kinds)`; None where a letter cannot be followed, or has no value
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import mul

from derivations.documents.judge.matrices.matrix_equations import unfolded
from derivations.documents.judge.matrices.matrix_functions import STEP, NoValue
from derivations.documents.judge.matrices.matrix_letters import letters_in_order
from derivations.documents.judge.matrices.matrix_numbers import Kind, Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import Value, entries_of, resized, size_of
from derivations.documents.syntax import Name, Node

__all__ = ["Flow", "kind_of"]

MOST_ROUNDS = 8


@dataclass(frozen=True)
class Flow:
    """What letters are defined as, by their keys."""

    made: Mapping[str, Node]

    def whole(self, node: Node, but: Name | None = None) -> Node | None:
        """Return a formula with all definitions put in but that of one letter; None if it is too long, or circular."""
        known = {key: made for key, made in self.made.items() if but is None or key != but.key}
        found = unfolded(node, known, MOST_ROUNDS)
        return None if any(name.key in known for name in letters_in_order(found)) else found

    def is_below(self, name: Name, other: Name) -> bool:
        """Say whether a letter is defined by another one."""
        found = self.whole(name, other) if name != other else None
        return found is not None and other in letters_in_order(found)

    def lowest(self, names: Iterable[Name]) -> tuple[Name, ...]:
        """Return those letters that no other one of them is below."""
        names = tuple(dict.fromkeys(names))
        return tuple(name for name in names if not any(self.is_below(other, name) for other in names))

    def value(self, name: Name, kinds: Kinds) -> Value | None:
        """Return the value of a letter, by what it is defined as."""
        whole = self.whole(name)
        return matrix_value(whole, kinds) if whole is not None else None

    def gradient(self, by: Name, seeds: Mapping[Name, Value], kinds: Kinds) -> Value | None:
        """Return the gradient by a letter, from those by letters below it."""
        start = self.value(by, kinds)
        wholes = [(self.whole(seed, by), entries_of(weights)) for seed, weights in seeds.items()]

        def loss(value: Value) -> float:
            given = {**kinds, by.key: value}
            values = [matrix_value(whole, given) if whole is not None else None for whole, _ in wholes]
            pairs = zip(values, wholes, strict=True)
            return sum(sum(map(mul, _entries(made), weights)) for made, (_, weights) in pairs)

        try:
            return _differences(loss, start) if start is not None else None
        except NoValue:
            return None


def _entries(value: Value | None) -> tuple[float, ...]:
    if value is None:
        raise NoValue
    return entries_of(value)


def _differences(of: Callable[[Value], float], start: Value) -> Value:
    """Return by how much a function grows with each entry of its argument."""
    entries = entries_of(start)

    def at(place: int, step: float) -> float:
        return of(resized(start, (*entries[:place], entries[place] + step, *entries[place + 1 :])))

    return resized(start, [(at(place, STEP) - at(place, -STEP)) / (2 * STEP) for place in range(len(entries))])


def kind_of(value: Value) -> Kind:
    """Return what a letter is that has the size of a value."""
    match size_of(value):
        case (1, _):
            return "row"
        case (_, 1):
            return "column"
        case ():
            return "number"
    return "matrix"
