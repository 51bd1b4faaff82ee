"""The report as workflow commands for GitHub, which shows them beside the lines of a change.

Definition   `::error file=..,line=..,col=..,title=..::message`; %, ends of lines and, in properties, : and , are
             written as %25, %0A, %3A and %2C
Result       an error for what is wrong, a notice for what holds under an assumption, a warning for what was not read
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from derivations.documents.passages import Place
from derivations.documents.reports.judging import Judged
from derivations.documents.reports.plain import visible
from derivations.documents.verdicts import Claim

__all__ = ["github_report"]

LEVELS = {"wrong": "error", "conditional": "notice"}


def github_report(files: Sequence[Judged]) -> str:
    """Return the report as workflow commands, one on each line."""
    return "\n".join(line for judged in files for line in _lines(judged))


def _lines(judged: Judged) -> Iterator[str]:
    for problem in judged.report.problems:
        yield _command("warning", judged, problem.place, problem.place, "not read", problem.message)
    for claim in judged.report.claims:
        if level := LEVELS.get(claim.finding.verdict):
            title = f"{claim.finding.verdict} ({claim.finding.check})"
            yield _command(level, judged, claim.start, claim.end, title, _message(claim))


def _message(claim: Claim) -> str:
    finding = claim.finding
    parts = [claim.text.strip(), finding.reason]
    parts += [f"right: {finding.right}"] if finding.right else []
    parts += [f"assuming that {assumption}" for assumption in finding.assumptions]
    parts += [f"see: derivations show {finding.result}"] if finding.result else []
    return "\n".join(parts)


def _command(level: str, judged: Judged, start: Place, end: Place, title: str, message: str) -> str:
    first, last = judged.region(start, end)
    where = {"file": judged.report.file, "line": str(first.line), "endLine": str(last.line)}
    if first.line == last.line:  # columns are shown within one line alone
        where |= {"col": str(first.column), "endColumn": str(max(last.column, first.column))}
    properties = ",".join(f"{key}={_property(value)}" for key, value in {**where, "title": title}.items())
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text.replace("\r\n", "\n")).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
