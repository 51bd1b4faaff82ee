"""Symbolic sizes and numbers: what is the same for all sizes is known, the rest is decided in the open or refused."""

import math

import numpy as np
import pytest
from sympy import Eq, Ge, Gt, Ne, Rational, pi, sqrt

from derivations.symbols import d, m, n, size
from numeric.lifting import NotFollowed, lift, prove_same
from numeric.lifting.numbers import number
from numeric.lifting.trace import Trace, tracing
from tests.numeric.lifting.following import follows

p = size("p")


def scale_of(function, shape=(n, d)):
    """Lift a function that multiplies by a number which it computes from a shape."""
    return follows(lambda x: x * function(x.shape), x=shape)


@pytest.mark.parametrize(
    "function",
    [
        lambda s: s[0] + 2 * s[1] - 1,
        lambda s: 1 / math.sqrt(s[1]),
        lambda s: s[1] ** -0.5,
        lambda s: np.sqrt(s[1]) / np.float64(3),
        lambda s: math.exp(-math.log(s[1])),
        lambda s: 10000 ** (2 / s[1]),
        lambda s: (s[0] * s[1]) // s[0] % s[1] + 1,
        lambda s: (2 * s[0] + 4) // 2,
        lambda s: math.prod(s),
        lambda s: 3 if s[0] >= 1 and s[0] * s[1] >= s[0] and s[0] != 0 and s[0] + 1 > s[0] and s[0] else 5,
    ],
)
def test_what_holds_for_all_sizes_needs_no_assumption(function):
    assert not scale_of(function).assumed


@pytest.mark.parametrize(
    ("function", "assumed"),
    [
        (lambda s: 2 if s[0] == s[1] else 3, (Ne(n, d),)),
        (lambda s: 2 if s[0] != s[1] else 3, (Ne(n, d),)),
        (lambda s: 2 if s[0] > s[1] else 3, (Gt(n, d),)),
        (lambda s: 2 if s[0] >= 4 else 3, (Ge(n, 4),)),
        (lambda s: 2 if s == (5, 4) else 3, (Ne(n, 5),)),
        (lambda s: 2 if s[0] == s[1] or s[1] == s[0] else 3, (Ne(n, d), Ne(d, n))),
    ],
)
def test_a_comparison_of_sizes_is_an_assumption(function, assumed):
    assert lift(lambda x: x * function(x.shape), x=(n, d)).assumed == assumed


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda s: int(s[0]), "int()"),
        (lambda s: float(s[0]), "float()"),
        (lambda s: sum(1 for _ in range(s[0])), "int()"),
        (lambda s: [1, 2, 3][s[0]], "int()"),
        (lambda s: {4: 1}[s[0]], "look-up"),
        (lambda s: round(s[0] / 2), "int()"),
        (lambda s: math.floor(s[0] / 2), "int()"),
        (lambda s: s[0] // 2, "not exact for all sizes"),
        (lambda s: s[0] % 2, "not known for all sizes"),
        (lambda s: 1 if 1 / s[0] < 0.3 else 2, "comparison"),
        (lambda s: 1 if math.sqrt(s[0]) else 2, "truth value"),
        (lambda s: math.log(s[0], 2), "log"),
        (lambda s: s[0] & 1, "no rule"),
        (lambda s: abs(s[0] - s[1]), "no rule"),
        (lambda s: s[0].bit_length(), "bit_length"),
        (lambda s: (s[0] - s[1]) ** 0.5, "positive"),
        (lambda s: math.sqrt(1 - 1.01 ** s[0]), "positive"),
        (lambda s: float("nan") * s[0], "not a real number"),
    ],
)
def test_what_needs_a_value_is_refused_with_the_line_of_the_user(function, named):
    with pytest.raises(NotFollowed, match=named) as refused:
        lift(lambda x: x * function(x.shape), x=(n, d))
    assert "of test_numbers.py" in str(refused.value)


def test_a_size_is_compared_with_an_array_of_numbers_entry_by_entry():
    """Python asks the size first; it must not answer no."""
    lifted = lift(lambda x: x * (2 if x.shape[0] == np.array(3) else 3), x=(n,))
    assert lifted.assumed == (Ne(n, 3),)


def test_a_size_is_not_none():
    assert not scale_of(lambda s: 2 if s[0] is not None and s[0] != None and s[0] != "n" else 3).assumed  # noqa: E711


@pytest.mark.parametrize(
    ("literal", "exact", "reading"),
    [
        (0.5, Rational(1, 2), ""),
        (1e-5, Rational(1, 100_000), ""),
        (0.044715, Rational(44715, 10**6), ""),
        (3.0, 3, ""),
        (math.pi, pi, "pi"),
        (math.sqrt(2 / math.pi), sqrt(2 / pi), "sqrt(2/pi)"),
        (2 * math.sqrt(2 / math.pi), 2 * sqrt(2 / pi), "2 sqrt(2/pi)"),
        (math.pi / 8, pi / 8, "(pi/2)/4"),
        (1 / 3, Rational(1, 3), "1/3"),
        (1 / math.sqrt(128), 1 / sqrt(128), "1/sqrt(128)"),
        (0.7978845608, Rational(7978845608, 10**10), ""),
        (3.14159, Rational(314159, 10**5), ""),
        (np.float64(0.25), Rational(1, 4), ""),
        (np.int64(7), 7, ""),
        (True, 1, ""),
    ],
)
def test_a_literal_is_exact_or_a_constant_whose_double_it_is(literal, exact, reading):
    trace = Trace()
    with tracing(trace):
        assert number(literal) == exact
    assert [r.rpartition(" as ")[2] for r in trace.readings] == ([reading] if reading else [])


@pytest.mark.parametrize(
    ("literal", "near"),
    [
        (1 - 0.9, "0.1"),
        (1 - 0.9999, "0.0001"),
        (0.1 + 0.2, "0.3"),
        (0.7978845608, "sqrt(2/pi)"),
        (0.1000000001, None),
        (0.1000000000000009, None),
        (3.141592653589793e-17, None),
    ],
)
def test_a_literal_that_was_rounded_keeps_its_value_unless_the_gap_is_told(literal, near):
    """Python computes 1 - 0.9 before an array sees it; the level of such a proof names the literal."""
    trace = Trace()
    with tracing(trace):
        assert number(literal) == Rational(repr(literal))
    assert [each.split(" for ")[1].split(",")[0] for each in trace.near] == ([near] if near else [])


def test_the_root_of_what_the_judge_proves_positive_is_taken():
    def corrected(v, step):
        return np.sqrt(v / (1 - 0.999**step))

    def root_by_root(v, step):
        return np.sqrt(v) / np.sqrt(1 - 0.999**step)

    def of_another_step(v, step):
        return np.sqrt(v) / np.sqrt(1 - 0.999 ** (step + 1))

    shapes = {"v": (n,), "step": size("t")}
    assert prove_same(corrected, root_by_root, **shapes).level == "proved"
    assert prove_same(corrected, of_another_step, **shapes).level == "refuted"


def test_both_answers_to_a_comparison_are_ways():
    from numeric.lifting.lift import ways

    found = list(ways(lambda x, y: x * 2 if x.shape == y.shape else x * 3, (), {"x": (n,), "y": (m,)}))
    assert [each.assumed for each in found] == [(Ne(n, m),), (Eq(n, m),)]


def test_functions_of_math_are_given_back():
    before = math.sqrt, np.arange, math.exp
    with pytest.raises(NotFollowed):
        lift(lambda x: x * int(x.shape[0]), x=(n,))
    assert (math.sqrt, np.arange, math.exp) == before
