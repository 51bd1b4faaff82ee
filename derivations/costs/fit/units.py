"""Numbers that people write and read: bytes with prefixes, seconds, and quantities such as 80GB or 3.35e12."""

from __future__ import annotations

import re

from sympy import Rational

__all__ = ["quantity", "shown_bytes", "shown_count", "shown_seconds"]

PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
LARGEST_FIRST = tuple((prefix, 1000**power) for power, prefix in reversed(list(enumerate("kMGTPEZY", start=1))))
NUMBER = re.compile(r"(\d{1,30}(?:\.\d{1,30})?(?:e\+?\d{1,2})?)\s*(|[kmgtp]i?)(?:b|b/s|bytes|flops?|flop/s)?", re.I)


def quantity(text: str, what: str) -> Rational:
    """Return an exact number: 80GB is 80 * 10^9, 80GiB is 80 * 2^30, 3.35e12 and 3.35TB/s are the same.

    Raises       ValueError with what is needed
    """
    found = NUMBER.fullmatch(text.strip())
    prefix = found[2].lower() if found else ""
    factor = PREFIXES.get(prefix, BINARY.get(prefix))
    if found is None or factor is None:
        raise ValueError(f"{what} is {text!r:.40}; give a number above 0, such as 80GB, 80GiB or 3.35e12")
    number = Rational(found[1]) * factor
    if number == 0:
        raise ValueError(f"{what} is 0; give a number above 0, such as 80GB, 80GiB or 3.35e12")
    return number


def shown_bytes(number: int | Rational) -> str:
    """Return bytes with a decimal prefix and three digits or more."""
    return f"{_scaled(number)}B"


def shown_count(number: int | Rational) -> str:
    """Return a number with a decimal prefix and three digits or more."""
    return _scaled(number).strip()


def shown_seconds(number: Rational) -> str:
    """Return seconds, milliseconds, microseconds or nanoseconds with three digits."""
    for factor, unit in ((1, "s"), (1000, "ms"), (10**6, "us")):
        if number * factor >= 1:
            return f"{_digits(number * factor)} {unit}"
    return f"{_digits(number * 10**9)} ns"


def _scaled(number: int | Rational) -> str:
    for prefix, factor in LARGEST_FIRST:
        if abs(number) >= factor:
            return f"{_digits(Rational(number) / factor)} {prefix}"
    return f"{_digits(Rational(number))} "


def _digits(number: Rational) -> str:
    """Return a number with three digits, or with more if its whole part is longer."""
    size = abs(number)
    places = 2 if size < 10 else 1 if size < 100 else 0
    return f"{float(number):,.{places}f}"
