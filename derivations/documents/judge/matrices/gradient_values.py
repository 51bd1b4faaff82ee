r"""Gradients by numbers: dS = A ⊙ (dA - rowsum(dA ⊙ A) 1^T) where A = softmax(S), dX = dY W^T + dZ where Z = X + Y.

Definition   the gradients on the right are those of one loss: the ones that no other is below are free, and all others,
             and that on the left, follow from them by what the document defines the letters to be
Result       `GradientClaim.verdict()`: whether the right side has the values of the gradient, and `mended()` the edit
             that has them
Assumes      no letter stands on the right beside those that the definitions have, but a width that is surely another
             one. What the document gives as a formula for a gradient on the right may be what that is. A letter that a
             definition scales may stand for what is scaled
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any

from derivations.documents.budget import current_budget
from derivations.documents.canon.edits import edits
from derivations.documents.canon.matrix_slips import matrix_edits
from derivations.documents.canon.places import Edit
from derivations.documents.judge.arrays.array_reading import function_word
from derivations.documents.judge.matrices.gradient_entries import bound_indices, entries, entries_like, whole_letters
from derivations.documents.judge.matrices.gradient_flow import Flow, kind_of
from derivations.documents.judge.matrices.gradient_kinds import Known
from derivations.documents.judge.matrices.gradient_letters import gradient_by, gradients_in, is_gradient
from derivations.documents.judge.matrices.matrix_letters import letters_in_order
from derivations.documents.judge.matrices.matrix_numbers import KNOWN_FUNCTIONS, Kinds, matrix_value
from derivations.documents.judge.matrices.matrix_values import Value, are_alike, entries_of, scaled, size_of, transposed
from derivations.documents.scope.letters import is_ones
from derivations.documents.syntax import (
    Call,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Root,
    Transpose,
    rebuilt,
)

__all__ = ["GradientClaim"]

CLOSE = 1e-6  # differences have relative errors below 1e-8
MOST_EDITS, MOST_WORK = 300, 25_000


@dataclass(frozen=True)
class GradientClaim:
    """The gradient by a letter, and what is said to be it, as a marked formula."""

    by: Name
    right: Node
    indices: tuple[str, ...]  # of the entry by which the gradient is taken
    flow: Flow
    known: Known
    strays: Mapping[Name, Name]  # letters of another index than that of `by`, or of none, with those of that index
    seed: Name | None = None  # below `by`, where no gradient stands on the right

    def verdict(self) -> bool | None:
        """Return whether the right side has the values of the gradient; None where that is open."""
        if not self._is_closed():
            return None
        known = [each for pair in self.values(self.right) if (each := _compared(*pair)) is not None]
        if not known or all(known):
            return True if known else None
        turned = (_compared(*pair) for pair in self.values(self.right, turned=True))
        return None if any(known) or any(turned) or self._is_multiple() else False

    def by_columns(self) -> GradientClaim | None:
        """Return what is said where softmax is that of each column; None where there is no softmax."""
        made = {key: _by_columns(node) for key, node in self.flow.made.items()}
        right = _by_columns(self.right)
        return replace(self, right=right, flow=Flow(made)) if (right, made) != (self.right, self.flow.made) else None

    def mended(self) -> Edit | None:
        """Return the first edit of the right side that has the values of the gradient wherever it has any."""
        plain = [name for name in letters_in_order(*self.flow.made.values(), *self.wholes) if not is_gradient(name)]
        letters = [*plain, *map(gradient_by, dict.fromkeys((*self.seeds, *gradients_in(self.letters))))]
        roots = tuple(dict.fromkeys(part for whole in self.wholes for part in whole.walk() if isinstance(part, Root)))
        budget = current_budget()
        end = budget.spent + MOST_WORK
        if self.indices:
            indices = sorted({*self.indices, *bound_indices(self.right)})
            tried = edits(self.right, [*entries_like(self.right, letters, indices)], indices)
        else:
            tried = chain(matrix_edits(self.right, (*letters, *roots)), edits(self.right, letters))
        for edit, slip in islice(tried, MOST_EDITS):
            if budget.spent > end:
                break
            known = (each for pair in self.values(edit) if (each := _compared(*pair)) is not None)
            if next(known, False) and all(known):
                return edit, slip
        return None

    # --- what follows from what ---

    @property
    def members(self) -> dict[str, Node]:
        """The letters without an index of which one with it may be meant, as `A` of `A_i`."""
        strays = self.strays.items()
        return {name.key: meant for name, meant in strays if len(meant.subscripts) > len(name.subscripts)}

    @cached_property
    def letters(self) -> Node:
        """The right side with all definitions put in, and whole letters in the place of their entries."""
        whole = whole_letters(self.right, self.indices)
        return self.flow.whole(whole) or whole

    @cached_property
    def seeds(self) -> tuple[Name, ...]:
        """The letters by which the gradients on the right are free."""
        names = (self.strays.get(name, name) for name in gradients_in(self.letters))
        found = self.flow.lowest(name for name in names if name != self.by)
        return found or ((self.seed,) if self.seed is not None else ())

    @cached_property
    def wholes(self) -> tuple[Node, ...]:
        """What the seeds are, all definitions put in."""
        return tuple(found for seed in self.seeds if (found := self.flow.whole(seed)) is not None)

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The letters of the definitions of the seeds, and those that they are defined by."""
        direct = [self.flow.whole(seed, self.by) for seed in self.seeds]
        return letters_in_order(*self.wholes, *(each for each in direct if each is not None))

    def _is_closed(self) -> bool:
        """Say whether all that stands on the right follows from what the seeds are defined as, which has the letter."""
        if not self.seeds or any(name == self.by for name in gradients_in(self.letters)):
            return False
        if any(_is_inverse(part) for part in self.right.walk()):
            return False  # the differential of an inverse function
        if len(self.wholes) < len(self.seeds) or not all(self.flow.is_below(seed, self.by) for seed in self.seeds):
            return False
        if not _functions(self.letters) - KNOWN_FUNCTIONS <= _functions(*self.wholes):
            return False
        known = {name.key for name in self.names}
        return all(
            name.key in known
            or name in self.strays
            or is_gradient(name)
            or is_ones(name)
            or self.known.is_other_width(name, self.names)
            for name in letters_in_order(self.letters)
        )

    def _is_multiple(self) -> bool:
        """Say whether the right side is the gradient times a number, by a letter that stands for itself scaled."""
        may_be_scaled = not self.known.scaled.isdisjoint({self.by, *self.seeds})
        return may_be_scaled and any(_is_multiple(*pair) for pair in self.values(self.right))

    # --- values ---

    def values(self, right: Node, *, turned: bool = False) -> Iterator[tuple[Value | None, Value | None]]:
        """Yield what a right side is, and what the gradient is, for all that letters may be.

        In the other layout, all gradients are `turned`: they are the transposes of what they are here.
        """
        whole = self.flow.whole(right)
        for kinds, given, expected in self._expected:
            if whole is None or expected is None:
                yield None, expected
            elif self.indices:
                known = {**kinds, **given}
                yield entries(right, self.indices, expected, known, partial(self._letter, {}, known)), expected
            else:
                gradients = {key: transposed(value) for key, value in given.items()} if turned else given
                claimed = matrix_value(whole, {**kinds, **gradients})
                yield claimed, transposed(expected) if turned else expected

    def _letter(self, known: dict[str, Value | None], kinds: Kinds, name: Name) -> Value | None:
        """Return the value of a letter, or of a gradient."""
        if name.key not in known:
            known[name.key] = self.flow.value(name, kinds)
        return known[name.key]

    @cached_property
    def _expected(self) -> tuple[tuple[Kinds, Mapping[str, Value], Value | None], ...]:
        """What letters may be, the values of all gradients on the right, and the gradient then."""
        found = []
        others = [name for name in dict.fromkeys(gradients_in(self.letters)) if name not in self.seeds]
        names = letters_in_order(*self.names, self.by, self.letters)
        for kinds in self.known.readings(names, (*self.seeds, self.by), self.wholes):
            weights = {seed: _drawn(seed, self.flow.value(seed, kinds)) for seed in self.seeds}
            known = {seed: value for seed, value in weights.items() if value is not None}
            if len(known) < len(weights):
                continue
            values = known | {name: self.flow.gradient(name, known, kinds) for name in others}
            values |= {name: _drawn(name, self.flow.value(meant, kinds)) for name, meant in self.strays.items()}
            given = {gradient_by(name).key: value for name, value in values.items() if value is not None}
            found.append((kinds, given, self.flow.gradient(self.by, known, kinds)))
        return tuple(found)


