"""The report as JSON: the stable form for other programs.

Result       {"files": [{"file", "claims": [{"line", "end_line", "column", "end_column", "cell", "text", "verdict",
             "reason", "right", "result", "assumptions", "check", "intent"}], "problems": [{"line", "column", "cell",
             "message"}]}], "summary": {"claims", "proved", "holds", "conditional", "wrong", "unknown", "asserted"}}
Assumes      lines and columns count from 1, columns in characters; in a notebook they count in the cell, which `cell`
             numbers; `end_column` is one past the last character
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from derivations.documents.checking import Report
from derivations.documents.passages import Problem
from derivations.documents.reports.plain import encodable
from derivations.documents.reports.totals import summary
from derivations.documents.verdicts import Claim

__all__ = ["json_report"]


def json_report(reports: Sequence[Report]) -> str:
    """Return the reports as one JSON object."""
    files = [
        {
            "file": report.file,
            "claims": [_claim(claim) for claim in report.claims],
            "problems": [_problem(problem) for problem in report.problems],
        }
        for report in reports
    ]
    return encodable(json.dumps({"files": files, "summary": summary(reports)}, ensure_ascii=False, indent=1))


def _claim(claim: Claim) -> dict[str, Any]:
    finding = claim.finding
    return {
        "line": claim.start.line,
        "end_line": claim.end.line,
        "column": claim.start.column,
        "end_column": claim.end.column,
        "cell": claim.start.cell,
        "text": claim.text,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "right": finding.right,
        "result": finding.result,
        "assumptions": list(finding.assumptions),
        "check": finding.check,
        "intent": claim.intent,
    }


def _problem(problem: Problem) -> dict[str, Any]:
    place = problem.place
    return {"line": place.line, "column": place.column, "cell": place.cell, "message": problem.message}
