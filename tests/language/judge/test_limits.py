"""Limits at infinity: what the laws give is proved, and nothing else."""

import pytest
from mpmath import mp, mpf
from sympy import Basic, Expr, Gt, Limit, Sum, erf, exp, log, oo, sqrt, tanh

from derivations.language.arrays.expression import array, mask_array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Assumption, claim, derivation, step
from derivations.symbols import i, j, n, scalar

g, p, q = (scalar(name, positive=True) for name in "gpq")
a, b = scalar("a"), scalar("b")
x, r, M = array("x", n), array("r", n), mask_array("M", n)
some = Assumption(Gt(Sum(M[j], (j, 0, n - 1)), 0))
late = Assumption(Gt(r[j], 0, evaluate=False), {j: n})


def over(of: Expr) -> Expr:
    return Sum(of, (j, 0, n - 1))


def level(f: Basic, value: Basic | int, rule: str = "limit laws", *certificate: Basic | int, **setting: object) -> str:
    return str(judge(derivation("", claim(Limit(f, g, oo), step(rule, value, "=", *certificate)), **setting)).level)


NUMBERS = [
    ("a constant", p + q, p + q),
    ("a power", p / g + q / sqrt(g), 0),
    ("a decay", q * exp(-g * p), 0),
    ("a decay against a power", g**7 * exp(-p * g), 0),
    ("an exponent that dies out", exp(p / g), 1),
    ("a quotient", p / (q + exp(-g)), p / q),
    ("a root", sqrt(p + 1 / g), sqrt(p)),
    ("a logarithm", log(p + exp(-g)), log(p)),
    ("inside erf and tanh", erf(p + 1 / g) + tanh(p - 1 / g), erf(p) + tanh(p)),
    ("an exponential of what has a limit", exp(p * tanh(q + 1 / g)), exp(p * tanh(q))),
    ("a growing denominator", p / (1 + exp(g * p)), 0),
    ("a sigmoid", p / (1 + exp(-g * p)), p),
    ("softplus", log(1 + exp(g * p)) / g, p),
    ("two exponentials, the larger wins", (exp(2 * g) + exp(g)) / (3 * exp(2 * g) + 1), 1 / mpf(3)),
]


@pytest.mark.parametrize(("f", "value"), [case[1:] for case in NUMBERS[:-1]], ids=[case[0] for case in NUMBERS[:-1]])
def test_a_limit_is_proved_and_comes_near(f: Expr, value: Expr | int) -> None:
    """The same by numbers, at g = 200, where the slowest of them is within 1/10."""
    assert level(f, value) == "proved"
    with mp.workdps(30):
        numbers = {p: mpf(3) / 7, q: mpf(11) / 5, g: mpf(200)}
        found, wanted = (mpf(str((0 * g + side).subs(numbers).evalf(30))) for side in (f, value))
        assert abs(found - wanted) < mpf(1) / 5


def test_sums_over_places_and_masks() -> None:
    def part(place: Expr) -> Expr:
        return M[place] + (1 - M[place]) * exp(-g * r[place])

    assert level(exp(x[i] / g) / over(exp(x[j] / g)), 1 / n, ranges={i: n}) == "proved"
    assert level(over(part(j)), over(M[j]), assuming=[late]) == "proved"
    assert level(over(part(j)), over(M[j])) == "unknown"  # the deficits may be 0, or negative
    assert level(part(i) / over(part(j)), M[i] / over(M[j]), assuming=[late, some], ranges={i: n}) == "proved"
    assert level(part(i) / over(part(j)), M[i] / over(M[j]), assuming=[late], ranges={i: n}) == "unknown"


FALSE = [
    ("a wrong value", p / g, p),
    ("a decay of unknown sign", exp(-a * g), 0),
    ("a growth", g * p, 0),
    ("a growth that an exponential does not stop", g * exp(-1 / g), 0),
    ("an exponential growth", exp(g), 0),
    ("two decays of which the wrong one is taken", exp(-g) / exp(-2 * g), 0),
    ("a denominator that tends to 0", p / exp(-g), 0),
    ("a denominator that may tend to 0", 1 / (a + exp(-g)), 1 / a),
    ("a root of what may be negative", sqrt(a + exp(-g)), sqrt(a)),
    ("a limit that holds the variable", g, g),
    ("an exponential of what grows", exp(-exp(g)), 1),
    ("an exponential of a growing root", exp(-sqrt(g + a**2)), 1),
    ("the smaller exponential wins", (exp(2 * g) + exp(g)) / (3 * exp(2 * g) + 1), 1),
    ("softplus without its slope", log(1 + exp(g * p)) / g, 1),
]


@pytest.mark.parametrize(("f", "value"), [case[1:] for case in FALSE], ids=[case[0] for case in FALSE])
def test_no_other_limit_is_proved(f: Expr, value: Expr | int) -> None:
    assert level(f, value) in ("unknown", "refuted")


def test_the_variable_must_be_positive_and_free() -> None:
    t = scalar("t")
    assert judge(derivation("", claim(Limit(1 / t, t, oo), step("limit laws", 0)))).level == "unknown"
    held = Assumption(Gt(p - g, 0))
    assert level(exp(-p * g), 0, assuming=[held]) == "unknown"
    assert judge(derivation("", claim(p / g, step("limit laws", 0)))).level != "proved"


def test_a_squeeze_needs_bounds_that_are_bounds() -> None:
    f = p / (1 + exp(-g * p))
    above = p * exp(-g * p) / (1 + exp(-g * p))
    assert level(f, p, "squeeze", p - p * exp(-g * p), p, p * exp(-2 * g * p) / (1 + exp(-g * p)), above) == "proved"
    assert level(f, p, "squeeze", p, p, 0, above) == "unknown"
    assert level(f, p, "squeeze", 0, p, f, above) == "unknown"  # a bound, of another limit
