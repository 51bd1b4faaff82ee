"""Closed forms of sums whose terms are Iverson brackets and powers of the index.

bracket      sum_{j=a}^{b} [j <= v] j^k = sum_{j=a}^{v} j^k for a - 1 <= v <= b, and likewise for [j >= v]
powers       sum_{j=a}^{b} j^k is a polynomial in a and b (Faulhaber), for b >= a - 1
"""

from fractions import Fraction
from math import comb

from derivations.language.judge.normal_form.context import Context
from derivations.language.judge.normal_form.integers import always_nonnegative, linear_part, plain_product
from derivations.language.judge.normal_form.terms import (
    ONE,
    Atom,
    Mono,
    Poly,
    add,
    constant_value,
    contains,
    negate,
    scale,
    subtract,
)

__all__ = ["counted", "shown_part"]

_LARGEST_POWER = 8


def counted(mono: Mono, index: Atom, context: Context) -> tuple[Mono, Poly] | None:
    """Return the factors without the index, and the sum of the others in closed form.

    Return None unless the others are Iverson brackets and powers of the index.
    """
    own = [(atom, e) for atom, e in mono if contains(atom, index)]
    if any(atom[0] != "ge" and atom != index for atom, _ in own):
        return None
    rest = tuple(pair for pair in mono if pair not in own)
    power = next((e for atom, e in own if atom == index), 0)
    if not isinstance(power, int) or not 0 <= power <= _LARGEST_POWER:
        return None
    limits = shown_part([atom for atom, _ in own if atom != index], index, context)
    if limits is None:
        return None
    low, high = limits
    return rest, subtract(_powers(power, high), _powers(power, subtract(low, ONE)))


def shown_part(brackets: list[Atom], index: Atom, context: Context) -> tuple[Poly, Poly] | None:
    """Return the range in which all Iverson brackets are 1, or None if it cannot be determined.

    Each bracket must be [j >= v] or [j <= v], and the order of all ends must be proved. The range may be empty, but its
    length is never negative.
    """
    start, end = context.ranges[index]
    lows, highs = [start], [end]
    for atom in brackets:
        parts = linear_part(atom[1], index) if atom[0] == "ge" else None
        slope = constant_value(parts[0]) if parts else None
        if parts is None or slope not in (1, -1):
            return None
        if slope == 1:
            lows.append(negate(parts[1]))
        else:
            highs.append(parts[1])
    low = next((v for v in lows if all(always_nonnegative(subtract(v, u), context) for u in lows)), None)
    high = next((v for v in highs if all(always_nonnegative(subtract(u, v), context) for u in highs)), None)
    if low is None or high is None:
        return None
    # Without brackets the range is that of the sum, whose length `close` requires to be nonnegative.
    empty_at_worst = not brackets or always_nonnegative(add(subtract(high, low), ONE), context)
    return (low, high) if empty_at_worst else None


def _powers(k: int, last: Poly) -> Poly:
    """Return 0^k + 1^k + ... + last^k, from (N + 1)^(k+1) = sum_{m <= k} C(k + 1, m) sum_{j <= N} j^m."""
    sums: list[Poly] = []
    power = ONE
    for m in range(k + 1):
        power = plain_product(power, add(last, ONE))
        lower = (scale(s, -comb(m + 1, r)) for r, s in enumerate(sums))
        sums.append(scale(add(power, *lower), Fraction(1, m + 1)))
    return sums[k]
