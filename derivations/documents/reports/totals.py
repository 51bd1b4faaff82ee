"""How many claims there are of each verdict, how many of them assert something, and how many of these were decided.

Definition   a claim asserts something where it is decided, or where nothing tells that its author defines, declares,
             gives or supposes something
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from derivations.documents.checking import Report
from derivations.documents.verdicts import VERDICTS, Claim, Intent

__all__ = ["decided", "summary"]


def summary(reports: Iterable[Report]) -> dict[str, int]:
    """Return the number of claims, that of each verdict, and that of the claims which assert something."""
    claims = [claim for report in reports for claim in report.claims]
    counts = Counter(claim.finding.verdict for claim in claims)
    asserted = sum(map(_asserts, claims))
    return {"claims": len(claims), **{verdict: counts[verdict] for verdict in VERDICTS}, "asserted": asserted}


def _asserts(claim: Claim) -> bool:
    return claim.finding.verdict != "unknown" or claim.intent in (None, Intent.ASSERTS)


def decided(numbers: dict[str, int]) -> str:
    """Return the percentage of the asserting claims that were decided, or "-" if no claim asserts anything."""
    asserted = numbers["asserted"]
    return f"{(numbers['claims'] - numbers['unknown']) / asserted:.0%}" if asserted else "-"
