"""The results about ReLU and GELU are proved; broken ones are not, and differences of mpmath agree with them."""

from collections.abc import Callable

import pytest
from mpmath import diff, mp, mpf, ncdf, npdf
from sympy import Abs, Basic, Gt, Lt, Max, Rational

from derivations.activation import (
    gelu_definition,
    gelu_derivative,
    gelu_of_one,
    gelu_second_derivative,
    i,
    normal_density,
    normal_derivative,
    normal_distribution,
    p,
    reflection,
    relu_definition,
    relu_derivative,
    relu_not_linear,
    relu_switches,
    t,
    x,
)
from derivations.language.derivation import RESULTS, Derivation
from derivations.language.functions import gelu, relu
from derivations.language.proof import judge
from derivations.language.scalars import Iverson
from tests.broken import broken_steps, is_refused, of_topic, with_step

POINTS = ("-2.5", "-0.3", "0.2", "1.7")


@pytest.mark.parametrize("name", of_topic("activation"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all real numbers that it names."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name.endswith("_definition") else "proved")


@broken_steps(
    [
        ("ReLU as the minimum", relu_definition, 0, 0, -Max(0, -x[i])),
        ("GELU without Phi", gelu_definition, 0, 0, x[i]),
        ("Phi at x instead of x / sqrt(2)", gelu_definition, 0, 0, x[i] * normal_distribution(2 * x[i])),
        ("ReLU linear", relu_not_linear, 0, 0, t),
        ("half of |t|", relu_not_linear, 0, 0, Abs(t) / 2),
        ("ReLU that lets negative numbers through", relu_switches, 0, 0, -p),
        ("ReLU that drops positive numbers", relu_switches, 1, 0, 0),
        ("GELU at -1 off by one digit", gelu_of_one, 0, 0, Rational(-1588, 10**4)),
        ("GELU at 1 with the sign of -1", gelu_of_one, 1, 0, Rational(1587, 10**4)),
        ("the reflection of ReLU with a sign", reflection, 0, 0, -t),
        ("the reflection of GELU as a half", reflection, 1, 1, t / 2),
        ("the slope of ReLU the wrong way round", relu_derivative, 0, 0, Iverson(Lt(t, 0))),
        ("the slope of ReLU shifted", relu_derivative, 0, 0, Iverson(Gt(t, 1))),
        ("the density without its factor", normal_derivative, 0, 0, 2 * normal_density(t)),
        ("GELU' without the second term", gelu_derivative, 0, 1, normal_distribution(t)),
        ("GELU' with a minus", gelu_derivative, 0, 1, normal_distribution(t) - t * normal_density(t)),
        ("GELU'' with 1 instead of 2", gelu_second_derivative, 0, 2, (1 - t**2) * normal_density(t)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_an_algebraic_rule_does_not_differentiate() -> None:
    """The slope of ReLU is not decided by algebra alone."""
    assert with_step(relu_derivative(), 0, 0, rule="algebra").level == "unknown"


@pytest.mark.parametrize("point", POINTS)
def test_phi_is_the_normal_distribution_of_mpmath(point: str) -> None:
    """Phi and phi against mpmath's own, to 25 digits."""
    with mp.workdps(30):
        at, one = mpf(point), Rational(point)
        assert abs(mpf(str(normal_distribution(one).evalf(30))) - ncdf(at)) < mpf(10) ** -25
        assert abs(mpf(str(normal_density(one).evalf(30))) - npdf(at)) < mpf(10) ** -25


@pytest.mark.parametrize("point", POINTS)
def test_the_derivatives_are_limits_of_differences(point: str) -> None:
    """GELU', GELU'' and ReLU' against numerical differentiation of the formulas, off the kink."""
    with mp.workdps(40):
        at, one = mpf(point), Rational(point)
        slopes = (
            (gelu_derivative(), lambda u: u * ncdf(u), 1),
            (gelu_second_derivative(), lambda u: u * ncdf(u), 2),
            (relu_derivative(), lambda u: max(mpf(0), u), 1),
        )
        for result, function, order in slopes:
            claimed = mpf(str(result.rhs.xreplace({t: one}).evalf(40)))
            assert abs(claimed - diff(function, at, order)) < mpf(10) ** -12


def test_the_formulas_are_those_of_the_language() -> None:
    """ReLU and GELU of the results are the functions that the layers use."""
    assert relu.formula(t) == Max(0, t)
    assert (gelu.formula(t) - t * normal_distribution(t)).expand() == 0
