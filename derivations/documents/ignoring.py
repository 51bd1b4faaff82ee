"""Comments by which an author tells the check to leave something out, with the reason: `derivations: ignore`.

Definition   `<!-- derivations: ignore shapes -- the bias is a column here -->`; in LaTeX after `%`, in
             reStructuredText after `..`, in code after `#`. Ids of checks or results are separated by commas; where
             none is named, all are meant
Result       a comment that stands alone covers what follows up to the next blank line, any other comment its own line;
             a finding that is left out makes its claim unknown, unless another check has something to say of it
Raises       nothing: a comment without a reason is a problem of the report, and ignores nothing
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from derivations.documents.originals import Original, Part
from derivations.documents.passages import Place, Problem
from derivations.documents.settings import names_finding
from derivations.documents.verdicts import Finding

__all__ = ["Comment", "Ignored", "read_ignored"]

MAX_LINES = 200  # that one comment covers
_COMMENT = re.compile(r"(?:(?<=\s)|^)(<!--|%|\.\.|#)[ \t]*derivations:[ \t]*ignore(?![\w-])([^\r\n]*)", re.MULTILINE)
_ID = re.compile(r"[A-Za-z0-9_.-]*[A-Za-z0-9_]")


@dataclass(frozen=True)
class Comment:
    """A comment: the ids that it names (none means all), the reason, its position, and the last line it covers."""

    ids: tuple[str, ...]
    reason: str
    place: Place
    last_line: int


def read_ignored(original: Original, ids: Iterable[str] = ()) -> tuple[Ignored, tuple[Problem, ...]]:
    """Return the ignore rules of a file, and a problem for each comment that cannot be followed."""
    if "derivations:" not in original.text:
        return Ignored((), tuple(ids)), ()
    read = [each for cell, part in original.parts.items() for each in _comments(part, cell)]
    comments = tuple(each for each in read if isinstance(each, Comment))
    return Ignored(comments, tuple(ids)), tuple(each for each in read if isinstance(each, Problem))


def _comments(part: Part, cell: int | None) -> Iterator[Comment | Problem]:
    found = list(_COMMENT.finditer(part.text))
    blocks = _blocks(part) if found else []
    yield from (_comment(each, part, cell, blocks) for each in found)


def _comment(found: re.Match[str], part: Part, cell: int | None, blocks: Sequence[range]) -> Comment | Problem:
    sign, rest = found.groups()
    inside, _, behind = rest.partition("-->") if sign == "<!--" else (rest, "", "")
    names, _, reason = f" {inside} ".partition(" -- ")
    place = Place(*part.position(found.start(1)), cell)
    ids = tuple(name for name in re.split(r"[\s,]+", names) if name)
    if not reason.strip():
        end = " -->" if sign == "<!--" else ""
        return Problem(place, f"say why: {sign} derivations: ignore {', '.join(ids) or 'shapes'} -- the reason{end}")
    if strange := next((name for name in ids if not _ID.fullmatch(name)), None):
        return Problem(place, f"{strange!r} is no id of a check or of a result; separate ids by commas")
    before = part.line(place.line)[: place.column - 1]
    alone = not before.strip(" \t>*+-") and not behind.strip()
    return Comment(ids, reason.strip(), place, _end_of_paragraph(part, blocks, place.line) if alone else place.line)


def _blocks(part: Part) -> list[range]:
    """Return the stretches of lines between blank lines."""
    filled = [bool(part.line(number).strip()) for number in range(1, len(part.lines) + 1)]
    edges = [number for number, (one, other) in enumerate(pairwise([False, *filled, False]), 1) if one != other]
    return [range(first, behind) for first, behind in zip(edges[::2], edges[1::2], strict=True)]


def _end_of_paragraph(part: Part, blocks: Sequence[range], line: int) -> int:
    """Return the last line of the paragraph after a line.

    After a blank line, a block that is indented more than the first block still belongs to the paragraph.
    """
    number = bisect_right(blocks, line + 1, key=lambda block: block.stop)
    depth, last = None, line
    for block in blocks[number : number + MAX_LINES]:
        first = max(block.start, line + 1)
        if depth is not None and _depth(part.line(first)) <= depth:
            break
        depth, last = _depth(part.line(first)) if depth is None else depth, block.stop - 1
    return min(last, line + MAX_LINES)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _where(comment: Comment) -> tuple[int, int]:
    return comment.place.cell or 0, comment.place.line


@dataclass(frozen=True)
class Ignored:
    """The ignore rules of a file: its comments, and the ids that the settings name."""

    comments: tuple[Comment, ...] = ()
    ids: tuple[str, ...] = ()

    @cached_property
    def _sorted(self) -> list[Comment]:
        return sorted(self.comments, key=_where)

    def _covering(self, start: Place, end: Place) -> Iterator[Comment]:
        """Yield the comments that cover a line between two places."""
        first = bisect_left(self._sorted, (start.cell or 0, start.line - MAX_LINES), key=_where)
        last = bisect_right(self._sorted, (end.cell or 0, end.line), key=_where)
        yield from (comment for comment in self._sorted[first:last] if comment.last_line >= start.line)

    def heed(self, findings: Iterable[Finding], start: Place, end: Place) -> list[Finding]:
        """Return the findings that are kept, after one `unknown` finding with the reason for each ignored finding."""
        if not self.comments and not self.ids:
            return list(findings)
        comments = list(self._covering(start, end))
        kept, left_out = [], []
        for finding in findings:
            reason = self._reason(finding, comments)
            if reason is None:
                kept.append(finding)
            else:
                left_out.append(Finding("unknown", finding.check, f"ignored: {reason}", result=finding.result))
        return [*left_out, *kept]

    def _reason(self, finding: Finding, comments: Iterable[Comment]) -> str | None:
        """Return the reason why a finding is ignored, or None."""
        if names_finding(self.ids, finding.check, finding.result):
            return "the settings leave this check out"
        for comment in comments:
            if not comment.ids or names_finding(comment.ids, finding.check, finding.result):
                return comment.reason
        return None
