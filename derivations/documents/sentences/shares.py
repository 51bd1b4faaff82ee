r"""Percents of weights: "10% on the first word, 70% on the third" after a row `[0.1, 0.0, 0.7, 0.2]`.

Definition   a row of weights is a list of two or more numbers between 0 and 1, the last that was printed; a share is a
             percent with the place that is named behind it (第 3 個字, "the third token"), or before it (3 番目に 70%)
Result       holds        two or more shares of a sentence, all of them entries of the row at the places they name
             conditional  where one names no place, and it is one of the entries that are left
             wrong        one of three or more, where all the others agree with the row and leave no weight over
             nothing      where less agrees: the sentence may speak of other weights
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from derivations.documents.judge.numbers.printed import printed
from derivations.documents.sentences.joined import Sentence
from derivations.documents.sentences.places import NUMERALS, ORDINALS, number_of_word
from derivations.documents.statements import Statement
from derivations.documents.syntax import List, MatrixLiteral
from derivations.documents.verdicts import Finding, Unproved

__all__ = ["Row", "check_shares", "row_in"]

CHECK = "arithmetic"
_THING = r"(?:字|詞|词|個|个|token|word|位置|position|key|單詞|单词|番目|トークン|単語)"
_PLACES = re.compile(
    rf"第\s*(\d{{1,3}}|[{NUMERALS}])\s*[個个]?\s*{_THING}?|\b({'|'.join(ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th))\b"
    r"|\b(?:token|word|position|key)\s+(\d{1,3})\b|(\d{1,3})\s*(?:番目|つ目)",
    re.ASCII | re.IGNORECASE,
)
_WORD = re.compile(r"字|[詞词]|単語|トークン|\b(?:token|word)", re.ASCII | re.IGNORECASE)
_WEIGHT = r"(?:[01](?:\.\d{1,6})?|\.\d{1,6})"
_NUMBER = re.compile(_WEIGHT)
_LIST = re.compile(rf"\[\s*{_WEIGHT}(?:\s*[,，]\s*{_WEIGHT}){{1,31}}\s*\]")
_PERCENT = re.compile(r"(?<![\d.,])(?P<percent>\d{1,3}(?:\.\d{1,4})?)\s?\\?[%％]")
_BREAK = re.compile(r"[，,、;；]|\band\b|和|而")
_ABOUT = re.compile(
    r"注意|注目|[關关専專专]注|聚焦|權重|权重|重み|像|weight|attention|attend|focus|probabilit|概率|機率|確率",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True)
class Row:
    """A row of weights with the line it is printed on; `far` where that is in another section."""

    values: tuple[Fraction, ...]
    line: int
    called: bool = False  # weights, in the words of its sentence
    far: bool = False


@dataclass(frozen=True)
class _Share:
    """A percent with the place it is of, from 1 on, and where the sentence says so."""

    value: Fraction
    place: int | None
    start: int
    end: int


def row_in(sentence: Sentence, line: int) -> Row | None:
    """Return the last row of weights that a sentence prints: of a matrix of several rows, none is meant."""
    called = _ABOUT.search(sentence.written) is not None
    written = [each for some in sentence.statements.values() for each in some]
    printed_rows = [values for each in written for values in _rows(each)]
    if not printed_rows:
        lists = (_NUMBER.findall(each.group()) for each in _LIST.finditer(sentence.text))
        printed_rows = [tuple(map(Fraction, numbers)) for numbers in lists if any("." in each for each in numbers)]
    return Row(printed_rows[-1], line, called) if printed_rows else None


def _rows(statement: Statement) -> Iterator[tuple[Fraction, ...]]:
    """Yield the rows of numbers between 0 and 1 that a formula holds."""
    for part in statement.chain.walk():
        rows = part.rows if isinstance(part, MatrixLiteral) else (part.items,) if isinstance(part, List) else ()
        numbers = [printed(each) for each in rows[0]] if len(rows) == 1 else []
        values = tuple(each.value for each in numbers if each is not None and 0 <= each.value <= 1)
        if len(values) == len(numbers) >= 2 and any(each is not None and not each.exact for each in numbers):
            yield values


def check_shares(text: str, row: Row | None) -> Iterator[tuple[int, int, Finding]]:
    """Yield what the percents of a sentence are of the row of weights before it, with the stretch that says so."""
    shares = _shares(text)
    about = _ABOUT.search(text) or (row is not None and row.called and _WORD.search(text))
    if row is None or len(shares) < 2 or not about:
        return
    weights = row.values
    named = [each for each in shares if each.place is not None and 1 <= each.place <= len(weights)]
    rest = [each for each in shares if each.place is None]
    places = {each.place for each in named}
    if not named or len(places) != len(named) or len(named) + len(rest) != len(shares):
        return
    other = [each for each in named if weights[(each.place or 0) - 1] != each.value]
    left = Counter(value for place, value in enumerate(weights, 1) if place not in places)
    if Counter(each.value for each in rest) - left:
        return
    start, end = shares[0].start, shares[-1].end
    assumed = (f"the weights are those of line {row.line}",) * row.far
    if rest:
        assumed = (*assumed, "the share without a place is that of a place that is left")
    if not other and len(shares) > 1 + bool(rest):
        verdict: Unproved = "conditional" if assumed else "holds"
        reason = f"these are the entries of the row of weights on line {row.line}"
        yield start, end, Finding(verdict, CHECK, reason, assumptions=assumed)
    elif len(other) == 1 and len(named) > 2 and not assumed and not any(left):
        (bad,) = other
        right = weights[(bad.place or 0) - 1]
        reason = f"in the row of weights on line {row.line}, the weight at place {bad.place} is {_shown(right)}"
        yield bad.start, bad.end, Finding("wrong", CHECK, reason, right=_shown(right))


def _shares(text: str) -> list[_Share]:
    """Return the percents of a sentence, each with the place in its part of the sentence."""
    found: list[_Share] = []
    percents = list(_PERCENT.finditer(text))
    for number, match in enumerate(percents):
        end = percents[number + 1].start() if number + 1 < len(percents) else len(text)
        behind = _BREAK.search(text, match.end(), end)
        place = _PLACES.search(text, match.end(), behind.start() if behind else end)
        start = match.start()
        if place is None:
            before = percents[number - 1].end() if number else 0
            breaks = list(_BREAK.finditer(text, before, match.start()))
            place = _PLACES.search(text, breaks[-1].end() if breaks else before, match.start())
            start = place.start() if place else start
        value = Fraction(match["percent"]) / 100
        found.append(
            _Share(
                value, _number(place), start, place.end() if place and place.start() > match.start() else match.end()
            )
        )
    return found


def _number(place: re.Match[str] | None) -> int | None:
    """Return the number of a place in words or digits."""
    if place is None:
        return None
    word = next(each for each in place.groups() if each is not None).lower()
    number = number_of_word(word)
    return int(re.sub(r"\D", "", word)) if number is None else number


def _shown(value: Fraction) -> str:
    return f"{float(value * 100):g}%"
