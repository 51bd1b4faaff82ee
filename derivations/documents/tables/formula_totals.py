"""The formulas of a column, added up: `4 d^2` and `8 d^2` above a total of `12 d^2`.

Definition   a sum is of the formulas of all rows above the last, in letters and numbers, multiplied out
Result       `formula_totals(table, scope)`: the cells of the last row that hold a formula under such, with the two
             formulas to compare; `differs_in_one_term(said, total)`: whether a coefficient is all that differs
Assumes      a term that only one of them has is of a row that is left out, or left out itself
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Expr, expand

from derivations.documents.judge.algebra.scalars import scalar
from derivations.documents.scope import Scope
from derivations.documents.tables.predictions import FEWEST_PARTS
from derivations.documents.tables.reading import Cell, Table

__all__ = ["FormulaTotal", "differs_in_one_term", "formula_totals"]

MOST_TERMS = 40


@dataclass(frozen=True)
class FormulaTotal:
    """A cell with the formula that it holds, and the sum of those above."""

    cell: Cell
    said: Expr
    total: Expr

    @property
    def is_right(self) -> bool:
        """Whether they are one polynomial."""
        return bool(self.said == self.total)


def formula_totals(table: Table, scope: Scope) -> Iterator[FormulaTotal]:
    """Yield the formulas below columns of formulas, where every row has one."""
    *parts, last = table.rows
    for column, cell in last.cells.items() if len(parts) >= FEWEST_PARTS else ():
        above = [row.cells[column] for row in parts if column in row.cells]
        if cell.shown is not None or len(above) < len(parts):
            continue
        said, *terms = (_polynomial(each, scope) for each in (cell, *above))
        known = [each for each in terms if each is not None]
        if said is not None and len(known) == len(terms):
            total = expand(sum(known))
            if said.free_symbols and total.free_symbols and len(total.args) <= MOST_TERMS:
                yield FormulaTotal(cell, said, total)


def _polynomial(cell: Cell, scope: Scope) -> Expr | None:
    """Return a formula of sizes multiplied out; None for any other one."""
    found = scalar(cell.node, scope)
    return expand(found) if found is not None and found.is_polynomial(*found.free_symbols) else None


def differs_in_one_term(said: Expr, total: Expr) -> bool:
    """Say whether two sums have the same terms, and one of these with another coefficient."""
    first, second = (each.as_coefficients_dict() for each in (said, total))
    return first.keys() == second.keys() and sum(first[each] != second[each] for each in second) == 1
