r"""What a number in a table ought to be, by its row, by the head of its column, or by the rows above.

Definition   a prediction of a column is one rule for all its numbers: the formula in another cell of the row
             (`4 d^2` beside 2,359,296), the formula of its head in the letter of another head (`e^x` under `x`), or
             the share of the last row that another column has (31% of the total)
Result       `by_formulas(table, scope)` evaluates the formulas of a table once; `predictions(table, column, formulas)`
             yields for each rule the values by row
Assumes      letters have the values that they have in the section, where the table has one column of numbers, not one
             for each of several models; a letter alone is a setting, and predicts nothing
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from derivations.documents.judge.numbers.letters import letters_of
from derivations.documents.judge.numbers.values import Enclosure, enclose
from derivations.documents.scope import Scope
from derivations.documents.syntax import Name
from derivations.documents.tables.reading import Cell, Table

__all__ = ["FEWEST_PARTS", "Prediction", "by_formulas", "is_total", "predictions", "sum_above"]


@dataclass(frozen=True)
class Prediction:
    """The values of a rule by row; `complete` says that nothing may be added to them, as biases to a product."""

    values: Mapping[int, Enclosure]
    complete: bool = True


FEWEST_PARTS = 2
TOTALS = frozenset({
    "total", "sum", "in total", "total parameters", "grand total", "overall", "together", "all together",
    "合计", "合計", "总计", "總計", "总和", "總和", "总数", "總數", "全部", "総計", "総数", "全体",
})  # fmt: skip


def is_total(label: str) -> bool:
    """Say whether the words of a row call it the sum of those above."""
    return label.strip(" *_:：()（）").lower() in TOTALS


def predictions(table: Table, column: int, formulas: Mapping[int, Prediction]) -> Iterator[Prediction]:
    """Yield what the numbers of a column are by each rule that may be meant."""
    for other in sorted(formulas.keys() - {column}):
        yield formulas[other]
        if column in table.head and other in table.head:
            yield Prediction(_by_head(table, column, other))
        if _is_in_percent(table, column):
            yield Prediction(_by_share(table, column, other))


def by_formulas(table: Table, scope: Scope, mistaken: Sequence[Cell] = ()) -> Mapping[int, Prediction]:
    """Return for each column what its formulas come to, row by row, without those that are known to be mistaken."""
    letters = letters_of(scope)
    one = sum(not _is_in_percent(table, number) for number in table.numbered) == 1
    found: dict[int, dict[int, Enclosure]] = {}
    for place, row in enumerate(table.rows):
        for column, cell in row.cells.items():
            values = found.setdefault(column, {})
            if cell.shown is None and not isinstance(cell.node, Name) and all(each is not cell for each in mistaken):
                value = enclose(cell.node, letters) if one else enclose(cell.node)
                values.update({} if value is None else {place: value})
    return {column: Prediction(values, complete=False) for column, values in found.items()}


def _by_head(table: Table, column: int, other: int) -> Mapping[int, Enclosure]:
    """Return what the formula over a column is at the numbers under a letter."""
    letter, formula = table.head[other].node, table.head[column].node
    if not isinstance(letter, Name) or letter == formula:
        return {}
    if not any(part == letter for part in formula.walk()):
        return {}
    found: dict[int, Enclosure] = {}
    for place, _, shown in table.column(other):
        value = enclose(formula, lambda name, at=shown.value: at if name.key == letter.key else None)  # type: ignore[misc]
        if value is not None:
            found[place] = value
    return found


def sum_above(table: Table, column: int) -> Enclosure | None:
    """Return what the numbers above the last of a column sum to, where every row has one, all of one unit."""
    shown = [number for _, _, number in table.column(column)]
    if len(shown) != len(table.rows) or len(shown) <= FEWEST_PARTS:
        return None
    if len({(each.unit, "%" in each.number.text) for each in shown}) > 1:
        return None
    total = sum((each.value for each in shown[:-1]), Fraction(0))
    slack = sum((each.half_unit for each in shown[:-1] if not each.exact), Fraction(0))
    return Enclosure(total - slack, total + slack)


def _is_in_percent(table: Table, column: int) -> bool:
    return all("%" in shown.number.text for _, _, shown in table.column(column))


def _by_share(table: Table, column: int, other: int) -> Mapping[int, Enclosure]:
    """Return which part of the total each number of another column is, where the parts with a share make it up."""
    numbers = table.column(other)
    if len(numbers) <= FEWEST_PARTS or not is_total(table.rows[numbers[-1][0]].label) or numbers[-1][2].value <= 0:
        return {}
    whole, shares = numbers[-1][2], {place: shown.half_unit for place, _, shown in table.column(column)}
    parts = [shown for place, _, shown in numbers[:-1] if place in shares]
    room = sum((each.half_unit for each in (*parts, whole) if not each.exact), whole.value * max(shares.values()))
    if abs(sum(each.value for each in parts) - whole.value) > room:
        return {}  # one of the numbers is not right
    found: dict[int, Enclosure] = {}
    for place, _, shown in numbers:
        slack = Fraction(0) if shown.exact else shown.half_unit
        more = Fraction(0) if whole.exact or place == numbers[-1][0] else whole.half_unit
        if shown.value < 0 or more >= whole.value:
            return {}
        found[place] = Enclosure(
            (shown.value - slack) / (whole.value + more), (shown.value + slack) / (whole.value - more)
        )
    return found
