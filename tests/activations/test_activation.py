"""The results about ReLU are proved; broken ones are not, and differences of mpmath agree with them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from mpmath import diff, mp, mpf
from sympy import Abs, Basic, Gt, Lt, Max, Min, Rational

from derivations.activations.activation import (
    i,
    leaky_relu,
    p,
    reflection,
    relu_definition,
    relu_derivative,
    relu_gives_maxima,
    relu_homogeneity,
    relu_is_a_gate,
    relu_not_linear,
    relu_switches,
    t,
    x,
)
from derivations.language.arrays.functions import relu
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import scalar
from tests.broken import broken_steps, is_refused, with_step

POINTS = ("-2.5", "-0.3", "0.2", "1.7")
a, b = scalar("a"), scalar("b")
on = Iverson(Gt(t, 0))
NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.activations.activation")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all real numbers that it names."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name.endswith("_definition") else "proved")


@broken_steps(
    [
        ("ReLU as the minimum", relu_definition, 0, 0, -Max(0, -x[i])),
        ("ReLU linear", relu_not_linear, 0, 0, t),
        ("half of |t|", relu_not_linear, 0, 0, Abs(t) / 2),
        ("ReLU that lets negative numbers through", relu_switches, 0, 0, -p),
        ("ReLU that drops positive numbers", relu_switches, 1, 0, 0),
        ("the reflection of ReLU with a sign", reflection, 0, 0, -t),
        ("the reflection of GELU as a half", reflection, 1, 1, t / 2),
        ("a gate the wrong way round", relu_is_a_gate, 0, 0, t * Iverson(Lt(t, 0))),
        ("the gate alone", relu_is_a_gate, 0, 0, on),
        ("ReLU twice as the identity", relu_is_a_gate, 1, 0, t),
        ("the maximum from the other difference", relu_gives_maxima, 0, 0, a + relu.formula(a - b)),
        ("the minimum as a maximum", relu_gives_maxima, 1, 0, b + relu.formula(a - b)),
        ("one side of the distance", relu_gives_maxima, 2, 0, relu.formula(a - b)),
        ("the mean without the distance", relu_gives_maxima, 3, 0, (a + b) / 2),
        ("a factor lost", relu_homogeneity, 0, 0, relu.formula(t)),
        ("a factor squared", relu_homogeneity, 0, 0, p**2 * relu.formula(t)),
        ("a factor on one side alone", relu_homogeneity, 1, 0, p * relu.formula(t) - b * relu.formula(-t)),
        ("leaky ReLU with the slope on the other side", leaky_relu, 0, 0, t + relu.formula(p * t)),
        ("leaky ReLU with a sign", leaky_relu, 0, 1, relu.formula(t) + (1 - p) * relu.formula(-t)),
        ("the smaller of the two lines", leaky_relu, 0, 1, Min((1 - p) * t, t)),
        ("the slopes exchanged", leaky_relu, 1, 0, (1 - p) * on + 1 - on),
        ("the slope of ReLU the wrong way round", relu_derivative, 0, 0, Iverson(Lt(t, 0))),
        ("the slope of ReLU shifted", relu_derivative, 0, 0, Iverson(Gt(t, 1))),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_an_algebraic_rule_does_not_differentiate() -> None:
    """The slope of ReLU is not decided by algebra alone."""
    assert with_step(relu_derivative(), 0, 0, rule="algebra").level == "unknown"


def test_a_derivative_at_the_kink_is_not_claimed() -> None:
    """Without t != 0 the slopes of ReLU and leaky ReLU are not decided."""
    assert judge(replace(relu_derivative(), assumptions=())).level == "unknown"
    at_0 = replace(leaky_relu().claims[1], given=())
    assert judge(replace(leaky_relu(), claims=(at_0,))).level == "unknown"


def test_a_factor_of_any_sign_does_not_come_out() -> None:
    """ReLU(b t) = b ReLU(t) is false for b < 0."""
    wrong = replace(relu_homogeneity().claims[0], lhs=relu.formula(b * t))
    broken = replace(relu_homogeneity(), claims=(wrong,))
    assert is_refused(with_step(broken, 0, 0, b * relu.formula(t)))


@pytest.mark.parametrize("point", POINTS)
def test_the_derivatives_are_limits_of_differences(point: str) -> None:
    """The slopes of ReLU and leaky ReLU against numerical differentiation, off the kink."""
    with mp.workdps(40):
        at, one = mpf(point), Rational(point)
        leak = {t: one, p: Rational(9, 10)}
        for claimed, function in (
            (relu_derivative().rhs, lambda u: max(mpf(0), u)),
            (leaky_relu().claims[1].rhs, lambda u: max(u / 10, u)),
        ):
            value = mpf(str(claimed.xreplace(leak).replace(Iverson, lambda c: int(bool(c))).evalf(40)))
            assert abs(value - diff(function, at)) < mpf(10) ** -12


def test_the_formula_is_that_of_the_language() -> None:
    """ReLU of the results is the function that the layers use."""
    assert relu.formula(t) == Max(0, t)
