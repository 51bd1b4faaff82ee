"""The results about batch normalisation are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Rational, sqrt

from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.language.results.statements import Span
from derivations.normalisation.batch_norm import (
    X,
    X_c,
    X_hat,
    Y,
    applied,
    average,
    batch_norm,
    batch_norm_inference,
    beta,
    definition,
    folds_into_weights,
    gamma,
    is_layer_norm_of_transpose,
    jacobian,
    jacobian_null_space,
    mean_and_variance,
    mu,
    one_row,
    positions_interact,
    shift_and_scale,
    sigma2,
)
from derivations.normalisation.layer_norm import layer_norm
from derivations.symbols import d, d_in, epsilon, i, j, k, l, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value

s = sqrt(sigma2[k] + epsilon)
Z, W = array("Z", n, d_in), array("W", d_in, d)


@pytest.mark.parametrize("name", of_topic("batch_norm"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name.endswith(".definition") else "proved")


@broken_steps(
    [
        ("the mean of a row", definition, 0, 0, average(X[k, j])),
        ("a variance about 0", definition, 1, 0, average(X[j, k] ** 2)),
        ("a dropped root", definition, 2, 0, (X[i, k] - mu[k]) / (sigma2[k] + epsilon)),
        ("gamma and beta swapped", definition, 3, 0, beta[k] * X_hat[i, k] + gamma[k]),
        ("no transpose at the end", is_layer_norm_of_transpose, 2, 0, X_hat.T),
        ("centred only", is_layer_norm_of_transpose, 2, 0, X_c),
        ("a mean that does not move", positions_interact, 0, 0, 0),
        ("rows kept apart", positions_interact, 2, 2, KroneckerDelta(i, l) / s),
        ("the second term with a plus", positions_interact, 2, 2, positions_interact().claims[2].rhs + 2 / (n * s)),
        ("columns centred at 1", mean_and_variance, 0, 0, 1),
        ("a variance of 1", mean_and_variance, 1, 0, 1),
        ("the Jacobian without gamma", jacobian, 0, 0, positions_interact().claims[2].rhs),
        ("features that interact", jacobian, 1, 0, 1),
        ("a constant that is kept", jacobian, 2, 0, gamma[k] / s),
        ("rank n", jacobian_null_space, 1, 0, n),
        ("another vector lost", jacobian_null_space, 0, 0, Span(array("v", n))),
        ("weights that are not seen", shift_and_scale, 0, 0, applied(array("Z", n, d))),
        ("a scale that is not seen at all", shift_and_scale, 1, 0, X_hat[i, k]),
        ("no shift", folds_into_weights, 0, 0, Z @ W),
        ("what is left of one row", one_row, 0, 0, beta[k] + gamma[k]),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_batch_norm_is_not_layer_norm() -> None:
    """The two layers with the same weights are told apart by a counterexample."""
    same = claim(layer_norm().result(X), step("definition", Y))
    assert judge(derivation("", same, about=batch_norm())).level == "refuted"


def normalised(batch: np.ndarray, eps: float) -> np.ndarray:
    """Columns brought to mean 0 and variance near 1, in NumPy."""
    return (batch - batch.mean(axis=0)) / np.sqrt(batch.var(axis=0) + eps)


def test_another_row_is_felt() -> None:
    """The derived derivative against central differences of NumPy: rows interact."""
    batch, eps = np.random.default_rng(3).integers(-20, 20, (5, 3)) / 8, 0.5
    parts = {"sigma2": batch.var(axis=0), "X_hat": normalised(batch, eps)}
    for row, feature, other in ((0, 1, 3), (2, 0, 2), (4, 2, 1)):
        moved = np.zeros((5, 3))
        moved[other, feature] = 1e-5
        plus, minus = (normalised(batch + sign * moved, eps)[row, feature] for sign in (1, -1))
        numbers = {n: 5, d: 3, i: row, k: feature, l: other, epsilon: Rational(1, 2)}
        derived = float(value(positions_interact().claims[2].rhs, numbers, parts))
        assert derived == pytest.approx((plus - minus) / 2e-5, abs=1e-8)
        assert abs(derived) > 1e-3


def test_the_jacobian_keeps_all_but_one_direction() -> None:
    """Singular values of the derivatives of a feature, by central differences: one is 0."""
    column, eps = np.random.default_rng(4).integers(-20, 20, (5, 1)) / 8, 0.5
    shifts = 1e-5 * np.eye(5)[:, :, None]
    columns = [(normalised(column + shift, eps) - normalised(column - shift, eps))[:, 0] / 2e-5 for shift in shifts]
    differences = np.stack(columns, axis=1)
    np.testing.assert_allclose(differences @ np.ones(5), 0, atol=1e-9)
    assert (np.linalg.svd(differences, compute_uv=False) < 1e-8).sum() == 1


def test_the_layers_are_the_loops_and_fold_after_training() -> None:
    """Training and inference, compiled, against NumPy; after training a linear layer does the work of both."""
    random, eps = np.random.default_rng(6), 0.5
    batch, scale, offset, mean = random.normal(size=(5, 3)), *random.normal(size=(3, 3))
    spread = random.uniform(0.1, 2, 3)
    trained = compile_layer(batch_norm())(batch, scale, offset, epsilon=eps)
    np.testing.assert_allclose(trained, scale * normalised(batch, eps) + offset, rtol=1e-12)
    inputs, weights, bias = random.normal(size=(7, 2)), random.normal(size=(2, 3)), random.normal(size=3)
    layer = compile_layer(batch_norm_inference())
    result = layer(inputs @ weights + bias, scale, offset, mean, spread, epsilon=eps)
    factor = scale / np.sqrt(spread + eps)
    np.testing.assert_allclose(result, inputs @ (weights * factor) + (factor * (bias - mean) + offset), rtol=1e-12)
