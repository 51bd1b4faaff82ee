"""What is said of a formula in one word, also where the policy lets a check say less than it sees."""

from __future__ import annotations

from derivations.documents.policy import DIFFERS, FITS
from derivations.documents.verdicts import Finding

__all__ = ["ALARMS", "DECIDED", "in_a_word"]

ALARMS = ("wrong", "differs")
DECIDED = ("proved", "holds", "conditional")


def in_a_word(finding: Finding) -> str:
    """Return the verdict; "differs" for what differs from the usual, "fits" for what is seen to fit and no more."""
    if finding.verdict == "conditional" and DIFFERS.get(finding.check) in finding.assumptions:
        return "differs"
    return "fits" if finding.verdict == "unknown" and finding.check in FITS else finding.verdict
