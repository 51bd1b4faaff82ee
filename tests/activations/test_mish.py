"""The results about Mish are proved; broken ones are not, and mpmath agrees."""

from collections.abc import Callable

import pytest
from mpmath import diff, exp, log1p, mp, mpf, tanh
from sympy import Basic, Rational
from sympy import exp as symbolic_exp

from derivations.activations.mish import mish, mish_derivative, mish_gate, s, t, w
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from tests.broken import broken_steps, is_refused, with_step

POINTS = ("-2.5", "-0.3", "0.2", "1.7")


@pytest.mark.parametrize("result", [mish_derivative, mish_gate])
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        ("a slope of tanh without its square", mish_derivative, 0, 1, w + t * (1 - w)),
        ("a slope of Mish without that of softplus", mish_derivative, 0, 2, w + t * (1 - w**2)),
        ("a slope of Mish as that of SiLU", mish_derivative, 0, 2, w + t * s * (1 - w)),
        ("the gate as a sigmoid", mish_gate, 0, 0, s),
        ("the gate without its square", mish_gate, 0, 0, symbolic_exp(t) / (2 + symbolic_exp(t))),
        ("a gate above 1/2", mish_gate, 1, 0, Rational(1, 2)),
        ("a gate below 1/2", mish_gate, 2, 0, Rational(1, 2)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("point", POINTS)
def test_the_derivative_is_a_limit_of_differences(point: str) -> None:
    """Value and slope against the function, written once more in mpmath."""

    def known(u: mpf) -> mpf:
        return u * tanh(log1p(exp(u)))

    with mp.workdps(40):
        at, one = mpf(point), Rational(point)
        assert abs(mpf(str(mish.formula(one).evalf(40))) - known(at)) < mpf(10) ** -25
        claimed = mpf(str(mish_derivative().rhs.xreplace({t: one}).evalf(40)))
        assert abs(claimed - diff(known, at)) < mpf(10) ** -12
