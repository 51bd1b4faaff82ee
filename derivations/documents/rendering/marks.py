r"""Marks in a text, and the blocks between a mark and its end.

Definition   a mark is a comment alone on its line: `<!-- derivation: softmax.jacobian steps -->` in Markdown,
             `% derivation: ...` in LaTeX, `.. derivation: ...` in reStructuredText; its block goes on to the comment
             `end`. In a list or a quotation the mark stands after the signs of these
Result       the blocks in order, each with the words of its mark and the stretch of the text that is to be filled
Raises       MarkError for a mark without an end, marks inside one another, an end without a mark, a mark with text
             beside it
Assumes      marks in code are examples and are left alone; comments of others may stand between the blocks
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from derivations.documents.rendering.shown_code import shown_lines

__all__ = ["KINDS", "MarkError", "MarkedBlock", "blocks_of"]

KINDS = ("derivation", "layer")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


class MarkError(ValueError):
    """Raised for a mark that cannot be filled. `line` is its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class MarkedBlock:
    """A block: the kind and the words of its mark, its line, and the span [start, end) of its lines.

    `prefix` is what stands in front of every line of it, `newline` what ends them.
    """

    kind: str
    words: tuple[str, ...]
    line: int
    start: int
    end: int
    prefix: str = ""
    newline: str = "\n"

    @property
    def name(self) -> str:
        """The first word, which names the result or the layer to show."""
        return self.words[0] if self.words else ""

    def lines(self, text: str) -> str:
        """Return a text as lines of the block, with its prefix and its line ends."""
        return "".join(f"{self.prefix}{line}".rstrip() + self.newline for line in text.splitlines())


class _Comment(NamedTuple):
    """The comment syntax of a format: how a comment opens and closes, how a mark begins anywhere, the comment `end`.

    The first group of what opens is what stands in front of it.
    """

    opening: re.Pattern[str]
    closing: str
    anywhere: str
    end: str

    def inside(self, line: str) -> tuple[str, str] | None:
        """Return the text before a comment that is alone on its line and its words, or None for any other line."""
        line = line.rstrip(" \t")
        opened = self.opening.match(line)
        if opened is None or not line.endswith(self.closing):
            return None
        words = line[opened.end() : len(line) - len(self.closing)].strip(" \t")
        return None if self.closing and self.closing in words else (opened[1], words)


_COMMENTS: Mapping[str, _Comment] = {
    "markdown": _Comment(
        re.compile(r"([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)<!--"), "-->", r"(?<!`)(?<!` )<!--\s*", "<!-- end -->"
    ),
    "latex": _Comment(re.compile(r"([ \t]*)%++"), "", r"(?<![\\|])%\s*", "% end"),
    "restructuredtext": _Comment(  # no target, citation, substitution or directive
        re.compile(r"([ \t]*)\.\.[ \t]++(?![_\[|]|\S+::)"), "", r"^\s*\.\.\s+", ".. end"
    ),
}


def blocks_of(text: str, form: str, kinds: Collection[str] = KINDS) -> list[MarkedBlock]:
    """Return the blocks of a text in Markdown, LaTeX or reStructuredText whose marks have one of the given kinds."""
    if not any(f"{kind}:" in text for kind in kinds):
        return []
    return list(_blocks(text, form, kinds))


def _blocks(text: str, form: str, kinds: Collection[str]) -> Iterator[MarkedBlock]:
    comment = _COMMENTS[form]
    beside = re.compile(rf"{comment.anywhere}({'|'.join(map(re.escape, kinds))}):(?!:)")
    rows = [found for found in _LINE.finditer(text) if found.group()]
    shown = shown_lines([row[1] for row in rows], form)
    opened: MarkedBlock | None = None
    others = False  # whether the last comment outside of a block was somebody else's
    for number, row in enumerate(rows):
        found = None if number in shown else comment.inside(row[1])
        if found is None:
            if number not in shown and (mark := beside.search(row[1])):
                raise MarkError(number + 1, f"the mark of a {mark[1]} must stand alone on its line, whole")
            continue
        before, inside = found
        kind, colon, words = inside.partition(":")
        ours = bool(colon) and kind in kinds
        if inside == "end":
            if opened is not None:
                yield replace(opened, end=row.start())
            elif not others:
                raise MarkError(number + 1, f"{comment.end} has no mark in front of it; take it away")
            opened, others = None, False
        elif opened is not None:
            next_one = f"the {'mark' if ours else 'comment'} in line {number + 1}"
            raise MarkError(opened.line, f"{_called(opened)} has no end before {next_one}: write {comment.end}")
        elif ours:
            prefix = re.sub(r"[^\s>]", " ", before)
            opened = MarkedBlock(kind, tuple(words.split()), number + 1, row.end(), row.end(), prefix, row[2] or "\n")
        others = others or (not ours and inside != "end")
    if opened is not None:
        raise MarkError(opened.line, f"{_called(opened)} has no end: write {comment.end} below it")


def _called(block: MarkedBlock) -> str:
    return f"the mark {' '.join([f'{block.kind}:', *block.words])}"
