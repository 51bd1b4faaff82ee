"""Comparison of two formulas by their values, in several random draws of their letters.

Definition   formulas differ in a draw if both are real there and not the same to nine digits
Result       `differing(numbers, left, right)` are the draws that decide, none where the two agree or have no numbers;
             `same(numbers, edit, other, draws)` says whether two agree in these, and wherever else both are real;
             `agree` and `may_agree` whether nothing tells two apart, where that is known or in any case
Assumes      two formulas that differ do not agree in all of some six draws
"""

from __future__ import annotations

import math

from derivations.documents.judge.algebra.sampled import DRAWS, POSITIVE, Sampler
from derivations.documents.syntax import Node

__all__ = ["agree", "differing", "may_agree", "same"]

CLOSE = 1e-9


def differing(numbers: Sampler, left: Node, right: Node) -> tuple[int, ...]:
    """Return the draws where both sides are real, those with different values first, or none if no draw differs.

    Letters are positive, unless the sides are real for others only: `log(1 - e^t)`.
    """
    for draws in (POSITIVE, DRAWS):
        pairs = {draw: (numbers.number(left, draw), numbers.number(right, draw)) for draw in draws}
        real = [draw for draw, pair in pairs.items() if all(map(_is_real, pair))]
        if any(None in pair for pair in pairs.values()) or (real and all(_near(*pairs[draw]) for draw in real)):
            return ()
        if real:
            return tuple(sorted(real, key=lambda draw: _near(*pairs[draw])))
    return ()


def same(numbers: Sampler, edit: Node, other: Node, draws: tuple[int, ...]) -> bool:
    """Return whether two sides have equal values in these draws, and in all other draws where both are real."""
    if not all(_near(numbers.number(edit, draw), numbers.number(other, draw)) for draw in draws):
        return False
    rest = ((numbers.number(edit, draw), numbers.number(other, draw)) for draw in DRAWS if draw not in draws)
    return all(_near(*pair) for pair in rest if all(map(_is_real, pair)))


def agree(left: Node, right: Node) -> bool:
    """Return whether two sides have real values in some draw, and differ in none."""
    numbers = Sampler(left, right)
    real = any(_is_real(numbers.number(left, draw)) and _is_real(numbers.number(right, draw)) for draw in DRAWS)
    return real and not differing(numbers, left, right)


def may_agree(left: Node, right: Node) -> bool:
    """Return whether two sides agree, or one of them cannot be evaluated."""
    numbers = Sampler(left, right)
    return any(numbers.number(side, draw) is None for side in (left, right) for draw in DRAWS) or agree(left, right)


def _is_real(number: float | None) -> bool:
    return number is not None and not math.isnan(number)


def _near(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= CLOSE * max(abs(first), abs(second), 1e-6)
