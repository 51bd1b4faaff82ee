r"""Ratios and near numbers in words: 放大4倍 beside `512 → 2048`, "$d_{ff}$ is four times $d_{model}$", "almost 100%".

Definition   a ratio is a number with a word for times; it is held against a map of widths that is written in its
             sentence or right before it, else against two sizes that the sentence names and the section sets. A number
             that something is said to be almost is held against the last number that was printed for its name
Result       holds        the ratio is that of the two sizes; the number rounds to what it is said to be
             conditional  the ratio of two letters without numbers is the usual one
             wrong        the sentence itself says of which two sizes it is, and their ratio is another
Assumes      "four times larger" may mean four or five times as large, and a ratio that of the smaller to the larger
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from sympy import Expr, Rational

from derivations.documents.judge.algebra.scalar_links import USUAL
from derivations.documents.judge.numbers.letters import letters_of
from derivations.documents.judge.numbers.printed import printed
from derivations.documents.scope import Scope
from derivations.documents.scope.sizes import written_shape
from derivations.documents.sentences.joined import FORMULAS, Sentence
from derivations.documents.statements import Statement
from derivations.documents.syntax import Arrow, Chain, Fence, Name, Number
from derivations.documents.verdicts import Finding

__all__ = ["check_near_number", "check_ratio", "maps_in", "named_number"]

CHECK = "arithmetic"
_WORDS = {
    **dict.fromkeys(("two", "twice", "double", "doubles", "doubled", "兩", "两", "二"), 2),
    **dict.fromkeys(("three", "triple", "三"), 3),
    **dict.fromkeys(("four", "quadruple", "四"), 4),
    **dict.fromkeys(("eight", "八"), 8),
}
_NUMBER = r"(?P<{0}>(?<![\d.])\d{{1,4}}(?:\.\d{{1,3}})?|\b(?:two|three|four|eight)\b|[兩两二三四八])"
_RATIO = re.compile(
    _NUMBER.format("a") + r"\s*(?:倍|[x×](?![\w\s]*[\d(])|-?\s?times\b|[\s-]?fold\b)"
    r"|\bfactor\s+of\s+" + _NUMBER.format("b") + r"|\b(?P<c>twice|double[sd]?|quadruple)\b",
    re.ASCII | re.IGNORECASE,
)
_WIDER = re.compile(
    r"\b(?:expan\w+|enlarg\w+|widen\w*|wider|larger|bigger|as\s+(?:large|wide|big)|factor|ratio|dimension\w*|width)\b"
    r"|倍|維|维",
    re.ASCII | re.IGNORECASE,
)
_GROWING = re.compile(
    r"\b(?:expan\w+|enlarg\w+|widen\w*|increas\w+)\b|放大|擴大|扩大|擴展|扩展|拡大|広げ", re.ASCII | re.IGNORECASE
)
_FROM_TO = re.compile(
    r"\bfrom\s+(\d{2,6})\s+(?:dimensions?\s+)?(?:up\s+)?to\s+(\d{2,6})\b"
    r"|(?:从|從)\s*(\d{2,6})\s*[維维]?[^\d\s]{0,4}?[到至]\s*(\d{2,6})"
    r"|(\d{2,6})\s*(?:次元)?\s*から\s*(\d{2,6})"
)
_HARMLESS = re.compile(r"[\s(（,，:：「如例即i.e.g.,from]*")
_OTHERS = re.compile(
    r"\b(?:but|except|instead|unlike|whereas|not|or|if|when|suppose|would|could|can|per|each|every|parameters?|layers?"
    r"|faster|slower|compute|cost|memory)\b|但|不|或|如果|若|假如|もし|可以|每|參數|参数|快|慢|計算|计算|成本",
    re.ASCII | re.IGNORECASE,
)
_LARGER = re.compile(r"\b(?:larg|wid|bigg)er\b", re.ASCII | re.IGNORECASE)
_USUALLY = re.compile(r"\b(?:usually|often|typically|generally|common(?:ly)?)\b|一般|通常", re.ASCII | re.IGNORECASE)
_NEAR = re.compile(
    r"(?:\b(?:almost|nearly|close\s+to|practically|virtually|about|roughly|approximately|around)\b"
    r"|幾乎|几乎|接近|將近|将近|差不多|近乎|大?[約约]|ほぼ|ほとんど|およそ)"
    r"\D{0,6}(\d{1,3}(?:\.\d{1,6})?)(?:\s*(\\?[%％]))?",
    re.ASCII | re.IGNORECASE,
)


# --- ratios ---


def check_ratio(sentence: Sentence, scope: Scope, widths: Sequence[Expr]) -> Iterator[tuple[int, int, Finding]]:
    """Yield what a ratio in words is of; `widths` are those that were written before, the latest first."""
    ratios = list(_RATIO.finditer(sentence.text))
    if len(ratios) != 1:
        return
    (match,) = ratios
    ratio = _value(match)
    named = _of_letters(sentence, match, ratio, scope)
    if named is not None:
        yield named
        return
    if not _WIDER.search(sentence.text):
        return
    maps = [*maps_in(sentence, widths), *_maps_in_words(sentence.text)]
    if len(maps) == 1:
        start, end, before, after = maps[0]
        yield from _of_map(sentence, match, ratio, (start, end, before, after))


def _value(match: re.Match[str]) -> Fraction:
    word = next(each for each in match.groups() if each is not None).lower()
    return Fraction(_WORDS[word]) if word in _WORDS else Fraction(word)


def _text(ratio: Fraction) -> str:
    return str(ratio) if ratio.denominator == 1 else f"{float(ratio):g}"


def _fits(ratio: Fraction, first: Expr, second: Expr) -> bool:
    return first.is_Rational is True and second == first * Rational(ratio.numerator, ratio.denominator)


def _of_map(
    sentence: Sentence, match: re.Match[str], ratio: Fraction, found: tuple[int, int, Expr, Expr]
) -> Iterator[tuple[int, int, Finding]]:
    start, end, before, after = found
    first, last = min(start, match.start()), max(end, match.end())
    if before.is_Rational is not True or after.is_Rational is not True or 0 in (before, after):
        return
    if _fits(ratio, before, after) or (_fits(ratio, after, before) and not _GROWING.search(sentence.text)):
        yield (
            match.start(),
            match.end(),
            Finding("holds", CHECK, f"from {before} to {after} it is {_text(ratio)} times"),
        )
        return
    between = sentence.text[min(end, match.end()) : max(start, match.start())]
    certain = _GROWING.search(sentence.text) and _HARMLESS.fullmatch(between) and not _OTHERS.search(sentence.text)
    if certain and after > before:
        quotient = str(after / before)
        yield (
            first,
            last,
            Finding("wrong", CHECK, f"from {before} to {after} it is {quotient} times", right=f"{quotient} times"),
        )


def maps_in(sentence: Sentence, widths: Sequence[Expr]) -> Iterator[tuple[int, int, Expr, Expr]]:
    """Yield the maps of widths that stand in a sentence as formulas: `512 → 2048`, "widen → [1, 10, 2048]"."""
    for place, statements in sentence.statements.items():
        for statement in statements:
            chain = statement.chain
            inside = chain.sides[0].inside if chain.sides and isinstance(chain.sides[0], Fence) else None
            chain = inside if isinstance(inside, Chain) else chain
            if len(chain.relations) == 1 and isinstance(chain.relations[0], Arrow):
                before, after = (written_shape(side, bare=True) for side in chain.sides)
                first = before[-1] if before and before[-1].is_number else widths[0] if widths else None
                if after and first is not None:
                    yield place, place + len(statement.passage.text), first, after[-1]


def _maps_in_words(text: str) -> Iterator[tuple[int, int, Expr, Expr]]:
    for match in _FROM_TO.finditer(text):
        before, after = (Rational(each) for each in match.groups() if each is not None)
        yield match.start(), match.end(), before, after


def _of_letters(
    sentence: Sentence, match: re.Match[str], ratio: Fraction, scope: Scope
) -> tuple[int, int, Finding] | None:
    """Decide "$d_{ff}$ is four times $d_{model}$", where the sentence has just these two formulas."""
    places = [found.start() for found in re.finditer(FORMULAS, sentence.text)]
    names = [sentence.nodes.get(place) for place in places]
    if len(names) != 2 or not all(isinstance(each, Name) for each in names):
        return None
    larger, smaller = (each for each in names if isinstance(each, Name))
    values = [letters_of(scope)(each) for each in (larger, smaller)]
    first, last = min(match.start(), *places), max(match.end(), places[-1] + _length(sentence.text, places[-1]))
    numbers = [each for each in values if isinstance(each, Fraction) and each > 0]
    if len(numbers) == 2:
        quotient = numbers[0] / numbers[1]
        said = f"{larger.key} / {smaller.key} = {_text(quotient)}"
        if quotient == ratio or (quotient == 1 / ratio and not _says_which(sentence.text, match, places)):
            return match.start(), match.end(), Finding("holds", CHECK, f"{said}, with the sizes of this section")
        near = all(scope.is_set(Rational(each.numerator, each.denominator)) for each in numbers)
        as_much_more = quotient == ratio + 1 and _LARGER.search(sentence.text)
        if near and _says_which(sentence.text, match, places) and quotient > 1 and not as_much_more:
            return first, last, Finding("wrong", CHECK, said, right=f"{_text(quotient)} times")
        return None
    wanted = {str(name): value for name, value in USUAL}
    usual = wanted.get(_key(larger, scope))
    if usual is not None and not any(isinstance(each, Fraction) for each in values):
        symbol = next(iter(usual.free_symbols), None)
        if str(symbol) == _key(smaller, scope) and usual / symbol == Rational(ratio.numerator, ratio.denominator):
            assumed = (f"{larger.key} = {_text(ratio)} {smaller.key}, as is usual",)
            finding = Finding("conditional", CHECK, "the usual ratio of these sizes", assumptions=assumed)
            return match.start(), match.end(), finding
    return None


def _key(name: Name, scope: Scope) -> str:
    """Return our letter for a size, by what it is called."""
    return {"hidden width": "d_ff", "model width": "d_model"}.get(next(iter(scope.meaning(name)), ""), "")


def _says_which(text: str, match: re.Match[str], places: Sequence[int]) -> bool:
    """Say whether a sentence says "A is k times B" or 「A 是 B 的 k 倍」, with nothing else in between."""
    first_end = places[0] + _length(text, places[0])
    if _OTHERS.search(text) or _USUALLY.search(text):
        return False
    if places[0] < match.start() and match.end() <= places[1]:
        between = text[first_end : match.start()], text[match.end() : places[1]]
        return bool(
            re.fullmatch(r"\s*(?:is|equals|=)\s*(?:exactly)?\s*", between[0])
            and re.fullmatch(r"\s*(?:as\s+(?:large|wide)\s+as|the\s+size\s+of|(?:larg|wid)er\s+than)?\s*", between[1])
        )
    between = text[first_end : places[1]], text[places[1] + _length(text, places[1]) : match.start()]
    return bool(
        re.fullmatch(r"\s*(?:是|為|为|等於|等于|は)\s*", between[0]) and re.fullmatch(r"\s*[的の]\s*", between[1])
    )


def _length(text: str, place: int) -> int:
    found = re.compile(FORMULAS).match(text, place)
    return found.end() - place if found else 0


# --- almost ---


def named_number(statement: Statement) -> tuple[str, Number | None]:
    """Return the name that a statement begins with, and the number that it ends with, if it does."""
    first, last = statement.chain.sides[0], printed(statement.chain.sides[-1])
    if len(statement.chain.sides) < 2 or not isinstance(first, Name) or last is None or last.exact:
        return "", None
    return first.key, last.number


def check_near_number(sentence: Sentence, numbers: Mapping[str, Number]) -> Iterator[tuple[int, int, Finding]]:
    """Yield a number that something is said to be almost, where the last number printed for it rounds to that."""
    for match in _NEAR.finditer(sentence.written):
        subject = _subject(sentence, match.start())
        number = numbers.get(subject.key) if subject is not None else None
        if subject is None or number is None:
            continue
        unit = Fraction(1, 100) if match[2] else Fraction(1, 10)  # almost 0 is nearer to 0 than to 0.1
        said = Fraction(match[1]) / (100 if match[2] else 1)
        half = unit / (2 * 10 ** len(match[1].partition(".")[2]))
        if number.value != said and abs(number.value - said) <= half:
            shown = f"{match[1]}{'%' if match[2] else ''}"
            yield match.start(), match.end(), Finding("holds", CHECK, f"{subject.key} is {number.text}, almost {shown}")


def _subject(sentence: Sentence, at: int) -> Name | None:
    """Return the last formula before a place, if it is a name."""
    before = [place for place in sentence.statements if place < at]
    node = sentence.nodes.get(max(before)) if before else None
    return node if isinstance(node, Name) else None
