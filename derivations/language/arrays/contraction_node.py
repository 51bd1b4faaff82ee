"""Contractions: arrays of any rank whose entries are sums of products of entries of other arrays.

Definition   C[i, j, ...] = sum_p c A[places of A] B[places of B] ..., where the places and the number c are formulas
             in the indices of the result and the indices p of the sum
Result       one node for what arrays of more than two axes need: products of batches, permuted, repeated, split,
             merged and sliced axes, sums along any axis. Its gradient with respect to an operand is a contraction again
Source       Einstein (1916), section 5, for the summation convention
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from sympy import Basic, Expr, Symbol, expand, sympify
from sympy import Tuple as Places
from sympy.printing.str import StrPrinter

from derivations.language.arrays.binding import replace_free
from derivations.language.arrays.expression import (
    Array,
    Shape,
    avoiding,
    require,
)
from derivations.language.arrays.shapes import (
    Axis,
    Blocks,
    Pair,
    Place,
    ShapeError,
    axis,
    flat,
    pair,
    shape_text,
    sum_along,
    total,
)

__all__ = ["Contraction", "Index", "index_of", "indices_of", "operand_of"]

_NUMBERED = tuple(f"{letter}_{number}" for number in range(1, 100) for letter in "ijkp")

Index: TypeAlias = Any  # the index of an axis; of an axis of blocks the pair (block, place in the block)
Operand = tuple[Array, Sequence[Any]]


def index_of(along: Axis, name: str) -> Index:
    """Return the index of an axis of the result; an axis of blocks gets a pair of symbols."""
    symbol = Symbol(name, integer=True)
    return Places(symbol, Symbol(f"{name}_1", integer=True)) if isinstance(along, Blocks) else symbol


def indices_of(shape: Iterable[Axis], names: str = "ijklmuvw") -> tuple[Index, ...]:
    """Return an index for each axis of a shape."""
    return tuple(index_of(along, name) for along, name in zip(shape, names, strict=False))


def operand_of(array: Array, places: Iterable[Any]) -> Places:
    """Return an operand: the array and, for each axis, the index expression (or pair) at which it is read."""
    return Places(array, *places)


class Contraction(Array):
    """The array with the entries sum_p c A[...] B[...] ...

    Assumes      every place is linear in the indices. The indices are local to the places and the number c: their names
                 are chosen anew whenever the node is built, apart from the names in its operands
    """

    def __new__(cls, indices: Any, shape: Any, sums: Any, factor: Any, reads: Any, *arrays: Array) -> Array:
        """Build the contraction.

        `indices` names the index of each axis of `shape`; `sums` lists pairs (index, number of values); `factor` is a
        number or a formula in the indices; `reads` lists, for each of the arrays, the places that are read.
        """
        summed = [(symbol, axis(size)) for symbol, size in sums]
        own = [*_symbols(indices), *(symbol for symbol, _ in summed)]
        require(len(set(own)) == len(own), lambda: f"contraction: an index occurs twice in {own}")
        local = Places(
            Places(*indices), Places(*(symbol for symbol, _ in summed)), sympify(factor, strict=True), _nested(reads)
        )
        sizes = Places(*map(axis, shape)), Places(*(size for _, size in summed))
        taken = {s.name for part in (*arrays, *sizes) for s in part.free_symbols}
        taken |= {s.name for s in local.free_symbols - set(own)}
        # canonical names, so that contractions that differ in the names of their indices are equal nodes
        names = _names(len(list(_symbols(indices))), len(summed), taken)
        written = local.xreplace(dict(zip(own, names, strict=True)))
        pairs = Places(*map(Places, written[1], sizes[1]))
        return super().__new__(cls, written[0], sizes[0], pairs, written[2], written[3], *arrays)

    @property
    def indices(self) -> tuple[Index, ...]:
        """The index of each axis of the result."""
        return tuple(self.args[0])

    @property
    def sums(self) -> tuple[tuple[Symbol, Axis], ...]:
        """The indices of the sum with their numbers of values."""
        return tuple(map(tuple, self.args[2]))

    @property
    def factor(self) -> Expr:
        """The number or formula in front of the product."""
        return self.args[3]

    @property
    def operands(self) -> tuple[tuple[Array, tuple[Any, ...]], ...]:
        """The arrays, each with the index expressions at which it is read."""
        return tuple((array, tuple(places)) for array, places in zip(self.args[5:], self.args[4], strict=True))

    @property
    def bound_symbols(self) -> list[Symbol]:
        """The indices, which are local to the node."""
        return list(self.counts)

    @cached_property
    def free_symbols(self) -> frozenset[Basic]:
        """The symbols in the node except its indices."""
        return frozenset(super().free_symbols) - self.counts.keys()

    @cached_property
    def counts(self) -> dict[Symbol, Expr]:
        """The number of values of each index, those of the result first."""
        counts: dict[Symbol, Expr] = {}
        for index, along in zip(self.indices, self.args[1], strict=True):
            if isinstance(index, Places):
                counts |= {index[0]: along.count, index[1]: along.size}
            else:
                counts[index] = total(along)
        return counts | {symbol: total(along) for symbol, along in self.sums}

    @property
    def is_move(self) -> bool:
        """Whether every entry is an entry of the one operand: there is no sum, and the factor is 1."""
        return len(self.args) == 6 and not self.sums and self.factor == 1

    @property
    def kind(self) -> str:
        """The kind of the entries: that of the operand if entries are only moved, else real."""
        return self.args[5].kind if self.is_move else "real"

    def _infer(self) -> Shape:
        shape = tuple(self.args[1])
        require(len(shape) == len(self.indices), lambda: f"contraction: {len(shape)} axes, {len(self.indices)} indices")
        for index, along in zip(self.indices, shape, strict=True):
            if isinstance(index, Places) and not isinstance(along, Blocks):
                raise ShapeError(f"contraction: a pair of indices needs an axis of blocks, not one of size {along}")
        require(
            len(self.args) - 5 == len(self.args[4]),
            lambda: f"contraction: places of {len(self.args[4])} arrays are given for {len(self.args) - 5} arrays",
        )
        for array, places in self.operands:
            if len(array.shape) != len(places):
                known = f"{array} has shape {shape_text(array.shape)}"
                raise ShapeError(f"{known}: a contraction reads it at {len(places)} places")
            for place, along in zip(places, array.shape, strict=True):
                self._check(array, place, along)
        return shape

    def _check(self, array: Array, place: Any, along: Axis) -> None:
        """Raise `ShapeError` if an index expression is not linear in the indices or certainly lies outside its axis."""
        if isinstance(place, Places):
            require(
                isinstance(along, Blocks),
                lambda: f"{array} is read at the pair {_written(place)}, but its axis of size {along} has no blocks",
            )
            self._check(array, place[0], along.count)
            self._check(array, place[1], along.size)
            return
        first, last = self.range_of(place, array)
        outside = bool(first.is_negative or expand(total(along) - 1 - last).is_negative)
        require(not outside, lambda: f"{array} is read at {place}, outside its axis of size {total(along)} (from 0)")

    def range_of(self, place: Expr, array: Array | None = None) -> tuple[Expr, Expr]:
        """Return the least and the largest value of an index expression. A step of unknown sign counts as positive."""
        start, steps = self.steps(place, array or self)
        last = start
        for symbol, step in steps:
            span = expand(step * (self.counts[symbol] - 1))
            # a negative step runs down from the start, so its span lowers the first place
            start, last = (start + span, last) if step.is_negative else (start, last + span)
        return expand(start), expand(last)

    def steps(self, place: Expr, array: Array) -> tuple[Expr, list[tuple[Symbol, Expr]]]:
        """Return an index expression as a constant and the step of each index, in the order of the indices.

        Raises       ShapeError for an expression that is not linear in the indices
        """
        rest, found = expand(place), []
        for symbol in self.counts:
            if symbol in rest.free_symbols:
                step = rest.coeff(symbol, 1)
                rest = expand(rest - step * symbol)
                linear = symbol not in rest.free_symbols and not step.free_symbols & self.counts.keys()
                require(linear, lambda: f"{array} is read at {place}, which is not linear in the indices")
                found.append((symbol, step))
        return rest, found

    def _sympystr(self, printer: StrPrinter) -> str:
        names = [self._text(5 + number, 3) for number in range(len(self.operands))]
        parts = [f"{name}[{', '.join(map(_written, at))}]" for name, (_, at) in zip(names, self.operands, strict=True)]
        factor = StrPrinter().parenthesize(self.factor, 50)
        factors = [*([] if self.factor == 1 and parts else [factor]), *parts]
        sums = f"sum {', '.join(str(symbol) for symbol, _ in self.sums)}: " if self.sums else ""
        return f"[{', '.join(map(_written, self.indices))} -> {sums}{' * '.join(factors)}]"

    def _entry(self, *places: Place) -> Expr:
        return self._summed(self.sums, self.values_at(places), avoiding(self, places))

    def _summed(self, sums: Sequence[tuple[Symbol, Axis]], values: dict[Symbol, Expr], avoid: set[Symbol]) -> Expr:
        if sums:
            (symbol, along), *rest = sums
            return sum_along(along, lambda p: self._summed(rest, {**values, symbol: flat(p)}, avoid), avoid)
        value = replace_free(self.factor, values)
        for array, places in self.read_at(values):
            value = value * array.entry(*places)
        return value

    def values_at(self, places: Iterable[Place]) -> dict[Symbol, Expr]:
        """Return the values of the indices of the result at one of its entries."""
        values: dict[Symbol, Expr] = {}
        for given, own, along in zip(places, self.indices, self.shape, strict=True):
            if isinstance(own, Places):
                at = pair(given, along)
                values |= {own[0]: at.block, own[1]: at.place}
            else:
                values[own] = flat(given)
        return values

    def read_at(self, values: dict[Symbol, Expr]) -> Iterator[tuple[Array, tuple[Place, ...]]]:
        """Yield each operand with the indices at which it is read, for the given values of all indices."""
        for array, places in self.operands:
            yield array, tuple(_at(place, values, along) for place, along in zip(places, array.shape, strict=True))


def _symbols(indices: Iterable[Index]) -> Iterator[Symbol]:
    """Yield the symbols of indices; a pair has two."""
    for index in indices:
        yield from index if isinstance(index, Places) else (index,)


def _nested(reads: Any) -> Places:
    """Return the index expressions of each operand as SymPy tuples."""
    return Places(*(Places(*map(sympify, each)) for each in reads))


def _names(results: int, sums: int, taken: set[str]) -> list[Symbol]:
    """Return names of indices: i, j, k, ... for the result and p, q, r, ... for sums, without those that are taken."""
    found: list[str] = []
    for count, letters in ((results, "ijkluvw"), (sums, "pqrst")):
        free = (name for name in (*letters, *_NUMBERED) if name not in taken and name not in found)
        found += [next(free) for _ in range(count)]
    return [Symbol(name, integer=True) for name in found]


def _at(place: Any, values: dict[Symbol, Expr], along: Axis) -> Place:
    """Return one index of an operand, with values put in for the symbols."""
    if isinstance(place, Places):
        block, rest = (part.xreplace(values) for part in place)
        return Pair(block, rest, along.size)
    return place.xreplace(values)


def _written(place: Any) -> str:
    return f"({place[0]}, {place[1]})" if isinstance(place, Places) else str(place)
