r"""Memory that is said again in another unit: `2048 字节，即 4 KiB`, `$= 805{,}306{,}368$ bytes, or 768 MiB`.

Definition   right behind a number of bytes, or of KB, GiB and the like, stand a word or a bracket that says "the same"
             and a number in another unit, and with them the clause ends. The first number is what a formula ends in, or
             has all its digits, or is told in units
Result       holds        it is the same memory, rounded; GB may be counted by 1024 as well
             conditional  it is meant roughly, with no more than two digits: within 5%
             wrong        it is another size, however the units are counted
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from derivations.documents.formulas.numbers import printed_number
from derivations.documents.judge.numbers.printed import Printed, decimal, printed, rounded
from derivations.documents.judge.numbers.units import UNITS
from derivations.documents.judge.numbers.values import Enclosure
from derivations.documents.sentences.joined import FILLER, Sentence
from derivations.documents.sentences.restated import BARE, compared, is_settled, last_number, others
from derivations.documents.verdicts import Finding

__all__ = ["check_restated_bytes"]

CHECK = "arithmetic"
MOST_ROUGH = 2  # digits of a size that is meant roughly
ALIKE = (Fraction(3, 4), Fraction(4, 3))  # ratios of two that may be meant as one
VERY_MUCH_ALIKE = (Fraction(9, 10), Fraction(11, 10))  # behind "or", which may stand between two sizes
_UNIT = r"[KMGT]i?B|kB"
_BYTES = r"bytes?|[Bb]ytes|字[节節]|位元[组組]|バイト"
_ABOUT = r"(?:[約约][为為]?|大[约約]|およそ|about|roughly|approximately)"
_SAME = (  # words for it, or no more than a comma or a bracket
    r"(?:\s?[,，、]?\s?(?P<said>即|也就是|亦即|相當於|相当于|等於|等于|すなわち|つまり|i\.e\.,?|that is,?|which is|or)"
    rf"\s?{_ABOUT}?|\s?[=＝≈]|\s?[,，、]\s?{_ABOUT}|\s?[(（]\s?{_ABOUT}?)"
)
_AGAIN = re.compile(
    rf"\s?(?:(?P<unit>{_UNIT})|(?:{_BYTES}))(?![A-Za-z/]){_SAME}\s?"
    rf"(?P<digits>\d{{1,6}}(?:,\d{{3}}){{0,4}}(?:\.\d{{1,6}})?)\s?(?P<other>{_UNIT})"
    r"(?=\s?(?:[でにと]|[(（]\s?[約约]|$|[。.,，、;；)）|]))"
)
_MEMORY = re.compile(rf"{_BYTES}|{_UNIT}")
_NUMBER = re.compile(
    rf"{BARE}|(?<![\w.,×·*/^+\-−=＝≈~])(?<![×·*/^+\-−=＝≈~] )\d{{1,4}}(?:\.\d{{1,6}})?(?=\s?(?:{_UNIT}))"
)


def check_restated_bytes(sentence: Sentence) -> Iterator[tuple[int, int, Finding]]:
    """Yield the sizes of a sentence that are said again right behind the number of bytes that they are."""
    if len(_MEMORY.findall(sentence.text)) < 2:
        return
    for place, statements in sentence.statements.items():
        before = last_number(statements, measured=True)
        if before is not None:
            at = place + len(statements[-1].passage.text)
            for start, end, finding in _said(sentence, at, before):
                meant = [each for other in others(statements, before) for *_, each in _said(sentence, at, other)]
                if is_settled([finding, *meant]):
                    yield start, end, finding
    for bare in _NUMBER.finditer(sentence.text.replace(FILLER, "_")):
        yield from _said(sentence, bare.end(), printed(printed_number(bare[0], 0, 0)))


def _said(sentence: Sentence, at: int, before: Printed | None) -> Iterator[tuple[int, int, Finding]]:
    match = _AGAIN.match(sentence.written, at) if before is not None else None
    if match is None or before is None or match["unit"] == match["other"] or before.unit not in ("", match["unit"]):
        return
    again = printed(printed_number(match["digits"], 0, 0, unit=match["other"]))
    if again is not None:
        finding = _best(before, match["unit"] or "bytes", again)
        if finding.verdict == "conditional" and len(match["digits"].strip("0").replace(".", "")) > MOST_ROUGH:
            finding = _wrong(before, match["unit"] or "bytes", again)
        if finding.verdict != "wrong" or _is_meant(match, before, again):
            yield match.start("digits"), match.end("other"), finding


def _is_meant(match: re.Match[str], before: Printed, again: Printed) -> bool:
    """Say whether the second is meant to be the same: in `8 cards of 80 GB (0.64 TB)` or `512 KB or 1 MB` it is not."""
    if match["unit"] is None or match["said"] not in (None, "or"):
        return True
    ratio = again.value * UNITS[again.unit].sizes[0] / (before.value * UNITS[match["unit"]].sizes[0])
    nearest, farthest = VERY_MUCH_ALIKE if match["said"] else ALIKE
    return nearest < ratio < farthest


def _best(before: Printed, unit: str, again: Printed) -> Finding:
    """Return what is found in the way of counting the units that is best for the author."""
    found = []
    for first in UNITS[unit].sizes:
        for second in UNITS[again.unit].sizes:
            ratio = first / second
            same = replace(before, value=before.value * ratio, half_unit=before.half_unit * ratio)
            found.append(compared(same, again))
    order = ("holds", "conditional", "wrong")
    best = min(found, key=lambda each: order.index(each.verdict))
    return best if best.verdict != "wrong" else _wrong(before, unit, again)


def _wrong(before: Printed, unit: str, again: Printed) -> Finding:
    """Say what the memory before is, in a unit of the same kind in which it is neither small nor large."""
    value, name = before.value, unit
    for larger in (prefix + again.unit[1:] for prefix in "KMGT"):
        ratio = UNITS[unit].sizes[0] / UNITS[larger].sizes[0]
        if before.value * ratio >= 1:
            value, name = before.value * ratio, larger
    memory = Enclosure(value, value)
    nearest = rounded(memory, again)
    reason = f"the memory before is {decimal(memory)} {name}, not {again.number.text} {again.unit}"
    return Finding("wrong", CHECK, reason, f"{nearest} {name}" if nearest is not None else None)
