"""The report as SARIF 2.1.0, which code-review tools show as annotations.

Definition   a rule is a check; a result is a claim that is wrong (error) or holds under an assumption (note). What was
             left out by a comment is not listed; repairs are fixes
Assumes      columns count characters; an `endColumn` is one past the last of them
Source       Static Analysis Results Interchange Format (SARIF) Version 2.1.0, OASIS Standard (2020)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import derivations
from derivations.documents.passages import Place, Problem
from derivations.documents.replacing import Replacement
from derivations.documents.reports.judging import Judged
from derivations.documents.reports.plain import encodable
from derivations.documents.reports.repairs import replacement_of
from derivations.documents.reports.rules import RULES, rule_of
from derivations.documents.verdicts import Claim

__all__ = ["sarif_report"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"wrong": "error", "conditional": "note"}


def sarif_report(files: Sequence[Judged]) -> str:
    """Return the reports as one SARIF log."""
    results = [result for judged in files for result in _results(judged)]
    known = {**RULES, **{rule.id: rule for result in results for rule in [rule_of(result["ruleId"])]}}
    numbers = {name: number for number, name in enumerate(known)}
    rules = [
        {
            "id": rule.id,
            "shortDescription": {"text": f"{rule.title}."},
            "help": {"text": rule.help},
            "defaultConfiguration": {"level": "error"},
        }
        for rule in known.values()
    ]
    problems = [_notification(judged, problem) for judged in files for problem in judged.report.problems]
    run = {
        "tool": {"driver": {"name": "derivations", "version": derivations.__version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": problems}],
        "results": [{**result, "ruleIndex": numbers[result["ruleId"]]} for result in results],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return encodable(json.dumps(log, ensure_ascii=False, indent=1))


def _results(judged: Judged) -> Iterator[dict[str, Any]]:
    for claim in judged.report.claims:
        finding = claim.finding
        if (level := LEVELS.get(finding.verdict)) is None:
            continue
        result: dict[str, Any] = {
            "ruleId": rule_of(finding.check).id,
            "level": level,
            "message": {"text": _message(claim)},
            "locations": [{"physicalLocation": _location(judged, claim.start, claim.end, claim.text)}],
        }
        if (replacement := replacement_of(claim, judged.original)) is not None:
            result["fixes"] = [_fix(judged, replacement)]
        yield result


def _message(claim: Claim) -> str:
    finding = claim.finding
    parts = [finding.reason]
    parts += [f"Right: {finding.right}"] if finding.right else []
    parts += [f"Assuming that {assumption}" for assumption in finding.assumptions]
    parts += [f"Result: {finding.result}"] if finding.result else []
    return "\n".join(parts)


def _location(judged: Judged, start: Place, end: Place, text: str) -> dict[str, Any]:
    return {"artifactLocation": _artifact(judged), "region": {**_region(judged, start, end), "snippet": {"text": text}}}


def _artifact(judged: Judged) -> dict[str, str]:
    path = Path(judged.report.file)
    raw = path.as_posix().encode("utf-8", errors="surrogateescape")
    return {"uri": f"file://{quote(raw)}" if path.is_absolute() else quote(raw)}


def _region(judged: Judged, start: Place, end: Place) -> dict[str, int]:
    return _between(*judged.region(start, end))


def _between(first: Place, last: Place) -> dict[str, int]:
    return {
        "startLine": first.line,
        "startColumn": first.column,
        "endLine": last.line,
        "endColumn": last.column,
    }


def _fix(judged: Judged, replacement: Replacement) -> dict[str, Any]:
    region = _between(judged.original.place(replacement.start), judged.original.place(replacement.end))
    change = {"deletedRegion": region, "insertedContent": {"text": replacement.text}}
    return {
        "description": {"text": "Write what is right"},
        "artifactChanges": [{"artifactLocation": _artifact(judged), "replacements": [change]}],
    }


def _notification(judged: Judged, problem: Problem) -> dict[str, Any]:
    return {
        "level": "warning",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(judged)}}],
    }
