"""The verdict on a claim, with its reason, what would be right, and the assumptions that it needs.

Definition   proved       both sides are equal: the judge of equality proved it of the formula as it stands
             holds        checked: the numbers are right as printed, or this is the usual formula of what is named
             conditional  holds under the assumptions that are named, or differs from what is usual
             wrong        does not hold; the reason says why, and `right` what does
             unknown      not decided: not understood, nothing was claimed, or nothing but a fit was seen, which the
                          reason says
Raises       ValueError for a finding that is to be proved without the evidence of the judge
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from derivations.documents.passages import Passage, Place
from derivations.language.judge.proof import StepEvidence

__all__ = [
    "ALONE",
    "NOT_UNDERSTOOD",
    "NO_CHECK",
    "VERDICTS",
    "Claim",
    "Finding",
    "Intent",
    "Repair",
    "Unproved",
    "Verdict",
    "settled",
]

Unproved = Literal["holds", "conditional", "wrong", "unknown"]  # what a check may say by itself
Verdict = Literal["proved", Unproved]
VERDICTS: tuple[Verdict, ...] = ("proved", "holds", "conditional", "wrong", "unknown")
FORMS = ("canonical", "nearest")  # the checks that compare a formula with known ones
OTHERS = ("contraction", "parallel", "pattern")  # and with others of the document
ALONE = ".alone"  # behind the id of a check: nothing but the two sides says that they are meant to be equal
NO_CHECK = "none"  # the check of a formula of which no check says anything
NOT_UNDERSTOOD = "not understood"  # the check of a formula that could not be read to its end


class Intent(StrEnum):
    """What an author does with a formula."""

    ASSERTS = "asserts"
    DEFINES = "defines"
    DECLARES = "declares"
    GIVES = "gives"
    SUPPOSES = "supposes"
    DENIES = "denies"

    @property
    def undecided(self) -> str:
        """The reason why a formula of this intent is not decided."""
        match self:
            case Intent.DEFINES:
                return "a definition, and nothing contradicts it"
            case Intent.DECLARES:
                return "a declaration, and nothing contradicts it"
            case Intent.GIVES:
                return "a number that is given, and nothing contradicts it"
            case Intent.SUPPOSES:
                return "a condition, which is not said to hold"
            case Intent.DENIES:
                return "the sentence around it says that it does not hold"
        return "no check applies to this formula"


@dataclass(frozen=True)
class Repair:
    """A replacement of characters of a passage, from `start` to `end`, that is certain to be right."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Finding:
    """The result of one check of a claim. `check` is its id, by which it can be ignored.

    `said` is a word, or the evidence of the judge: nothing else makes a finding that is proved.
    """

    said: Unproved | StepEvidence
    check: str
    reason: str
    right: str | None = None
    result: str | None = None
    assumptions: tuple[str, ...] = ()
    repair: Repair | None = None

    def __post_init__(self) -> None:
        """Raise an error for the word `proved`, and for evidence that is not a proof."""
        if isinstance(self.said, StepEvidence) and self.said.level != "proved":
            raise ValueError(f"the judge says {self.said.level!r}: that proves no finding; say what the check saw")
        if not isinstance(self.said, StepEvidence) and self.said not in VERDICTS[1:]:
            raise ValueError(f"a check says {', '.join(VERDICTS[1:])}, not {self.said!r}: the judge alone proves")

    @property
    def verdict(self) -> Verdict:
        """The verdict in one word."""
        return "proved" if isinstance(self.said, StepEvidence) else self.said


@dataclass(frozen=True)
class Claim:
    """A stretch of a document that was judged, with its findings. The intent of what was not understood is None."""

    text: str
    start: Place
    end: Place
    finding: Finding
    findings: tuple[Finding, ...] = field(default=(), repr=False)  # what each check says of it
    passage: Passage | None = field(default=None, repr=False, compare=False)  # where offsets of a repair count
    intent: Intent | None = None


def settled(findings: Iterable[Finding]) -> Finding:
    """Return one finding for all: the first that is wrong, else the strongest.

    Unless it is proved, it has the assumptions of all findings.

    Result       the first finding that is wrong; else proved before holds before conditional; a finding that nothing
                 can be proved of without an assumption keeps that assumption. Of sides that are proved equal it is not
                 said that they are another formula than a known one or than others of the document, and of a usual
                 derivative not that it is none of what the document defines: another line is wrong, if any
    """
    known = [finding for finding in findings if finding.verdict != "unknown"]
    is_proved = any(finding.verdict == "proved" for finding in known)
    is_usual = any(finding.verdict == "holds" and finding.check in FORMS for finding in known)
    for finding in known:
        elsewhere = (is_proved and finding.check in (*FORMS, *OTHERS)) or (is_usual and finding.check == "derivative")
        if finding.verdict == "wrong" and not elsewhere:
            return finding
    known = [finding for finding in known if finding.verdict != "wrong"]
    if not known:
        return next(iter(findings), Finding("unknown", NO_CHECK, Intent.ASSERTS.undecided))
    strongest = min(known, key=lambda finding: VERDICTS.index(finding.verdict))
    if strongest.verdict == "proved":
        return strongest  # what another check assumed is not needed
    if strongest.verdict == "holds":  # what was merely checked is no stronger than an assumption that it needs
        strongest = next((finding for finding in known if finding.verdict == "conditional"), strongest)
    assumptions = dict.fromkeys(text for finding in known for text in finding.assumptions)
    return replace(strongest, assumptions=tuple(assumptions))
