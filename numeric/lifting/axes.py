"""Axes of symbolic arrays: an axis merged from several keeps its parts, so that a reshape needs no floor function.

Definition   an axis is a size, or `Factors`: sizes whose product it has, in row-major order. The node of an array has
             one axis for each part
Result       an index of an axis has one symbol for each part; its `flat` place is a polynomial in them
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Expr, Integer, Symbol, expand

from derivations.language.arrays.shapes import Blocks, split, total

__all__ = [
    "Along",
    "Factors",
    "Index",
    "Stepped",
    "digits",
    "fine",
    "is_one",
    "numbered",
    "parts_of",
    "same_length",
    "size_of_axis",
]

LETTERS = "ijkluvwabcegh"


@dataclass(frozen=True)
class Factors:
    """An axis of length `sizes[0] * sizes[1] * ...`; the node has one axis for each of these sizes."""

    sizes: tuple[Expr, ...]


Along: TypeAlias = Expr | Factors


@dataclass(frozen=True)
class Index:
    """The index of an axis: a symbol for each of its parts."""

    symbols: tuple[Symbol, ...]
    sizes: tuple[Expr, ...]

    @property
    def flat(self) -> Expr:
        """The position along the axis as one number."""
        place: Expr = Integer(0)
        for symbol, size in zip(self.symbols, self.sizes, strict=True):
            place = place * size + symbol
        return expand(place)


@dataclass(frozen=True)
class Stepped(Index):
    """An index that counts the positions start, start + step, ... of an axis."""

    start: Expr
    step: int

    @property
    def flat(self) -> Expr:
        """The position along the axis as one number."""
        return expand(self.start + self.step * Index(self.symbols, self.sizes).flat)


def parts_of(along: Along | Blocks) -> tuple[Expr, ...]:
    """Return the sizes of the parts of an axis."""
    return along.sizes if isinstance(along, Factors) else (total(along),)


def size_of_axis(along: Along | Blocks) -> Expr:
    """Return the length of an axis."""
    first, *rest = parts_of(along) or (Integer(1),)
    for part in rest:
        first = first * part
    return first


def same_length(one: Along, other: Along) -> bool:
    """Return whether two axes have the same length, for all sizes."""
    return one == other or bool(expand(size_of_axis(one) - size_of_axis(other)) == 0)


def is_one(along: Along) -> bool:
    """Return whether an axis has the length 1, so that it can be broadcast."""
    return bool(size_of_axis(along) == 1)


def fine(axes: Iterable[Along]) -> list[Expr]:
    """Return the sizes of the parts of all axes, which are the axes of the node."""
    return [part for along in axes for part in parts_of(along)]


def numbered(axes: Sequence[Along]) -> list[Index]:
    """Return an index for each axis."""
    found = []
    for along, letter in zip(axes, LETTERS, strict=False):
        parts = parts_of(along)
        names = [letter] if len(parts) == 1 else [f"{letter}_{number}" for number in range(len(parts))]
        found.append(Index(tuple(Symbol(name, integer=True) for name in names), parts))
    return found


def digits(place: Expr, sizes: Sequence[Expr]) -> list[Expr] | None:
    """Split an index of an axis into one index for each part of the axis; the caller checks their ranges."""
    found: list[Expr] = []
    rest = place
    for number in range(1, len(sizes)):
        inner: Expr = Integer(1)
        for size in sizes[number:]:
            inner = inner * size
        block, rest = split(expand(rest), inner)
        found.append(block)
    return [*found, rest]
