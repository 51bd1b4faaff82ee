r"""What stands behind a number in LaTeX: `4.8\,\text{億}`, `175B`, `80\,\text{GB}`, `33\%`.

Assumes      a single italic letter behind a number is a factor, `2B`, unless both are a whole side, `N = 175B`
"""

from __future__ import annotations

import re

from derivations.documents.formulas.vocabulary import AMOUNT, SCALES, UNITS

__all__ = ["latex_amount"]

_BEHIND = re.compile(
    r"(?:\\[,;: ]|[ ~])*(?P<open>\\(?:text|mathrm|textrm)\s*\{\s*)?(?P<word>" + AMOUNT + r")(?P<close>\s*\})?"
)
_PERCENT = re.compile(r"(?:\\[,;]|[ ~])*\\%|%")
_SIDE_ENDS = re.compile(r"\s*(?:\Z|[,=]|\\)")


def latex_amount(text: str, digits: str, end: int, limit: int, side: bool) -> tuple[str, str, bool, int]:
    """Return scale, unit, percent sign, and where they end; `side` says that the number begins a side."""
    if match := _PERCENT.match(text, end, limit):
        return "", "", True, match.end()
    scale, unit, following = "", "", end
    match = _BEHIND.match(text, end, limit)
    if match and _has_scale(match, text, digits, side):
        scale, following = match["word"], _end(match)
        match = _BEHIND.match(text, following, limit)
    if match and match["word"] in UNITS and _is_upright(match, 2):
        unit, following = match["word"], _end(match)
    return scale, unit, False, following


def _has_scale(match: re.Match[str], text: str, digits: str, side: bool) -> bool:
    word = match["word"]
    if word not in SCALES:
        return False
    if _is_upright(match, 2):
        return True
    glued = match.start() == match.start("word") and word.isupper() and len(digits) > 1
    return glued and not match["open"] and side and bool(_SIDE_ENDS.match(text, match.end("word")))


def _is_upright(match: re.Match[str], letters: int) -> bool:
    r"""Say whether a word stands in `\text{}`, or is no letters side by side: Chinese, or more than so many letters."""
    if match["open"]:
        return bool(match["close"])
    return not match["word"].isascii() or len(match["word"]) > letters


def _end(match: re.Match[str]) -> int:
    return match.end() if match["open"] else match.end("word")
