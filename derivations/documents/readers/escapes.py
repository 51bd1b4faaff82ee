r"""Backslashes that a format asks for and mathematics does not: `\\\\` for `\\`, `\_` for an index, `\[1\]` for `[1]`.

Definition   a formula is written for a site that takes one level of backslashes away if it has four of them in a row,
             braces with two on both sides, or an index with a backslash after a brace or in front of one
Result       `undoubled(formula)` has what mathematics reads, at the same places; `unescaped(code)` is code in a command
             of LaTeX as a reader sees it
Assumes      four backslashes are never two ends of lines; a name such as `learning\_rate` keeps its underscore
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from derivations.documents.readers.source import Excerpt, joined

__all__ = ["is_escaped_text", "undoubled", "unescaped"]

_TEXT = r"\\(?:text[a-z]*|mathrm|mathtt|mathsf|operatorname\*?)\{[^{}]{0,300}\}"
_LINES = re.compile(r"\\{4}")
_INDEX = re.compile(rf"(?P<text>{_TEXT})(?!\\_)|(?P<lines>\\\\)|(?P<index>\\)(?=_[{{\\])|(?<=\}})(?P<after>\\)(?=_)")
_BRACES = re.compile(r"\\(?=\\[{}])")
_ESCAPE = re.compile(r"\\[_*<>#!.+-]")
_SIGN = re.compile(r"\\(?=[_%&#${}])")
_COMMAND = re.compile(r"\\[A-Za-z]")


def undoubled(formula: Excerpt) -> Excerpt:
    """Return the formula without the extra backslashes that a generator of web pages needs."""
    text = formula.text
    if "\\_" not in text and "\\\\" not in text:
        return formula
    left_out: set[int] = set()
    if "\\\\\\\\" in text:
        for start in (match.start() for match in _LINES.finditer(text)):
            left_out.update((start, start + 1))
    elif text.count("\\\\{") == text.count("\\\\}"):
        left_out.update(match.start() for match in _BRACES.finditer(text))
    left_out.update(match.start(kind) for match in _INDEX.finditer(text) for kind in ("index", "after") if match[kind])
    return _without(formula, sorted(left_out))


def unescaped(code: Excerpt) -> Excerpt:
    r"""Return code without the backslashes in front of signs: `d\_k` is `d_k`."""
    return _without(code, (match.start() for match in _SIGN.finditer(code.text)))


def _without(excerpt: Excerpt, places: Iterable[int]) -> Excerpt:
    """Return an excerpt without the characters at the given offsets, which are in order."""
    parts, position = [], 0
    for start in places:
        parts.append(excerpt.part(position, start))
        position = start + 1
    return joined(excerpt.source, [*parts, excerpt.part(position)]) if parts else excerpt


def is_escaped_text(inside: str) -> bool:
    r"""Return whether text between `\[` and `\]` is plain text: a reference, or text with other escaped signs."""
    return inside.isdecimal() or bool(_ESCAPE.search(inside) and not _COMMAND.search(inside))
