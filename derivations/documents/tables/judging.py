"""Judging the numbers of a table: most of a column tells what all of it is.

Definition   a rule for a column is meant where two of its numbers or more, with five digits together or more, are what
             it says; thousands, millions, GiB may be counted
Result       holds        a number that is what the rule says, where all of them are
             wrong        the only number of a column that is not, and no whole multiple of what a formula says, nor a
                          little more, unless its digits are exchanged; a total with the digits of the sum exchanged,
                          or near the sum, while another column is added up rightly; of a column of formulas one that
                          differs from their sum in one coefficient
             nothing      for anything else: a row may leave something out
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from derivations.documents.budget import TooCostly, budget_of
from derivations.documents.claims import failed
from derivations.documents.judge.numbers.printed import Printed, decimal, rounded
from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.passages import Document
from derivations.documents.scope import Scope, Scopes
from derivations.documents.sentences.remarks import Remark
from derivations.documents.statements import Statement
from derivations.documents.syntax import Chain
from derivations.documents.tables.formula_totals import differs_in_one_term, formula_totals
from derivations.documents.tables.predictions import (
    FEWEST_PARTS,
    Prediction,
    by_formulas,
    is_total,
    predictions,
    sum_above,
)
from derivations.documents.tables.reading import Cell, Row, Table, tables
from derivations.documents.verdicts import Finding, Repair

__all__ = ["table_remarks"]

CHECK = "arithmetic"
SCALES = tuple(Fraction(base**power) for base, powers in ((1000, range(5)), (1024, range(1, 5))) for power in powers)
ENOUGH_DIGITS = 5
ROUGHLY = Fraction(2, 100)
A_GOOD_PART, NOT_FAR = Fraction(5, 100), Fraction(1, 10)


@dataclass(frozen=True)
class _Judged:
    """A number of a table with what is found of it."""

    row: Row
    cell: Cell
    finding: Finding


def table_remarks(document: Document, scopes: Scopes) -> Iterator[Remark]:
    """Yield what is found in the tables of a document."""
    for table in tables(document):
        for each in _of_table(table, scopes):
            yield Remark(each.row.block, each.cell.passage, 0, len(each.cell.passage.text), each.finding)


def _of_table(table: Table, scopes: Scopes) -> list[_Judged]:
    """Return what is found in a table, of each number once; where judging fails, that is said of its first number."""
    first = table.rows[0].block
    scope = scopes.at(Statement(Chain(()), first.passages[0], first))
    try:
        with budget_of():
            formulas = by_formulas(table, scope)
            found = list(_formula_totals(table, scope, formulas))
            if any(map(_is_wrong, found)):
                formulas = by_formulas(table, scope, [each.cell for each in found if _is_wrong(each)])
            found += [each for column in table.numbered for each in _columns(table, column, formulas)]
            blamed = {column for each in found if _is_wrong(each) for column in each.row.columns_of(each.cell)}
            found += _totals(table, [column for column in table.numbered if column not in blamed])
    except TooCostly:
        return []
    except Exception as error:
        cells = [(row, cell) for row in table.rows for cell in row.cells.values()]
        return [_Judged(row, cell, failed("judging this table failed", error)) for row, cell in cells[:1]]
    once = {id(each.cell): each for each in sorted(found, key=_is_wrong, reverse=True)}  # right by one rule is right
    blame = {id(each.row): each for each in reversed(once.values()) if _is_wrong(each)}  # the others follow from it
    return [each for each in once.values() if not _is_wrong(each) or blame[id(each.row)] is each]


def _is_wrong(each: _Judged) -> bool:
    return each.finding.verdict == "wrong"


# --- a rule for a column ---


def _columns(table: Table, column: int, formulas: Mapping[int, Prediction]) -> Iterator[_Judged]:
    """Yield what a rule that is meant says of the numbers of a column, beside the values of the formulas of others."""
    numbers = table.column(column)
    for rule in predictions(table, column, formulas):
        told = [(place, cell, shown, rule.values[place]) for place, cell, shown in numbers if place in rule.values]
        for scale in SCALES if len(told) >= FEWEST_PARTS else ():
            verdicts = [_verdict(shown, _scaled(value, scale)) for _, _, shown, value in told]
            right = [shown for (_, _, shown, _), verdict in zip(told, verdicts, strict=True) if verdict == "right"]
            if not _is_meant(right) or verdicts.count("off") > 1:
                continue
            for (place, cell, shown, value), verdict in zip(told, verdicts, strict=True):
                scaled = _scaled(value, scale)
                if verdict == "right" and "off" not in verdicts:
                    reason = f"the row gives {decimal(scaled)}, as other rows of the table do"
                    yield _Judged(table.rows[place], cell, Finding("holds", CHECK, reason))
                elif verdict == "off" and (rule.complete or not _may_be_more(shown, scaled)):
                    yield _Judged(table.rows[place], cell, _wrong(cell, shown, scaled, "the row gives"))
            break


def _verdict(shown: Printed, value: Enclosure) -> str:
    """Say whether a number is right, off, or too near to tell."""
    half = 0 if shown.exact and value.exact and value.low.denominator == 1 else shown.half_unit
    low, high = shown.value - half, shown.value + half
    if low <= value.high and value.low <= high:
        return "right"
    room = max(2 * half, ROUGHLY * abs(shown.value) if shown.rough else 0)
    return "near" if shown.value - room <= value.high and value.low <= shown.value + room and room else "off"


def _is_meant(right: Iterable[Printed]) -> bool:
    values = {each.value: sum(letter.isdigit() for letter in each.number.text.lstrip("0.")) for each in right}
    return len(values) >= FEWEST_PARTS and sum(values.values()) >= ENOUGH_DIGITS


def _may_be_more(shown: Printed, value: Enclosure) -> bool:
    """Say whether a number may be of several, or of one of several (all layers, one head), or counts biases too."""
    if not shown.value or not value.middle:
        return True
    ratio = shown.value / value.middle
    little = 0 < ratio - 1 < A_GOOD_PART and not _has_the_digits_of(shown, value)
    return little or ratio.denominator == 1 or ratio.numerator == 1


def _scaled(value: Enclosure, scale: Fraction) -> Enclosure:
    return Enclosure(value.low / scale, value.high / scale)


# --- a total ---


def _totals(table: Table, columns: Iterable[int]) -> Iterator[_Judged]:
    """Yield what is found of the last row of a table where it is the sum of the others, in some columns."""
    last = table.rows[-1]
    if any(is_total(row.label) for row in table.rows[:-1]):
        return
    sums = [(column, sum_above(table, column)) for column in columns]
    known = [(last.cells[column], total) for column, total in sums if total is not None]
    shown = [(cell, cell.shown, total) for cell, total in known if cell.shown is not None]
    right = [(cell, number) for cell, number, total in shown if _verdict(number, total) == "right"]
    for cell, number in right if is_total(last.label) else ():
        yield _Judged(last, cell, Finding("holds", CHECK, f"{number.number.text} is the sum of the numbers above"))
    for cell, number, total in shown:
        beside = bool(right) and is_total(last.label) and abs(number.value - total.middle) < NOT_FAR * abs(total.middle)
        sure = _has_the_digits_of(number, total) or beside
        if _verdict(number, total) == "off" and sure:
            yield _Judged(last, cell, _wrong(cell, number, total, "the numbers above sum to"))


def _formula_totals(table: Table, scope: Scope, formulas: Mapping[int, Prediction]) -> Iterator[_Judged]:
    """Yield what is found of the formulas in a last row that is called a total; one that gives its number is right."""
    last = table.rows[-1]
    if not is_total(last.label) or any(is_total(row.label) for row in table.rows[:-1]):
        return
    totals = list(formula_totals(table, scope))
    right = [each.cell for each in totals if each.is_right]
    for column in table.numbered if totals else ():
        total, cell = sum_above(table, column), last.cells[column]
        if total is not None and cell.shown is not None and _verdict(cell.shown, total) == "right":
            right.append(cell)
    for each in totals:
        shown = str(each.total).replace("**", "^").replace("*", " ")
        if each.is_right:
            yield _Judged(last, each.cell, Finding("holds", CHECK, f"the formulas above sum to {shown}"))
        elif right and differs_in_one_term(each.said, each.total) and not _gives_a_number(table, each.cell, formulas):
            yield _Judged(last, each.cell, Finding("wrong", CHECK, f"the formulas above sum to {shown}", right=shown))


def _gives_a_number(table: Table, cell: Cell, formulas: Mapping[int, Prediction]) -> bool:
    """Say whether a number of the last row is the value of a formula in it."""
    last, place = table.rows[-1], len(table.rows) - 1
    values = [formulas[column].values.get(place) for column in last.columns_of(cell) if column in formulas]
    shown = [each.shown for each in last.cells.values() if each.shown is not None]
    return any(
        _verdict(number, _scaled(value, scale)) == "right"
        for value in values
        if value is not None
        for number in shown
        for scale in SCALES
    )


def _has_the_digits_of(number: Printed, total: Enclosure) -> bool:
    """Say whether a total has the digits of the sum in another order, which no row that is left out explains."""
    if not (total.exact and number.exact and total.low.denominator == 1):
        return False
    written, right = str(number.value), str(total.low)
    return len(right.rstrip("0")) >= ENOUGH_DIGITS and sorted(written) == sorted(right)


def _wrong(cell: Cell, shown: Printed, value: Enclosure, whence: str) -> Finding:
    """Return that a number is not the value, with what is to stand there."""
    right = rounded(Enclosure(value.middle, value.middle), shown) or decimal(value)
    text = shown.number.text
    at = cell.passage.text.find(text)
    repair = Repair(at, at + len(text), right) if at >= 0 and shown.value >= 0 and value.exact else None
    return Finding("wrong", CHECK, f"{whence} {decimal(value)}, not {text}", right=right, repair=repair)
