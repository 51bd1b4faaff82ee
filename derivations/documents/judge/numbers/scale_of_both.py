"""Relations whose result has a scale word for both sides: `64.4 + 2.62 = 67.02` 億, `12 * 7 = 84` million.

Definition   the one side is a number with a word for a power of ten, and no number of the other side has such a word
Assumes      what is counted by a scale is less than ten thousand of it: 262144K is a slip, 3500 million is none
Result       `scale_of_both(question)`: the link without the word, with the number as it was printed
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from derivations.documents.formulas.vocabulary import SCALES
from derivations.documents.judge.numbers.number_links import NumberLink
from derivations.documents.syntax import Node, Number

__all__ = ["scale_of_both"]

MOST = 10_000


def scale_of_both(question: NumberLink) -> tuple[NumberLink, Number] | None:
    """Return the relation without its scale word and the side that had it, or None unless only one side has one."""
    left, right = question.left, question.right
    if _is_counted(left) and not any(map(_word, right.walk())):
        return replace(question, left=_without_word(left)), left
    if _is_counted(right) and not any(map(_word, left.walk())):
        return replace(question, right=_without_word(right)), right
    return None


def _word(node: Node) -> str:
    """Return the word for a power of ten after a number, or ""."""
    word = node.text.partition(" ")[2] if isinstance(node, Number) else ""
    return word if word in SCALES else ""


def _is_counted(node: Node) -> TypeGuard[Number]:
    """Return whether a number has a scale word and is less than ten thousand of that scale."""
    return isinstance(node, Number) and bool(_word(node)) and node.value < MOST * 10 ** SCALES[_word(node)]


def _without_word(number: Number) -> Number:
    one, digits = 10 ** SCALES[_word(number)], number.text.partition(" ")[0]
    return replace(
        number, text=digits, value=number.value / one, half_unit=number.half_unit / one, exact="." not in digits
    )
