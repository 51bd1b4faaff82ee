r"""A number that is said again in words: `$12 \times 768^2 = 7{,}077{,}888$，約 708 萬`, "..., about 7 million".

Definition   right behind a formula that ends in a number, or a number with all its digits, with no more than a word for
             what is counted in between, stand "about" and a number with a word for a power of ten, and with them the
             clause ends
Result       holds        it is the number before, rounded
             conditional  it is meant roughly: within 5%, or as far as the digits go that are not 0
             wrong        it is another number; where no formula gave the number before, one with the same digits
Assumes      what a letter is set to is what the next words may go on from: `N = 7 \times 10^9`, about 140 billion; and
             the words behind a number may count something else: 32000 個，約 1.3 億
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from derivations.documents.formulas.numbers import printed_number
from derivations.documents.formulas.vocabulary import SCALES
from derivations.documents.judge.numbers.printed import Printed, decimal, printed, rounded
from derivations.documents.judge.numbers.values import Enclosure, enclose
from derivations.documents.sentences.joined import FILLER, Sentence
from derivations.documents.sentences.phrases import FORMULA, OPAQUE
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name
from derivations.documents.verdicts import Finding

__all__ = ["BARE", "check_restated", "compared", "is_settled", "last_number", "others"]

CHECK = "arithmetic"
ROUGHLY = Fraction(5, 100)
LONGEST_LABEL = 5  # digits of a number that may count nothing: a year, the number of a page
MOST_TENS = 4  # powers of ten by which a word for one of them is mistaken: 萬 for 億
_COUNTED = (
    r"(?:[个個次](?:参数|參數|运算|運算|乘法|のパラメータ)?|参数|參數|パラメータ|回"
    r"|\ ?parameters?|\ ?params|\ ?weights?|\ ?FLOPs?)"
)
_THINGS = rf"(?:[个個](?:[词詞]元|のトークン)|[词詞]元|トークン|\ ?tokens?|{_COUNTED})"
_SCALE = "|".join(sorted((word for word in SCALES if len(word) > 1 or not word.isascii()), key=len, reverse=True))
_SAME = r"(?:即|也就是|亦即|すなわち|つまり|i\.e\.,?|that is,?)"
_ABOUT = r"(?:[約约][为為]?|大[約约]|およそ|about|roughly|approximately|around)"
_DIGITS = rf"(?P<digits>\d{{1,6}}(?:,\d{{3}}){{0,4}}(?:\.\d{{1,6}})?)\$?\ ?(?P<scale>{_SCALE})(?![A-Za-z])"
_AGAIN = re.compile(
    rf"\$*\ ?(?P<before>{_THINGS})?\s{{0,2}}[,，、(（]?\s{{0,2}}"
    rf"(?:(?P<same>{_SAME})\s{{0,2}}{_ABOUT}?|(?:or\s)?{_ABOUT})\s{{0,2}}\$?"
    rf"{_DIGITS}(?=\s?(?:(?P<behind>{_COUNTED})|で|に|と|$|[。.,，、;；)）|]))"
)
_IN_WORDS = re.compile(
    rf"(?<![\d.,×*/^+−=＝≈]){_DIGITS}\s?(?P<before>{_THINGS})?(?:\s?[,，、]?\s?{_SAME}\s?|[(（]){_ABOUT}?\s?"
    rf"(?=[{FORMULA}{OPAQUE}]{FILLER}*\s?(?P<behind>{_THINGS})?)"
)
#: A number with all its digits, as no part of something written around it.
BARE = r"(?<![\w.,×·*/^+\-−=＝≈~\\{])(?<![×·*/^+\-−=＝≈~] )(?:\d{1,3}(?:,\d{3}){1,6}|\d{4,18})(?![\d.,]\d)(?!\d)"
_BARE = re.compile(BARE)


def check_restated(sentence: Sentence) -> Iterator[tuple[int, int, Finding]]:
    """Yield the numbers of a sentence that are said again right behind the formula that ends in them."""
    for place, statements in sentence.statements.items():
        match = _AGAIN.match(sentence.written, place + len(statements[-1].passage.text)) if statements else None
        before = last_number(statements, named=match["same"] is not None) if match else None
        if match is not None and before is not None:
            is_plain = last_number(statements) is not None
            for start, end, finding in _said(before, match):
                meant = [finding, *(each for other in others(statements, before) for *_, each in _said(other, match))]
                if is_settled(meant) and (is_plain or _is_sure(finding, before, match)):
                    yield start, end, finding
    for bare in _BARE.finditer(sentence.text):
        match = _AGAIN.match(sentence.written, bare.end())
        before = printed(printed_number(bare[0], 0, 0)) if match else None
        if match is not None and before is not None and (match["before"] or len(bare[0]) > LONGEST_LABEL):
            yield from (each for each in _said(before, match) if _is_sure(each[-1], before, match))
    yield from _formulas(sentence)


def _formulas(sentence: Sentence) -> Iterator[tuple[int, int, Finding]]:
    r"""Yield the formulas that say a number in words again: 3000 億個，即 `$3 \times 10^{11}$` 個."""
    for match in _IN_WORDS.finditer(sentence.text):
        statements = sentence.statements.get(match.end(), ())
        node = sentence.nodes.get(match.end())
        again, before = printed(node) if node else None, _in_words(match)
        if again is not None and before is not None and not again.unit and again.value > 0:
            finding = compared(before, again)
            if _is_sure(finding, again, match):
                yield match.end(), match.end() + len(statements[-1].passage.text), finding


def _said(before: Printed, match: re.Match[str]) -> Iterator[tuple[int, int, Finding]]:
    """Yield what is found of the number that is said again."""
    again = _in_words(match)
    if again is not None:
        yield match.start("digits"), match.end("scale"), compared(before, again)


def _in_words(match: re.Match[str]) -> Printed | None:
    """Return the number that is told with a word for a power of ten."""
    return printed(printed_number(match["digits"], 0, 0, match["scale"]))


def _is_sure(finding: Finding, number: Printed, match: re.Match[str]) -> bool:
    """Say whether a number that is wrong has the digits of the other, and none of the words count something else."""
    if finding.verdict != "wrong":
        return True
    worded = _in_words(match)
    if worded is None or not _counts_alike(match):
        return False
    powers = (Fraction(10) ** power for power in range(-MOST_TENS, MOST_TENS + 1))
    return any(abs(worded.value * each - number.value) <= worded.half_unit * each for each in powers)


def _counts_alike(match: re.Match[str]) -> bool:
    """Say whether nothing, or what was counted before, is counted behind a number."""
    before, behind = match["before"] or "", match["behind"] or ""
    return before.startswith(behind) or (bool(before) and behind.startswith(before))


def last_number(statements: tuple[Statement, ...], *, named: bool = False, measured: bool = False) -> Printed | None:
    """Return the number that a formula ends in: one that a letter is set to if `named`, with a unit if `measured`."""
    sides = statements[-1].chain.sides if statements else ()
    if len(sides) < 2 or (len(sides) == 2 and isinstance(sides[0], Name) and not named):
        return None
    number = printed(sides[-1])
    return None if number is None or (number.unit and not measured) or number.value <= 0 else number


def others(statements: tuple[Statement, ...], last: Printed) -> Iterator[Printed]:
    """Yield the number that a formula ends in as its other sides have it, which one slip may have set apart."""
    for side in statements[-1].chain.sides[:-1]:
        value = enclose(side, lambda name: None)
        if value is not None:
            yield replace(last, value=value.middle)


def is_settled(meant: Sequence[Finding]) -> bool:
    """Say whether a number that is wrong is so for every side of the formula: what the first slip caused is none."""
    return all(each.verdict == "wrong" for each in meant) or meant[0].verdict != "wrong"


def compared(before: Printed, again: Printed) -> Finding:
    """Hold a number against the rough one that it is said to be."""
    off = abs(again.value - before.value)
    value = Enclosure(before.value, before.value)
    unit = f" {again.unit}" if again.unit else ""
    shown, said = decimal(value) + unit, again.number.text + unit
    if off <= again.half_unit + (0 if before.exact else before.half_unit):
        return Finding("holds", CHECK, f"{shown} rounds to {said}")
    nearest = rounded(value, again)
    right = nearest + unit if nearest is not None else None
    digits = said.split(" ")[0]
    coarse = again.half_unit * (1 if "." in digits else 10 ** (len(digits) - len(digits.rstrip("0"))))
    reason = f"the number before is {shown}, which rounds to {right}, not to {said}"
    if off <= max(coarse, ROUGHLY * before.value):
        return Finding("conditional", CHECK, reason, right, assumptions=(f"{said} is meant roughly",))
    return Finding("wrong", CHECK, reason, right)
