"""Functions of real numbers to 60 digits, by their series or by the `decimal` module."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any

from derivations.language.cross_check.assignment import CONTEXT, Hole, Undefined

__all__ = [
    "cosine",
    "error_function",
    "exponential",
    "hyperbolic_tangent",
    "logarithm",
    "number",
    "pi",
    "power",
    "root",
    "sine",
]


def number(value: Any) -> Decimal:
    """Return an integer or a decimal number as a decimal number."""
    if isinstance(value, Hole):
        raise Undefined(str(value.reason))
    return value if isinstance(value, Decimal) else Decimal(value)


@lru_cache(maxsize=1)
def pi() -> Decimal:
    """Return pi by Machin's formula, pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    wide = CONTEXT.copy()
    # guard digits for the sum of about 50 terms
    wide.prec += 10

    def arctan(inverse: int) -> Decimal:
        power, total, k = wide.divide(1, inverse), Decimal(0), 0
        while power > Decimal(10) ** -wide.prec:
            total = wide.add(total, wide.divide(power if k % 2 == 0 else -power, 2 * k + 1))
            power, k = wide.divide(power, inverse * inverse), k + 1
        return total

    return wide.subtract(wide.multiply(16, arctan(5)), wide.multiply(4, arctan(239)))


def root(value: Decimal) -> Decimal:
    """Return the square root."""
    if value < 0:
        raise Undefined("the square root of a negative number")
    return value.sqrt()


def power(base: Any, exponent: Any) -> Any:
    """Return a power: by products for an integer exponent, else exp(y log x)."""
    if isinstance(exponent, int):
        if exponent >= 0:
            return base**exponent if exponent or base else 1  # 0^0 = 1, which `decimal` rejects
        return 1 / number(base) ** -exponent
    if base == 0:
        if exponent > 0:
            return Decimal(0)
        raise Undefined("a power of 0")
    if base < 0:
        raise Undefined("a real power of a negative number")
    return exponential(exponent * logarithm(base))


@lru_cache(maxsize=50_000)
def exponential(value: Any) -> Decimal:
    """Return exp x."""
    return CONTEXT.exp(value)


@lru_cache(maxsize=50_000)
def logarithm(value: Any) -> Decimal:
    """Return log x for x > 0."""
    if value <= 0:
        raise Undefined("the logarithm of a number that is not positive")
    return CONTEXT.ln(value)


@lru_cache(maxsize=20_000)
def sine(value: Any) -> Decimal:
    """Return sin x by its Taylor series, after reduction modulo 2 pi; x is at most about 10^6 here."""
    # the remainder has the sign of x, which the odd series allows
    value = number(value) % (2 * pi())
    term, total, k = value, value, 1
    while abs(term) > Decimal(10) ** -70:
        term *= -value * value / ((k + 1) * (k + 2))
        total, k = total + term, k + 2
    return total


def hyperbolic_tangent(value: Any) -> Decimal:
    """Return tanh x by exp(-2 |x|), which cannot overflow."""
    # tanh is odd, so |x| suffices
    ratio = exponential(-2 * abs(value))
    return (1 - ratio) / (1 + ratio) * (1 if value >= 0 else -1)


@lru_cache(maxsize=20_000)
def error_function(value: Any) -> Decimal:
    """Return erf x = 2/sqrt(pi) exp(-x^2) sum_k 2^k x^(2k+1) / (1 3 ... (2k+1)).

    This is Kummer's form: all terms have one sign, so nothing cancels.
    """
    value = number(value)
    if abs(value) > 12:  # 1 - erf(12) < exp(-144) < 10^-62
        return Decimal(1) if value > 0 else Decimal(-1)
    term, total, k = value, value, 1
    while abs(term) > Decimal(10) ** -70:
        term *= 2 * value * value / (2 * k + 1)
        total, k = total + term, k + 1
    return 2 / pi().sqrt() * exponential(-value * value) * total


def cosine(value: Any) -> Decimal:
    """Return cos x = sin(x + pi/2)."""
    return sine(value + pi() / 2)
