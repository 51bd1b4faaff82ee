"""Suprema: enclosed from both sides, and nothing that is not seen."""

from fractions import Fraction

import pytest
from mpmath import mp, mpf
from sympy import Abs, Basic, Expr, Gt, Integer, Lambda, Rational, erf, exp, log, oo, pi, sin, sqrt, tanh

from derivations.language.judge.enclosure import enclose, interval, tight
from derivations.language.judge.evaluate import NotEvaluable
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.language.results.statements import Supremum
from derivations.symbols import scalar

t, a = scalar("t"), scalar("a")
third = Rational(1, 3)


def level(
    f: Expr,
    relation: str,
    value: Expr | int,
    *certificate: Basic | int,
    low: Expr = -oo,
    high: Expr = oo,
    **more: object,
) -> str:
    one = claim(Supremum(Lambda(t, f), low, high), step("supremum", value, relation, *certificate))
    return str(judge(derivation("", one, **more)).level)


def test_a_parabola_on_an_interval() -> None:
    """T (1 - t) is at most 1/4 on [0, 1], and 1/4 at 1/2."""
    inside = {"low": Integer(0), "high": Integer(1)}
    f = t * (1 - t)
    assert level(f, "<=", Rational(2501, 10**4), **inside) == "proved"
    assert level(f, ">=", Rational(1, 4), Rational(1, 2), **inside) == "proved"
    assert level(f, "<=", Rational(2499, 10**4), **inside) == "unknown"
    assert level(f, ">=", Rational(1, 4), third, **inside) == "unknown"
    assert level(f, ">=", 0, Integer(2), **inside) == "unknown"  # 2 lies outside
    assert level(f, "=", Rational(1, 4), Rational(1, 2), **inside) == "unknown"
    assert level(f, "<=", Rational(1, 4) - Rational(1, 10**9), **inside) == "unknown"


def test_a_domain_without_end_needs_a_majorant() -> None:
    """T exp(-t) is at most 1/e; beyond 6, exp(-t/2) exceeds it, as exp(t/2) > t."""
    f, above = t * exp(-t), (exp(t / 2) - t) * exp(-t)
    half = {"low": Integer(0)}
    assert level(f, "<=", Rational(3679, 10**4), 6, exp(-t / 2), above, **half) == "unknown"  # the sign is not seen
    seen = 2 * (exp(t / 2) - t / 2) * exp(-t)
    assert level(f, "<=", Rational(3679, 10**4), 6, 2 * exp(-t / 2), seen, **half) == "proved"
    assert level(f, "<=", Rational(3679, 10**4), 3, 2 * exp(-t / 2), seen, **half) == "unknown"  # too large at 3
    assert level(f, "<=", Rational(3678, 10**4), 6, 2 * exp(-t / 2), seen, **half) == "unknown"
    assert level(f, "<=", Rational(3679, 10**4), 6, exp(-t), seen, **half) == "unknown"  # another majorant
    assert level(f, "<=", Rational(3679, 10**4), **half) == "unknown"


def test_over_all_numbers_the_function_must_be_even() -> None:
    odd, even = t * exp(-(t**2)), t**2 * exp(-(t**2))
    h = 2 * exp(-(t**2) / 2)
    seen = 2 * (exp(t**2 / 2) - t**2 / 2) * exp(-(t**2))
    assert level(even, "<=", Rational(3679, 10**4), 4, h, seen) == "proved"
    assert level(odd, "<=", 1, 4, h, h - odd) == "unknown"


def test_an_absolute_value_is_bounded_on_both_sides() -> None:
    inside = {"low": Integer(-2), "high": Integer(1)}
    assert level(Abs(t**3), "<=", Rational(801, 100), **inside) == "proved"
    assert level(Abs(t**3), "<=", 2, **inside) == "unknown"
    assert level(Abs(t**3), ">=", 8, Integer(-2), **inside) == "proved"


def test_a_function_must_be_defined_and_have_a_number() -> None:
    inside = {"low": Integer(-1), "high": Integer(1)}
    assert level(1 / t, "<=", 10**6, **inside) == "unknown"
    assert level(-log(t), "<=", 10**6, **inside) == "unknown"
    assert level(-1 / t**2, "<=", 0, **inside) == "unknown"
    assert level(a * t, "<=", 1, **inside) == "unknown"
    assert level(t, "<=", 2, low=Integer(0), high=pi) == "unknown"  # the ends are rational


def test_no_assumption_may_speak_of_the_variable() -> None:
    inside = {"low": Integer(0), "high": Integer(1)}
    assert level(t**2, "<=", 2, **inside) == "proved"
    assert level(t**2, "<=", 2, assuming=[Assumption(Gt(t, 0))], **inside) == "unknown"


FUNCTIONS = [
    t**3 - t,
    exp(-(t**2)),
    erf(t) * tanh(t),
    sin(t) / (2 + t**2),
    sqrt(1 + t**2),
    log(3 + t),
    (t + 2) ** -third,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=str)
def test_enclosures_hold_values_and_slopes(f: Expr) -> None:
    for number in range(-5, 5):
        low, high = Fraction(number, 3), Fraction(number + 1, 3)
        jet, (inside, _) = enclose(f, t, interval(low, high)), tight(f, t, low, high)
        for part in range(5):
            at = Rational(low.numerator, low.denominator) + Rational(part, 12)
            with mp.workdps(40):
                value, slope = (mpf(str(g.subs(t, at).evalf(40))) for g in (f, f.diff(t)))
                slack = mpf(10) ** -14
                assert jet.value.a - slack <= value <= jet.value.b + slack
                assert inside.a - slack <= value <= inside.b + slack
                assert jet.slope.a - slack <= slope <= jet.slope.b + slack


@pytest.mark.parametrize("f", [a * t, log(t), sqrt(t), 1 / t], ids=str)
def test_what_has_no_enclosure_says_so(f: Expr) -> None:
    with pytest.raises(NotEvaluable):
        enclose(f, t, interval(Fraction(-1), Fraction(1)))
