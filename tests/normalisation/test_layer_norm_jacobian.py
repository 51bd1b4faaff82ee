"""The Jacobian of layer normalisation is proved, with its null space; broken statements are refused; NumPy agrees."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Lambda, Rational

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import Derivation
from derivations.language.results.statements import Span
from derivations.normalisation.layer_norm import X_c, X_hat, average, gamma, sigma2
from derivations.normalisation.layer_norm_jacobian import (
    IDENTITY,
    ONES,
    SCALE,
    deviation,
    jacobian,
    jacobian_bounds,
    jacobian_directions,
    jacobian_matrix,
    jacobian_null_space,
    jacobian_null_space_without_epsilon,
    jacobian_trace,
    parameter_derivatives,
    v,
)
from derivations.symbols import d, epsilon, i, j, k, l, n
from tests.broken import broken_steps, is_refused, with_step
from tests.numbers import value

HAT = Tabulated(Lambda((k,), X_hat[i, k]), d)
spread = sigma2[i] + epsilon
CASES = (
    jacobian,
    jacobian_matrix,
    jacobian_directions,
    jacobian_trace,
    jacobian_null_space,
    jacobian_null_space_without_epsilon,
    jacobian_bounds,
    parameter_derivatives,
)


@pytest.mark.parametrize("result", CASES)
def test_every_result_is_proved(result: Callable[[], Derivation]) -> None:
    """Each result of the module holds for all sizes."""
    evidence = judge(result())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        ("the second term lost", jacobian, 2, 2, (KroneckerDelta(k, l) - 1 / d) / deviation),
        ("the mean forgotten", jacobian, 2, 2, (KroneckerDelta(k, l) - X_hat[i, k] * X_hat[i, l] / d) / deviation),
        ("the Jacobian without gamma", jacobian, 3, 0, jacobian().claims[2].rhs),
        ("gamma of the input", jacobian, 3, 0, gamma[l] * jacobian().claims[2].rhs),
        ("the scale alone", jacobian_matrix, 0, 0, 1 / deviation * (SCALE @ IDENTITY)),
        ("s for 1/s", jacobian_matrix, 0, 0, deviation * jacobian_matrix().rhs.args[1]),
        ("a constant that is kept", jacobian_directions, 0, 0, gamma[k] / deviation),
        ("nothing left of x^", jacobian_directions, 1, 2, 0),
        ("x^ kept whole", jacobian_directions, 1, 2, gamma[k] * X_hat[i, k]),
        ("v without its mean taken away", jacobian_directions, 2, 0, gamma[k] / deviation * (v[k] - average(v[j]))),
        ("two directions lost for good", jacobian_trace, 0, 2, d - 2),
        ("one direction lost", jacobian_trace, 0, 2, d - 1),
        ("gamma's derivative without x^", parameter_derivatives, 0, 0, KroneckerDelta(k, l)),
        ("beta's derivative of another feature", parameter_derivatives, 1, 0, 1),
        ("rank d", jacobian_null_space, 2, 0, d),
        ("rank d - 2 with epsilon", jacobian_null_space, 2, 0, d - 2),
        ("rank d - 1 without epsilon", jacobian_null_space_without_epsilon, 2, 0, d - 1),
        ("rank d - 3 without epsilon", jacobian_null_space_without_epsilon, 2, 0, d - 3),
        ("a norm below 1/2", jacobian_bounds, 0, 0, Rational(1, 2)),
        ("one direction lost for good", jacobian_trace, 0, 3, d - 1),
        ("x^ in the null space with epsilon", jacobian_null_space, 1, 0, Span(HAT)),
        ("any vector in the null space", jacobian_null_space, 1, 0, Span(v)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_with_epsilon_the_row_is_not_lost() -> None:
    """The certificate of eps = 0 does not serve for the matrix with epsilon: x^ is not taken to 0."""
    bare = jacobian_null_space_without_epsilon().claims[1].steps[0]
    assert is_refused(with_step(jacobian_null_space(), 1, 0, bare.expression, certificate=bare.certificate))


def test_a_smaller_span_is_refused_with_its_part_of_the_certificate() -> None:
    """Constants alone do not span the null space without epsilon, nor does nothing with it."""
    bare = jacobian_null_space_without_epsilon()
    whole = bare.claims[1].steps[0].certificate
    assert is_refused(with_step(bare, 1, 0, Span(ONES), certificate=whole[:2]))
    null = jacobian_null_space()
    assert is_refused(with_step(null, 1, 0, Span(), certificate=null.claims[1].steps[0].certificate[:1]))


@pytest.mark.slow
def test_the_null_spaces_need_their_conditions() -> None:
    """A gamma that is 0 has more in its null space, and a constant row has no x^."""
    assert judge(replace(jacobian_null_space(), assumptions=())).level != "proved"
    without = jacobian_null_space_without_epsilon()
    for kept in without.assumptions:
        assert judge(replace(without, assumptions=(kept,))).level != "proved"


def matrix(row: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
    """The Jacobian of one row by central differences of NumPy."""

    def normed(x: np.ndarray) -> np.ndarray:
        return scale * (x - x.mean()) / np.sqrt(x.var() + eps)

    shifts = 1e-5 * np.eye(len(row))
    return np.stack([(normed(row + shift) - normed(row - shift)) / 2e-5 for shift in shifts], axis=1)


@pytest.fixture
def row() -> np.ndarray:
    """One row of seven numbers."""
    return np.random.default_rng(5).integers(-20, 20, 7) / 8


def test_the_jacobian_is_the_limit_of_differences(row: np.ndarray) -> None:
    """The derived Jacobian against central differences of NumPy, gamma included."""
    scale, hat = np.arange(1, 8) / 4, (row - row.mean()) / np.sqrt(row.var() + 0.5)
    differences = matrix(row, scale, 0.5)
    parts = {"sigma2": np.array([row.var()]), "X_hat": hat[None], "gamma": scale}
    for feature, source in ((1, 1), (2, 5), (6, 0)):
        numbers = {n: 1, d: 7, i: 0, k: feature, l: source, epsilon: Rational(1, 2)}
        derived = value(jacobian().claims[3].rhs, numbers, parts)
        assert float(derived) == pytest.approx(differences[feature, source], abs=1e-8)


def test_rank_and_null_space_in_numpy(row: np.ndarray) -> None:
    """Singular values of the differences: one is 0 with epsilon, two are without."""
    scale = np.arange(1, 8) / 4
    for eps, lost, directions in ((0.5, 1, [np.ones(7)]), (0.0, 2, [np.ones(7), row - row.mean()])):
        differences = matrix(row, scale, eps)
        values = np.linalg.svd(differences, compute_uv=False)
        assert (values < 1e-8).sum() == lost
        for direction in directions:
            np.testing.assert_allclose(differences @ direction, 0, atol=1e-8)
    assert X_c.shape == X_hat.shape == (n, d)
