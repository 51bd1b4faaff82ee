"""How many claims there are of each verdict, and how many were decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from derivations.documents.checking import Report
from derivations.documents.verdicts import VERDICTS

__all__ = ["decided", "summary"]


def summary(reports: Iterable[Report]) -> dict[str, int]:
    """Return the number of claims, and that of each verdict."""
    counts = Counter(claim.finding.verdict for report in reports for claim in report.claims)
    return {"claims": counts.total(), **{verdict: counts[verdict] for verdict in VERDICTS}}


def decided(numbers: dict[str, int]) -> str:
    """Return the share of the claims that are not unknown."""
    claims = numbers["claims"]
    return f"{(claims - numbers['unknown']) / claims:.0%}" if claims else "-"
