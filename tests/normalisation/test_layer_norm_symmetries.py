"""What layer normalisation does not see is proved; broken statements are refused, and NumPy agrees."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, sqrt

from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.normalisation.layer_norm import X, X_c, X_hat, Y, applied, average, beta, gamma, mu, sigma2
from derivations.normalisation.layer_norm_symmetries import (
    IDENTITY,
    a,
    affine_folds_into_weights,
    centring_is_a_projection,
    per_position,
    positions_do_not_interact,
    scale_invariance,
    shift_invariance,
    twice,
    weights_may_shift_and_scale,
)
from derivations.symbols import d, d_in, d_out, epsilon, i, j, k, n
from tests.broken import broken_steps, is_refused, with_step

s = sqrt(sigma2[i] + epsilon)
Z, W = array("Z", n, d_in), array("W", d_in, d)
CASES = (
    shift_invariance,
    scale_invariance,
    per_position,
    positions_do_not_interact,
    twice,
    weights_may_shift_and_scale,
    affine_folds_into_weights,
    centring_is_a_projection,
)


@pytest.mark.parametrize("result", CASES)
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    """Each result of the module holds for all sizes."""
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
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
        ("a mean of 1", twice, 0, 0, 1),
        ("the same again", twice, 1, 0, X_hat[i, k]),
        ("the norm without the weights", weights_may_shift_and_scale, 0, 0, applied(array("Z", n, d))),
        ("a scale that is not seen at all", weights_may_shift_and_scale, 1, 0, X_hat[i, k]),
        ("no shift", affine_folds_into_weights, 0, 0, X_hat @ array("W", d, d_out)),
        ("all is the mean", centring_is_a_projection, 0, 0, X @ IDENTITY),
        ("the trace of the identity", centring_is_a_projection, 3, 0, d),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_norm_is_no_linear_map() -> None:
    """Gamma and beta may be folded, the norm itself may not: Y is not X."""
    assert is_refused(with_step(centring_is_a_projection(), 0, 0, Y))


def normalised(rows: np.ndarray, eps: float) -> np.ndarray:
    """Rows brought to mean 0 and variance near 1, in NumPy."""
    return (rows - rows.mean(axis=-1, keepdims=True)) / np.sqrt(rows.var(axis=-1, keepdims=True) + eps)


@pytest.fixture
def rows() -> np.ndarray:
    """Three rows of seven numbers."""
    return np.random.default_rng(5).integers(-20, 20, (3, 7)) / 8


def test_scaling_divides_epsilon_by_the_square(rows: np.ndarray) -> None:
    """LN(a X; eps) = LN(X; eps / a^2), and not eps / a."""
    factor, eps = 3.0, 0.5
    scaled = normalised(factor * rows, eps)
    np.testing.assert_allclose(scaled, normalised(rows, eps / factor**2), rtol=1e-13)
    assert np.abs(scaled - normalised(rows, eps / factor)).max() > 1e-2


def test_weights_folding_and_the_second_norm(rows: np.ndarray) -> None:
    """A shift of all columns of W is not seen; gamma and beta move into W and b; a second norm divides again."""
    random, eps = np.random.default_rng(7), 0.5
    weights, shift = random.normal(size=(7, 5)), random.normal(size=(7, 1))
    np.testing.assert_allclose(normalised(rows @ (weights + shift), eps), normalised(rows @ weights, eps), atol=1e-12)
    scale, offset, bias = random.normal(size=7), random.normal(size=7), random.normal(size=5)
    hat = normalised(rows, eps)
    whole = (scale * hat + offset) @ weights + bias
    np.testing.assert_allclose(whole, hat @ (scale[:, None] * weights) + (offset @ weights + bias), rtol=1e-12)
    spread = rows.var(axis=1, keepdims=True)
    np.testing.assert_allclose(normalised(hat, eps), hat / np.sqrt(spread / (spread + eps) + eps), rtol=1e-13)