def _by_columns(node: Any) -> Any:
    """Return a formula with softmax of columns."""
    inner = rebuilt(node, _by_columns)
    match inner:
        case Call(function=Name(base="softmax"), arguments=(first,)):
            return Transpose(replace(inner, arguments=(Transpose(first),)))
    return inner


def _drawn(name: Name, like: Value | None) -> Value | None:
    """Return random entries for the gradient by a letter that has a value."""
    mark = gradient_by(name)
    return matrix_value(mark, {mark.key: kind_of(like)}) if like is not None else None


def _functions(*nodes: Node) -> frozenset[str]:
    """Return the functions of formulas."""
    calls = (part for node in nodes for part in node.walk() if isinstance(part, Call))
    return frozenset(function_word(call.function) for call in calls)


def _is_inverse(part: Node) -> bool:
    match part:
        case Power(exponent=Negative() | Name()):
            return True
        case Power(exponent=Number(value=value)):
            return value < 0
    return False


def _compared(claimed: Value | None, expected: Value | None) -> bool | None:
    """Say whether a value is the gradient; None for one of another size, but that a number is no matrix.

    Where both are zero, by an indicator of which every entry is, nothing is known.
    """
    if claimed is None or expected is None or not any((*entries_of(claimed), *entries_of(expected))):
        return None
    if size_of(claimed) != size_of(expected):
        return None if isinstance(claimed, tuple) or not isinstance(expected, tuple) else False
    return are_alike(claimed, expected, close=CLOSE)


def _is_multiple(claimed: Value | None, expected: Value | None) -> bool:
    """Say whether a value is a number times another one."""
    if claimed is None or expected is None or size_of(claimed) != size_of(expected):
        return False
    pairs = list(zip(entries_of(claimed), entries_of(expected), strict=True))
    first, second = max(pairs, key=lambda pair: abs(pair[1]))
    return second != 0 and are_alike(claimed, scaled(first / second, expected), close=CLOSE)
