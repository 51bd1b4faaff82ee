"""The results about GELU are proved; broken ones are not, and mpmath agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from mpmath import diff, erf, exp, mp, mpf, ncdf, npdf, pi, sqrt, tanh
from sympy import Basic, Integer, Rational

from derivations.activations.gelu import (
    gelu_below_relu,
    gelu_definition,
    gelu_derivative,
    gelu_limit,
    gelu_of_one,
    gelu_second_derivative,
    gelu_sigmoid,
    gelu_sigmoid_error,
    gelu_slope,
    gelu_slopes_reflect,
    gelu_tanh,
    gelu_tanh_is_a_gate,
    i,
    normal_density,
    normal_derivative,
    normal_distribution,
    p,
    t,
    tanh_argument,
    x,
)
from derivations.activations.sigmoid import sigmoid
from derivations.language.arrays.functions import gelu
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from tests.broken import broken_steps, is_refused, with_step

POINTS = ("-2.5", "-0.3", "0.2", "1.7")
NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.activations.gelu")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all real numbers that it names."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name.endswith("_definition") else "proved")


@broken_steps(
    [
        ("GELU without Phi", gelu_definition, 0, 0, x[i]),
        ("Phi at x instead of x / sqrt(2)", gelu_definition, 0, 0, x[i] * normal_distribution(2 * x[i])),
        ("GELU at -1 off by one digit", gelu_of_one, 0, 0, Rational(-1588, 10**4)),
        ("GELU at 1 with the sign of -1", gelu_of_one, 1, 0, Rational(1587, 10**4)),
        ("the density without its factor", normal_derivative, 0, 0, 2 * normal_density(t)),
        ("GELU' without the second term", gelu_derivative, 0, 1, normal_distribution(t)),
        ("GELU' with a minus", gelu_derivative, 0, 1, normal_distribution(t) - t * normal_density(t)),
        ("GELU'' with 1 instead of 2", gelu_second_derivative, 0, 2, (1 - t**2) * normal_density(t)),
        ("the part below ReLU with the larger Phi", gelu_below_relu, 0, 0, p * normal_distribution(p)),
        ("the part below ReLU of the other sign", gelu_below_relu, 2, 0, -p * normal_distribution(-p)),
        ("a limit of half the input", gelu_limit, 0, 0, p / 2),
        ("a limit of the input on both sides", gelu_limit, 1, 0, -p),
        ("slopes that cancel", gelu_slopes_reflect, 0, 1, 0),
        ("the slope of the same side twice", gelu_slopes_reflect, 0, 0, 2 * gelu_slope(t)),
        ("tanh as a sigmoid of the same argument", gelu_tanh_is_a_gate, 0, 0, 2 * sigmoid.formula(t) - 1),
        ("the gate at u instead of 2 u", gelu_tanh_is_a_gate, 1, 0, t * sigmoid.formula(tanh_argument(t))),
        ("an error of the sigmoid form that is too small", gelu_sigmoid_error, 0, 0, Rational(203, 10**4)),
        ("an error of the sigmoid form that is not reached", gelu_sigmoid_error, 1, 0, Rational(204, 10**4)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_error_needs_its_certificate() -> None:
    """Beyond the enclosed part the error is bounded by a majorant: one that is cut too early is refused."""
    right = gelu_sigmoid_error()
    (_, far, over, under) = right.claims[0].steps[0].certificate
    for certificate in ((), (Integer(1), far, over, under), (Integer(8), far, over, over)):
        assert is_refused(with_step(right, 0, 0, certificate=certificate))


def test_the_sign_is_not_seen_without_its_form() -> None:
    """That p Phi(-p) is positive rests on |erf| < 1, in the form that the certificate shows; >= 1 is refused."""
    assert is_refused(with_step(gelu_below_relu(), 1, 0, 1))
    assert is_refused(with_step(gelu_below_relu(), 1, 0, certificate=(normal_distribution(-p),)))


@pytest.mark.parametrize("point", POINTS)
def test_phi_is_the_normal_distribution_of_mpmath(point: str) -> None:
    """Phi and phi against mpmath's own, to 25 digits."""
    with mp.workdps(30):
        at, one = mpf(point), Rational(point)
        assert abs(mpf(str(normal_distribution(one).evalf(30))) - ncdf(at)) < mpf(10) ** -25
        assert abs(mpf(str(normal_density(one).evalf(30))) - npdf(at)) < mpf(10) ** -25


@pytest.mark.parametrize("point", POINTS)
def test_the_derivatives_are_limits_of_differences(point: str) -> None:
    """GELU' and GELU'' against numerical differentiation of the formulas."""
    with mp.workdps(40):
        at, one = mpf(point), Rational(point)
        for result, order in ((gelu_derivative(), 1), (gelu_second_derivative(), 2)):
            claimed = mpf(str(result.rhs.xreplace({t: one}).evalf(40)))
            assert abs(claimed - diff(lambda u: u * ncdf(u), at, order)) < mpf(10) ** -12


@pytest.mark.parametrize("point", POINTS)
def test_the_approximations_are_those_of_the_paper(point: str) -> None:
    """The tanh and the sigmoid form, written once more in mpmath."""
    with mp.workdps(30):
        at, one = mpf(point), Rational(point)
        paper = at / 2 * (1 + tanh(sqrt(2 / pi) * (at + mpf("0.044715") * at**3)))
        assert abs(mpf(str(gelu_tanh.formula(one).evalf(30))) - paper) < mpf(10) ** -25
        assert abs(mpf(str(gelu_sigmoid.formula(one).evalf(30))) - at / (1 + exp(-mpf("1.702") * at))) < mpf(10) ** -25


def test_the_largest_errors_lie_where_they_are_claimed_to_be() -> None:
    """On a grid of mpmath the error of the sigmoid form is largest near 2.27, between the two bounds."""
    grid = [mpf(step) / 100 for step in range(1, 600)]
    errors = {at: abs(at / 2 * (1 + erf(at / sqrt(2))) - at / (1 + exp(-mpf("1.702") * at))) for at in grid}
    worst = max(errors, key=lambda at: errors[at])
    assert abs(worst - mpf("2.27")) < mpf("0.011")
    assert gelu_sigmoid_error().claims[1].rhs <= Rational(str(errors[worst])) <= gelu_sigmoid_error().claims[0].rhs


def test_the_formula_is_that_of_the_language() -> None:
    """GELU of the results is the function that the layers use."""
    assert (gelu.formula(t) - t * normal_distribution(t)).expand() == 0


def test_a_limit_from_above_is_not_that_of_another_function() -> None:
    """Without the halving bounds the squeeze of the limit is refused."""
    right = gelu_limit()
    lower, upper, above, below = right.claims[0].steps[0].certificate
    assert is_refused(with_step(right, 0, 0, certificate=(lower, upper, above, 2 * below)))
    assert judge(replace(right, claims=right.claims[:1])).level == "proved"
