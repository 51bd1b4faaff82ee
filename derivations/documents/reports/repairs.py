"""The repairs of a file that are certain.

Definition   a replacement is certain if the characters that it replaces stand in the file as they were read (not so
             where a macro was expanded, or where a formula goes over the lines of a quotation), and if the repaired
             text, judged anew, has one wrong claim less. A check may give the characters to replace; else a whole
             equation is replaced by what is right, if both name the same left side and the new one is proved or holds
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from derivations.documents.originals import Original
from derivations.documents.passages import Passage, Place
from derivations.documents.readers import SUFFIXES
from derivations.documents.replacing import Replacement, repaired
from derivations.documents.reports.judging import Judged, judge_text
from derivations.documents.settings import Settings
from derivations.documents.verdicts import Claim, Repair

__all__ = ["certain", "replacement_of", "replacements"]

MAX_TRIED = 50  # repairs of one file that are tried alone


def replacements(judged: Judged) -> tuple[Replacement, ...]:
    """Return the replacements in a file, in order and not adjacent, or none if no encoding reproduces the file."""
    chosen: list[Replacement] = []
    found = (replacement_of(claim, judged.original) for claim in judged.report.claims)
    for each in sorted({each for each in found if each is not None}):
        if not chosen or chosen[-1].end < each.start:
            chosen.append(each)
    return tuple(chosen)


def certain(judged: Judged, settings: Settings) -> tuple[Replacement, ...]:
    """Return the replacements that each remove a wrong claim: all of them if they do so together, else each alone."""
    text, changes = judged.original.text, replacements(judged)
    form = "notebook" if judged.original.notebook else SUFFIXES.get(Path(judged.report.file).suffix.lower(), "markdown")

    def better(chosen: Sequence[Replacement], made_right: int = 0) -> bool:
        again = judge_text(repaired(text, chosen), form, judged.report.file, settings)
        return again.wrong <= judged.wrong - len(chosen) and _right(again) >= _right(judged) + made_right

    # An equation is tried alone, so that no other repair can stand in for what it should make right.
    equations = [each for each in _equations(judged) if not any(_touch(each, other) for other in changes)]
    changes = tuple(sorted([*changes, *(each for each in equations[:MAX_TRIED] if better([each], 1))]))
    if not changes or better(changes):
        return changes
    return tuple(each for each in changes[:MAX_TRIED] if better([each]))


def _equations(judged: Judged) -> list[Replacement]:
    """Return the replacements of whole equations by right ones with the same left side."""
    found = [_replacement(claim, _whole_equation(claim), judged.original) for claim in judged.report.claims]
    return [each for each in dict.fromkeys(found) if each is not None]


def _touch(one: Replacement, other: Replacement) -> bool:
    return one.start <= other.end and other.start <= one.end


def _right(judged: Judged) -> int:
    return sum(claim.finding.verdict in ("proved", "holds") for claim in judged.report.claims)


def replacement_of(claim: Claim, original: Original) -> Replacement | None:
    """Return the replacement that repairs a wrong claim, if a check gives one."""
    return _replacement(claim, claim.finding.repair, original)


def _replacement(claim: Claim, repair: Repair | None, original: Original) -> Replacement | None:
    passage = claim.passage
    if claim.finding.verdict != "wrong" or repair is None or passage is None or original.encoding is None:
        return None
    if not 0 <= repair.start <= repair.end <= len(passage.text) or not passage.text:
        return None
    repair = _with_a_neighbour(repair, passage)
    start = passage.place(repair.start)
    last = passage.place(repair.end - 1)
    end = Place(last.line, last.column + 1, last.cell)
    span = original.span(start, end)
    if span is None or original.characters(start, end) != passage.text[repair.start : repair.end]:
        return None
    return Replacement(*span, original.written(repair.text))


def _whole_equation(claim: Claim) -> Repair | None:
    """Return the repair that replaces an equation by the right one, if both have the same left side."""
    text, right, passage = claim.text, claim.finding.right or "", claim.passage
    left, sign, _ = text.partition("=")
    same = sign and right.partition("=")[0].split() == left.split() and right.count("=") == text.count("=")
    if not same or passage is None or passage.text.count(text) != 1:
        return None
    start = passage.text.index(text)
    return Repair(start, start + len(text), right)


def _with_a_neighbour(repair: Repair, passage: Passage) -> Repair:
    """Extend an insertion by a character beside it, so that its place can be compared with the file."""
    if repair.start < repair.end:
        return repair
    if repair.start > 0:
        return Repair(repair.start - 1, repair.end, passage.text[repair.start - 1] + repair.text)
    return Repair(0, 1, repair.text + passage.text[:1])
