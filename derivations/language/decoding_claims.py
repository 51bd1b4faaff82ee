r"""What decoding with a cache rests on, equation by equation, for the judge.

Definition   with p earlier positions and n new ones, every equation of a layer has two claims. Rows: what stands at the
             next positions is the rows p, ..., p + n - 1 of the equation at p + n positions. Prefix: the rows
             0, ..., p - 1 of the equation at p + n positions are the equation at p positions
Result       by the first, the new rows are right where the cached ones are; by the second, cached rows stay what they
             were: attention.causal_prefix, for the equations at hand
Assumes      the variables that an equation reads are what the same two claims say of them; parts that could not be
             written out are not stated
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Integer, Lambda, Le, Symbol

from derivations.language.arrangements import Tabulated
from derivations.language.binding import fresh_index, replace_free
from derivations.language.decoding import THEOREM, Change, Decoding
from derivations.language.derivation import Derivation, claim, derivation, step
from derivations.language.expression import Array, Member, Variable
from derivations.language.layer import Apply, Equation
from derivations.language.rows import RowRange
from derivations.language.scalars import Iverson
from derivations.language.shapes import Axis, Blocks, total

__all__ = ["Stated", "claims"]


@dataclass(frozen=True)
class Stated:
    """A change of an equation with its two claims; None where it cannot be stated locally."""

    change: Change
    rows: Derivation | None
    prefix: Derivation | None

    @property
    def level(self) -> str:
        """What the judge says of both: "proved", else the weaker one."""
        levels = {"unknown" if each is None else each.evidence.level for each in (self.rows, self.prefix)}
        return next((level for level in ("refuted", "unknown") if level in levels), "proved")


def claims(decoding: Decoding) -> Iterator[Stated]:
    """Yield the claims of every equation of a layer at its next positions."""
    for link in decoding.links:
        for change in link.changes:
            yield _stated(change, decoding.new, decoding.all)


def _stated(change: Change, new: Symbol, every: Symbol) -> Stated:
    if change.old.has(Apply) or not change.whole:
        return Stated(change, None, None)
    statement = _Statement(change, new, every)
    return Stated(change, statement.rows(), statement.prefix())


class _Statement:
    """Writes the claims of one equation, for p earlier positions and n new ones."""

    def __init__(self, change: Change, new: Symbol, every: Symbol) -> None:
        self.old, self.changed, self.positions = change.old, change.new, new
        names = {symbol.name for symbol in change.old.atoms(Symbol)}
        self.past = Symbol("p" if "p" not in names else "p_earlier", integer=True, positive=True)
        self.together = self.past + new
        self.sizes = {every: self.together}
        self.whole = {v: each.xreplace(self.sizes) for v, each in change.whole.items()}
        self.read = [v for v in self.whole if change.old.value.has(v)]
        self.back = [v for v in self.read if v in change.back]

    def rows(self) -> Derivation:
        """The equation at the next positions is the last rows of the equation at all of them."""
        new = self.changed.xreplace(self.sizes)
        is_whole = new.variable.shape == self.whole[self.old.variable].shape
        definitions = [
            _part(Variable(v.name, self._shape(v, first=self.positions), v.kind), self.whole[v], {self._axes(v)[0]: self.past})
            for v in self.read
        ]
        shift = {} if is_whole else {self._axes(self.old.value)[0]: self.past}
        return self._derivation("at the next positions", new.value, shift, definitions)

    def prefix(self) -> Derivation:
        """The equation at the earlier positions alone is the first rows of the equation at all of them."""
        cut = {v: Variable(f"{v.name}_cut", self._shape(v, every=self.past), v.kind) for v in self.whole}
        definitions = [_part(cut[v], self.whole[v], {}) for v in self.read]
        return self._derivation("at the earlier positions", self._at(self.past, cut), {}, definitions)

    def _derivation(self, where: str, left: Array, shift: dict[int, Expr], definitions: list[Equation]) -> Derivation:
        """Return the derivation: the left side, entry by entry, is the equation at all positions, some axes shifted."""
        right = self._at(self.together, self.whole)
        ranges: dict[Symbol, Expr] = {self.old.over[0]: total(self.old.over[1])} if self.old.over else {}
        avoid = {*left.atoms(Symbol), *right.atoms(Symbol), *self.positions.free_symbols}
        here: list[Any] = []
        for along in left.shape:
            parts = (along.count, along.size) if isinstance(along, Blocks) else (along,)
            indices = []
            for size in parts:
                indices.append(fresh_index({*avoid, *ranges}))
                ranges[indices[-1]] = size
            here.append(tuple(indices) if len(parts) == 2 else indices[0])
        there = [place + shift.get(axis, 0) if axis in shift else place for axis, place in enumerate(here)]
        masked = [_looking_back(self.whole[v]) for v in self.back]
        return derivation(
            f"{self.old.variable} {where}, by {THEOREM}",
            claim(left.entry(*here), step("indicator", right.entry(*there))),
            about=[*masked, *definitions],
            ranges=ranges,
        )

    def _at(self, size: Expr, names: Mapping[Variable, Variable]) -> Array:
        """Return the right-hand side of the equation for so many positions, its variables called as told."""
        marked = {v: Variable(f"{v.name}!", v.shape, v.kind) for v in self.read}
        value = replace_free(self.old.value, marked).xreplace({self.positions: size})
        return replace_free(value, {w.xreplace({self.positions: size}): names[v] for v, w in marked.items()})

    def _axes(self, node: Array) -> list[int]:
        return [axis for axis, along in enumerate(node.shape) if total(along) == self.positions]

    def _shape(self, variable: Variable, first: Expr | None = None, every: Expr | None = None) -> tuple[Axis, ...]:
        axes, shape = self._axes(variable), list(variable.shape)
        for axis in axes:
            shape[axis] = every or (first if axis == axes[0] else None) or self.together
        return tuple(shape)


def _part(part: Variable, whole: Variable, starts: Mapping[int, Expr]) -> Equation:
    """Return the definition of an array as some rows, and columns, of another."""
    if any(isinstance(along, Blocks) for along in part.shape):
        return _rows_of_blocks(part, whole, starts)
    places = _places(part)
    moved = [place + starts.get(axis, 0) for axis, place in enumerate(places)]
    return Equation(part, Tabulated(Lambda(tuple(places), whole.entry(*moved)), *part.shape))


def _rows_of_blocks(part: Variable, whole: Variable, starts: Mapping[int, Expr]) -> Equation:
    start = next(iter(starts.values()), Integer(0))
    if len(part.shape) == 2:
        return Equation(part, RowRange(whole, start, part.shape[0]))
    (place, *_) = _places(part)
    return Equation(Member(part, place), RowRange(Member(whole, place), start, part.shape[1]), place, part.shape[0])


def _looking_back(whole: Variable) -> Equation:
    """Return the definition of an array, of which nothing is known but that it is 0 right of its diagonal."""
    places, anything = _places(whole), Variable(f"{whole.name}_any", whole.shape, whole.kind)
    seen = Iverson(Le(places[-1], places[-2], evaluate=False))
    return Equation(whole, Tabulated(Lambda(tuple(places), seen * anything.entry(*places)), *whole.shape))


def _places(node: Array) -> list[Symbol]:
    return [Symbol(f"row_{axis}", integer=True) for axis in range(len(node.shape))]
