"""Estimates of how large a scalar becomes when the judge multiplies it out, or writes it as exponentials.

Result       `grows(expression)`: too many terms once it is multiplied out; `circles(expression)`: how many sines and
             cosines stand inside one another; `bits_of(number)`: how long its longest rational is
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import sympy
from sympy import Basic, Expr, Rational

__all__ = ["LARGEST_POWER", "MOST_CIRCLES", "bits_of", "circles", "grows"]

LARGEST_POWER = 12
MOST_EXPANDED = 300  # terms of an expression that is multiplied out
MOST_CIRCLES = 4  # sines and cosines inside one another: each writes down twice what is inside
TYPICAL_TERMS = 4  # of a sum with a letter for a bound, where the judge tries numbers


def grows(expression: Basic) -> bool:
    """Return whether an expression has too many terms once it is multiplied out."""
    return _expanded(expression) > MOST_EXPANDED


def circles(expression: Basic) -> int:
    """Return how deeply sines and cosines are nested."""
    return max(map(circles, expression.args), default=0) + isinstance(expression, sympy.sin | sympy.cos)


def bits_of(number: Expr) -> int:
    """Return the number of bits of the longest rational in an expression."""
    parts: Iterator[int] = (int(each.p).bit_length() + int(each.q).bit_length() for each in number.atoms(Rational))
    return max(parts, default=1)


def _expanded(expression: Basic) -> int:
    """Return a bound for the number of terms of an expression that is multiplied out over one denominator."""
    if not expression.args:
        return 1
    if isinstance(expression, sympy.Sum):
        body, *limits = expression.args
        lengths = (int(last) + 1 if last.is_Integer else TYPICAL_TERMS for _, _, last in limits)
        return _expanded(body) * math.prod(lengths)
    inside = [min(_expanded(each), MOST_EXPANDED + 1) for each in expression.args]
    if isinstance(expression, sympy.exp) and inside[0] <= LARGEST_POWER:
        return 1  # e^{a + b} is one product
    if isinstance(expression, sympy.Add):
        below = {each.base for term in expression.args for each in sympy.Mul.make_args(term) if _is_below(each)}
        over_one = math.prod(min(_expanded(each), MOST_EXPANDED + 1) for each in below)
        return max(sum(inside), 2 * len(inside) * over_one if len(below) > 1 else 0)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer:
        power = abs(int(expression.exp))
        return math.comb(power + inside[0] - 1, power)
    return min(math.prod(inside), MOST_EXPANDED + 1)


def _is_below(factor: Expr) -> bool:
    """Return whether a factor is a sum in a denominator."""
    return isinstance(factor, sympy.Pow) and factor.base.is_Add and factor.exp.is_negative is True
