"""How far the verdicts on the five documents agree with those judged by hand: `python -m tests.documents.gold`.

Definition   a record of the file and a claim speak of the same if they stand on the same line and one text holds the
             other; where several claims do, the record is decided if all are, and wrong if one is
Result       agreement: correct -> proved, holds or conditional; needs_assumption -> conditional, or an assumption is
             named; imprecise -> conditional, or a repair is named; wrong -> an alarm. What only fits is not decided
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derivations.documents.checking import check_file
from derivations.documents.verdicts import Claim, Intent
from tests.documents.said import ALARMS, DECIDED, in_a_word

__all__ = ["CLAIMS", "DEFINITIONS", "DOCUMENTS", "KINDS", "Compared", "compared", "share"]

SHARED = Path(__file__).resolve().parents[3] / "shared"  # a folder beside the checkout
DOCUMENTS, CLAIMS = SHARED / "documents", SHARED / "gold" / "claims.json"
KINDS = ("definition", "equality", "shape", "numeric")
BY_INTENT = {  # what an author does with a formula of a kind, where there is nothing to decide
    "definition": (Intent.DEFINES, Intent.GIVES, Intent.DECLARES),
    "shape": (Intent.DECLARES,),
    "numeric": (Intent.GIVES,),
    "equality": (),
}
NO_ASSERTION = frozenset(intent for intents in BY_INTENT.values() for intent in intents)
DEFINITIONS = frozenset(  # "equality" in the file, and the line in which the document sets its left side
    ["002-035", "002-039", "002-043", "002-045", "002-055", "002-057", "004-143", "004-144"]
)
MARKS = re.compile(r"[\s$*`\\&]|mathbf|textcolor\{\w+\}|left|right")
STRENGTH = (
    "wrong",
    "differs",
    "unknown",
    "fits",
    "conditional",
    "holds",
    "proved",
)  # several claims together: the first of these


@dataclass(frozen=True)
class Compared:
    """A record of the file with what is said of it here."""

    record: Mapping[str, Any]
    claims: Sequence[Claim]

    @property
    def verdict(self) -> str:
        """What the claims say together; "none" where there is no claim."""
        said = {in_a_word(claim.finding) for claim in self.claims}
        return next((verdict for verdict in STRENGTH if verdict in said), "none")

    @property
    def is_no_assertion(self) -> bool:
        """Say whether what is not decided of it asserts nothing: what the file calls so, or what goes with a decision.

        The formula is said to define, to declare or to give something, and nothing contradicts it.
        """
        kind = "definition" if self.record["id"] in DEFINITIONS else self.record["kind"]
        open_ = [claim for claim in self.claims if in_a_word(claim.finding) not in DECIDED]
        if not open_ or any(in_a_word(claim.finding) not in ("unknown", "fits") for claim in open_):
            return False
        intents = {claim.intent for claim in open_}
        return intents <= {*BY_INTENT.get(kind, ())} if len(open_) == len(self.claims) else intents <= NO_ASSERTION

    @property
    def agrees(self) -> bool:
        """Say whether that is what the file says."""
        positive = self.verdict in DECIDED
        match self.record["verdict"]:
            case "correct":
                return positive or self.is_no_assertion
            case "needs_assumption":
                named = any(claim.finding.assumptions for claim in self.claims)
                return (positive or self.is_no_assertion) and named
            case "imprecise":
                repaired = any(claim.finding.right for claim in self.claims)
                return self.verdict == "conditional" or (self.verdict in ALARMS and repaired)
            case "wrong":
                return self.verdict in ALARMS
        return not positive or self.verdict == "conditional"


def compared() -> list[Compared]:
    """Return every record with the claims that speak of it."""
    claims = {path.name: check_file(path).claims for path in sorted(DOCUMENTS.glob("*.txt"))}
    records = json.loads(CLAIMS.read_text(encoding="utf-8"))["records"]
    return [Compared(record, list(_same(record, claims[record["file"]]))) for record in records]


def share(rows: Iterable[Compared]) -> tuple[int, int]:
    """Return how many agree, and how many there are."""
    agree = [row.agrees for row in rows]
    return sum(agree), len(agree)


def _same(record: Mapping[str, Any], claims: Iterable[Claim]) -> Iterable[Claim]:
    text = MARKS.sub("", record["text"])
    for claim in claims:
        own = MARKS.sub("", claim.text)
        if own and (own in text or text in own) and claim.start.line - 1 <= record["line"] <= claim.end.line + 1:
            yield claim


def main() -> None:
    """Print the figures, and with -v what does not agree."""
    rows = [row for row in compared() if row.record["form"] == "formula"]
    for kind in KINDS:
        of_kind = [row for row in rows if row.record["kind"] == kind]
        agree, count = share(of_kind)
        by_intent = sum(row.agrees and row.is_no_assertion for row in of_kind)
        print(f"{kind:12} {agree:4} of {count}, {by_intent} of them no assertions")
    agree, count = share(row for row in rows if row.record["kind"] in KINDS)
    print(f"{'together':12} {agree:4} of {count} = {agree / count:.1%}")
    alarms = [row for row in rows if row.record["verdict"] == "correct" and row.verdict in ALARMS]
    print(f"correct and called wrong: {len(alarms)}")
    print("verdicts:", dict(Counter(row.verdict for row in rows)))
    for row in rows if "-v" in sys.argv else alarms:
        if not row.agrees and row.record["kind"] in KINDS:
            reasons = "; ".join(claim.finding.reason for claim in row.claims)
            print(f"{row.record['id']} line {row.record['line']} {row.record['verdict']} -> {row.verdict}: "
                  f"{row.record['text'][:80]!r} {reasons[:120]}")  # fmt: skip


if __name__ == "__main__":
    main()
