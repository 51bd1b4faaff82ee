"""How a module may store the weights of a layer: whole or as parts of one array, transposed, with merged heads.

Definition   a layout says which entry of a stored weight an entry of the layer's weight is: as it is, transposed, all
             heads in one matrix, one of several weights that are stored as one
Result       each layout in use is an equation that defines the layer's weight from the module's, with symbolic sizes,
             so that the judge decides about it too
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr, Integer, Symbol

from derivations.language.arrays.contraction import contraction, operand_of
from derivations.language.arrays.expression import Array, Plus, Variable
from derivations.language.arrays.shapes import total
from numeric.lifting.axes import Index
from numeric.lifting.operations.broadcasting import table
from numeric.lifting.reading.weight_names import joined_parts

__all__ = ["STYLES", "Layout", "Piece", "layouts_of", "pieces_of"]


@dataclass(frozen=True)
class Piece:
    """A weight of a module, or one of the parts into which its first or last axis is cut."""

    path: str
    shape: tuple[int, ...]  # of the whole weight
    axis: int = 0
    part: int = 0
    parts: int = 1
    lengths: tuple[int, ...] = ()  # of the parts, where they are not equal

    @property
    def length(self) -> int:
        """The length of this part along the axis that is cut."""
        whole = self.shape[self.axis]
        return self.lengths[self.part] if self.lengths else whole // self.parts


def pieces_of(weights: Mapping[str, tuple[int, ...]], wanted: int) -> Iterator[tuple[Piece, ...]]:
    """Yield ways to cut the weights into `wanted` pieces: some into three or two parts, the others left whole.

    A part that is as long as an axis of the module, such as 3 d_model cut into d_model, is likelier than one that is
    not: where there are as many of these as are needed, no other weight is cut. What its path tells, such as
    `query_key_value`, comes first.
    """
    missing = wanted - len(weights)
    if missing == 0:
        yield tuple(Piece(path, shape) for path, shape in weights.items())
        return
    lengths = {length for shape in weights.values() for length in shape}
    cuts: list[tuple[bool, int, int, list[str], int]] = []  # the likely ones first, along either axis
    for parts in (3, 2):
        count, rest = divmod(missing, parts - 1)
        if rest or not 0 < count <= len(weights):
            continue
        for side in (0, -1):
            divisible = [path for path, shape in weights.items() if shape[side] % parts == 0]
            divisible.sort(key=lambda path: joined_parts(path) != parts)
            likely = [path for path in divisible if weights[path][side] // parts in lengths]
            enough = len(likely) >= count
            cuts.append((not enough, parts, side, likely if enough else divisible, count))
    yield from _of_unequal_parts(weights, missing)
    for _, parts, side, paths, count in sorted(cuts, key=lambda cut: cut[0]):
        for chosen in itertools.combinations(paths, count):
            yield tuple(
                Piece(path, shape, side, part, parts) if path in chosen else Piece(path, shape)
                for path, shape in weights.items()
                for part in range(parts if path in chosen else 1)
            )


def _of_unequal_parts(weights: Mapping[str, tuple[int, ...]], missing: int) -> Iterator[tuple[Piece, ...]]:
    """Yield ways to cut the weights that `joined_parts` recognises: into two equal parts, or into three unequal ones.

    Three are queries, keys and values of which the queries are as wide as another axis of the module: keys and values
    that query heads share have the rest.
    """
    told = {path: joined_parts(path) for path in weights}
    if sum(parts - 1 for parts in told.values()) != missing or not any(parts == 3 for parts in told.values()):
        return
    choices: list[list[tuple[int, ...]]] = []
    for path, shape in weights.items():
        others = {n for other, each in weights.items() for n in each if other != path}
        wide = [(n, (shape[0] - n) // 2, (shape[0] - n) // 2) for n in sorted(others) if 0 < n < shape[0]]
        uneven = [each for each in wide if sum(each) == shape[0] and each[0] > each[1]]
        by_count: dict[int, list[tuple[int, ...]]] = {1: [()], 2: [(shape[0] // 2,) * 2], 3: [*uneven]}
        choices.append(by_count[told[path]])
    for chosen in itertools.product(*choices):
        yield tuple(
            Piece(path, shape, 0, part, max(len(lengths), 1), lengths)
            for (path, shape), lengths in zip(weights.items(), chosen, strict=True)
            for part in range(max(len(lengths), 1))
        )


@dataclass(frozen=True)
class Layout:
    """How a stored piece holds a weight of the layer: the axes of the weight that are merged into each of its axes."""

    groups: tuple[tuple[int, ...], ...]
    interleaved: bool = False  # the parts of a weight alternate inside each head, instead of one after the other
    less: int = 0  # what the module's weight has less than the layer's

    def reads(self, variable: Variable, stored: Variable, piece: Piece, start: Expr = Integer(0)) -> Array:
        """Return the layer's weight as an expression in the stored weight. `start` is where an unequal part begins."""
        indices = [Symbol(name, integer=True) for name, _ in zip("ijkl", variable.shape, strict=False)]
        sizes = [total(along) for along in variable.shape]
        places = []
        for number, group in enumerate(self.groups):
            index = Index(tuple(indices[axis] for axis in group), tuple(sizes[axis] for axis in group))
            cut = piece.parts > 1 and number == piece.axis % len(self.groups)
            if cut and piece.lengths:
                places.append(start + index.flat)
            else:
                places.append(self._with_part(index, piece).flat if cut else index.flat)
        read = contraction(indices, sizes, (), 1, operand_of(stored, places))
        return Plus(read, table(Integer(self.less), sizes)) if self.less else read

    def _with_part(self, index: Index, piece: Piece) -> Index:
        """Return the index of a cut axis with the number of the part, placed before all heads or inside each head."""
        at = len(index.symbols) - 1 if self.interleaved else 0
        part, parts = Integer(piece.part), Integer(piece.parts)
        symbols = (*index.symbols[:at], part, *index.symbols[at:])
        return Index(symbols, (*index.sizes[:at], parts, *index.sizes[at:]))

    def read(self, array: Any, piece: Piece, shape: Sequence[int]) -> Any:
        """Return the values of the layer's weight, taken from the stored array."""
        if piece.parts > 1 and self.interleaved:
            cut = piece.axis % array.ndim
            last = shape[self.groups[cut][-1]]
            split = array.reshape(*array.shape[:cut], -1, piece.parts, last, *array.shape[cut + 1 :])
            array = split.take(piece.part, axis=cut + 1)
        elif piece.parts > 1:
            ends = np.cumsum(piece.lengths or (piece.length,) * piece.parts)[:-1]
            array = np.split(array, ends, axis=piece.axis)[piece.part]
        order = [axis for group in self.groups for axis in group]
        return array.reshape([shape[axis] for axis in order]).transpose(np.argsort(order)) + self.less


STYLES = ("transposed", "plain", "mixed")  # PyTorch stores (outputs, inputs); a Conv1D of GPT-2 (inputs, outputs)


def layouts_of(rank: int, stored: int, style: str) -> list[Layout]:
    """Return the layouts in which an array of rank `stored` can hold a weight of rank `rank`, in one style.

    Axes in front of the last two count heads, and groups of heads: they are merged with the columns, as for queries,
    or with the rows, as for the output.
    """
    if stored == 1:
        return [Layout((tuple(range(rank)),))]
    if stored != 2 or rank < 2:
        return [Layout(tuple((number,) for number in range(rank)))] if rank == stored else []
    heads, row, column = tuple(range(rank - 2)), rank - 2, rank - 1
    plain = [Layout(((row,), (*heads, column))), Layout(((*heads, row), (column,)))]
    turned = [Layout(layout.groups[::-1]) for layout in plain]
    kept = 2 if heads else 1  # without heads the two are one
    return {"transposed": turned[:kept], "plain": plain[:kept], "mixed": [*turned[:kept], *plain[:kept]]}[style]
