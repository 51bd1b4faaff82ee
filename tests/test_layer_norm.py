"""The results about layer normalisation are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Rational, Sum, sqrt

from derivations.language.derivation import RESULTS, Derivation
from derivations.language.proof import judge
from derivations.layer_norm import (
    X,
    X_c,
    X_hat,
    average,
    beta,
    centred,
    definition,
    gamma,
    jacobian,
    layer_norm,
    mean,
    mu,
    per_position,
    positions_do_not_interact,
    scale_invariance,
    shift_invariance,
    sigma2,
    variance,
    variance_is_not_1,
)
from derivations.symbols import d, epsilon, i, j, k, l, n, scalar
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value

s = sqrt(sigma2[i] + epsilon)
a = scalar("a", positive=True)


@pytest.mark.parametrize("name", of_topic("layer_norm"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name.endswith(".definition") else "proved")


@broken_steps(
    [
        ("a sum instead of a mean", definition, 0, 0, Sum(X[i, j], (j, 0, d - 1))),
        ("a variance that divides by d + 1", definition, 1, 0, average((X[i, j] - mu[i]) ** 2) * d / (d + 1)),
        ("a dropped root", definition, 2, 0, (X[i, k] - mu[i]) / (sigma2[i] + epsilon)),
        ("epsilon outside the root", definition, 2, 0, (X[i, k] - mu[i]) / (sqrt(sigma2[i]) + epsilon)),
        ("gamma of the row", definition, 3, 0, gamma[i] * X_hat[i, k] + beta[k]),
        ("no beta", definition, 3, 0, gamma[k] * X_hat[i, k]),
        ("rows centred at 1", centred, 0, 2, 1),
        ("a mean of 1", mean, 0, 2, 1),
        ("the mean of the output without beta", mean, 1, 1, average(gamma[j] * X_hat[i, j])),
        ("gamma taken out of the mean", mean, 1, 1, gamma[0] * average(X_hat[i, j]) + average(beta[j])),
        ("a variance of 1", variance, 0, 2, 1),
        ("the variance without the sum", variance, 0, 1, X_c[i, 0] ** 2 / (sigma2[i] + epsilon)),
        ("1 plus what epsilon takes", variance_is_not_1, 0, 0, 1 + epsilon / (sigma2[i] + epsilon)),
        ("a variance below 1/2", variance_is_not_1, 0, 1, Rational(1, 2)),
        ("a shift that stays", shift_invariance, 0, 0, X[i, k] - average(X[i, j]) + 1),
        ("a mean that does not scale", scale_invariance, 0, 0, mu),
        ("a variance that scales like a", scale_invariance, 1, 0, a * sigma2),
        (
            "epsilon divided by a",
            scale_invariance,
            2,
            1,
            gamma[k] * X_c[i, k] / sqrt(sigma2[i] + epsilon / a) + beta[k],
        ),
        ("epsilon kept", scale_invariance, 2, 1, gamma[k] * X_c[i, k] / sqrt(sigma2[i] + epsilon) + beta[k]),
        ("the mean of another row", per_position, 0, 0, gamma[k] * (X[i, k] - mu[0]) / s + beta[k]),
        ("rows that interact", positions_do_not_interact, 0, 0, 1),
        ("the second term lost", jacobian, 2, 2, (KroneckerDelta(k, l) - 1 / d) / s),
        ("the mean forgotten", jacobian, 2, 2, (KroneckerDelta(k, l) - X_hat[i, k] * X_hat[i, l] / d) / s),
        ("the Jacobian without gamma", jacobian, 3, 0, jacobian().claims[2].rhs),
        ("gamma of the input", jacobian, 3, 0, gamma[l] * jacobian().claims[2].rhs),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_without_a_sign_of_the_variance_nothing_is_below_1() -> None:
    """With sigma^2 >= 0 left out, sigma^2 + eps may be 0."""
    assert judge(replace(variance_is_not_1(), assumptions=())).level == "refuted"


def test_a_variance_of_at_least_0_is_not_strictly_positive() -> None:
    """Rows of one number have variance 0: the strict bound is refused."""
    assert is_refused(with_step(variance(), 1, 0, relation=">"))


def normalised(rows: np.ndarray, eps: float) -> np.ndarray:
    """Rows brought to mean 0 and variance near 1, in NumPy."""
    return (rows - rows.mean(axis=-1, keepdims=True)) / np.sqrt(rows.var(axis=-1, keepdims=True) + eps)


@pytest.fixture
def rows() -> np.ndarray:
    """Three rows of seven numbers."""
    return np.random.default_rng(5).integers(-20, 20, (3, 7)) / 8


def test_mean_and_variance_of_normalised_rows(rows: np.ndarray) -> None:
    """0, and var / (var + eps), with an epsilon large enough to be seen."""
    eps, result = 0.5, normalised(rows, 0.5)
    np.testing.assert_allclose(result.mean(axis=1), 0, atol=1e-15)
    np.testing.assert_allclose(result.var(axis=1), rows.var(axis=1) / (rows.var(axis=1) + eps), rtol=1e-14)
    assert (result.var(axis=1) < 0.9).all()


def test_scaling_divides_epsilon_by_the_square(rows: np.ndarray) -> None:
    """LN(a X; eps) = LN(X; eps / a^2), and not eps / a."""
    factor, eps = 3.0, 0.5
    scaled = normalised(factor * rows, eps)
    np.testing.assert_allclose(scaled, normalised(rows, eps / factor**2), rtol=1e-13)
    assert np.abs(scaled - normalised(rows, eps / factor)).max() > 1e-2


def test_the_jacobian_is_the_limit_of_differences(rows: np.ndarray) -> None:
    """The derived Jacobian against central differences of NumPy, gamma included."""
    eps, scale = 0.5, np.arange(1, 8) / 4
    parts = {"sigma2": rows.var(axis=1), "X_hat": normalised(rows, eps), "gamma": scale}
    for row, feature, source in ((0, 1, 1), (1, 2, 5), (2, 6, 0)):
        step = np.zeros(7)
        step[source] = 1e-5
        plus, minus = (normalised(rows[row] + sign * step, eps)[feature] for sign in (1, -1))
        numbers = {n: 3, d: 7, i: row, k: feature, l: source, epsilon: Rational(1, 2)}
        derived = value(jacobian().claims[3].rhs, numbers, parts)
        assert float(derived) == pytest.approx(scale[feature] * (plus - minus) / 2e-5, abs=1e-8)


def test_the_layer_is_what_numpy_computes(rows: np.ndarray) -> None:
    """Entries of the layer at prime sizes."""
    result = layer_norm().at(n=3, d=7).until("X_hat").result(X.xreplace({n: 3, d: 7}))
    for place in ((0, 0), (1, 4), (2, 6)):
        entry = value(result.entry(*place), {epsilon: Rational(1, 2)}, {"X": rows})
        assert float(entry) == pytest.approx(normalised(rows, 0.5)[place], rel=1e-13)
