"""How many verdicts on the five documents stay when these are written otherwise: `python -m tests.documents.reworded`.

Definition   a claim of a version answers to the one at the same place, or with the same text, in the same line; a
             verdict stays if it is the same, and is turned if `wrong` comes or goes
Result       for each version: how many claims stay, become unknown or lost, turn; and the agreement with the gold file.
             `-v` prints what changes, `-v NAME` that of one version
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from derivations.documents.checking import check_file, check_text
from derivations.documents.passages import Place
from derivations.documents.verdicts import Claim
from tests.documents.gold import DOCUMENTS, KINDS, MARKS, Compared, compared, share
from tests.documents.rewording import Version, versions
from tests.documents.said import ALARMS, DECIDED, in_a_word

__all__ = ["SEED", "Change", "changes"]

SEED = 6
Answers = dict[tuple[str, Place, Place], Claim | None]
POSITIVE = (*DECIDED, "fits")


@dataclass(frozen=True)
class Change:
    """A claim with the one that answers to it in a version; None where none does."""

    before: Claim
    after: Claim | None

    @property
    def kind(self) -> str:
        """How the verdict changed."""
        old = in_a_word(self.before.finding)
        new = in_a_word(self.after.finding) if self.after is not None else "unknown"
        if old == new:
            return "same"
        if new in ALARMS:
            return "made wrong"
        if old in ALARMS:
            return "missed" if new == "unknown" else "made right"
        return "other positive" if old in POSITIVE and new in POSITIVE else "lost" if new == "unknown" else "gained"


def _placed(claims: Iterable[Claim], lines: Sequence[int]) -> Mapping[int, list[Claim]]:
    found: dict[int, list[Claim]] = defaultdict(list)
    for claim in claims:
        found[lines[min(claim.start.line, len(lines)) - 1]].append(claim)
    return found


def changes(claims: Sequence[Claim], version: Version) -> list[Change]:
    """Return what becomes of the claims of a document in a version of it."""
    old = _placed(claims, range(1, max((claim.start.line for claim in claims), default=0) + 1))
    new = _placed(check_text(version.text, version.form).claims, version.lines)
    found: list[Change] = []
    for line, before in old.items():
        after = new.get(line, [])
        alike = len(after) == len(before)
        texts = {MARKS.sub("", claim.text): claim for claim in reversed(after)}
        for number, claim in enumerate(before):
            text = MARKS.sub("", version.said(claim.text))
            found.append(Change(claim, after[number] if alike else texts.get(text)))
    return found


def main() -> None:
    """Print the figures."""
    wanted = sys.argv[2] if len(sys.argv) > 2 else None
    rows = [row for row in compared() if row.record["form"] == "formula" and row.record["kind"] in KINDS]
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    answers: dict[str, Answers] = defaultdict(dict)
    for path in sorted(DOCUMENTS.glob("*.txt")):
        judged = {_key(path.name, claim) for row in rows if row.record["file"] == path.name for claim in row.claims}
        claims = check_file(path).claims
        for version in versions(path.read_text(encoding="utf-8"), SEED):
            if wanted not in (None, version.name):
                continue
            for change in changes(claims, version):
                key = _key(path.name, change.before)
                if key in judged:
                    kinds[version.name][change.kind] += 1
                    answers[version.name][key] = change.after
                    if "-v" in sys.argv and change.kind not in ("same", "gained", "other positive"):
                        _show(path.name[:3], version.name, change)
    for name, counted in kinds.items():
        agree, count = share(Compared(row.record, _answered(row, answers[name])) for row in rows)
        print(f"{name:20} agrees {agree:3} of {count}   " + ", ".join(f"{n} {kind}" for kind, n in counted.items()))


def _key(file: str, claim: Claim) -> tuple[str, Place, Place]:
    return file, claim.start, claim.end


def _answered(row: Compared, answers: Answers) -> list[Claim]:
    found = (answers.get(_key(row.record["file"], claim)) for claim in row.claims)
    return [claim for claim in found if claim is not None]


def _show(file: str, name: str, change: Change) -> None:
    new = change.after
    said = (
        "nothing at its place"
        if new is None
        else f"{new.finding.verdict}: {new.text[:70]!r} {new.finding.reason[:120]}"
    )
    old = change.before
    print(f"{name}: {file}:{old.start.line} {old.finding.verdict} {old.text[:60]!r} -> {said}")


if __name__ == "__main__":
    main()
