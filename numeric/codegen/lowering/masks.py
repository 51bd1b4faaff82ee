"""Masks that depend on positions alone: which keys a tile of queries sees, and which of them are hidden."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Lambda, Not, Or, Symbol, oo

from derivations.language.arrays.expression import Array
from derivations.language.arrays.masks import BandMask, WindowMask, as_band
from derivations.language.arrays.scalars import Iverson
from derivations.language.arrays.shapes import total
from numeric.codegen.lowering.loop_schedule import LoopSchedule

__all__ = ["PositionMask"]

ROW, COLUMN = Symbol("row", integer=True), Symbol("column", integer=True)


@dataclass(frozen=True)
class PositionMask:
    """A mask in which the positions of a query and of a key determine whether the key is visible."""

    node: BandMask

    @classmethod
    def of(cls, mask: Array | None, size: Symbol | None) -> PositionMask | None:
        """Return the mask if it depends on positions alone and has `size` queries, else None."""
        band = None if mask is None else as_band(mask)
        return cls(band) if band is not None and total(band.sides[0]) == size else None

    def range(self, schedule: LoopSchedule) -> tuple[str, str]:
        """Return the range of keys that some query of the rows `begin:end` sees: its first key, its exclusive end."""
        lower, upper, size = self.node.lower, self.node.upper, schedule.whole(total(self.node.sides[1]))
        # query i sees the keys j with lower <= j - i <= upper; i runs from begin to end - 1
        first = "0" if lower == -oo else f"max(0, begin + {schedule.whole(lower)})"
        if upper == oo:
            return first, size
        return first, "end" if upper == 0 else f"max(0, min({size}, end + {schedule.whole(upper)}))"

    @property
    def looks_back(self) -> bool:
        """Return whether a query sees exactly the keys up to its own position."""
        return bool(self.node.lower == -oo and self.node.upper == 0)

    @property
    def theorem(self) -> str:
        """The theorem that lets a query skip the keys that it does not see."""
        if self.looks_back:
            return "attention.causal_independence"
        return "attention.sliding_window" if isinstance(self.node, WindowMask) else "attention.band_independence"

    @property
    def columns(self) -> str:
        """The slice, as text, of the columns among `low:high` that can hold hidden keys. It is empty if all can."""
        return "begin - low:" if self.looks_back else ""

    def hidden(self, schedule: LoopSchedule, low: str | None = None, high: str = "high") -> str:
        """Return where a key is hidden from a query, for the rows of the tile and the columns from `low` to `high`."""
        first = low if low is not None else ("begin" if self.columns else "low")
        entry = self.node.entry(ROW, COLUMN)
        visible = sorted((each.args[0] for each in entry.atoms(Iverson)), key=str)
        formula = Lambda((ROW, COLUMN), Or(*(Not(condition) for condition in visible)))
        return schedule.formula(formula, ["np.arange(begin, end)[:, None]", f"np.arange({first}, {high})"])
