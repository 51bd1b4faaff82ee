"""The repairs of a file that are certain.

Definition   a replacement is certain if the characters that it replaces stand in the file as they were read (not so
             where a macro was expanded, or where a formula goes over the lines of a quotation), and if the repaired
             text, judged anew, has one wrong claim less
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
    """Return the replacements in a file, in order, none touching another; none where it is not sound UTF-8."""
    chosen: list[Replacement] = []
    found = (replacement_of(claim, judged.original) for claim in judged.report.claims)
    for each in sorted({each for each in found if each is not None}):
        if not chosen or chosen[-1].end < each.start:
            chosen.append(each)
    return tuple(chosen)


def certain(judged: Judged, settings: Settings) -> tuple[Replacement, ...]:
    """Return the replacements in a file after which it has as many wrong claims less; all of them, or each alone."""
    text, changes = judged.original.text, replacements(judged)
    form = "notebook" if judged.original.notebook else SUFFIXES.get(Path(judged.report.file).suffix.lower(), "markdown")

    def better(chosen: Sequence[Replacement]) -> bool:
        again = judge_text(repaired(text, chosen), form, judged.report.file, settings)
        return again.wrong <= judged.wrong - len(chosen)

    if not changes or better(changes):
        return changes
    return tuple(each for each in changes[:MAX_TRIED] if better([each]))


def replacement_of(claim: Claim, original: Original) -> Replacement | None:
    """Return the replacement that repairs a wrong claim, if one is certain."""
    repair, passage = claim.finding.repair, claim.passage
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


def _with_a_neighbour(repair: Repair, passage: Passage) -> Repair:
    """Take in a character beside an insertion, so that its place can be compared with the file."""
    if repair.start < repair.end:
        return repair
    if repair.start > 0:
        return Repair(repair.start - 1, repair.end, passage.text[repair.start - 1] + repair.text)
    return Repair(0, 1, repair.text + passage.text[:1])
