"""Queries, keys and values that a description specifies, with norms, clipping and rotation of their columns.

Definition   Q_i = rows times W_i (plus b_i), normed, clipped to [-c, c], rotated, whichever the description asks for;
             the norm is of the columns of one head, or of those of all heads together
Shapes       rows (n, d_model), W_Q (h, d_model, d_k), or (d_model, h d_k) where all heads are normed together
Source       Su et al. (2021) for the rotation; Henry et al. (2020) for norms of queries and keys; OLMo Team (2024),
             OLMo 2, section 3.3.2, for norms over all heads; MosaicML (2023), MPT, for the clipping
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sympy import Eq, Expr, Ge, Lambda, Lt, Max, Min, Mod, Symbol, floor, log, pi

from derivations.activations.sigmoid import sigmoid
from derivations.architectures.description import Attention, Axes, Grid, Norm, Recurrent, Rotary, Temperature
from derivations.architectures.patches import row_and_column
from derivations.language.arrays.arrangements import Tabulated, column_block
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.expression import Array, Variable, array
from derivations.language.arrays.functions import Hadamard, Named, named
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equations, Layer, Part, part
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.positions.rotary import rotary_embedding
from derivations.positions.rotary_scaling import SCALINGS, amplitude
from derivations.symbols import d_k, d_model, index, n, pos, scalar

__all__ = ["Projections", "clipped", "columns_of", "growth", "norm_layer", "places_of", "rotary_layer"]

t, c = scalar("t"), index("c")


def growth(temperature: Temperature) -> Expr:
    """Return the factor of the queries of position `pos`."""
    return 1 + temperature.strength * log(1 + floor((pos + temperature.first) / temperature.length))


def norm_layer(norm: Norm) -> Layer:
    """Return the normalisation layer that a description specifies."""
    if norm.kind == "layer":
        return layer_norm(norm.eps, scaled=norm.scaled, shifted=norm.shifted)
    return rms_norm(norm.eps, scaled=norm.scaled)


def rotary_layer(rotary: Rotary) -> Layer:
    """Return the rotary embedding that a description specifies, with frequencies changed by its rule.

    Assumes      a rule that lacks a number (`lacks`) does not change the frequencies: counts do not depend on them
    """
    rule = dict(rotary.scaling)
    if rotary.grid is not None:
        return rotary_embedding(halves=rotary.halves, angles=on_grid(rotary.grid, rotary.base))
    axes = () if rotary.axes is None else by_axis(rotary.axes)
    if not rule or "lacks" in rule:
        return rotary_embedding(halves=rotary.halves, base=rotary.base, axes=axes)
    scaling = SCALINGS[str(rule["rope_type"])]
    return rotary_embedding(
        halves=rotary.halves,
        base=rotary.base,
        axes=axes,
        scaled=lambda frequency, pair: scaling(frequency, pair, rule),
        amplitude=amplitude(rule),
    )


def on_grid(grid: Grid, base: Expr) -> Callable[[Expr, Expr], Expr]:
    """Return the function that gives the rotation angle of a pair of columns at a row of a grid."""

    def angle(row: Expr, pair: Expr) -> Expr:
        down, across = row_and_column(row - grid.first, grid.columns)
        second = Iverson(Ge(pair, d_k / 4))  # the pairs of the second half count from 0 again
        frequency = base ** (-4 * (pair - d_k / 4 * second) / d_k)
        if grid.counted:
            return ((1 - second) * down + second * across) * frequency
        middle = (1 - second) * (2 * down + 1) / grid.rows + second * (2 * across + 1) / grid.columns - 1
        return Iverson(Ge(row, grid.first)) * 2 * pi * middle * frequency

    return angle


def by_axis(axes: Axes) -> tuple[Callable[[Expr], Expr], ...]:
    """Return for each axis the function that is 1 at the pairs of columns that the axis turns, and 0 at the others."""
    if axes.in_turn:
        height, width = (_every_third(axis, axes.pairs[axis]) for axis in (1, 2))
        return lambda pair: 1 - height(pair) - width(pair), height, width
    first, second = axes.pairs[0], axes.pairs[0] + axes.pairs[1]
    return (
        lambda pair: Iverson(Lt(pair, first)),
        lambda pair: Iverson(Ge(pair, first)) * Iverson(Lt(pair, second)),
        lambda pair: Iverson(Ge(pair, second)),
    )


def _every_third(axis: int, pairs: int) -> Callable[[Expr], Expr]:
    return lambda pair: Iverson(Eq(Mod(pair, 3), axis)) * Iverson(Lt(pair, 3 * pairs))


def clipped(largest: Expr) -> Named:
    """Return the function that cuts entries off at -c and c."""
    return named(f"clip_{largest}".replace("/", "_over_"), Max(-largest, Min(t, largest)), t)


def columns_of(a: Attention) -> tuple[tuple[str, Expr], ...]:
    """Return the name suffixes and widths of query and key columns: the rotated ones, then the others, if any."""
    if isinstance(a.positions, Rotary) and a.positions.columns is not None:
        return ("", a.positions.columns), ("_pass", a.d_k - a.positions.columns)
    return (("", a.d_k),)


def places_of(a: Attention | Recurrent | None) -> list[Variable]:
    """Return the inputs with the positions of the rows (n,), one for each axis if there are several axes."""
    positions = None if a is None else a.positions
    axes = positions.axes if isinstance(positions, Rotary) else None
    return [] if axes is None else [array(f"p_{axis}", n) for axis, _ in enumerate(axes.pairs)]


@dataclass
class Projections:
    """Adds the equations of queries, keys and values of a family of heads, and collects their weights."""

    a: Attention
    over: tuple[Symbol, Expr]
    let: Equations = field(default_factory=Equations)
    parameters: list[Variable] = field(default_factory=list)

    def queries(self, rows: Array) -> list[Array]:
        """Add the queries of one head, normed and rotated: two arrays if only some columns are rotated."""
        return self.tempered(self._finished("Q", rows, self.a.biases[0]))

    def tempered(self, parts: list[Array]) -> list[Array]:
        """Add the queries of one head times the temperature factor of their position, if there is one."""
        grown = self.a.temperature
        if grown is None:
            return parts
        factors = Lambda((pos, c), growth(grown))
        return [
            self._member(f"Q_warm{suffix}", Hadamard(part, Tabulated(factors, *part.shape)))
            for part, (suffix, _) in zip(parts, columns_of(self.a), strict=True)
        ]

    def keys(self, rows: Array) -> list[Array]:
        """Add the keys of one head, normed and rotated like the queries."""
        return self._finished("K", rows, self.a.biases[1])

    def keys_and_values(self, rows: Array) -> tuple[list[Array], Array]:
        """Add the keys and the values of one head, which may share one projection."""
        if not self.a.values_of_keys:
            return self.keys(rows), self.values(rows)
        columns = self._projected("K", rows, self.a.d_k, self.a.biases[1])
        return self._normed("K", columns), self._of_values(columns)

    def values(self, rows: Array) -> Array:
        """Add the values of one head."""
        return self._of_values(self._clipped(self._projected("V", rows, self.a.d_v, self.a.biases[2])))

    def _of_values(self, columns: Array) -> Array:
        normed = self.a.value_norm
        return columns if normed is None else self._member("V_norm", part("value_norm", norm_layer(normed))(columns))

    def gated(self, heads: Variable, rows: Array) -> Variable:
        """Add the outputs of the heads times the output gates, if there are any."""
        if not self.a.output_gate:
            return heads
        gates = self._member("gate", sigmoid(self._projected("G", rows, self.a.d_v, self.a.biases[0])))
        return self.let("head_gated", over=self.over)(Hadamard(gates, heads[self.over[0]]))

    def sinks(self) -> list[Variable]:
        """Add the scores of the sinks to the weights, one for every head, and return them."""
        found = [array("sinks", self.over[1], 1)] if self.a.sinks else []
        self.parameters += found
        return found

    def all_normed(self, letter: str, rows: Array, width: Expr) -> Array:
        """Add the queries or keys of all heads, normed together, and return the `width` columns of one head."""
        total, biased = Blocks(self.over[1], width), self.a.biases["QK".index(letter)]
        W, b = array(f"W_{letter}", d_model, total), array(f"b_{letter}", total)
        self.parameters += [W, b] if biased else [W]
        every = self.let(f"{letter}_all")(rows @ W + b if biased else rows @ W)
        normed = self.let(f"{letter}_norm")(self._clipped(self._norm(letter)(every)))
        return column_block(ColumnRange(normed, 0, total), self.over[0])

    def turned(self, letter: str, rows: Array) -> list[Array]:
        """Add the rotation of queries or keys, and return the rotated columns, then the others, if any."""
        rotary, columns = self.a.positions, columns_of(self.a)
        parts, start = [rows], columns[0][1]
        if len(columns) > 1:
            cuts = (ColumnRange(rows, 0, start), ColumnRange(rows, start, columns[1][1]))
            names = (f"{letter}_first", f"{letter}_pass")
            parts = [self._member(name, cut) for name, cut in zip(names, cuts, strict=True)]
        if isinstance(rotary, Rotary):
            parts[0] = self._turned(letter, rotary, parts[0])
        return parts

    def _turned(self, letter: str, rotary: Rotary, rows: Array) -> Array:
        return self._member(f"{letter}_turned", part("rotary", rotary_layer(rotary))(rows, *places_of(self.a)))

    def _finished(self, letter: str, rows: Array, biased: bool) -> list[Array]:
        a = self.a
        if a.norm is None:  # columns that are rotated have a matrix of their own: nothing has to be cut
            parts = [
                self._clipped(self._projected(f"{letter}{suffix}", rows, width, biased))
                for suffix, width in columns_of(a)
            ]
            if isinstance(a.positions, Rotary):
                parts[0] = self._turned(letter, a.positions, parts[0])
            return parts
        if a.norm_over_all:
            return self.turned(letter, self.all_normed(letter, rows, a.d_k))
        return self._normed(letter, self._projected(letter, rows, a.d_k, biased))

    def _normed(self, letter: str, whole: Array) -> list[Array]:
        """Add the norm of a head's columns, and their rotation."""
        name = f"{letter}_norm"
        if not self.a.norm_after:
            return self.turned(letter, self._member(name, self._clipped(self._norm(letter)(whole))))
        (turned,) = self.turned(letter, self._clipped(whole))  # a norm of columns that are apart is in no model
        return [self._member(name, self._norm(letter)(turned))]

    def _projected(self, name: str, rows: Array, width: Expr, biased: bool) -> Array:
        place, count = self.over
        W, b = array(f"W_{name}", count, d_model, width), array(f"b_{name}", count, width)
        self.parameters += [W, b] if biased else [W]
        return self._member(name, rows @ W[place] + b[place] if biased else rows @ W[place])

    def _member(self, name: str, value: Array) -> Array:
        return self.let(name, over=self.over)(value)[self.over[0]]

    def _clipped(self, rows: Array) -> Array:
        return rows if self.a.clip is None else clipped(self.a.clip)(rows)

    def _norm(self, letter: str) -> Part:
        assert self.a.norm is not None
        return part({"Q": "query_norm", "K": "key_norm"}[letter], norm_layer(self.a.norm))
