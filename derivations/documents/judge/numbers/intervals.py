"""Arithmetic on numbers that are exact fractions where possible, and enclosing mpmath intervals otherwise.

Raises       NoNumber, for what has no real number, or one over the budget
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mpmath.ctx_iv import MPIntervalContext

from derivations.language.judge import intervals as functions

__all__ = [
    "IV", "LARGEST_EXPONENT", "NoNumber", "Value", "added", "divided", "estimated_logarithm", "exponential", "extreme",
    "fraction", "interval", "multiplied", "power", "sigmoid", "tanh", "within_budget",
]  # fmt: skip

_BITS_OF_A_NUMBER = 20_000
LARGEST_EXPONENT = 10_000

IV: Any = MPIntervalContext()  # its own context: the precision of no other changes
Interval = Any
Value = Fraction | Interval


class NoNumber(Exception):
    """Raised where an expression has no real number, or one over the budget."""


def fraction(end: Any) -> Fraction:
    """Return an end of an interval, given as an mpmath interval of one point, as a fraction."""
    sign, mantissa, exponent, _ = end._mpi_[0]
    if (not mantissa and exponent) or abs(exponent) > 40 * _BITS_OF_A_NUMBER:
        raise NoNumber  # infinite, or too large or too small to be written out
    return (-1) ** sign * Fraction(mantissa) * Fraction(2) ** exponent


def interval(value: Value) -> Interval:
    """Return a value as an interval."""
    if isinstance(value, Fraction):
        return IV.mpf(value.numerator) / IV.mpf(value.denominator)
    return value


def within_budget(value: Fraction) -> Fraction:
    """Return a fraction unchanged, or raise NoNumber if it has too many bits."""
    if value.numerator.bit_length() + value.denominator.bit_length() > 2 * _BITS_OF_A_NUMBER:
        raise NoNumber
    return value


def added(a: Value, b: Value) -> Value:
    """Return a sum."""
    both = isinstance(a, Fraction) and isinstance(b, Fraction)
    return within_budget(a + b) if both else interval(a) + interval(b)


def multiplied(a: Value, b: Value) -> Value:
    """Return a product."""
    both = isinstance(a, Fraction) and isinstance(b, Fraction)
    return within_budget(a * b) if both else interval(a) * interval(b)


def divided(a: Value, b: Value) -> Value:
    """Return a quotient, or raise an error if the divisor may be 0."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return within_budget(a / b)
    divisor = interval(b)
    if not (divisor > 0 or divisor < 0):
        raise NoNumber
    return interval(a) / divisor


def estimated_logarithm(value: Fraction) -> float:
    """Return the natural logarithm of a positive fraction as a float."""
    return math.log(value.numerator) - math.log(value.denominator)


def exponential(exponent: Value) -> Value:
    """Return the exponential of a number, or raise NoNumber if its magnitude is too large."""
    if exponent == 0:
        return Fraction(1)
    enclosed = interval(exponent)
    if not (enclosed < LARGEST_EXPONENT and enclosed > -LARGEST_EXPONENT):
        raise NoNumber
    return functions.exp(enclosed)


def power(base: Value, exponent: Value) -> Value:
    """Return a power, as an exact fraction where possible."""
    if isinstance(exponent, Fraction) and isinstance(base, Fraction):
        if exponent.denominator == 1:
            size = base.numerator.bit_length() + base.denominator.bit_length()
            if abs(exponent) * size > _BITS_OF_A_NUMBER and abs(base) != 1 and base != 0:
                raise NoNumber
            return base**exponent
        root = _exact_root(base, exponent.denominator)
        if root is not None:
            return power(root, Fraction(exponent.numerator))
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and abs(exponent) <= 64:
        return interval(base) ** int(exponent)
    enclosed = interval(base)
    if not enclosed > 0:
        raise NoNumber
    return exponential(interval(exponent) * functions.log(enclosed))


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    """Return the root of a fraction if it is a fraction too, else None."""
    if base < 0 or degree > 64:
        return None
    ends = [_integer_root(each, degree) for each in (base.numerator, base.denominator)]
    return Fraction(ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None


def _integer_root(number: int, degree: int) -> int | None:
    if degree == 2:
        root = math.isqrt(number)
        return root if root**2 == number else None
    if number.bit_length() > 2_000:
        return None
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < number else (low, middle)
    return low if low**degree == number else None


def extreme(name: str, arguments: list[Value]) -> Value:
    """Return the largest or the smallest of some numbers: "max" or "min"."""
    best = max if name == "max" else min
    fractions = [each for each in arguments if isinstance(each, Fraction)]
    if len(fractions) == len(arguments):
        return best(fractions)
    ends = [interval(each) for each in arguments]
    low, high = (best(map(fraction, side)) for side in ([each.a for each in ends], [each.b for each in ends]))
    return IV.mpf([interval(low).a, interval(high).b])


def tanh(argument: Value) -> Value:
    """Return the hyperbolic tangent."""
    doubled = exponential(2 * interval(argument))
    return 1 - 2 / (interval(doubled) + 1)


def sigmoid(argument: Value) -> Value:
    """Return the logistic sigmoid."""
    return 1 / (1 + interval(exponential(-argument)))
