"""The results about layer normalisation are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Rational, Sum, sqrt

from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.normalisation.layer_norm import (
    X,
    X_c,
    X_hat,
    average,
    beta,
    centred,
    definition,
    gamma,
    largest_deviation,
    layer_norm,
    mean,
    mu,
    one_feature,
    sigma2,
    sphere,
    variance,
    variance_is_not_1,
    variance_of_squares,
)
from derivations.symbols import d, epsilon, i, j, k, n
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value


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
        ("rows on the sphere", sphere, 0, 0, d),
        ("epsilon once, not d times", sphere, 0, 1, d - epsilon / (sigma2[i] + epsilon)),
        ("rows on the unit sphere", sphere, 0, 2, 1),
        ("d - 2 deviations", largest_deviation, 0, 0, (d - 2) * sigma2[i]),
        ("one deviation", largest_deviation, 0, 0, sigma2[i]),
        ("the mean once, not its square", variance_of_squares, 0, 2, average(X[i, j] ** 2) - mu[i]),
        ("the square of the mean added", variance_of_squares, 0, 2, average(X[i, j] ** 2) + mu[i] ** 2),
        ("one feature that is kept", one_feature, 0, 0, gamma[0] * X[i, 0]),
        ("the whole difference", one_feature, 1, 0, 2 * one_feature().claims[1].rhs),
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


def test_rows_lie_inside_the_sphere_and_no_entry_stands_out_too_far(rows: np.ndarray) -> None:
    """Length below sqrt(d), deviations below sqrt(d - 1) sigma; a single outlier reaches that bound."""
    assert ((normalised(rows, 0.5) ** 2).sum(axis=1) < 7).all()
    outlier = normalised(np.eye(1, 7), 0.0)
    np.testing.assert_allclose(np.abs(outlier).max(), np.sqrt(6), rtol=1e-14)
    np.testing.assert_allclose((outlier**2).sum(), 7, rtol=1e-14)


def test_the_layer_is_what_numpy_computes(rows: np.ndarray) -> None:
    """Entries of the layer at prime sizes."""
    result = layer_norm().at(n=3, d=7).until("X_hat").result(X.xreplace({n: 3, d: 7}))
    for place in ((0, 0), (1, 4), (2, 6)):
        entry = value(result.entry(*place), {epsilon: Rational(1, 2)}, {"X": rows})
        assert float(entry) == pytest.approx(normalised(rows, 0.5)[place], rel=1e-13)
