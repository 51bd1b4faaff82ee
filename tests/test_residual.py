"""The results about residual connections are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Derivative, KroneckerDelta, Lambda

from derivations.language.arrangements import Tabulated
from derivations.language.derivation import RESULTS, Derivation
from derivations.language.proof import judge
from derivations.language.shapes import ShapeError
from derivations.linear import linear
from derivations.residual import (
    F,
    L,
    S,
    X,
    average,
    jacobian,
    norm,
    output_is_not_the_sum,
    per_position,
    post_norm,
    post_norm_residual,
    pre_norm,
    sublayer,
)
from derivations.symbols import d_model, i, index, j, k, l
from tests.broken import broken_steps, is_refused, of_topic, with_step

p = index("p")


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
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


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
