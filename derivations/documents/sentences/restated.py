r"""A number that is said again in words: `$12 \times 768^2 = 7{,}077{,}888$，約 708 萬`, "..., about 7 million".

Definition   right behind a formula that ends in a number, with no more than a word for what is counted in between,
             stand "about" and a number with a word for a power of ten, and with them the clause ends
Result       holds        it is the number before, rounded
             conditional  it is meant roughly: within 5%, or as far as the digits go that are not 0
             wrong        it is another number
Assumes      what a letter is set to is what the next words may go on from: `N = 7 \times 10^9`, about 140 billion
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from derivations.documents.formulas.numbers import printed_number
from derivations.documents.formulas.vocabulary import SCALES
from derivations.documents.judge.numbers.printed import Printed, decimal, printed, rounded
from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.sentences.joined import Sentence
from derivations.documents.statements import Statement
from derivations.documents.syntax import Name
from derivations.documents.verdicts import Finding

__all__ = ["check_restated"]

CHECK = "arithmetic"
ROUGHLY = Fraction(5, 100)
_COUNTED = (
    r"(?:[个個次](?:参数|參數|运算|運算|乘法)?|参数|參數|パラメータ|回|\ ?parameters?|\ ?params|\ ?weights?|\ ?FLOPs?)"
)
_SCALE = "|".join(sorted((word for word in SCALES if len(word) > 1 or not word.isascii()), key=len, reverse=True))
_AGAIN = re.compile(
    rf"\$*\ ?{_COUNTED}?\s{{0,2}}[,，、(（]?\s{{0,2}}(?:即|也就是|すなわち|つまり|i\.e\.,?|that is,?|or)?\s{{0,2}}"
    r"(?:[约約][为為]?|大[约約]|およそ|about|roughly|approximately|around)\s{0,2}\$?"
    rf"(?P<digits>\d{{1,6}}(?:,\d{{3}}){{0,4}}(?:\.\d{{1,6}})?)\$?\ ?(?P<scale>{_SCALE})(?![A-Za-z])"
    rf"(?=\s?(?:{_COUNTED}|で|に|と|$|[。.,，、;；)）|]))"
)


def check_restated(sentence: Sentence) -> Iterator[tuple[int, int, Finding]]:
    """Yield the numbers of a sentence that are said again right behind the formula that ends in them."""
    for place, statements in sentence.statements.items():
        before = _last_number(statements)
        if before is None:
            continue
        match = _AGAIN.match(sentence.written, place + len(statements[-1].passage.text))
        again = printed(printed_number(match["digits"], 0, 0, match["scale"])) if match else None
        if match and again is not None:
            yield match.start("digits"), match.end("scale"), _compared(before, again)


def _last_number(statements: tuple[Statement, ...]) -> Printed | None:
    """Return the number that a formula ends in, unless it is what a letter is set to."""
    sides = statements[-1].chain.sides if statements else ()
    if len(sides) < 2 or (len(sides) == 2 and isinstance(sides[0], Name)):
        return None
    number = printed(sides[-1])
    return None if number is None or number.unit or number.value <= 0 else number


def _compared(before: Printed, again: Printed) -> Finding:
    """Hold a number against the rough one that it is said to be."""
    off = abs(again.value - before.value)
    value = Enclosure(before.value, before.value)
    shown, said = decimal(value), again.number.text
    if off <= again.half_unit + (0 if before.exact else before.half_unit):
        return Finding("holds", CHECK, f"{shown} rounds to {said}")
    right = rounded(value, again)
    digits = said.split(" ")[0]
    coarse = again.half_unit * (1 if "." in digits else 10 ** (len(digits) - len(digits.rstrip("0"))))
    reason = f"the number before is {shown}, which rounds to {right}, not to {said}"
    if off <= max(coarse, ROUGHLY * before.value):
        return Finding("conditional", CHECK, reason, right, assumptions=(f"{said} is meant roughly",))
    return Finding("wrong", CHECK, reason, right)
