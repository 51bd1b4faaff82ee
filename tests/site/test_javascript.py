import pytest
from sympy import Integer, Min, Rational, Symbol, sqrt

from derivations.site.javascript import javascript
from derivations.symbols import d_k, m, n


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        (Integer(0), "0n"),
        (-3 * n, "(-3n) * s.n"),
        (n**2 * m, "s.m * (s.n) ** 2n"),
        (n * (m + 1), "s.n * (s.m + 1n)"),
        (n / 2 + n**2 / 6, "exactly((s.n) ** 2n + 3n * s.n, 6n)"),
        (Rational(3, 2) * n, "exactly(3n * s.n, 2n)"),
        (m * (n * (n / 2 + Rational(1, 2)) + 1), "s.m * (s.n * exactly(s.n + 1n, 2n) + 1n)"),
        (Min(n, m + 1), "least(s.n, s.m + 1n)"),
    ],
)
def test_counts_are_printed(expression, printed: str):
    assert javascript(expression) == printed


@pytest.mark.parametrize("expression", [sqrt(d_k), 1 / n, n**m, Symbol("d model"), Symbol("x") ** Rational(3, 2)])
def test_what_is_no_whole_number_is_refused(expression):
    with pytest.raises(ValueError):
        javascript(expression)
