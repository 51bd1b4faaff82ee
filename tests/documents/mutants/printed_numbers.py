"""The oracle of numbers: whether a link between numbers holds, within the digits that are printed.

Result       `numbers_differ`: "different", "same", or "cannot tell" where a letter has no value
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np

from derivations.documents.syntax import Annotated, Fence, Negative, Node, Number, Power, Product
from tests.documents.mutants.arrays import Assignment
from tests.documents.mutants.functions import DIGITS, Differ
from tests.documents.mutants.oracle import Answer, letters, value_of

__all__ = ["numbers_differ"]

EQUALITIES = ("=", "≡", ":=")
ROUGHLY = Fraction(2, 100)


@dataclass(frozen=True)
class Shown:
    """A printed number with half a unit of its last place."""

    value: Fraction
    half: Fraction
    rough: bool


def _shown(node: Node) -> Shown | None:
    while isinstance(node, Fence | Annotated):
        node = node.inside if isinstance(node, Fence) else node.of
    if isinstance(node, Negative):
        inside = _shown(node.operand)
        return Shown(-inside.value, inside.half, inside.rough) if inside is not None else None
    if isinstance(node, Number):
        return Shown(node.value, node.half_unit or Fraction(1, 2), any(each.isalpha() for each in node.text))
    if isinstance(node, Product) and len(node.factors) == 2 and isinstance(node.factors[0], Number):
        power = node.factors[1]
        if isinstance(power, Power) and isinstance(power.base, Number) and power.base.value == 10:
            exponent = _exact(power.exponent, {})
            if exponent is not None and abs(exponent) < 300:
                scale = Fraction(10) ** int(exponent)
                first = node.factors[0]
                return Shown(first.value * scale, (first.half_unit or Fraction(1, 2)) * scale, rough=False)
    return None


def _exact(node: Node, given: Mapping[str, Fraction]) -> mpmath.mpf | None:
    known = {key: mpmath.mpf(value.numerator) / value.denominator for key, value in given.items()}
    if any(name.key not in known and name.key not in ("e", "π", "pi") for name in letters(node)):
        return None
    assignment = Assignment(np.random.default_rng(0), {}, given=known)
    value = value_of(assignment, node)
    return None if value is None or value is Differ or isinstance(value, np.ndarray) else value


@mpmath.workdps(DIGITS)
def numbers_differ(left: Node, relation: str, right: Node, given: Mapping[str, Fraction]) -> Answer:
    """Say whether a link between numbers does not hold: by more than printed digits leave open."""
    first, second = _exact(left, given), _exact(right, given)
    if first is None or second is None:
        return "cannot tell"
    off = abs(first - second)
    if relation in EQUALITIES and all(each.exact for side in (left, right) for each in _numbers(side)):
        return "same" if off < mpmath.mpf("1e-30") * max(1, abs(first)) else "different"
    shown = [each for each in (_shown(left), _shown(right)) if each is not None]
    room = max((_mpf(each.half) for each in shown), default=mpmath.mpf(0))
    for each in shown:
        if each.rough:
            room = max(room, _mpf(ROUGHLY) * max(abs(first), abs(second)))
        elif relation not in EQUALITIES and each.value.denominator == 1 and each.half == Fraction(1, 2):
            digits = str(abs(each.value.numerator))
            room = max(room, mpmath.mpf(10) ** (len(digits) - len(digits.rstrip("0"))) / 2)
    if not shown:
        room = max(abs(first), abs(second)) / (2 if relation not in EQUALITIES else 20)
    return "different" if off > room else "same"


def _numbers(node: Node) -> Iterator[Number]:
    return (each for each in node.walk() if isinstance(each, Number))


def _mpf(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator
