"""The report for people: wrong and conditional claims in full, and a table of counts.

Definition   a claim is shown with its place, the formula as it is written, the verdict, the reason, what would be
             right, what it assumes and where the result stands; by default if it is wrong or conditional
Result       ends with a table: a row for each file, how many of its claims assert something, and the share of these
             that were decided
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from derivations.documents.checking import Report
from derivations.documents.passages import Place
from derivations.documents.reports.plain import one_line, visible
from derivations.documents.reports.totals import decided, summary
from derivations.documents.verdicts import NOT_UNDERSTOOD, VERDICTS, Claim

__all__ = ["print_report"]

COLOURS = {"proved": "green", "holds": "green", "conditional": "yellow", "wrong": "bold red", "unknown": "dim"}
SHOWN = ("wrong", "conditional")
INDENT = 4
SHORT_NAME = 12  # letters of a file's name that a line of the table shows at least
WIDE = 1000  # columns, more than any table takes


def print_report(
    reports: Sequence[Report], console: Console, verbose: bool = False, not_understood: bool = False
) -> None:
    """Print the wrong and conditional claims, and the table.

    `not_understood` adds the claims that were not understood, and `verbose` all claims.
    """
    for report in reports:
        for claim in report.claims:
            asked = verbose or (not_understood and claim.finding.check == NOT_UNDERSTOOD)
            if asked or claim.finding.verdict in SHOWN:
                _print_claim(report.file, claim, console)
    table = _table(reports)
    if Measurement.get(console, console.options.update(max_width=WIDE), table).minimum > console.width:
        _print_totals(reports, console)
    else:
        console.print(table)


def place_of(file: str, place: Place) -> str:
    """Return a place as file:line:column, in a notebook with the cell before the line."""
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
    table = Table(title="claims", title_justify="left")
    table.add_column("file", overflow="fold", min_width=min(SHORT_NAME, max(len(report.file) for report in reports)))
    for column in ("claims", *VERDICTS, "asserted", "decided"):
        table.add_column(column, justify="right", no_wrap=True)
    for report in reports:
        table.add_row(*_row(one_line(report.file), summary([report])))
    if len(reports) > 1:
        table.add_section()
        table.add_row(*_row(f"{len(reports)} files", summary(reports)))
    return table


def _print_totals(reports: Sequence[Report], console: Console) -> None:
    """Print the numbers of each file in a line, where the table is too wide."""
    totals = [(one_line(report.file), summary([report])) for report in reports]
    if len(reports) > 1:
        totals.append((f"{len(reports)} files", summary(reports)))
    for name, numbers in totals:
        counts = ", ".join(f"{verdict} {numbers[verdict]}" for verdict in VERDICTS if numbers[verdict])
        claims = f"claims {numbers['claims']}{f' ({counts})' * bool(counts)}"
        console.print(f"{name}: {claims}, asserted {numbers['asserted']}, decided {decided(numbers)}")


def _row(name: str, numbers: dict[str, int]) -> tuple[Text, ...]:
    cells = [Text(name), Text(str(numbers["claims"]))]
    cells += [Text(str(numbers[verdict]), COLOURS[verdict] if numbers[verdict] else "dim") for verdict in VERDICTS]
    return (*cells, Text(str(numbers["asserted"])), Text(decided(numbers)))
