"""The results about the sigmoid and what is made of it are proved; broken ones are not, and mpmath agrees."""

from collections.abc import Callable

import pytest
from mpmath import diff, exp, log, mp, mpf
from sympy import Basic, Integer, Rational
from sympy import exp as symbolic_exp

from derivations.activations.sigmoid import (
    b,
    log_sigmoid,
    p,
    s,
    sigmoid,
    sigmoid_bounds,
    sigmoid_derivative,
    sigmoid_inverse,
    sigmoid_reflection,
    sigmoid_second_derivative,
    silu,
    silu_derivative,
    silu_reflection,
    softplus,
    softplus_bounds,
    softplus_derivative,
    softplus_limit,
    softplus_reflection,
    swish,
    swish_derivative,
    swish_limit,
    t,
)
from derivations.language.arrays.functions import Named
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from tests.broken import broken_steps, is_refused, with_step

gate = sigmoid.formula(b * t)
POINTS = ("-2.5", "-0.3", "0.2", "1.7")
NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.activations.sigmoid")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all real numbers that it names."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        ("a slope of s^2", sigmoid_derivative, 0, 1, s**2),
        ("a slope without the square", sigmoid_derivative, 0, 0, symbolic_exp(-t) / (1 + symbolic_exp(-t))),
        ("a second derivative without its sign", sigmoid_second_derivative, 0, 2, s * (1 - s) * (1 + 2 * s)),
        ("a second derivative without 2", sigmoid_second_derivative, 0, 2, s * (1 - s) * (1 - s)),
        ("a sigmoid above 1/2", sigmoid_bounds, 0, 0, Rational(1, 2)),
        ("a sigmoid below 1/2", sigmoid_bounds, 1, 0, Rational(1, 2)),
        ("a slope of at most 1/5", sigmoid_bounds, 3, 0, Rational(1, 5)),
        ("a reflection that adds up to 0", sigmoid_reflection, 0, 1, 0),
        ("the slope of softplus as the other half", softplus_derivative, 0, 1, 1 - s),
        ("a second derivative of softplus without s", softplus_derivative, 1, 0, 1 - s),
        ("the reflection of softplus as a half", softplus_reflection, 0, 1, t / 2),
        ("log sigmoid without its sign", log_sigmoid, 0, 0, softplus.formula(-t)),
        ("log sigmoid at t", log_sigmoid, 0, 0, -softplus.formula(t)),
        ("the odds as the sigmoid", sigmoid_inverse, 1, 0, s),
        ("the other logit", sigmoid_inverse, 2, 0, -t),
        ("SiLU' as that of a product of constants", silu_derivative, 0, 1, s),
        ("SiLU' with a sign", silu_derivative, 0, 1, s - t * s * (1 - s)),
        ("SiLU' without the lack to 1", silu_derivative, 0, 1, s + silu.formula(t)),
        ("the reflection of SiLU as an even function", silu_reflection, 0, 1, 0),
        ("the inner slope lost", swish_derivative, 0, 1, gate + t * gate * (1 - gate)),
        ("the slope in terms of the value without b", swish_derivative, 0, 2, swish(b) + gate * (1 - swish(b))),
        ("Swish that tends to half of the input", swish_limit, 1, 0, p / 2),
        ("Swish that tends to the input below 0", swish_limit, 2, 0, -p),
        ("a loss of half the bound", swish_limit, 0, 1, p * symbolic_exp(-p)),
        ("softplus above 2 p", softplus_bounds, 0, 0, 2 * p),
        ("softplus within a half of ReLU", softplus_bounds, 1, 0, p + Rational(1, 2)),
        ("softplus below 0", softplus_bounds, 2, 0, 1),
        ("softplus within a half of 0", softplus_bounds, 3, 0, Rational(1, 2)),
        ("softplus that tends to 0", softplus_limit, 0, 0, 0),
        ("softplus that tends to |t|", softplus_limit, 1, 0, p),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_slope_bound_rests_on_its_square() -> None:
    """With another square it is refused; in the difference itself the judge finds the square (s - 1/2)^2."""
    assert is_refused(with_step(sigmoid_bounds(), 3, 0, certificate=(s**2,)))
    assert with_step(sigmoid_bounds(), 3, 0, certificate=(Rational(1, 4) - s * (1 - s),)).level == "proved"
    assert is_refused(with_step(sigmoid_bounds(), 3, 0, Rational(1, 5), certificate=()))


@pytest.mark.parametrize("point", POINTS)
def test_the_derivatives_are_limits_of_differences(point: str) -> None:
    """The slopes against numerical differentiation of the functions, written once more in mpmath."""
    with mp.workdps(40):
        at, one = mpf(point), Rational(point)
        for result, function, order in (
            (sigmoid_derivative(), lambda u: 1 / (1 + exp(-u)), 1),
            (sigmoid_second_derivative(), lambda u: 1 / (1 + exp(-u)), 2),
            (softplus_derivative(), lambda u: log(1 + exp(u)), 1),
            (silu_derivative(), lambda u: u / (1 + exp(-u)), 1),
        ):
            claimed = mpf(str(result.rhs.xreplace({t: one}).evalf(40)))
            assert abs(claimed - diff(function, at, order)) < mpf(10) ** -12


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    ("function", "known"),
    [
        (sigmoid, lambda u: (1 + mp.tanh(u / 2)) / 2),
        (softplus, lambda u: mp.log1p(exp(-abs(u))) + max(u, mpf(0))),
        (silu, lambda u: u * (1 + mp.tanh(u / 2)) / 2),
    ],
)
def test_the_functions_are_those_of_their_other_forms(point: str, function: Named, known: Callable[[mpf], mpf]) -> None:
    """The formulas against forms that share nothing with them."""
    with mp.workdps(30):
        value = function.formula(Rational(point)).evalf(30)
        assert abs(mpf(str(value)) - known(mpf(point))) < mpf(10) ** -25


def test_swish_is_silu_at_slope_1() -> None:
    assert swish(Integer(1)) == silu.formula(t)
    assert swish(b).subs({b: 2, t: 3}) == 3 * sigmoid.formula(Integer(6))
