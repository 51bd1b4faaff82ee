"""The results about softsign are proved; broken ones are not, and mpmath agrees."""

from collections.abc import Callable

import numpy as np
import pytest
from mpmath import diff, fabs, mp, mpf
from sympy import Abs, Basic, Rational

from derivations.activations.activation import applied
from derivations.activations.softsign import s, softsign, softsign_bounds, softsign_derivative, t
from derivations.language.arrays.expression import array
from derivations.language.differentiation.reverse import gradient
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import Derivation
from derivations.symbols import n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

POINTS = ("-2.5", "-0.3", "0.2", "1.7")


@pytest.mark.parametrize("result", [softsign_derivative, softsign_bounds])
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        ("a slope without its square", softsign_derivative, 0, 1, 1 / (1 + Abs(t))),
        ("a slope without the absolute value", softsign_derivative, 0, 1, 1 / (1 + t) ** 2),
        ("a slope by the value without its absolute value", softsign_derivative, 0, 2, (1 - s) ** 2),
        ("a distance to 1 without the absolute value", softsign_bounds, 0, 0, 1 / (1 + t)),
        ("an absolute value below 1/2", softsign_bounds, 1, 0, Rational(1, 2)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("point", POINTS)
def test_the_derivative_is_a_limit_of_differences(point: str) -> None:
    """Value and slope against the function, written once more in mpmath."""

    def known(u: mpf) -> mpf:
        return u / (1 + fabs(u))

    with mp.workdps(40):
        at, one = mpf(point), Rational(point)
        assert abs(mpf(str(softsign.formula(one).evalf(40))) - known(at)) < mpf(10) ** -25
        claimed = mpf(str(softsign_derivative().rhs.xreplace({t: one}).evalf(40)))
        assert abs(claimed - diff(known, at)) < mpf(10) ** -12


def test_it_runs_with_its_gradient() -> None:
    """The compiled layer and its gradient against numbers computed by hand, at the kink too."""
    layer = Layer("softsign", (array("x", n),), (), applied(softsign), applied(softsign)[-1].target)
    x = np.array([-3.0, 0.0, 1.0])
    np.testing.assert_allclose(compile_layer(layer)(x), [-3 / 4, 0, 1 / 2])
    slope = compile_layer(gradient(layer))(x, np.ones(3))
    np.testing.assert_allclose(slope, [1 / 16, 1, 1 / 4])
