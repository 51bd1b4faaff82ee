r"""Rows, columns and entries in words: "row $i$ of $Q$", "the $j$-th column of $K^T$", "$Q$ 的第 $i$ 個 row".

Definition   row i of M is the entry i of M; column j of M is the entry j of its transpose; an entry has two places
Result       phrases that are such entries
Assumes      行 is a row in simplified Chinese and Japanese; in traditional Chinese it is a row or a column, and 列 the
             other: `words.row` tells which is meant, and the phrase carries the assumption
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from derivations.documents.sentences.phrases import Phrase, Words
from derivations.documents.sentences.places import (
    ARRAY,
    MATRIX,
    PAIR,
    PLACE,
    SPACES,
    VECTOR,
    matrix_of,
    pair_of,
    place_of,
)
from derivations.documents.syntax import Entry, Fence, Node, Transpose

__all__ = ["entry_phrases", "row_phrases"]

_LINE = r"(?P<line>rows?(?![A-Za-z])|columns?(?![A-Za-z])|cols?(?![A-Za-z])|行(?![列程代業业])|列(?![表出舉举]))"
_MATRIX = rf"(?P<of>{MATRIX})"
_NOUN = rf"(?:{SPACES}{ARRAY})?"
_OF_ENGLISH = rf"{SPACES}\b(?:of|in)\s{{1,3}}(?:the\s{{1,3}})?(?:matrix\s{{1,3}})?{_MATRIX}"
_ORDINAL = r"(?:\s{0,2}-?\s{0,2}(?:st|nd|rd|th)\b)?"
_GLOSS = rf"(?:{SPACES}[（(]{SPACES}(?P<gloss>row|column)\b[^()（）]{{0,12}}[)）])?"
_OF_CHINESE = rf"{_MATRIX}{_NOUN}{SPACES}[的の中]?{SPACES}"
_COUNTED = r"(?:個|个|條|条|つ目の|番目の|個目の)?"
_VECTOR = rf"(?:{SPACES}(?:vector\b|{VECTOR}))?"
_ROWS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\b(?:the|each|every)\s{{1,3}})?(?P<place>{PLACE}){_ORDINAL}\s{{1,3}}{_LINE}{_VECTOR}{_OF_ENGLISH}",
        rf"(?:\b(?:the|each|every)\s{{1,3}})?{_LINE}{SPACES}(?P<place>{PLACE}){_OF_ENGLISH}",
        rf"{_MATRIX}['’]s\s{{1,3}}(?P<place>{PLACE}){_ORDINAL}\s{{1,3}}{_LINE}{_VECTOR}",
        rf"{_OF_CHINESE}第{SPACES}(?P<place>{PLACE}){SPACES}{_COUNTED}{SPACES}{_LINE}目?{_GLOSS}{_VECTOR}",
        rf"{_OF_CHINESE}(?P<place>{PLACE}){SPACES}(?:番目の{SPACES})?{_LINE}(?<!番目の行)目{_VECTOR}",
        rf"{_OF_CHINESE}(?P<place>{PLACE}){SPACES}番目の{SPACES}{_LINE}{_VECTOR}",
    )
)
_ENTRY_WORD = r"\b(?:entry|element|component|coefficient)\b"
_ENTRY_SIGN = r"(?:元素|元|項|项|分量|成分|要素|條目|条目|分數|分数|成績)"
_ENTRIES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\bthe\s{{1,3}})?{_ENTRY_WORD}{SPACES}(?:at\s{{1,3}}|in\s{{1,3}})?(?P<pair>{PAIR}){_OF_ENGLISH}",
        rf"(?:\bthe\s{{1,3}})?(?P<pair>{PAIR}){_ORDINAL}\s{{1,3}}{_ENTRY_WORD}{_OF_ENGLISH}",
        rf"{_OF_CHINESE}第?{SPACES}(?P<pair>{PAIR}){SPACES}(?:個|个)?{SPACES}{_ENTRY_SIGN}",
    )
)
_CROSSINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\bthe\s{{1,3}})?{_ENTRY_WORD}{SPACES}(?:in|at)\s{{1,3}}row{SPACES}(?P<row>{PLACE}){SPACES}(?:,|and|,\s?and)?"
        rf"{SPACES}column{SPACES}(?P<column>{PLACE}){_OF_ENGLISH}",
        rf"{_OF_CHINESE}第{SPACES}(?P<row>{PLACE}){SPACES}行{SPACES}[,，、]?{SPACES}第{SPACES}(?P<column>{PLACE}){SPACES}列"
        rf"(?:{SPACES}[的の]?{SPACES}{_ENTRY_SIGN})?",
    )
)


def row_phrases(words: Words) -> Iterator[Phrase]:
    """Yield the rows and columns of a sentence."""
    for found in _found(_ROWS, words.text):
        place = place_of(words, *found.span("place"))
        if place is None:
            continue
        line = (found.groupdict().get("gloss") or found["line"]).lower()
        is_row = line.startswith("row") or line == words.row
        assumptions = (f"{line} is a {'row' if is_row else 'column'}",) if line in "行列" and words.unsure else ()
        of = _plain(matrix_of(words, *found.span("of")))
        yield Phrase(_line(of, place, is_row=is_row), found.start(), found.end(), assumptions)


def _line(of: Node, place: Node, *, is_row: bool) -> Node:
    return Entry(of if is_row else Transpose(of, start=of.start, end=of.end), (place,))


def entry_phrases(words: Words) -> Iterator[Phrase]:
    """Yield the entries of a sentence."""
    for found in _found(_ENTRIES, words.text):
        pair = pair_of(words, *found.span("pair"))
        if pair is not None:
            of = _plain(matrix_of(words, *found.span("of")))
            yield Phrase(Entry(of, pair), found.start(), found.end())
    for found in _found(_CROSSINGS, words.text):
        row, column = place_of(words, *found.span("row")), place_of(words, *found.span("column"))
        if row is None or column is None:
            continue
        of, signs = _plain(matrix_of(words, *found.span("of"))), "行" in found[0]
        places = (row, column) if not signs or words.row == "行" else (column, row)
        assumptions = (f"行 is a {'row' if words.row == '行' else 'column'}",) if signs and words.unsure else ()
        yield Phrase(Entry(of, places), found.start(), found.end(), assumptions)


def _found(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[re.Match[str]]:
    for pattern in patterns:
        yield from pattern.finditer(text)


def _plain(of: Node) -> Node:
    """Return an array without the brackets around it."""
    return of.inside if isinstance(of, Fence) and of.bracket == "(" else of
