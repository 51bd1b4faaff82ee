"""A document in Markdown with its long lines broken, as an editor breaks them.

Result       `wrapped(text, width)` are the new lines, each with the number of the one it comes from
Assumes      a line may break at a space outside of formulas, code and links, and where no list would begin
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tests.documents.formats.lines import lines_of

__all__ = ["wrapped"]

_WORDS = re.compile(r"(?:\$\$.+?\$\$|\$[^$\n]+\$|`[^`\n]+`|!?\[[^\]\n]*\]\([^()\n]*\)|<[^<>\n]*>|\S)+")
_BEGINS = re.compile(r"[-*+>|#=~`$]|\d+[.)]|\\\[|<")


def wrapped(text: str, width: int) -> list[tuple[str, int]]:
    """Return a document whose paragraphs and items have lines of about this width."""
    written = text.split("\n")
    lines: list[tuple[str, int]] = []
    for line in lines_of(text):
        source = written[line.number - 1]
        prose = line.kind in ("text", "item")
        broken = _broken(source, width, line.indent + 2 * (line.kind == "item")) if prose else (source,)
        lines += [(each, line.number) for each in broken]
    return lines


def _broken(line: str, width: int, indent: int) -> Iterator[str]:
    start = 0
    words = list(_WORDS.finditer(line))
    for before, word in pairwise(words):
        fits = word.end() - start <= width or before.end() - start <= indent + 4
        if not fits and not _BEGINS.match(word.group()):
            yield " " * (indent if start else 0) + line[start : before.end()]
            start = word.start()
    yield " " * (indent if start else 0) + line[start:]
