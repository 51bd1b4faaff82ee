"""The results about residual connections are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Derivative, KroneckerDelta, Lambda, sqrt

from derivations.language.arrays.arrangements import Tabulated
from derivations.language.arrays.expression import array
from derivations.language.arrays.shapes import ShapeError
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.linear import linear
from derivations.symbols import d_ff, d_model, epsilon, i, index, j, k, l
from derivations.transformer.residual import (
    A,
    F,
    L,
    S,
    X,
    X_c,
    X_hat,
    average,
    b,
    branch_ignores_scale,
    fixed_rows_add_up,
    gated_branch,
    jacobian,
    norm,
    norm_jacobian,
    output_is_not_the_sum,
    over_q,
    paths,
    per_position,
    post_norm,
    post_norm_jacobian,
    post_norm_residual,
    pre_norm,
    pre_norm_jacobian,
    q,
    same,
    sigma2,
    sublayer,
    weighted_residual,
)
from tests.broken import broken_steps, is_refused, of_topic, with_step

p = index("p")
u, W = array("b", d_model), array("W", d_model, d_ff)


@pytest.mark.parametrize("name", of_topic("residual"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name in ("residual.post_norm", "residual.pre_norm") else "proved")


@broken_steps(
    [
        ("no residual", post_norm, 0, 0, sublayer(X)),
        ("the residual subtracted", post_norm, 0, 0, sublayer(X) - X),
        ("the sum instead of its norm", post_norm, 1, 0, X + sublayer(X)),
        ("the norm of the sub-layer alone", post_norm, 1, 0, norm(sublayer(X))),
        ("the norm before the sum", post_norm, 1, 0, X + norm(sublayer(X))),
        ("pre-norm without the norm", pre_norm, 0, 0, X + sublayer(X)),
        ("pre-norm that adds the norm", pre_norm, 0, 0, L + sublayer(L)),
        ("the mean of one part", output_is_not_the_sum, 0, 1, average(X[i, j])),
        ("a mean of 1", output_is_not_the_sum, 1, 0, 1),
        ("no identity", jacobian, 0, 1, Derivative(F[i, k], X[p, l])),
        ("an identity in features alone", jacobian, 0, 1, KroneckerDelta(k, l) + Derivative(F[i, k], X[p, l])),
        ("the norm's Jacobian alone", post_norm_jacobian, 0, 0, norm_jacobian(k, l)),
        ("post-norm as pre-norm", post_norm_jacobian, 0, 0, same + over_q(A[l, q] * norm_jacobian(k, q))),
        ("the branch transposed", post_norm_jacobian, 0, 0, post_norm_jacobian().rhs.xreplace({A[l, q]: A[q, l]})),
        ("no identity beside the branch", pre_norm_jacobian, 0, 1, pre_norm_jacobian().rhs - same),
        ("a norm on the identity", pre_norm_jacobian, 0, 1, pre_norm_jacobian().rhs - same + norm_jacobian(k, l)),
        ("three paths", paths, 0, 0, X + X @ A + X @ array("B", d_model, d_model)),
        ("the branch in full", gated_branch, 0, 0, same + Derivative(F[i, k], X[p, l])),
        ("the branch at the start", gated_branch, 2, 0, X + F),
        ("a branch that grows", branch_ignores_scale, 0, 0, b * branch_ignores_scale().rhs),
        ("a weight that is not seen", weighted_residual, 0, 0, X_hat[i, k]),
        ("a fixed row added twice", fixed_rows_add_up, 0, 0, X + F + (u + u)),
        ("a fixed row past the product", fixed_rows_add_up, 1, 0, X @ W + (u @ W + u @ W)),
        ("epsilon divided by a", weighted_residual, 0, 0, X_c[i, k] / sqrt(sigma2[i] + epsilon / b)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.slow
def test_the_first_row_is_not_every_row() -> None:
    """Row i of the output is not made of row 0 of the input."""
    first = Tabulated(Lambda((j, k), X[0, k]), 1, d_model)
    assert is_refused(with_step(per_position(), 0, 0, norm(first + sublayer(first))[0]))


def test_a_sub_layer_that_changes_the_shape_has_no_residual() -> None:
    """The linear layer from d_in to d_out features cannot be added to its input."""
    with pytest.raises(ShapeError, match="sum of"):
        post_norm_residual(linear())


def test_post_norm_rows_have_mean_0_and_sums_have_not() -> None:
    """On numbers: the rows of the sum keep their means, those of its norm lose them."""
    rng = np.random.default_rng(2)
    inputs, weights = rng.normal(1, 1, (3, 5)), rng.normal(0, 1, (5, 5))
    total = inputs + np.maximum(0, inputs @ weights)
    centred = total - total.mean(axis=1, keepdims=True)
    normed = centred / np.sqrt(total.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(normed.mean(axis=1), 0, atol=1e-14)
    means = inputs.mean(axis=1) + np.maximum(0, inputs @ weights).mean(axis=1)
    np.testing.assert_allclose(total.mean(axis=1), means, rtol=1e-13)
    assert np.abs(means).min() > 0.1
    assert S.shape == X.shape


def test_the_two_jacobians_are_limits_of_differences() -> None:
    """With a linear sub-layer of NumPy: (I + A^T) behind the norm, or A^T times the norm beside the identity."""
    random, eps, width = np.random.default_rng(9), 1e-5, 5
    row, weights, scale = random.normal(size=width), random.normal(size=(width, width)), random.normal(size=width)

    def normed(x: np.ndarray) -> np.ndarray:
        return scale * (x - x.mean()) / np.sqrt(x.var() + eps)

    def of_norm(x: np.ndarray) -> np.ndarray:
        spread, hat = np.sqrt(x.var() + eps), (x - x.mean()) / np.sqrt(x.var() + eps)
        return scale[:, None] / spread * (np.eye(width) - 1 / width - np.outer(hat, hat) / width)

    shifts = 1e-6 * np.eye(width)
    for block, formula in (
        (lambda x: normed(x + x @ weights), of_norm(row + row @ weights) @ (np.eye(width) + weights.T)),
        (lambda x: x + normed(x) @ weights, np.eye(width) + weights.T @ of_norm(row)),
    ):
        columns = [(block(row + shift) - block(row - shift)) / 2e-6 for shift in shifts]
        np.testing.assert_allclose(np.stack(columns, axis=1), formula, atol=1e-7)
