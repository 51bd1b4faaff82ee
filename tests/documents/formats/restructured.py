r"""A document in Markdown as its author would have written it in reStructuredText.

Result       `in_restructured(text)` are the new lines, each with the number of the one it comes from
Assumes      what `tests.documents.formats.lines` assumes; marks do not stand inside of one another, and where no space
             stands beside one, an escaped space does
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import category

from tests.documents.formats.lines import Line, left_lists, lines_of, stretches

__all__ = ["in_restructured"]

_MARKS = ("`", "**", ":math:`")  # emphasis stands between spaces


def in_restructured(text: str) -> list[tuple[str, int]]:
    """Return a document in reStructuredText."""
    lines: list[tuple[str, int]] = []
    lists: list[tuple[int, int]] = []  # where the mark of an item stood, and where its text stands now
    before = "blank"
    for line in lines_of(text):
        for _ in range(left_lists(line, [place for place, _ in lists])):
            lists.pop()
        if line.kind == "item" and lists and lists[-1][0] == line.indent:
            lists.pop()
        margin = lists[-1][1] if lists else 0
        if line.kind == "rule":
            continue
        new = list(_line(line, begins=before != line.kind))
        if line.kind == "item":
            lists.append((line.indent, margin + len(new[0]) - len(new[0][2:].lstrip("0123456789. "))))
        inner = lists[-1][1] if lists else 0
        if line.kind == "item" or before not in ("blank", line.kind, "fence", "dollars", "code", "display"):
            lines.append(("", line.number))
        for number, each in enumerate(new):
            shift = margin if line.kind == "item" and not number else inner
            lines.append((" " * shift + each if each else "", line.number))
        before = line.kind
    return lines


def _line(line: Line, *, begins: bool) -> Iterator[str]:
    """Yield what a line becomes, without the indentation of lists."""
    match line.kind:
        case "heading":
            title = _words(line.text)
            yield from (title, "=-~^\"'"[len(line.mark) - 1] * (2 * len(title)), "")
        case "row":
            if begins:
                yield from (".. list-table::", "   :header-rows: 1", "")
            for number, cell in enumerate(line.text.split("|")):
                yield f"   {' ' if number else '*'} - {_words(cell.strip())}".rstrip()
        case "fence":
            yield from (f".. code-block:: {line.mark}" if line.mark else "::", "")
        case "dollars":
            yield from (".. math::", "")
            yield from (f"   {line.text.strip()}",) if line.text.strip() else ()
        case "end":
            yield from (f"   {line.text.strip()}",) if line.text.strip() else ()
            yield ""
        case "code" | "display":
            yield from (f"   {line.text}",) if line.text or line.kind == "code" else ()
        case "item":
            mark = "-" if line.mark in "-*" else line.mark
            first, *others = _words(line.text).split("\n")
            yield from (f"{mark} {first}", *others)
        case "quote":
            yield from ("..", "") if begins else ()  # what is indented does not belong to a directive before it
            yield from (f"   {each}" if each else "" for each in _words(line.text).split("\n"))
        case "text":
            yield from _words(line.text).split("\n")
        case "blank":
            yield ""


def _words(text: str) -> str:
    """Return the words of a line; a displayed formula among them, and a picture, are lines apart."""
    written = ""
    for kind, inside in stretches(text):
        match kind:
            case "display":
                new = f"\n\n.. math:: {inside.strip()}\n\n"
            case "picture":
                new = f"\n\n.. image:: {inside}\n\n"
            case "math":
                new = f":math:`{inside.strip()}`"
            case "code":
                new = f"``{inside}``"
            case "bold" | "emphasis":
                stars = "**" if kind == "bold" else "*"
                nested = any(each != "words" for each, _ in stretches(inside))
                new = _words(inside) if nested else f"{stars}{inside}{stars}"
            case "tag":
                new = " " if inside.startswith("<br") else ""
            case _:
                new = re.sub(r"([*`|\\])", r"\\\1", inside)
        begins, ends = new.startswith(_MARKS), written.endswith(_MARKS)
        if written and new and (begins or ends) and not _is_free(written[-1] if begins else new[0], begins=begins):
            written += "\\ "
        written += new
    return written.strip("\n")


def _is_free(outer: str, *, begins: bool) -> bool:
    """Say whether a mark may begin behind a character, or end in front of it."""
    return outer.isspace() or category(outer) in ("Pd", "Pi", "Pf", "Po", "Ps" if begins else "Pe")
