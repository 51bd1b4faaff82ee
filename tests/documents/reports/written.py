"""Small files with claims made by hand: what a report shows does not depend on what the checks can do."""

from derivations.documents.checking import Report
from derivations.documents.originals import Original
from derivations.documents.passages import Passage, Place, Problem
from derivations.documents.reports.judging import Judged
from derivations.documents.verdicts import Claim, Finding, Repair

LINE = "Here $2 + 3 = 7$ stands.\n"


def claim(finding: Finding, text: str = "2 + 3 = 7", start: Place = Place(1, 7)) -> Claim:  # noqa: B008 - frozen
    """A claim on one line, in a passage that is the formula."""
    end = Place(start.line, start.column + len(text), start.cell)
    return Claim(text, start, end, finding, (finding,), Passage("latex", text, ((0, start),)))


def wrong(repair: Repair | None = None, **options: object) -> Finding:
    """A finding of arithmetic."""
    values = {"reason": "2 + 3 is 5, not 7", "right": "2 + 3 = 5", **options}
    return Finding("wrong", "arithmetic", repair=repair, **values)  # type: ignore[arg-type]


def judged(*claims: Claim, file: str = "a.md", text: str = LINE, problems: tuple[Problem, ...] = ()) -> Judged:
    """A file with claims."""
    return Judged(Report(file, claims, problems), Original(text, file.endswith(".ipynb")))
