"""Masks that the numbers of the positions tell: which keys a tile of queries sees, and which of them are hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sympy import Lambda, Not, Or, Symbol

from derivations.language.expression import Array
from derivations.language.functions import CausalMask, WindowMask
from derivations.language.scalars import Iverson
from derivations.language.shapes import total

if TYPE_CHECKING:
    from numeric.lowering.program import Program

__all__ = ["PositionMask"]

ROW, COLUMN = Symbol("row", integer=True), Symbol("column", integer=True)


@dataclass(frozen=True)
class PositionMask:
    """A mask of positions that look back: none sees a later one, and with a window none far behind."""

    node: Array

    @classmethod
    def of(cls, mask: Array | None, size: Symbol | None) -> PositionMask | None:
        """Return the mask, if it is one over `size` positions that look back."""
        return cls(mask) if isinstance(mask, CausalMask | WindowMask) and total(mask.shape[0]) == size else None

    def range(self, program: Program) -> tuple[str, str]:
        """Return the first and the last key that some query of the rows `begin:end` sees."""
        if isinstance(self.node, WindowMask):
            return f"max(0, begin + 1 - {program.whole(total(self.node.args[1]))})", "end"
        return "0", "end"

    @property
    def looks_back(self) -> bool:
        """Say whether every earlier key is seen."""
        return isinstance(self.node, CausalMask)

    @property
    def theorem(self) -> str:
        """The theorem that lets a query do without the keys that it does not see."""
        return "attention.causal_independence" if self.looks_back else "attention.sliding_window"

    @property
    def columns(self) -> str:
        """Which of the columns `low:high` hold hidden keys at all."""
        return "begin - low:" if self.looks_back else ""

    def hidden(self, program: Program, low: str | None = None, high: str = "high") -> str:
        """Return where a key is hidden from a query, for the rows of the tile and the columns from `low` to `high`."""
        first = low if low is not None else ("begin" if self.columns else "low")
        entry = self.node.entry(ROW, COLUMN)
        visible = sorted((each.args[0] for each in entry.atoms(Iverson)), key=str)
        formula = Lambda((ROW, COLUMN), Or(*(Not(condition) for condition in visible)))
        return program.formula(formula, ["np.arange(begin, end)[:, None]", f"np.arange({first}, {high})"])
