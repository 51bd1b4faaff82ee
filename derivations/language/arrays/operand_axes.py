"""The axes of operands: for each kind of node, a table from the axes of its operands to the axes of the node."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Explicit, PlacedBlock, SumOver, Tabulated
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.columns import ColumnConcatenation, ColumnRange
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
)
from derivations.language.arrays.functions import (
    BandMask,
    Elementwise,
    Hadamard,
    Interleave,
    Lookup,
    MaskConjunction,
    RowLogSumExp,
    RowMean,
    RowSoftmax,
    RowSum,
)
from derivations.language.arrays.routing import BatchTranspose, RoutedProduct, TopK, TopKMask
from derivations.language.arrays.rows import RowRange
from derivations.language.arrays.selection import Chosen, EveryOther, OneHot, Pick

__all__ = ["Axes", "NotCausal", "operand_axes", "operands"]


class NotCausal(ValueError):
    """A layer whose rows depend on later positions, or may depend on them as far as the rules can tell."""


Axes = tuple[int | None, ...]  # for each axis of an operand, the axis of the node; None if it becomes no axis


@singledispatch
def operand_axes(node: Array) -> dict[int, Axes]:
    """Return, by argument number of the operand, the axis of the node that each axis of the operand becomes."""
    raise NotCausal(f"no rule says which positions {node} reads: decoding with a cache knows no {type(node).__name__}")


def operands(node: Array) -> Iterator[tuple[int, Array]]:
    """Yield the operands of a node with their numbers among its arguments."""
    return ((k, part) for k, part in enumerate(node.args) if isinstance(part, Array))


def _same(node: Array) -> dict[int, Axes]:
    return {k: tuple(range(len(a.shape))) for k, a in operands(node)}


for _entrywise in (
    Plus,
    Scaled,
    Hadamard,
    MaskConjunction,
    Elementwise,
    RowSoftmax,
    TopKMask,
    Interleave,
    Concatenate,
    SumOver,
):
    operand_axes.register(_entrywise, _same)
for _columns in (
    ColumnBlock,
    ColumnConcatenation,
    ColumnRange,
    PlacedBlock,
    EveryOther,
):  # their last axis is never an axis of positions
    operand_axes.register(_columns, _same)
for _leaf in (Explicit, BandMask, RelativeBuckets, Tabulated):
    operand_axes.register(_leaf, lambda node: {})
for _reduced in (RowSum, RowMean, RowLogSumExp, RowMax):
    operand_axes.register(_reduced, lambda node: {k: (*range(len(node.shape)), None) for k, _ in operands(node)})
operand_axes.register(Transpose, lambda node: {0: (1, 0)})
operand_axes.register(Member, lambda node: {0: (None, *range(len(node.shape)))})
operand_axes.register(RowBroadcast, lambda node: {0: (1,)})
operand_axes.register(ColumnBroadcast, lambda node: {0: (0,)})
operand_axes.register(Lookup, lambda node: {0: (None, 1), 1: (0,)})
operand_axes.register(OneHot, lambda node: {0: (0,)})
operand_axes.register(Pick, lambda node: {0: (0, None), 1: tuple(range(len(node.shape)))})
operand_axes.register(TopK, lambda node: {0: (1, None)})
operand_axes.register(RoutedProduct, lambda node: {0: (0, None), 1: (None, None, 1), 2: (0,)})
operand_axes.register(BatchTranspose, lambda node: {0: (0, 2, 1)})
operand_axes.register(Chosen, lambda node: {0: (None, 0), 1: (1, 2)})


@operand_axes.register
def _(node: Contraction) -> dict[int, Axes]:
    axes = {index: number for number, index in enumerate(node.indices)}
    read = (tuple(axes.get(place) for place in places) for _, places in node.operands)
    return {number: found for (number, _), found in zip(operands(node), read, strict=True)}


@operand_axes.register
def _(node: Product) -> dict[int, Axes]:
    rows = len(node.args[0].shape) - 1
    return {0: (*range(rows), None), 1: (None, *range(rows, len(node.shape)))}


@operand_axes.register
def _(node: RowRange) -> dict[int, Axes]:
    return {0: (None, 1)}  # row i is row start + step i of a table, which is not an axis of positions
