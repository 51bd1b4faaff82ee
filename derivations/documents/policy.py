"""What a kind of finding may say to a reader: one table, which every finding of a document goes through.

Definition   an alarm rests on one of four kinds of evidence: `Identity`, both sides closed in the same letters;
             `Number`, numbers with their rounding; `Restated`, the document's own definition or another line; `Form`,
             the known formula of the name that stands there
Result       `in_policy(finding)`: what is called wrong without evidence is unknown, and digits that are cut off are
             conditional; `FITS` are the remarks that a check makes on what is unknown
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from derivations.documents.verdicts import Finding

__all__ = ["DIFFERS", "EVIDENCE", "FITS", "Evidence", "in_policy"]

Evidence = Literal["Identity", "Number", "Restated", "Form"]

EVIDENCE: Mapping[str, Evidence] = {
    "arithmetic": "Number",
    "identity": "Identity",
    "gradient": "Restated",
    "parallel": "Restated",
    "shapes": "Restated",
    "derivative": "Identity",
    "nearest": "Form",
}
FITS = frozenset({"shapes.fit", "shapes.declared", "shapes.map", "naming.fit"})  # remarks on what is unknown
DIFFERS: Mapping[str, str] = {  # with what makes such a formula right
    "arithmetic.truncated": "digits are cut off, not rounded",
    "nearest.spoken": "another formula is meant than the usual one",
}


def in_policy(finding: Finding) -> Finding:
    """Return what is said to the reader of what a check found."""
    match finding.verdict:
        case "wrong" if finding.check in DIFFERS:
            assumptions = (*finding.assumptions, DIFFERS[finding.check])
            reason = f"differs from the usual: {finding.reason}"
            return replace(finding, said="conditional", reason=reason, assumptions=assumptions, repair=None)
        case "wrong" if finding.check.partition(".")[0] not in EVIDENCE:
            return replace(finding, said="unknown", repair=None)
    return finding
