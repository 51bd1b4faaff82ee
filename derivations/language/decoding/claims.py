r"""The claims that justify decoding with a cache, equation by equation, for the judge.

Definition   with p earlier positions and n new ones, every equation of a layer has two claims. Rows: the equation at
             the next positions gives the rows p, ..., p + n - 1 of the equation at p + n positions. Prefix: the rows
             0, ..., p - 1 of the equation at p + n positions are the equation at p positions
Result       by the first, the new rows are right if the cached ones are; by the second, cached rows do not change:
             attention.causal_prefix, for the equations of this layer
Assumes      the same two claims hold for the variables that an equation reads; tables have all rows that are read.
             Nodes that the judge cannot express (buckets of distances) give `unknown`, not proved
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Basic, Eq, Expr, Ge, Integer, Lambda, Le, Mod, Symbol, fraction, preorder_traversal, together

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.binding import fresh_index, replace_free
from derivations.language.arrays.expression import Array, Member, Variable
from derivations.language.arrays.functions import Lookup, RowMean
from derivations.language.arrays.routing import RoutedProduct
from derivations.language.arrays.rows import RowRange
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.selection import Chosen, Pick
from derivations.language.arrays.shapes import Axis, Blocks, total
from derivations.language.decoding.caches import Change
from derivations.language.decoding.decoding import THEOREM, Decoding
from derivations.language.layers.layer import Apply, Equation
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, step

__all__ = ["Stated", "claims"]


@dataclass(frozen=True)
class Stated:
    """A change of an equation with its two claims.

    The claims are None for an equation that applies a part: the part's own equations have claims.
    """

    change: Change
    rows: Derivation | None
    prefix: Derivation | None

    @property
    def level(self) -> str:
        """The weaker verdict on both claims: "definition" (a part), "proved", "unknown" or "refuted"."""
        if self.rows is None or self.prefix is None:
            return "definition"
        levels = {each.evidence.level for each in (self.rows, self.prefix)}
        return next((level for level in ("refuted", "unknown") if level in levels), "proved")


def claims(decoding: Decoding) -> Iterator[Stated]:
    """Yield the claims of every equation of a layer at its next positions."""
    for link in decoding.links:
        means = {change.old.variable: change for change in link.changes if isinstance(change.old.value, RowMean)}
        for change in link.changes:
            if not any(total(along).has(decoding.new) for along in change.old.variable.shape):
                continue  # it has no axis of positions
            if isinstance(change.old.value, Apply):
                yield Stated(change, None, None)
                continue
            known = [means[v] for v, _ in change.whole if v in means and v != change.old.variable]
            statement = _Statement(change, known, decoding.new, decoding.all)
            yield Stated(change, statement.rows(), statement.prefix())


_NUMBERED = {  # nodes that select by numbers: the argument with the numbers, the table argument, the table's axis
    Lookup: (1, 0, 0),
    Pick: (1, 0, 1),
    RoutedProduct: (2, 1, 0),
    Chosen: (1, 0, 0),
}


class _Statement:
    """Writes the claims of one equation, for p earlier positions and n new ones.

    `known` are the changes of the row means that the equation reads, such as variances; their equations show the sign.
    """

    def __init__(self, change: Change, known: list[Change], new: Symbol, every: Symbol) -> None:
        self.old, self.changed, self.positions = change.old, change.new, new
        names = {symbol.name for symbol in change.old.atoms(Symbol)}
        self.past = Symbol("p" if "p" not in names else "p_earlier", integer=True, positive=True)
        self.together = self.past + new
        self.sizes = {every: self.together}
        self.whole = {v: each.xreplace(self.sizes) for v, each in change.whole}
        self.read = [v for v in self.whole if change.old.value.has(v)]
        self.back = [v for v in self.read if v in change.back]
        self.known = [_Statement(each, [], new, every) for each in known]

    def rows(self) -> Derivation:
        """Return the claim that the equation at the next positions equals the last rows at all positions."""
        new = self.changed.xreplace(self.sizes)
        # an array that is recomputed at all positions is compared without a shift
        is_whole = new.variable.shape == self.whole[self.old.variable].shape
        parts = {v: Variable(v.name, self._shape(v, first=self.positions), v.kind) for v in self.read}
        starts = {v: {self._axes(v)[0]: self.past} for v in self.read}
        shift = {} if is_whole else {self._axes(self.old.value)[0]: self.past}
        return self._derivation("at the next positions", new.value, shift, parts, starts)

    def prefix(self) -> Derivation:
        """Return the claim that the equation at the earlier positions equals the first rows at all positions."""
        cut = {v: Variable(f"{v.name}_cut", self._shape(v, every=self.past), v.kind) for v in self.whole}
        starts: dict[Variable, dict[int, Expr]] = {v: {} for v in self.read}
        return self._derivation("at the earlier positions", self._at(self.past, cut), {}, cut, starts)

    def _derivation(
        self,
        where: str,
        left: Array,
        shift: Mapping[int, Expr],
        parts: Mapping[Variable, Variable],
        starts: Mapping[Variable, Mapping[int, Expr]],
    ) -> Derivation:
        """Return the derivation that each entry of `left` equals the entry, shifted, of the equation at all positions.

        `shift` gives the shift of each axis. For each variable that the equation reads, `parts` gives the variable on
        the left side: its rows are those of the variable at all positions, from `starts` on.
        """
        right = self._at(self.together, self.whole)
        ranges: dict[Symbol, Expr] = {self.old.over[0]: total(self.old.over[1])} if self.old.over else {}
        avoid = {*left.atoms(Symbol), *right.atoms(Symbol), *self.positions.free_symbols}
        here: list[Any] = []
        for along in left.shape:
            lengths = (along.count, along.size) if isinstance(along, Blocks) else (along,)
            indices = []
            for length in lengths:
                indices.append(fresh_index({*avoid, *ranges}))
                ranges[indices[-1]] = length
            here.append(tuple(indices) if len(lengths) == 2 else indices[0])
        there = [place + shift.get(axis, 0) if axis in shift else place for axis, place in enumerate(here)]
        about = [_looking_back(self.whole[v]) for v in self.back]
        about += [each._equation() for each in self.known]
        about += [_part(parts[v], self.whole[v], starts[v]) for v in self.read if v.kind != "integer"]
        numbers = [_equal(parts[v], self.whole[v], starts[v]) for v in self.read if v.kind == "integer"]
        return derivation(
            f"{self.old.variable} {where}, by {THEOREM}",
            claim(left.entry(*here), step("assumption" if numbers else "indicator", right.entry(*there))),
            about=about,
            assuming=[*numbers, *self._in_range(), *_lengths(left, right, *about)],
            ranges=ranges,
        )

    def _equation(self) -> Equation:
        """Return the equation at all positions."""
        whole, over = self.whole[self.old.variable], self.old.over
        target = Member(whole, over[0]) if over else whole
        return Equation(target, self._at(self.together, self.whole), *(over or ()))

    def _in_range(self) -> list[Assumption]:
        """Return the statements that tables have all rows that are read, by number or by position."""
        found = []
        for node in preorder_traversal(self.old.value):
            if isinstance(node, RowRange):
                last = node.args[1] + node.args[3] * (self.together - 1)
                found.append(Assumption(Ge(total(node.args[0].shape[0]) - 1 - last, 0)))
            for kind, (numbers, table, axis) in _NUMBERED.items():
                if isinstance(node, kind):
                    found += self._numbers_in(node.args[numbers], total(node.args[table].shape[axis]))
        return found

    def _numbers_in(self, numbers: Array, rows: Expr) -> list[Assumption]:
        variable = numbers.args[0] if isinstance(numbers, Member) else numbers
        if variable not in self.whole:
            return []
        places = _places(self.whole[variable])
        ranges = dict(zip(places, self.whole[variable].shape, strict=True))
        entry = self.whole[variable].entry(*places)
        return [Assumption(Ge(entry, 0), ranges), Assumption(Ge(rows - 1 - entry, 0), ranges)]

    def _at(self, size: Expr, names: Mapping[Variable, Variable]) -> Array:
        """Return the right-hand side of the equation for `size` positions, with its variables renamed by `names`."""
        # marks keep the variables apart while sizes are replaced: n also occurs in their shapes
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
    """Return the definition of an array as rows (and columns) of another, shifted by `starts`."""
    if any(isinstance(along, Blocks) for along in part.shape):
        return _rows_of_blocks(part, whole, starts)
    places = _places(part)
    moved = [place + starts.get(axis, 0) for axis, place in enumerate(places)]
    return Equation(part, Tabulated(Lambda(tuple(places), whole.entry(*moved)), *part.shape))


def _equal(part: Variable, whole: Variable, starts: Mapping[int, Expr]) -> Assumption:
    """Return the assumption that an integer array is rows of another. A formula cannot define an integer array."""
    places = _places(part)
    moved = [place + starts.get(axis, 0) for axis, place in enumerate(places)]
    return Assumption(Eq(part.entry(*places), whole.entry(*moved)), dict(zip(places, part.shape, strict=True)))


def _lengths(*parts: Basic) -> list[Assumption]:
    """Return the statements that the size of every axis is an integer >= 1."""
    arrays = (node for part in parts for node in preorder_traversal(part) if isinstance(node, Array))
    axes = dict.fromkeys(along for node in arrays for along in node.shape)
    lengths = dict.fromkeys(
        size for along in axes for size in ((along.count, along.size) if isinstance(along, Blocks) else (along,))
    )
    quotients = dict.fromkeys(fraction(together(length)) for length in lengths)
    whole = [Assumption(Eq(Mod(top, below), 0, evaluate=False)) for top, below in quotients if below != 1]
    return [
        *whole,
        *(Assumption(Ge(length - 1, 0)) for length in lengths if length.is_Add and not (length - 1).is_nonnegative),
    ]


def _rows_of_blocks(part: Variable, whole: Variable, starts: Mapping[int, Expr]) -> Equation:
    start = next(iter(starts.values()), Integer(0))
    if len(part.shape) == 2:
        return Equation(part, RowRange(whole, start, part.shape[0]))
    (place, *_) = _places(part)
    return Equation(Member(part, place), RowRange(Member(whole, place), start, part.shape[1]), place, part.shape[0])


def _looking_back(whole: Variable) -> Equation:
    """Return the definition of an array that is 0 right of its diagonal and otherwise arbitrary."""
    places, anything = _places(whole), Variable(f"{whole.name}_any", whole.shape, whole.kind)
    # column <= row: everything right of the diagonal is 0
    seen = Iverson(Le(places[-1], places[-2], evaluate=False))
    return Equation(whole, Tabulated(Lambda(tuple(places), seen * anything.entry(*places)), *whole.shape))


def _places(node: Array) -> list[Symbol]:
    return [Symbol(f"row_{axis}", integer=True) for axis in range(len(node.shape))]
