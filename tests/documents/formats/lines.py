r"""The lines of a document in Markdown by their kinds, and the marks inside of them.

Definition   a line is a heading, an item, a row of a table, a line of a quotation, of code or of a displayed formula,
             or text; in it formulas, code, bold words, links and pictures are marked
Result       `lines_of(text)` and `stretches(text)`
Assumes      formulas stand between dollar signs and code between fences; a table begins with its head
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["FENCE", "Line", "left_lists", "lines_of", "stretches"]

FENCE = re.compile(r"^\s*(?:```+|~~~+)\s*(?P<language>\w*)")
_ITEM = re.compile(r"\s*(?P<mark>[-*]|\d+\.)\s+(?=\S)")
_HEADING = re.compile(r"\s*(?P<level>#{1,6})\s+(?P<title>.*)")
_MARKS = re.compile(
    r"(?P<display>\$\$.+?\$\$)|(?P<math>\$[^$\n]+\$)|`(?P<code>[^`\n]+)`|!\[[^\]\n]*\]\((?P<picture>[^()\n]*)\)"
    r"|\[(?P<link>[^\]\n]*)\]\([^()\n]*\)|(?P<tag></?[a-z][^<>\n]*>)|\*\*(?P<bold>.+?)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^\s*][^*\n]*)\*(?![\w*])"
    r"|\\(?P<escaped>[~*_`|#-])"
)


@dataclass(frozen=True)
class Line:
    """A line without the marks of its kind, which are in `mark`: `##`, `1.`, the language of a fence."""

    number: int
    kind: str
    text: str
    indent: int = 0
    mark: str = ""
    after_blank: bool = False


def lines_of(text: str) -> Iterator[Line]:
    """Yield the lines; what begins and ends code and formulas is of the kinds "fence", "end", "dollars", "end"."""
    inside = ""
    blank = True
    for number, line in enumerate(text.split("\n"), 1):
        words, indent = line.strip(), len(line) - len(line.lstrip())
        fence, item, heading = FENCE.match(line), _ITEM.match(line), _HEADING.match(line)
        dollars = words.count("$$") == 1 and (inside == "dollars" or (not inside and words.startswith("$$")))
        if (fence and inside != "dollars") or dollars:
            opens = "fence" if fence else "dollars"
            yield Line(
                number, "end" if inside else opens, words.strip("$") if dollars else "", indent,
                inside or (fence["language"] if fence else ""), blank,
            )  # fmt: skip
            inside = "" if inside else opens
        elif inside:
            yield Line(number, "code" if inside == "fence" else "display", line if inside == "fence" else words)
        elif heading:
            yield Line(number, "heading", heading["title"], mark=heading["level"])
        elif item:
            yield Line(number, "item", line[item.end() :], indent, item["mark"], blank)
        elif words.startswith("|"):
            yield Line(number, "rule" if re.fullmatch(r"[\s|:-]+", words) else "row", words.strip("|"))
        elif words.startswith(">"):
            yield Line(number, "quote", words[1:].strip())
        else:
            yield Line(number, "text" if words else "blank", words, indent, "", blank)
        blank = not words


def left_lists(line: Line, opened: Sequence[int]) -> int:
    """Return how many of the lists whose marks stand at these places end in front of a line."""
    if line.kind in ("heading", "row", "quote"):
        return len(opened)
    if line.kind == "item":
        return sum(place > line.indent for place in opened)
    apart = line.after_blank and line.kind not in ("blank", "end")
    return sum(place >= line.indent for place in opened) if apart else 0


def stretches(text: str) -> Iterator[tuple[str, str]]:
    """Yield the stretches of a line without their marks, each with its kind: "words", "math", "bold", ..."""
    cut = 0
    for mark in _MARKS.finditer(text):
        kind = str(mark.lastgroup)
        yield "words", text[cut : mark.start()]
        yield kind, mark[kind].strip("$") if kind in ("display", "math") else mark[kind]
        cut = mark.end()
    yield "words", text[cut:]
