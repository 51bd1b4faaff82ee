"""Ranges of coordinates in words: "coordinates 1-64 of head 1 and 65-128 of head 2", 第 1~64 位.

Definition   two or more ranges of one sentence that speaks of heads; each begins behind the one before, and all are as
             long as the width of a head, which the section sets
Result       holds; nothing where they do not fit: a range may end before its last number
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sympy import Integer

from derivations.documents.scope import Scope
from derivations.documents.verdicts import Finding

__all__ = ["check_coordinates"]

_RANGE = re.compile(r"(?<![\d.])(\d{1,6})\s*\\?(?:[~～–—]|-{1,2}|\bto\b|至|到|から)\s*(\d{1,6})(?!\d|\.\d)")
_HEADS = re.compile(r"\bheads?\b|頭|头|ヘッド", re.ASCII | re.IGNORECASE)
_MEANINGS = ("head width", "key width", "value width")
_WIDTHS = ("d_k", "d_v", "d_head", "d_h", "head_dim")


def check_coordinates(text: str, scope: Scope) -> Iterator[tuple[int, int, Finding]]:
    """Yield the ranges of a sentence, where they are the coordinates of heads one behind another."""
    found = list(_RANGE.finditer(text))
    if len(found) < 2 or not _HEADS.search(text):
        return
    ranges = [(int(each[1]), int(each[2])) for each in found]
    lengths = {last - first + 1 for first, last in ranges}
    behind = all(first == last + 1 for (_, last), (first, _) in pairwise(ranges))
    if len(lengths) != 1 or not behind or ranges[0][0] % max(next(iter(lengths)), 1) not in (0, 1):
        return
    (length,) = lengths
    known = scope.document.distinctions
    called = sorted(each for each in known.letters() if any(known.is_called(each, meaning) for meaning in _MEANINGS))
    width = next((each for each in (*_WIDTHS, *called) if _is(each, length, scope)), None)
    if width is not None:
        reason = f"blocks of {length} coordinates one behind another, and {width} = {length}"
        yield found[0].start(), found[-1].end(), Finding("holds", "arithmetic", reason)


def _is(key: str, length: int, scope: Scope) -> bool:
    """Say whether a letter is set to a number in the section."""
    return Integer(length) in scope.values_of(key) or scope.value_of(key) == length
