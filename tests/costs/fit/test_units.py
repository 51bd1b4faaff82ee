"""Quantities as people write them."""

import pytest
from sympy import Rational

from derivations.costs.fit.units import quantity, shown_bytes, shown_count, shown_seconds


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("80GB", 80 * 10**9), ("80 GiB", 80 * 2**30), ("3.35e12", 335 * 10**10), ("3.35TB/s", 335 * 10**10)),
        *(("989T", 989 * 10**12), ("7", 7), ("1.5kb", 1500), ("15T", 15 * 10**12)),
    ],
)  # fmt: skip
def test_a_quantity_is_exact(text: str, number: Rational):
    assert quantity(text, "it") == number


@pytest.mark.parametrize(
    "text", ["", "-1", "0", "0GB", "eighty", "80XB", "1e999", "nan", "inf", "1__0", "80GBGB", "1" * 40]
)
def test_anything_else_is_refused(text: str):
    with pytest.raises(ValueError, match=r"it is .*give a number above 0"):
        quantity(text, "it")


def test_numbers_are_shown_with_three_digits():
    assert shown_bytes(16060522496) == "16.1 GB" and shown_bytes(999) == "999 B" and shown_bytes(-1500) == "-1.50 kB"
    assert shown_count(Rational(7, 2) * 10**22) == "35.0 Z"
    assert shown_seconds(Rational(1, 200)) == "5.00 ms" and shown_seconds(Rational(90)) == "90.0 s"
