r"""Formulas in running text: between dollar signs, brackets with backslashes, backticks, and in plain characters.

Definition   a mark opens a formula, code, a tag or a link; what it opens ends at the mark that closes it, or the mark
             stands for itself
Result       the passages of the text in order, prose without its markup
Assumes      a dollar sign is a price where a space stands at one side of what it would enclose, or a digit follows, or
             what it would enclose reads as prose (after Pandoc's rule)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from derivations.documents.passages import Passage, Syntax
from derivations.documents.readers.dialects import Dialect
from derivations.documents.readers.escapes import is_escaped_text, undoubled, unescaped
from derivations.documents.readers.macros import group_end
from derivations.documents.readers.plain import plain_formulas
from derivations.documents.readers.snippets import snippet_syntax
from derivations.documents.readers.source import Excerpt, joined

__all__ = ["passages"]

_OUTERMOST = "equation|displaymath|math|dmath|subequations"  # others say how lines hang together
_BEGIN_OUTERMOST = re.compile(rf"\\begin\{{((?:{_OUTERMOST})\*?)\}}")
_MAX_ESCAPED = 1_000  # characters of text between brackets with backslashes
_CLOSING = {"\\(": "\\)", "\\[": "\\]", "\\\\(": "\\\\)", "\\\\[": "\\\\]"}
_LOOKS_LIKE_MATHEMATICS = re.compile(r"[\\^_=×·≈→]|^\s*(?:[A-Za-z]{1,3}|\d+(?:\.\d+)?%?)'*\s*$")
_SIGN_ALONE = re.compile(
    r"\\(?:cdots?|times|div|pm|approx|sim|[lg]eq?|neq?|equiv|in|l?dots|q?quad|checkmark|oplus|otimes|odot|star|bullet"
    r"|(?:[Ll]ong)?(?:[Ll]eft|[Rr]ight|[Uu]p|[Dd]own|[Ll]eftright)arrow|to|gets|mapsto|implies|iff)|[-=+<>→←↑↓⇒×·]|[\d.]+\s*\\times"
)
_LOOKS_LIKE_PROSE = re.compile(r"[a-z]{3,}[ ,]+[a-z]{3,}")
_RAISED, _POWER = re.compile(r"[A-Za-z0-9)\]]"), re.compile(r"[A-Za-z0-9(]")  # what stands around a power


@dataclass(frozen=True)
class _Found:
    """The stretch that a mark opens: where it ends, and the formula inside if there is one."""

    end: int
    formula: Excerpt | None = None
    display: bool = False
    syntax: Syntax = "latex"
    breaks: bool = True  # prose on both sides does not belong together


def passages(excerpt: Excerpt, dialect: Dialect) -> tuple[Passage, ...]:
    """Return the passages of running text."""
    return tuple(_Scanner(excerpt, dialect).passages())


class _Scanner:
    """Reads a text once, from one mark to the next."""

    def __init__(self, excerpt: Excerpt, dialect: Dialect) -> None:
        self.excerpt, self.text, self.dialect = excerpt, excerpt.text, dialect
        self.absent: set[str] = set()  # closing marks that do not come any more
        self.pieces: list[Excerpt] = []  # of prose
        self.is_strong = False  # between two stars and two stars
        self.is_plain = True  # nothing in the prose since the last formula is unknown

    def passages(self) -> Iterator[Passage]:
        """Yield prose and formulas."""
        position = 0
        while mark := self.dialect.marks.search(self.text, position):
            self._prose(position, mark.start())
            found = self._opened(mark)
            if found is None:
                self._prose(mark.start(), mark.end())
                position = mark.end()
                continue
            position = found.end
            if found.breaks:
                yield from self._flush()
            if found.formula:
                self.is_plain = True
                formula = _without_environment(found.formula.stripped())
                formula = undoubled(formula) if self.dialect.escapes and found.syntax == "latex" else formula
                syntax: Syntax = "prose" if _SIGN_ALONE.fullmatch(formula.text) else found.syntax
                if formula.text:
                    yield formula.passage(syntax, found.display)
        self._prose(position, len(self.text))
        yield from self._flush()

    def _prose(self, start: int, end: int) -> None:
        if start < end:
            self.pieces.append(self.excerpt.part(start, end))

    def _flush(self) -> Iterator[Passage]:
        """Yield the collected prose as passages, with its formulas in plain characters."""
        prose = joined(self.excerpt.source, self.pieces)
        if self.dialect.ties:
            prose = replace(prose, text=prose.text.replace("~", " "))
        formulas = plain_formulas(prose.text) if self.is_plain else ()
        self.pieces = []
        position = 0
        for start, end in formulas:
            yield from _prose_passage(prose.part(position, start))
            yield prose.part(start, end).passage("plain")
            position = end
        yield from _prose_passage(prose.part(position))

    def _opened(self, mark: re.Match[str]) -> _Found | None:
        match mark.lastgroup:
            case "dollars":
                return self._dollars(mark)
            case "environment":
                return self._environment(mark)
            case "bracket":
                return self._bracket(mark)
            case "ticks":
                return self._ticks(mark)
            case "typed":
                return self._typed(mark)
            case "tag":
                return self._tag(mark)
            case "stars":
                return None if self._is_operator(mark) else _Found(mark.end(), breaks=False)
            case "link" | "skipped" | "gap":
                return _Found(mark.end())
            case "escape":
                self._prose(mark.end(), mark.end() + 1)
                return _Found(mark.end() + 1, breaks=False)
            case "unknown":
                self.is_plain = False  # it may write a part of a formula
        return _Found(mark.end(), breaks=False)

    def _find(self, closing: str, start: int) -> int:
        """Return the offset of the next closing mark, or -1. A mark that is absent once is not searched again."""
        if closing in self.absent:
            return -1
        position = self.text.find(closing, start)
        if position < 0:
            self.absent.add(closing)
        return position

    def _unescaped(self, closing: str, start: int) -> int:
        position = self._find(closing, start)
        while position > 0 and _is_escaped(self.text, position):
            position = self._find(closing, position + 1)
        return position

    def _dollars(self, mark: re.Match[str]) -> _Found | None:
        start = mark.end()
        if mark["dollars"] == "$$":
            closing = self._unescaped("$$", start)
            return _Found(closing + 2, self.excerpt.part(start, closing), display=True) if closing > start else None
        if self.text.startswith("`", start):  # $`x`$
            closing = self._find("`$", start + 1)
            return _Found(closing + 2, self.excerpt.part(start + 1, closing)) if closing >= 0 else None
        closing = self._unescaped("$", start)
        if closing <= start:
            return None
        inside, behind = self.text[start:closing], self.text[closing + 1 : closing + 2]
        spaces = inside[0].isspace() + inside[-1].isspace()
        if "\n\n" in inside or (behind.isdecimal() and behind.isascii()) or not inside.strip():
            return None
        if spaces and not _LOOKS_LIKE_MATHEMATICS.search(inside):
            return None
        if "\\" not in inside and _LOOKS_LIKE_PROSE.search(inside) and not re.search(r"[=_^]", inside):
            return None
        return _Found(closing + 1, self.excerpt.part(start, closing))

    def _bracket(self, mark: re.Match[str]) -> _Found | None:
        """Read the text between brackets with backslashes: a formula, or text whose brackets are escaped."""
        bracket = mark["bracket"]
        closing = self._find(_CLOSING[bracket], mark.end())
        near = closing < mark.end() + _MAX_ESCAPED
        if self.dialect.escapes and (closing < 0 or (near and is_escaped_text(self.text[mark.end() : closing]))):
            self._prose(mark.end() - 1, mark.end())
            return _Found(mark.end(), breaks=False)
        if closing < 0:
            return None
        inside = self.excerpt.part(mark.end(), closing)
        return _Found(closing + len(bracket), inside, display=bracket.endswith("["))

    def _environment(self, mark: re.Match[str]) -> _Found | None:
        """Read an environment. One that is never closed ends at the next empty line.

        Its formula is then not understood.
        """
        name = mark["environment"]
        closing = self._find(f"\\end{{{name}}}", mark.end())
        if closing < 0:
            empty = self._find("\n\n", mark.end())
            end = empty if empty >= 0 else len(self.text)
        else:
            end = closing + len(name) + 6
        return _Found(end, self.excerpt.part(mark.start(), end), display=True)

    def _ticks(self, mark: re.Match[str]) -> _Found | None:
        ticks, role = mark["ticks"], (mark["role"] or "").strip(":{}")
        closing = self._find(ticks, mark.end())
        while closing >= 0 and self.text.startswith("`", closing + len(ticks)):  # a longer run of backticks
            longer = closing
            while self.text.startswith("`", longer):
                longer += 1
            closing = self._find(ticks, longer)
        if closing < 0:
            return None
        inside, end = self.excerpt.part(mark.end(), closing), closing + len(ticks)
        if role == "math":
            return _Found(end, inside)
        return _Found(end, breaks=False) if role else self._code(inside, end)

    def _typed(self, mark: re.Match[str]) -> _Found | None:
        r"""Read a verbatim command: `\texttt{d\_k}`, `\verb|d_k|`."""
        if mark["bar"]:
            closing = self._find(mark["bar"], mark.end())
            return self._code(self.excerpt.part(mark.end(), closing), closing + 1) if closing >= 0 else None
        end = group_end(self.text, mark.end() - 1)
        return self._code(unescaped(self.excerpt.part(mark.end(), end - 1)), end) if end else None

    def _code(self, inside: Excerpt, end: int) -> _Found:
        """Read a snippet of code: it is a formula, or words."""
        syntax = snippet_syntax(inside.text) if self.dialect.code else None
        if syntax:
            return _Found(end, inside, syntax=syntax)
        if not re.search(r"[<>/\\]", inside.text):
            self.pieces.append(inside)  # a word in code is a word
        return _Found(end, breaks=False)

    def _tag(self, mark: re.Match[str]) -> _Found | None:
        if mark["tag"] != "<!--":
            return _Found(mark.end())
        closing = self._find("-->", mark.end())
        return _Found(closing + 3) if closing >= 0 else None

    def _is_operator(self, mark: re.Match[str]) -> bool:
        """Return whether stars are an operator, as in `2 * n`, `12288*4` and `g**2`, and not emphasis."""
        before, behind = self.text[max(mark.start() - 1, 0) : mark.start()], self.text[mark.end() : mark.end() + 1]
        if len(mark["stars"]) == 2:
            is_power = not self.is_strong and bool(_RAISED.fullmatch(before) and _POWER.fullmatch(behind))
            self.is_strong = not (is_power or self.is_strong)
            return is_power
        if len(mark["stars"]) > 1:
            return False
        return (before == " " and behind == " ") or (before.isalnum() and behind.isalnum() and behind.isascii())


def _without_environment(formula: Excerpt) -> Excerpt:
    """Return the content of a display environment if that is the whole formula, else the formula itself."""
    opening = _BEGIN_OUTERMOST.match(formula.text)
    if not opening or not formula.text.endswith(f"\\end{{{opening[1]}}}"):
        return formula
    return formula.part(opening.end(), len(formula.text) - len(opening[1]) - 6).stripped()


def _prose_passage(excerpt: Excerpt) -> Iterator[Passage]:
    if excerpt.text.strip(" \t\n$"):  # a formula that only defined macros leaves its marks after
        yield excerpt.passage("prose")


def _is_escaped(text: str, position: int) -> bool:
    """Return whether an odd number of backslashes comes before a position."""
    start = position
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return (position - start) % 2 == 1
