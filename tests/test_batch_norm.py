"""The results about batch normalisation are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Rational, sqrt

from derivations.batch_norm import (
    X,
    X_c,
    X_hat,
    Y,
    average,
    batch_norm,
    beta,
    definition,
    gamma,
    is_layer_norm_of_transpose,
    mu,
    one_row,
    positions_interact,
    sigma2,
)
from derivations.language.derivation import RESULTS, Derivation, claim, derivation, step
from derivations.language.proof import judge
from derivations.layer_norm import layer_norm
from derivations.symbols import d, epsilon, i, j, k, l, n
from tests.broken import broken_steps, is_refused, of_topic, with_step
from tests.numbers import value

s = sqrt(sigma2[k] + epsilon)


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
        ("what is left of one row", one_row, 0, 0, beta[k] + gamma[k]),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_batch_norm_is_not_layer_norm() -> None:
    """The two layers with the same weights are told apart by a witness."""
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
