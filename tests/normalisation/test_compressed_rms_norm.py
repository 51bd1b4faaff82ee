"""The results about compressed RMS normalisation are proved; broken ones are not, and its gradient is a slope."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, sqrt

from derivations.language.differentiation.reverse import gradient as gradient_of
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.normalisation.compressed_rms_norm import (
    X,
    X_hat,
    a,
    compressed_rms_norm,
    cost,
    gamma,
    gradient,
    jacobian,
    last_entry,
    ms,
    root,
    scale_invariance,
)
from derivations.symbols import d, epsilon, i, k, l
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step


@pytest.mark.parametrize("result", [cost, gradient, jacobian, last_entry, scale_invariance])
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        ("a slope of ms without the sum", jacobian, 0, 0, 2 * X[i, l] / (d + 1)),
        (
            "the Jacobian of RMSNorm",
            jacobian,
            1,
            0,
            gamma[k] / root * (KroneckerDelta(k, l) - X_hat[i, k] * X_hat[i, l] / d),
        ),
        ("a mean of d entries", last_entry, 1, 0, ms[i] * (d + 1) / d),
        ("a factor that is kept", scale_invariance, 0, 0, a * gamma[k] * X[i, k] / root),
        ("epsilon that is multiplied", scale_invariance, 0, 1, gamma[k] * X[i, k] / sqrt(ms[i] + epsilon * a**2)),
        ("a parameter for the last entry", cost, 0, 0, d + 1),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.parametrize("claim", [0, 1])
def test_a_wrong_gradient_is_refused(claim: int) -> None:
    """Twice the slope is not the derivative, neither by the input nor by gamma."""
    assert is_refused(with_step(gradient(), claim, 0, 2 * gradient().claims[claim].rhs))


def test_the_gradient_is_a_limit_of_differences() -> None:
    layer, random = compressed_rms_norm(), np.random.default_rng(0)
    x, g, dY, toward = (random.normal(size=size) for size in ((2, 5), (5,), (2, 5), (2, 5)))
    run, h = compile_layer(layer), 1e-6
    dX, dgamma = compile_layer(gradient_of(layer))(x, dY, g)
    slope = np.sum(dY * (run(x + h * toward, g) - run(x - h * toward, g))) / (2 * h)
    assert np.isclose(np.sum(dX * toward), slope, rtol=1e-7)
    assert np.allclose(dgamma, np.sum(dY * run(x, np.ones(5)), axis=0))
