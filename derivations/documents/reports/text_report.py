"""The report for people: what is wrong in full, the rest in numbers.

Definition   a claim is shown with its place, the formula as it is written, the verdict, the reason, what would be
             right, what it assumes and where the result stands; by default if it is wrong or conditional
Result       ends with a table: a row for each file, the share of its claims that were decided
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from derivations.documents.checking import Report
from derivations.documents.passages import Place
from derivations.documents.reports.plain import one_line, visible
from derivations.documents.reports.totals import decided, summary
from derivations.documents.verdicts import VERDICTS, Claim

__all__ = ["print_report"]

COLOURS = {"proved": "green", "holds": "green", "conditional": "yellow", "wrong": "bold red", "unknown": "dim"}
SHOWN = ("wrong", "conditional")
INDENT = 4


def print_report(reports: Sequence[Report], console: Console, verbose: bool = False) -> None:
    """Print the claims that call for attention, all of them if `verbose`, and the table."""
    for report in reports:
        for claim in report.claims:
            if verbose or claim.finding.verdict in SHOWN:
                _print_claim(report.file, claim, console)
    console.print(_table(reports))


def place_of(file: str, place: Place) -> str:
    """Return a place as editors know it; in a notebook with the cell in front of the line."""
    cell = "" if place.cell is None else f"cell {place.cell}:"
    return f"{one_line(file)}:{cell}{place.line}:{place.column}"


def _print_claim(file: str, claim: Claim, console: Console) -> None:
    finding = claim.finding
    head = Text.assemble(
        (place_of(file, claim.start), "bold"), "  ", (finding.verdict, COLOURS[finding.verdict]), f"  [{finding.check}]"
    )
    console.print(head, soft_wrap=True)
    formula = Text(one_line(claim.text), style="cyan")
    formula.truncate(console.width - INDENT, overflow="ellipsis")
    for text in (formula, *_lines(claim)):
        for line in text.wrap(console, console.width - INDENT):
            line.rstrip()
            console.print(Text(" " * INDENT) + line, soft_wrap=True)
    console.print()


def _lines(claim: Claim) -> Iterator[Text]:
    finding = claim.finding
    yield Text(visible(finding.reason))
    if finding.right:
        yield Text(f"right: {visible(finding.right)}")
    for assumption in finding.assumptions:
        yield Text(f"assumes: {visible(assumption)}")
    if finding.result:
        yield Text(f"see: derivations show {visible(finding.result)}")


def _table(reports: Sequence[Report]) -> Table:
    table = Table("file", title="claims", title_justify="left")
    table.columns[0].overflow = "fold"
    for column in ("claims", *VERDICTS, "decided"):
        table.add_column(column, justify="right", no_wrap=True)
    for report in reports:
        table.add_row(*_row(one_line(report.file), summary([report])))
    if len(reports) > 1:
        table.add_section()
        table.add_row(*_row(f"{len(reports)} files", summary(reports)))
    return table


def _row(name: str, numbers: dict[str, int]) -> tuple[Text, ...]:
    cells = [Text(name), Text(str(numbers["claims"]))]
    cells += [Text(str(numbers[verdict]), COLOURS[verdict] if numbers[verdict] else "dim") for verdict in VERDICTS]
    return (*cells, Text(decided(numbers)))
