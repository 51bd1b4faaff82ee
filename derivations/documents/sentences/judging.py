"""What the checks say of statements in words: claims where they find something, and none where they do not.

Definition   a statement that reads in two ways is judged in both: it is wrong only where it is wrong in both, and
             else it is what the first reading that is right makes it, under the assumption of that reading
Result       `spoken_claims` yields claims; a sentence that asks, supposes or denies claims nothing that is wrong
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from derivations.documents.budget import budget_of
from derivations.documents.claims import FAILED, claim_of, findings_of, stretch_of
from derivations.documents.scope import Scopes
from derivations.documents.sentences.reading import Spoken
from derivations.documents.verdicts import Claim, Finding, settled

__all__ = ["spoken_claims"]


def spoken_claims(told: Iterable[Spoken], block: int, scopes: Scopes) -> Iterator[Claim]:
    """Yield the claims of what the words of a block say."""
    in_order = sorted(told, key=_stretch)
    for _, group in groupby(in_order, key=_stretch):
        readings = list(group)
        statement = readings[0].statement
        for link in statement.links or (None,):
            chosen = _chosen(readings, [_findings(each, link, block, scopes) for each in readings])
            wrong = any(each.verdict == "wrong" for each in chosen)
            if chosen and not (wrong and any(each.doubted for each in readings)):
                yield claim_of(statement.passage, *stretch_of(statement, link), chosen)


def _stretch(spoken: Spoken) -> tuple[int, int]:
    return spoken.statement.chain.start, spoken.statement.chain.end


def _findings(spoken: Spoken, link: int | None, block: int, scopes: Scopes) -> list[Finding]:
    """Return what is found of a link in one reading."""
    scope = scopes.admit(spoken.statement, block)
    if link is not None and link >= len(spoken.statement.links):
        return []
    with budget_of():
        found = findings_of(spoken.statement, link, scope)
    return [replace(each, repair=None) for each in found if each.verdict != "unknown" or each.check == FAILED]


def _chosen(readings: list[Spoken], found: list[list[Finding]]) -> list[Finding]:
    """Return the findings of the first reading that is right; of the first at all where every one is wrong.

    A reading rests on what it assumes, unless every other says the same.
    """
    said = [settled(each).verdict if each else "nothing" for each in found]
    if len(set(said)) == 1:
        return found[0]
    right = [number for number, verdict in enumerate(said) if verdict not in ("nothing", "wrong", "unknown")]
    return [_assuming(each, readings[right[0]].assumptions) for each in found[right[0]]] if right else []


def _assuming(finding: Finding, assumptions: tuple[str, ...]) -> Finding:
    said = "conditional" if assumptions and finding.verdict in ("proved", "holds") else finding.said
    return replace(finding, said=said, assumptions=(*assumptions, *finding.assumptions))
