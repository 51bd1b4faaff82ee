"""Equal intermediates of two layers: found by running both, related by their axes, decided by the judge one by one.

Definition   an array of the function is a candidate for an array of the layer if the numbers of one run agree after
             its axes are permuted and split; the search proves nothing
Result       each pair that the judge proves becomes a name that both share: later claims do not look behind it. What is
             proved for an array of any entries holds for the array that it is
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from sympy import Expr, Ge, Indexed, Integer, Symbol
from sympy import Tuple as Places

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array, Variable
from derivations.language.arrays.routing import TopK
from derivations.language.arrays.shapes import Blocks, ShapeError, total
from derivations.language.judge.proof import StepEvidence, prove_equal
from derivations.language.layers.layer import Equation
from derivations.language.results.derivation import Assumption, Derivation
from numeric.lifting.axes import Index
from numeric.lifting.differential import Run

__all__ = ["Chain", "fine_shape", "numbers_of_parts", "paired_numbers", "read_through"]

_LARGEST_RANK = 5
_RESTORED = 3  # shared arrays whose definitions a claim may need again
_DEEPER = 6  # more of them, of which side conditions speak


@dataclass
class Chain:
    """A chain of claims about two lists of equations, in which more and more arrays are identified as equal."""

    own: dict[Variable, Equation]
    theirs: dict[Variable, Equation]
    fixed: tuple[Equation, ...]  # how the layer's arrays follow from the function's
    ranges: Mapping[Symbol, Expr]
    assumptions: tuple[Assumption, ...]
    shared: list[tuple[Variable, Equation, Variable, Equation]] = field(default_factory=list)

    def decide(self, left: Array, right: Array) -> StepEvidence:
        """Return the judge's evidence for an equality, given the equations of arrays that are not identified yet.

        What the right side reads, or what was shared last, may be needed after all, such as that a variance is a sum of
        squares; and then what these are computed from, such as that a divisor is a sum of powers of e.
        """
        evidence = self._claimed(left, right)
        if evidence.level == "proved":
            return evidence
        read = self.theirs[right].value.atoms(Variable) if right in self.theirs else set()
        near = [each for each in self.shared if each[2] in read]
        last = [self.shared[-count:] for count in range(1, min(len(self.shared), _RESTORED) + 1)]
        tried: list[list[tuple[Variable, Equation, Variable, Equation]]] = [[]]
        for restored in (near, *last):
            while restored not in tried and len(restored) <= len(near) + _DEEPER:
                tried.append(restored)
                with self._restored(restored):
                    again = self._claimed(left, right)
                if again.level == "proved":
                    return again
                restored = [*restored, *(each for each in self._behind(again) if each not in restored)]
        return evidence

    def _behind(self, evidence: StepEvidence) -> list[tuple[Variable, Equation, Variable, Equation]]:
        """Return the identified arrays that occur in an unmet side condition: their definitions may prove it."""
        value = evidence.unmet[1] if evidence.unmet else Integer(0)
        named = {each.name for each in value.free_symbols if isinstance(each, Symbol)}
        named |= {each.base.label.name for each in value.atoms(Indexed)}
        return [each for each in self.shared if named & {each[0].name, each[2].name}]

    def _claimed(self, left: Array, right: Array) -> StepEvidence:
        definitions = (*self.own.values(), *self.fixed, *self.theirs.values())
        assumptions = (*self.assumptions, *self._places())
        goal = Derivation("lifted", "", (), definitions, dict(self.ranges), assumptions)
        return prove_equal(left, right, goal, "definition", refute=False)

    def _places(self) -> Iterator[Assumption]:
        """Yield the assumptions that identified arrays of `TopK` indices stay inside the rows that they index."""
        rank, row = Symbol("rank", integer=True), Symbol("row", integer=True)
        for mine, equation, *_ in self.shared:
            if isinstance(equation.value, TopK):
                place, last = mine[rank, row], total(equation.value.args[0].shape[1]) - 1
                ranges = dict(zip((rank, row), map(total, mine.shape), strict=True))
                yield Assumption(Ge(place, 0, evaluate=False), ranges)
                yield Assumption(Ge(last - place, 0, evaluate=False), ranges)

    @contextmanager
    def _restored(self, shared: Sequence[tuple[Variable, Equation, Variable, Equation]]) -> Iterator[None]:
        """Restore the definitions of some shared arrays inside a `with` block."""
        before = dict(self.own), dict(self.theirs)
        for mine, equation, other, theirs in shared:
            self.own[mine], self.theirs[other] = equation, theirs
        try:
            yield
        finally:
            self.own, self.theirs = before

    def share(
        self, mine: Variable, other: Variable, groups: Sequence[tuple[int, ...]], batch: int | None = None
    ) -> StepEvidence:
        """Return the evidence that two arrays are equal. If it is a proof, replace both by one array with any entries.

        An array that follows from sizes has no axes of a batch: `batch` is the number of those that it has.
        """
        evidence = self.decide(read_through(other, mine, groups, list(self.ranges)[:batch]), other)
        if evidence.level == "proved":
            self.suppose(mine, other, groups, batch)
        return evidence

    def suppose(
        self, mine: Variable, other: Variable, groups: Sequence[tuple[int, ...]], batch: int | None = None
    ) -> None:
        """Replace two arrays by one array of any entries. Without a proof, later claims assume that they are equal."""
        seen = read_through(other, mine, groups, list(self.ranges)[:batch])
        self.shared.append((mine, self.own.pop(mine), other, self.theirs[other]))
        self.theirs[other] = Equation(other, seen)
        self._with_plain_axes(other, mine, groups, list(self.ranges)[:batch])

    def _with_plain_axes(
        self, other: Variable, mine: Variable, groups: Sequence[tuple[int, ...]], batch: Sequence[Symbol]
    ) -> None:
        """Rewrite equations that read an array with halved axes to read it with plain axes, where that is possible.

        A sum over such an axis has one index then, as in code that rotates the halves and multiplies whole rows.
        """
        plain = Variable(f"{other.name}_whole", list(map(total, other.shape)), other.kind)
        joined = _without_blocks(other, groups)
        if joined is None or plain in self.theirs:
            return
        changed: dict[Variable, Equation] = {}
        for variable, equation in self.theirs.items():
            if variable != other and equation.value.has(other):
                try:
                    value = replace_free(equation.value, {other: plain})
                    changed[variable] = Equation(equation.target, value, *(equation.over or ()))
                except (ShapeError, ValueError):
                    continue
        if changed:
            self.theirs |= {plain: Equation(plain, read_through(plain, mine, joined, batch)), **changed}


def read_through(
    variable: Variable, stored: Variable, groups: Sequence[tuple[int, ...]], batch: Sequence[Symbol] = ()
) -> Array:
    """Return an array of the shape of `variable` that reads `stored`, whose axes are merged from parts of that shape.

    The parts are those of `fine_shape`; a part that no group has is one along which the array repeats.
    """
    fine = fine_shape(variable)
    indices = [Symbol(letter, integer=True) for letter, _ in zip("ijkluvw", fine, strict=False)]
    left = iter(indices)
    own: list[Any] = []
    for along in variable.shape:
        parts = [next(left) for _ in _parts(along)]
        own.append(Places(*parts) if len(parts) > 1 else parts[0])
    places: list[Any] = list(batch)
    for group in groups:
        places.append(Index(tuple(indices[axis] for axis in group), tuple(fine[axis] for axis in group)).flat)
    return contraction(own, list(variable.shape), (), 1, operand_of(stored, places))


def fine_shape(variable: Array) -> list[Expr]:
    """Return the sizes of the axes of an array; an axis of blocks gives two sizes."""
    return [part for along in variable.shape for part in _parts(along)]


def _without_blocks(variable: Array, groups: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]] | None:
    """Return groups of parts as groups of axes; None if no axis is of blocks, or a group splits an axis."""
    if not any(isinstance(along, Blocks) and along.count.is_Integer for along in variable.shape):
        return None
    parts: list[tuple[int, ...]] = []  # of every axis
    for along in variable.shape:
        start = parts[-1][-1] + 1 if parts else 0
        parts.append(tuple(range(start, start + len(_parts(along)))))
    found: list[tuple[int, ...]] = []
    for group in groups:
        left, axes = group, []
        while left:
            number = next((n for n, own in enumerate(parts) if left[: len(own)] == own), None)
            if number is None:
                return None
            axes.append(number)
            left = left[len(parts[number]) :]
        found.append(tuple(axes))
    return found


def _parts(along: Any) -> tuple[Expr, ...]:
    return (total(along.count), total(along.size)) if isinstance(along, Blocks) else (total(along),)


def numbers_of_parts(variable: Variable, value: Any, run: Run) -> tuple[Any, int]:
    """Return the numbers of an array with each axis of blocks as two axes, and the number of its batch axes."""
    sizes = [size.xreplace({s: run.sizes[s.name] for s in size.free_symbols}) for size in fine_shape(variable)]
    batch = value.ndim - len(variable.shape)
    return value.reshape((*value.shape[:batch], *map(int, sizes))), batch


def paired_numbers(mine: Any, other: Any, batch: int) -> tuple[tuple[int, ...], ...] | None:
    """Return how the axes of an array of numbers are merged from those of another one, or None.

    The other may be an array that repeats along some axes; these are in no group.
    """
    if mine.dtype.kind != other.dtype.kind or other.ndim - batch > _LARGEST_RANK:
        return None
    if mine.shape[:batch] != other.shape[:batch]:
        return None
    kept = list(range(other.ndim))
    if mine.size < other.size:
        kept = [axis for axis in kept if axis < batch or not _repeats(other, axis)]
        other = other[tuple(slice(None) if axis in kept else 0 for axis in range(other.ndim))]
    if mine.size != other.size or not _near(np.sort(mine, axis=None), np.sort(other, axis=None)):
        return None
    for order in itertools.permutations(range(batch, other.ndim)):
        for groups in _merged(mine.shape[batch:], order, other.shape):
            moved = other.transpose([*range(batch), *order]).reshape(mine.shape)
            if _near(mine, moved):
                return tuple(tuple(kept[axis] - batch for axis in group) for group in groups)
    return None


def _repeats(array: Any, axis: int) -> bool:
    """Return whether an array of numbers is constant along an axis that has more than one entry."""
    return array.shape[axis] > 1 and _near(array, np.repeat(array.take([0], axis=axis), array.shape[axis], axis=axis))


def _merged(wanted: Sequence[int], axes: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the ways to merge neighbouring axes to wanted sizes."""
    if not wanted:
        if not axes:
            yield ()
        return
    for count in range(len(axes) + 1):
        group = tuple(axes[:count])
        if prod((sizes[axis] for axis in group), start=1) == wanted[0]:
            for rest in _merged(wanted[1:], axes[count:], sizes):
                yield (group, *rest)


def _near(one: Any, other: Any) -> bool:
    if one.dtype.kind == "b":
        return bool((one == other).all())
    scale = max(1.0, float(np.max(np.abs(other), initial=0)))
    return bool(np.all(np.abs(one - other) <= 1e-9 * scale))
