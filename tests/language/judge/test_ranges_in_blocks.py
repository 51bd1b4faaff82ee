"""A sum over k p places is a sum over k blocks of p places: by halves, by pairs, by heads; and nothing else is."""

import pytest
from sympy import Expr, Sum, exp, symbols

from derivations.language import prove_equal
from derivations.language.arrays.expression import array

a, b, j = symbols("a b j", integer=True)
h, p = symbols("h p", integer=True, positive=True)
x, z = array("x", 2 * p), array("z", h * p)


def halves(of: object) -> Expr:
    return Sum(of, (b, 0, p - 1))


WHOLE, HEADS = Sum(x[j], (j, 0, 2 * p - 1)), Sum(z[j], (j, 0, h * p - 1))

EQUAL = {
    "two halves": (WHOLE, halves(x[b]) + halves(x[p + b])),
    "even and odd places": (WHOLE, halves(x[2 * b]) + halves(x[2 * b + 1])),
    "a double sum over halves": (WHOLE, Sum(x[p * a + b], (b, 0, p - 1), (a, 0, 1))),
    "a double sum over pairs": (WHOLE, Sum(x[2 * b + a], (b, 0, p - 1), (a, 0, 1))),
    "heads": (HEADS, Sum(z[p * a + b], (b, 0, p - 1), (a, 0, h - 1))),
    "heads inside": (HEADS, Sum(z[h * b + a], (b, 0, p - 1), (a, 0, h - 1))),
    "squares": (Sum(x[j] ** 2, (j, 0, 2 * p - 1)), halves(x[2 * b] ** 2 + x[2 * b + 1] ** 2)),
    "below a line": (1 / Sum(exp(x[j]), (j, 0, 2 * p - 1)), 1 / (halves(exp(x[b])) + halves(exp(x[p + b])))),
    "nested": (WHOLE**2, (halves(x[b]) + halves(x[p + b])) ** 2),
    "with a weight": (Sum(j * x[j], (j, 0, 2 * p - 1)), halves(b * x[b]) + halves((p + b) * x[p + b])),
}


@pytest.mark.parametrize("name", EQUAL)
def test_a_sum_by_blocks_is_the_sum(name: str) -> None:
    assert prove_equal(*EQUAL[name]).level == "proved"


DIFFERENT = {
    "the first half twice": (WHOLE, 2 * halves(x[b])),
    "the second half backwards over the first": (WHOLE, halves(x[b]) + halves(x[p - 1 - b])),
    "even places twice": (WHOLE, 2 * halves(x[2 * b])),
    "an overlap of one": (Sum(x[j] ** 2, (j, 0, 2 * p - 1)), halves(x[b] ** 2) + Sum(x[p + b - 1] ** 2, (b, 0, p))),
    "blocks of the other size": (
        Sum(j * z[j], (j, 0, h * p - 1)),
        Sum((h * a + b) * z[p * a + b], (b, 0, p - 1), (a, 0, h - 1)),
    ),
    "one place more": (Sum(array("w", 2 * p + 1)[j], (j, 0, 2 * p)), Sum(array("w", 2 * p + 1)[j], (j, 0, 2 * p - 1))),
    "products across the halves": (WHOLE**2, halves(x[b]) ** 2 + halves(x[p + b]) ** 2),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_near_miss_is_not_proved(name: str) -> None:
    assert prove_equal(*DIFFERENT[name]).level == "refuted"


def test_a_range_of_odd_length_is_not_cut() -> None:
    """2 p + 1 places are no p pairs, however the pairs are chosen."""
    w = array("w", 2 * p + 1)
    pairs = halves(w[2 * b]) + halves(w[2 * b + 1])
    assert prove_equal(Sum(w[j], (j, 0, 2 * p)), pairs).level == "refuted"
    assert prove_equal(Sum(w[j], (j, 0, 2 * p - 1)), pairs).level == "proved"
