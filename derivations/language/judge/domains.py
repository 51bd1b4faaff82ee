"""Domains: the parts of an array that are not defined everywhere, because of a quotient, a root or a logarithm.

SymPy cancels equal terms and factors: an entry of `x * (1/x)` is 1, and x_i != 0 is lost. So the judge also reads, on
their own, the parts of an array that are not defined everywhere, at the indices that the entry depends on. An entry of
a transparent node holds entries of its operands as leaves. If these are deferred (`deferred`) and the entry itself is
read, they are read with it. Parts are then read on their own only below a node that may drop an operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from sympy import Basic, Expr, Integer, Pow, log

from derivations.language.arrays.arrangements import ColumnBlock, Concatenate, Explicit, PlacedBlock, SumOver, Tabulated
from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.declarations import demands
from derivations.language.arrays.expression import (
    Array,
    ColumnBroadcast,
    Member,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Transpose,
    Variable,
)
from derivations.language.arrays.functions import Elementwise, Hadamard, Interleave, Lookup, MaskConjunction
from derivations.language.arrays.routing import RoutedProduct
from derivations.language.arrays.scalars import Within
from derivations.language.arrays.selection import Pick
from derivations.language.arrays.shapes import Axis, Pair, flat, join, split, total
from derivations.language.layers.layer import Apply, Repeat

__all__ = ["partial_entries"]

Fresh = Callable[[Axis], Any]  # returns an index on an axis that occurs nowhere else


def partial_entries(array: Array, places: tuple[Any, ...], fresh: Fresh, read: bool = False) -> Iterator[Expr]:
    """Yield the entries with a quotient, a root or a logarithm on which an entry depends, and range checks.

    With `read`, entries are omitted that are reached when the entry itself is read, leaf by leaf.
    """
    if not (_may_lose(array) if read else _has_partial(array)):
        return
    if _is_partial(array) and not (read and isinstance(array, _TRANSPARENT)):
        yield array.entry(*places)
    yield from _new_places(array, places)
    if _forgets_operands(array):
        read = False
        yield from (part.entry(*at) for part, at in _parts(array, places, fresh))
    for part, at in _parts(array, places, fresh):
        yield from partial_entries(part, at, fresh, read)


@lru_cache(maxsize=1 << 12)
def _has_partial(node: Basic) -> bool:
    if getattr(node, "closed", False):
        return False
    if _unfolds(node):
        return _has_partial(_unfolded(node))
    return (
        _is_partial(node)
        or _forgets_operands(node)
        or isinstance(node, Concatenate | ColumnBlock | Interleave | Member | PlacedBlock)
        or any(_has_partial(part) for part in node.args)
    )


@lru_cache(maxsize=1 << 12)
def _may_lose(node: Basic) -> bool:
    """Return whether an entry of a node with deferred operands may drop a part that is not defined everywhere."""
    if getattr(node, "closed", False):
        return False
    if _unfolds(node):
        return _may_lose(_unfolded(node))
    if (isinstance(node, Array) and not isinstance(node, _TRANSPARENT)) or _forgets_operands(node):
        return _has_partial(node)
    return any(_may_lose(part) for part in node.args)


_TRANSPARENT = (
    Apply,
    ColumnBroadcast,
    Elementwise,
    Explicit,
    Hadamard,
    Plus,
    Product,
    RowBroadcast,
    Scaled,
    Tabulated,
    Transpose,
    Variable,
)  # an entry of these nodes holds an entry of each operand as a leaf


def _unfolds(node: Basic) -> bool:
    """Return whether a node is an applied layer that can be unfolded and in which an operand may be dropped."""
    written = isinstance(node, Apply) and (not isinstance(node, Repeat) or bool(node.count.is_Integer))
    return written and _forgets(node.args[1])


@lru_cache(maxsize=1 << 10)
def _forgets(node: Basic) -> bool:
    return _forgets_operands(node) or any(_forgets(part) for part in node.args)


def _forgets_operands(node: Basic) -> bool:
    """Return whether an entry of a node may drop entries of its operands, as in 0 * A, f(A, A) or f = 0."""
    if isinstance(node, Elementwise):
        function, *arrays = node.args
        unused = set(function.formula.variables) - function.formula.expr.free_symbols
        return len(set(arrays)) < len(arrays) or bool(unused)
    return isinstance(node, Scaled) and bool(node.args[0] == 0)


@lru_cache(maxsize=1 << 10)
def _unfolded(node: Apply) -> Array:
    return node.unfold()


def _is_partial(node: Basic) -> bool:
    if isinstance(node, Elementwise):
        return bool(node.args[0].formula.expr.has(Pow, log)) or any(map(demands, node.args[0].variables))
    if isinstance(node, Lookup | Pick | RoutedProduct):
        return True  # its numbers must be indices in range
    if isinstance(node, Contraction):
        return bool(node.factor.has(Pow, log))
    return isinstance(node, Explicit | Scaled | Tabulated) and bool(node.args[0].has(Pow, log))


def _new_places(node: Array, places: tuple[Any, ...]) -> Iterator[Expr]:
    """Yield range checks for the indices that a node introduces or splits."""
    if isinstance(node, Member):
        yield Within(Integer(0), node.args[1], total(node.args[0].shape[0]))
    if isinstance(node, ColumnBlock):
        yield Within(Integer(0), node.args[1], node.args[0].shape[-1].count)
    if isinstance(node, PlacedBlock):
        yield Within(Integer(0), node.args[1], node.args[2])
    if isinstance(node, Pick) and not isinstance(node.args[0], Variable):
        yield Within(Integer(0), node.args[1].entry(*places), total(node.args[0].shape[1]))
    if isinstance(node, Concatenate | Interleave) and not isinstance(places[-1], Pair):
        along = node.shape[-1]
        for part, size in zip(split(places[-1], along.size), (along.count, along.size), strict=True):
            yield Within(Integer(0), part, size)


def _parts(node: Array, places: tuple[Any, ...], fresh: Fresh) -> Iterator[tuple[Array, tuple[Any, ...]]]:
    """Yield the arrays inside a node, with the indices at which an entry of the node depends on them."""
    arrays = [part for part in node.args if isinstance(part, Array)]
    match node:
        case Elementwise() | Hadamard() | MaskConjunction() | Plus() | Scaled():
            yield from ((part, places if part.shape else ()) for part in arrays)
        case Transpose():
            yield arrays[0], places[::-1]
        case RowBroadcast() | ColumnBroadcast():
            yield arrays[0], (places[isinstance(node, RowBroadcast)],)
        case Member():
            yield arrays[0], (node.args[1], *places)
        case Product():
            left, right = arrays
            inner, split = fresh(join(left.shape[-1], right.shape[0])), len(left.shape) - 1
            yield left, (*places[:split], inner)
            yield right, (inner, *places[split:])
        case Contraction():
            values = {symbol: flat(fresh(count)) for symbol, count in node.sums}
            yield from node.read_at(values | node.values_at(places))
        case Concatenate() if isinstance(places[-1], Pair):
            yield replace_free(arrays[0], {node.args[1]: places[-1].block}), (*places[:-1], places[-1].place)
        case ColumnBlock():
            yield arrays[0], (*places[:-1], Pair(node.args[1], flat(places[-1]), arrays[0].shape[-1].size))
        case SumOver():
            yield replace_free(arrays[0], {node.args[1]: flat(fresh(node.args[2]))}), places
        case Apply() if _unfolds(node):
            yield _unfolded(node), places
        case _:
            index = getattr(node, "bound_symbols", ())
            inside = {index[0]: flat(fresh(node.args[2]))} if index else {}
            for part in arrays:
                yield replace_free(part, inside), tuple(map(fresh, part.shape))
