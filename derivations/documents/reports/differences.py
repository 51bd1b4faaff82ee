r"""What replacements change in a text, as a unified diff.

Definition   a change is a block of lines and what stands there afterwards; changes that share lines of context are
             printed in one hunk
Result       a diff that `git apply` takes, in time linear in the text; a line ends with \n and keeps its \r. A mark of
             the order of bytes, with which a file in UTF-8 may begin, stands before the first line
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from derivations.documents.replacing import Replacement, repaired
from derivations.documents.reports.plain import visible

__all__ = ["unified_diff"]

CONTEXT = 3  # lines around a change


@dataclass(frozen=True)
class Change:
    """Lines [first, last) of the old text, and the lines that replace them."""

    first: int
    last: int
    lines: list[str]


MARKS = {"utf-8-sig": "\ufeff"}  # by encoding


def unified_diff(file: str, text: str, replacements: Sequence[Replacement], encoding: str | None = None) -> str:
    """Return the unified diff of replacements, which must be in order, or "" if there are none."""
    if mark := MARKS.get(encoding or "", ""):
        replacements = [Replacement(each.start + 1, each.end + 1, each.text) for each in replacements]
        text = mark + text
    lines = _lines(text)
    name = visible(file).replace("\n", r"\n")
    pieces: list[str] = []
    shift = 0
    for hunk in _hunks(_changes(text, lines, replacements)):
        body, first, last = _body(lines, hunk)
        after = sum(line[0] != "-" for line in body)
        pieces.append(f"@@ -{_range(first, last - first)} +{_range(first + shift, after)} @@\n")
        pieces += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body]
        shift += after - (last - first)
    old, new = (name, name) if name.startswith("/") else (f"a/{name}", f"b/{name}")
    return "".join([f"--- {old}\n", f"+++ {new}\n", *pieces]) if pieces else ""


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; only the last may have none."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + [rest] * bool(rest)


def _range(first: int, count: int) -> str:
    return f"{first + 1}" if count == 1 else f"{first + 1},{count}"


def _changes(text: str, lines: Sequence[str], replacements: Sequence[Replacement]) -> Iterator[Change]:
    """Yield the blocks of lines that the replacements alter."""
    starts = [0, *accumulate(map(len, lines))]
    blocks: list[tuple[int, int, list[Replacement]]] = []
    for each in replacements:
        first = min(bisect_right(starts, each.start), len(lines)) - 1
        last = min(bisect_right(starts, max(each.start, each.end - 1)), len(lines))
        if blocks and first < blocks[-1][1]:
            blocks[-1] = (blocks[-1][0], max(last, blocks[-1][1]), [*blocks[-1][2], each])
        else:
            blocks.append((first, last, [each]))
    for first, last, inside in blocks:
        start = starts[first]
        shifted = [Replacement(each.start - start, each.end - start, each.text) for each in inside]
        yield Change(first, last, _lines(repaired(text[start : starts[last]], shifted)))


def _hunks(changes: Iterator[Change]) -> Iterator[list[Change]]:
    """Yield lists of changes whose lines of context meet."""
    hunk: list[Change] = []
    for change in changes:
        if hunk and change.first - hunk[-1].last > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _body(lines: Sequence[str], hunk: Sequence[Change]) -> tuple[list[str], int, int]:
    """Return the lines of a hunk with their signs, and the old lines [first, last) that it covers."""
    first, last = max(hunk[0].first - CONTEXT, 0), min(hunk[-1].last + CONTEXT, len(lines))
    body: list[str] = []
    done = first
    for change in hunk:
        body += [f" {line}" for line in lines[done : change.first]]
        body += [f"-{line}" for line in lines[change.first : change.last]]
        body += [f"+{line}" for line in change.lines]
        done = change.last
    return body + [f" {line}" for line in lines[done:last]], first, last
