r"""The LaTeX printer: arrays, scalars, and the equations of layers.

An equation prints as a whole, and a family with the range of its index. Values that papers write entry by entry (sums
and means of rows, tables, interleaved columns, causal masks) print for an entry, and a repetition as the state after
each layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Basic, Id, Integer, Symbol

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.buckets import RelativeBuckets
from derivations.language.arrays.contraction_node import Contraction
from derivations.language.arrays.exponentials import RowMax
from derivations.language.arrays.expression import Array
from derivations.language.arrays.functions import BandMask, Elementwise, Interleave, RowLogSumExp, RowSum
from derivations.language.arrays.selection import Chosen, Pick
from derivations.language.arrays.shapes import Pair, Place, on_axis, total
from derivations.language.layers.layer import Equation, Repeat
from derivations.language.printing.arrays import ArrayPrinter, general_places, stated_entry
from derivations.language.printing.notation import Notation

__all__ = ["LatexPrinter", "Line", "latex_of"]

_BY_ENTRIES = (  # values that are printed for an entry
    *(Tabulated, RowSum, RowMax, RowLogSumExp, Pick, BandMask, RelativeBuckets, Chosen),
)


@dataclass(frozen=True)
class Line:
    """One printed equation: both sides, and the ranges of its indices (empty for a single equation)."""

    left: str
    right: str
    ranges: str = ""


def _contracts(value: Basic) -> bool:
    """Return whether a value contains a contraction outside the layers that it applies."""
    arrays = (each for each in value.args if isinstance(each, Array))
    return isinstance(value, Contraction) or any(map(_contracts, arrays))


class LatexPrinter(ArrayPrinter):
    """The printer of arrays, scalars and equations as LaTeX in a notation."""

    def lines(self, equation: Equation) -> list[Line]:
        """Return the printed equations of one equation of a layer."""
        value = equation.value
        if isinstance(value, Repeat):
            return self._repetition(equation)
        if isinstance(value, Interleave):
            return self._pairs(equation)
        by_entries = isinstance(value, _BY_ENTRIES) or (isinstance(value, Elementwise) and value.kind != "real")
        if (by_entries or _contracts(value)) and equation.over is None:
            places = self._entry_places(value)
            left = self.named(equation.variable.name, self._letters(places), member=len(places) == 3)
            ranges = (own for place, along in zip(places, value.shape, strict=True) for own in on_axis(place, along))
            return [Line(left, self._print(stated_entry(value, places)), self.ranges(dict(ranges)))]
        family = self.ranges({equation.over[0]: equation.over[1]}) if equation.over else ""
        return [Line(self._print(equation.target), self._print(value), family)]

    @staticmethod
    def _entry_places(value: Array) -> tuple[Place, ...]:
        if isinstance(value, Tabulated) and value.args[0] != Id:  # SymPy chooses the variable of `Id`
            return tuple(value.args[0].variables)
        return general_places(value)

    def _pairs(self, equation: Equation) -> list[Line]:
        value = equation.value
        # the positional encoding counts from 0 and is written with pos and i, as in Vaswani et al. (2017), section 3.5
        names = ("i", "j") if self.first else (*self.notation.zero_based[:1], "i")
        row, block = (Symbol(name, integer=True) for name in names)
        rows, pairs = value.args[0].shape
        lines = []
        for place in (Integer(0), Integer(1)):
            left = equation.target.entry(row, Pair(block, place, Integer(2)))
            right = value.args[int(place)].entry(row, block)
            lines.append(Line(self._print(left), self._print(right), self.ranges({row: rows, block: pairs})))
        return lines

    def _repetition(self, equation: Equation) -> list[Line]:
        value, number = equation.value, "l"
        target, count = self._print(equation.target), self._print(value.count)

        def after(layers: str) -> str:
            return self.power(target, f"({layers})")

        # each layer has weights of its own, so its name has the number
        layer = self.subscripted(self.notation.function(value.layer.name), number)
        arguments = [after(f"{number}-1"), *map(self._print, value.arguments[1:])]
        return [
            Line(after("0"), self._print(value.arguments[0])),
            Line(after(number), self.applied(layer, arguments), f"{number} = 1, {self.dots}, {count}"),
            Line(target, after(count)),
        ]

    def ranges(self, sizes: dict[Any, Any]) -> str:
        """Return the ranges of indices, such as i, k = 1, ..., n; indices of one size share a range."""
        groups: dict[Any, list[str]] = {}
        for index, size in sizes.items():
            groups.setdefault(total(size), []).append(self.named(index.name))
        return r", \; ".join(self._range(letters, size) for size, letters in groups.items())

    def _range(self, letters: list[str], size: Any) -> str:
        first, last = str(self.first), self.inline(self.shifted(size - 1))
        if last == first:
            return f"{', '.join(letters)} = {first}"
        return f"{', '.join(letters)} = {first}, {self.dots}, {last}"


def latex_of(
    expr: Any, using: str | Notation = "ours", *, scope: str = "", first: int | None = None, lang: str = "en"
) -> str:
    """Return an array, a scalar or a statement as LaTeX, without delimiters."""
    return LatexPrinter(using, scope, first, lang).doprint(expr)
