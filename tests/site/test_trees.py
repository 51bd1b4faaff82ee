import pytest
from sympy import Integer, Min, Rational, Symbol, sqrt

from derivations.site.trees import addends, tree
from derivations.symbols import d_k, m, n


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        (Integer(0), 0),
        (-3 * n, ["*", -3, "n"]),
        (n**2 * m, ["*", "m", ["^", "n", 2]]),
        (n * (m + 1), ["*", "n", ["+", "m", 1]]),
        (n / 2 + n**2 / 6, ["/", ["+", ["^", "n", 2], ["*", 3, "n"]], 6]),
        (Rational(3, 2) * n, ["/", ["*", 3, "n"], 2]),
        (m * (n * (n / 2 + Rational(1, 2)) + 1), ["*", "m", ["+", ["*", "n", ["/", ["+", "n", 1], 2]], 1]]),
        (Min(n, m + 1), ["min", "n", ["+", "m", 1]]),
        (Integer(2) ** 60 * n, ["*", ["#", "1152921504606846976"], "n"]),
    ],
)
def test_counts_are_printed(expression, printed):
    assert tree(expression) == printed


@pytest.mark.parametrize("expression", [sqrt(d_k), 1 / n, n**m, Symbol("x") ** Rational(3, 2)])
def test_what_is_no_whole_number_is_refused(expression):
    with pytest.raises(ValueError):
        tree(expression)


def test_terms_are_apart_unless_their_sum_is_divided():
    assert addends(2 * n + m) == [("m", "m"), (["*", 2, "n"], "2 n")]
    assert len(addends(n**2 / 2 + n / 2)) == 1
