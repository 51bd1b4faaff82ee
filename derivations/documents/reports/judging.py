"""Judges a file under its author's settings and the comments in the file.

Result       the report with the text of the file, from which places and repairs are read
Raises       ValueError where the format of a file is not known
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from derivations.documents.checking import Report, check_file, check_text
from derivations.documents.ignoring import Ignored, read_ignored
from derivations.documents.originals import Original, read_original
from derivations.documents.passages import Place, Problem
from derivations.documents.settings import Settings
from derivations.documents.verdicts import Claim, settled
from derivations.processes import in_order

__all__ = ["Judged", "judge_file", "judge_files", "judge_text"]

WORTH_A_PROCESS = 100_000  # bytes of documents, which are judged in the time that another process takes to start


@dataclass(frozen=True)
class Judged:
    """A report on a file, and the file as it is written.

    `failed` says that the author has to see to the file itself: it could not be read, or a comment has no reason.
    """

    report: Report
    original: Original
    failed: bool = False

    @property
    def wrong(self) -> int:
        """The number of claims that are wrong."""
        return sum(claim.finding.verdict == "wrong" for claim in self.report.claims)

    def region(self, start: Place, end: Place) -> tuple[Place, Place]:
        """Return two places as lines and columns of the file, also if they refer to a cell of a notebook."""
        first, last = (self.original.span(place, place) for place in (start, end))
        if first is None:
            return Place(1, 1), Place(1, 1)
        begin = self.original.place(first[0])
        return begin, begin if last is None else self.original.place(last[0])


def judge_file(path: Path, settings: Settings) -> Judged:
    """Judge the formulas of a file. If it cannot be opened, the report has a problem."""
    try:
        return _judged(check_file(path, settings), read_original(path), settings.ignored(path))
    except OSError as error:
        problem = Problem(Place(1, 1), f"the file cannot be opened: {error.strerror or error}")
        return Judged(Report(str(path), (), (problem,)), Original("", encoding=None), failed=True)


def judge_text(text: str, form: str, file: str, settings: Settings, problems: Sequence[Problem] = ()) -> Judged:
    """Judge the formulas of a text in a format of `check_text`. A text with `problems` is not checked."""
    report = Report(file, (), tuple(problems)) if problems else check_text(text, form, file, settings)
    return _judged(report, Original(text, form == "notebook"), settings.ignored(Path(file)))


def judge_files(paths: Iterable[Path], settings: Callable[[Path], Settings], jobs: int = 1) -> Iterator[Judged]:
    """Judge files by the settings of their folders, and yield the results in order.

    They share at most `jobs` processes, and fewer if the files are small.
    """
    pairs = [(path, settings(path.parent)) for path in paths]
    written = sum(path.stat().st_size for path, _ in pairs if path.is_file())
    return in_order(_judge_pair, pairs, min(jobs, 1 + written // WORTH_A_PROCESS))


def _judge_pair(pair: tuple[Path, Settings]) -> Judged:
    return judge_file(*pair)


def _judged(report: Report, original: Original, ids: tuple[str, ...]) -> Judged:
    ignored, problems = read_ignored(original, ids)
    claims = tuple(_without(ignored, claim) for claim in report.claims)
    unread = bool(report.problems and not claims)  # there was something, and nothing of it could be read
    report = replace(report, claims=claims, problems=(*report.problems, *problems))
    return Judged(report, original, failed=unread or bool(problems))


def _without(ignored: Ignored, claim: Claim) -> Claim:
    """Return a claim without its ignored findings, and with the verdict of the other ones."""
    kept = tuple(ignored.heed(claim.findings, claim.start, claim.end))
    return claim if kept == claim.findings else replace(claim, finding=settled(kept), findings=kept)
