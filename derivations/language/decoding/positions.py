"""Expressions at the last positions: the last n of t positions of an expression, and the positions that they read.

Definition   an axis of n places, where n is the number of positions, represents t positions, of which the last n are
             new. `Positions.cut(node, view)` is the node of the layer at t positions, restricted to the new positions
             along each such axis for which `view` does not request all positions
Result       row t - n + i of the node at t positions is row i of the returned node
Assumes      t >= n. A refused node would read later positions, so that later steps would change rows computed before
Source       Shazeer (2019), section 2.4

A sum over positions, also the one in a softmax, must be restricted by a mask that looks back only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Basic, Expr, Lambda, Symbol, Tuple

from derivations.language.arrays.arrangements import SumOver, Tabulated
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Variable,
)
from derivations.language.arrays.functions import (
    BandMask,
    Hadamard,
    MaskConjunction,
    RowMean,
    RowSoftmax,
    RowSum,
)
from derivations.language.arrays.masks import as_band
from derivations.language.arrays.operand_axes import Axes, NotCausal, operand_axes, operands
from derivations.language.arrays.routing import TopKMask
from derivations.language.arrays.rows import RowRange
from derivations.language.arrays.shapes import Axis, total
from derivations.language.layers.layer import Apply

__all__ = ["NotCausal", "Positions", "View", "looks_back"]

View = tuple[bool, ...]  # for each axis, whether all positions are requested; False for an axis without positions


# --- zeros ahead ------------------------------------------------------------------------------------------------------


def looks_back(node: Array, known: Callable[[Array], bool]) -> bool:
    """Return whether it is certain that a matrix, or every matrix of a family, is 0 right of its diagonal.

    `known` decides it for variables and applied layers.
    """
    if isinstance(node, Variable | Apply):
        return known(node)
    if isinstance(node, BandMask | Tabulated):
        band = as_band(node)
        return band is not None and band.looks_back
    # a softmax has weight 0 where its mask hides, and what is hidden is not among the largest entries
    if isinstance(node, RowSoftmax | TopKMask):
        return len(node.args) > 1 and looks_back(node.args[1], known)
    if isinstance(node, MaskConjunction | Hadamard):
        # a product is 0 where one factor is 0
        return any(looks_back(part, known) for part in node.args)
    if isinstance(node, Plus):
        # a sum is 0 for certain only where both terms are
        return all(looks_back(part, known) for part in node.args)
    if isinstance(node, Member | SumOver):
        return looks_back(node.args[0], known)
    return isinstance(node, Scaled) and looks_back(node.args[1], known)


# --- cutting ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Positions:
    """Restricts expressions to new positions. `new` is the number of new positions, `all` that of all positions.

    `variable` and `applied` return the array for a variable, or an applied layer, at the requested positions; `back`
    decides whether one is 0 right of its diagonal.
    """

    new: Symbol
    all: Symbol
    variable: Callable[[Variable, View], Array]
    applied: Callable[[Apply, View], Array]
    back: Callable[[Array], bool]

    def are_along(self, along: Axis) -> bool:
        """Return whether an axis is an axis of positions.

        Raises       NotCausal if its length contains the number of positions but differs from it
        """
        length = total(along)
        if length != self.new and length.has(self.new):
            raise NotCausal(f"an axis of {length} places shifts or mixes the {self.new} positions")
        return bool(length == self.new)

    def rows(self, node: Array) -> View:
        """Return the view of the new rows: the first axis of positions at the new ones, the others at all positions."""
        # A matrix over pairs of positions, such as scores, has new queries but all keys.
        axes = [self.are_along(along) for along in node.shape]
        first = axes.index(True) if any(axes) else None
        return tuple(here and k != first for k, here in enumerate(axes))

    def whole(self, node: Array) -> View:
        """Return the view of all positions."""
        return tuple(self.are_along(along) for along in node.shape)

    def shape(self, node: Array, view: View) -> tuple[Axis, ...]:
        """Return the shape of a node at the requested positions."""
        return tuple(self._length(along, all_) for along, all_ in zip(node.shape, view, strict=True))

    def cut(self, node: Array, view: View) -> Array:
        """Return an expression at the requested positions.

        Raises       NotCausal if it reads later positions, or if no rule gives the positions that it reads
        """
        if isinstance(node, Variable):
            return self.variable(node, view)
        if isinstance(node, Apply):
            return self.applied(node, view)
        if not any(self.are_along(along) for part in (node, *(a for _, a in operands(node))) for along in part.shape):
            self._require_fixed(node, *(part for part in node.args if not isinstance(part, Array)))
            return _rebuilt(node, {k: self.cut(a, (False,) * len(a.shape)) for k, a in operands(node)})
        if isinstance(node, BandMask | RelativeBuckets):
            return self._of_pairs(node, view)
        if isinstance(node, Tabulated):
            return self._tabulated(node, view)
        if isinstance(node, RowRange) and self.are_along(node.args[2]):
            return self._rows_of_table(node, view)
        read = operand_axes(node)
        self._require_past(node, read, view)
        changed: dict[int, Basic] = {}
        if isinstance(node, Contraction):
            self._require_same_places(node)
            changed[1] = Tuple(*self.shape(node, view))
        for place, argument in enumerate(node.args):
            if place in read:
                changed[place] = self.cut(argument, self._view_of(argument, read[place], view))
            elif isinstance(node, RowBroadcast | ColumnBroadcast):
                changed[place] = self._length(argument, view[0 if isinstance(node, RowBroadcast) else 1])
            elif place not in changed:
                self._require_fixed(node, argument)
        return _rebuilt(node, changed)

    def _length(self, along: Axis, all_: bool) -> Axis:
        return (self.all if all_ else self.new) if self.are_along(along) else along

    def _view_of(self, operand: Array, axes: Axes, view: View) -> View:
        along = map(self.are_along, operand.shape)
        # An axis that is summed over, such as the keys, is read at all positions.
        return tuple(here and (axis is None or view[axis]) for here, axis in zip(along, axes, strict=True))

    def _require_past(self, node: Array, read: dict[int, Axes], view: View) -> None:
        """Raise `NotCausal` for a sum over positions that no mask restricts: later positions would change it."""
        if isinstance(node, RowSoftmax | TopKMask) and self.are_along(node.shape[-1]):
            # keys at the new positions only would leave out the keys in the cache
            if not (view[-1] and looks_back(node, self.back)):
                raise NotCausal(f"{node} is over all positions, later ones too: it needs a mask that looks back only")
            return
        for place, axes in read.items():
            operand = node.args[place]
            summed = [k for k, axis in enumerate(axes) if axis is None and self.are_along(operand.shape[k])]
            if summed and not self._is_cut(node, view):
                raise NotCausal(f"{node} reads all positions, later ones too: it needs a mask that looks back only")

    def _is_cut(self, node: Array, view: View) -> bool:
        """Return whether a sum over positions reads no later ones: a product or row sums of a masked matrix."""
        # If A_ij = 0 for j > i, row i of A B and the sum of row i of A depend on the positions j <= i only.
        left = node.args[0]
        # a mean divides by the number of positions, which the later ones change
        rows = isinstance(node, Product | RowSum) and not isinstance(node, RowMean)
        square = len(left.shape) == 2 and all(map(self.are_along, left.shape)) if rows else False
        return square and looks_back(left, self.back)

    def _require_fixed(self, node: Array, *parts: Basic) -> None:
        """Raise `NotCausal` for a node that depends on the number of positions, which grows from step to step."""
        if any(part.has(self.new) for part in parts):
            raise NotCausal(f"{node} depends on the number {self.new} of positions, which grows from step to step")

    def _require_same_places(self, node: Contraction) -> None:
        """Raise `NotCausal` unless a contraction uses its position i only to read operands at position i."""
        positions = [index for index, along in zip(node.indices, node.shape, strict=True) if self.are_along(along)]
        elsewhere = [place for _, places in node.operands for place in places if place not in positions]
        # a factor such as [i >= j] would be that of row i where row t - n + i is meant
        if any(part.has(*positions) for part in (node.factor, *elsewhere)):
            raise NotCausal(f"{node} depends on the numbers of its positions, or reads others")

    def _of_pairs(self, node: Array, view: View) -> Array:
        full: Array = node.xreplace({self.new: self.all})
        self._require_fixed(node, *((node.lower, node.upper) if isinstance(node, BandMask) else node.args[2:]))
        if not all(self.whole(node)):
            raise NotCausal(f"{node} is about pairs of positions of two kinds")
        return full if all(view) else RowRange(full, self.all - self.new, self.new)

    def _rows_of_table(self, node: Array, view: View) -> Array:
        table, start, _, step = node.args
        self._require_fixed(node, table, start, step)
        given = self.cut(table, (False,) * 2)
        if view[0]:
            return RowRange(given, start, self.all, step)
        # row i of the new rows is row t - n + i of all, each `step` further
        return RowRange(given, start + step * (self.all - self.new), self.new, step)

    def _tabulated(self, node: Array, view: View) -> Array:
        formula, *axes = node.args
        self._require_fixed(node, formula)
        moved: dict[Any, Expr] = {}
        for variable, along, all_ in zip(formula.variables, axes, view, strict=True):
            if self.are_along(along) and not all_:
                moved[variable] = variable + self.all - self.new  # new row i is row t - n + i of all
        table = Lambda(formula.variables, formula.expr.xreplace(moved))
        return Tabulated(table, *self.shape(node, view))


def _rebuilt(node: Array, changed: Mapping[int, Basic]) -> Array:
    result: Array = node.func(*(changed.get(k, part) for k, part in enumerate(node.args))) if changed else node
    return result
