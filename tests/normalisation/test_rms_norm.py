"""The results about root mean square normalisation are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta, Sum, sqrt

from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.language.results.statements import Span
from derivations.normalisation.layer_norm import X, X_hat, Y, average, gamma
from derivations.normalisation.rms_norm import (
    a,
    applied,
    cost,
    definition,
    gamma_folds_into_weights,
    layer_norm_is_rms_norm_of_centred,
    mean_is_kept,
    mean_square,
    ms,
    odd,
    orthogonal_maps_pass,
    per_position,
    query_key_bound,
    rms_norm,
    root,
    scale_defect,
    scale_invariance,
    unit_vector,
)
from derivations.normalisation.rms_norm_jacobian import (
    jacobian,
    jacobian_along_the_input,
    jacobian_null_space,
    jacobian_null_space_without_epsilon,
)
from derivations.symbols import d, d_out, epsilon, i, j, k, l, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("rms_norm"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name.endswith(".definition") else "proved")


@broken_steps(
    [
        ("a sum instead of a mean", definition, 0, 0, Sum(X[i, j] ** 2, (j, 0, d - 1))),
        ("the squares of the differences to the mean", definition, 0, 0, average((X[i, j] - average(X[i, j])) ** 2)),
        ("a dropped root", definition, 1, 0, X[i, k] / (ms[i] + epsilon)),
        ("gamma of the row", definition, 2, 0, gamma[i] * X_hat[i, k]),
        ("a mean square of 1", mean_square, 0, 2, 1),
        ("a mean square below 1/2", mean_square, 0, 4, sqrt(2) / 3),
        ("the unit sphere", mean_square, 1, 0, 1),
        ("the second term lost", jacobian, 1, 2, KroneckerDelta(k, l) / root),
        ("a mean taken away", jacobian, 1, 2, jacobian().claims[1].rhs - 1 / (d * root)),
        ("the Jacobian without gamma", jacobian, 2, 0, jacobian().claims[1].rhs),
        ("nothing is left along x", jacobian_along_the_input, 0, 3, 0),
        ("x kept whole", jacobian_along_the_input, 0, 3, Y[i, k]),
        ("rank d - 1 with epsilon", jacobian_null_space, 2, 0, d - 1),
        ("rank d without epsilon", jacobian_null_space_without_epsilon, 2, 0, d),
        ("a length of 1", unit_vector, 0, 1, X[i, k] / sqrt(Sum(X[i, j] ** 2, (j, 0, d - 1)))),
        ("scores below sqrt(d)", query_key_bound, 0, 0, sqrt(d)),
        ("no negative scores", query_key_bound, 1, 0, 0),
        ("a factor that stays", scale_invariance, 0, 1, a * gamma[k] * X[i, k] / sqrt(ms[i])),
        ("epsilon divided by a", scale_invariance, 1, 1, gamma[k] * X[i, k] / sqrt(ms[i] + epsilon / a)),
        ("no defect", scale_defect, 0, 2, Y[i, k]),
        ("the defect the other way", scale_defect, 1, 0, -scale_defect().claims[1].rhs),
        ("no beta", layer_norm_is_rms_norm_of_centred, 0, 0, applied(X)),
        ("a mean of 0", mean_is_kept, 0, 0, 0),
        ("an even function", odd, 0, 0, applied(X)),
        ("no rotation of the result", orthogonal_maps_pass, 1, 0, X_hat),
        ("gamma left out", gamma_folds_into_weights, 0, 0, X_hat @ array("W", d, d_out)),
        ("rows that interact", per_position, 1, 0, 1),
        ("a parameter more", cost, 0, 0, d + 1),
        ("the mean for nothing", cost, 3, 0, 2 * n * d + n),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_without_epsilon_the_null_space_is_not_empty() -> None:
    """The row is lost: its part of the certificate cannot be left out."""
    bare = jacobian_null_space_without_epsilon()
    certificate = bare.claims[1].steps[0].certificate[:1]
    assert is_refused(with_step(bare, 1, 0, Span(), certificate=certificate))


@pytest.mark.slow
def test_conditions_are_needed() -> None:
    """Without epsilon no row may be 0; a matrix that is not orthogonal does not pass; a gamma of 0 loses more."""
    bare = scale_invariance()
    assert judge(replace(bare, claims=(replace(bare.claims[0], given=()),))).level != "proved"
    assert judge(replace(orthogonal_maps_pass(), assumptions=())).level != "proved"
    centred = layer_norm_is_rms_norm_of_centred()
    assert judge(replace(centred, claims=(replace(centred.claims[1], given=()),))).level == "refuted"
    assert judge(replace(jacobian_null_space(), assumptions=())).level != "proved"
    without = jacobian_null_space_without_epsilon()
    for kept in without.assumptions:
        assert judge(replace(without, assumptions=(kept,))).level != "proved"


def normalised(rows: np.ndarray, eps: float) -> np.ndarray:
    """Rows brought to mean square near 1, by a loop over rows."""
    return np.stack([row / np.sqrt(sum(x * x for x in row) / len(row) + eps) for row in rows])


@pytest.fixture
def rows() -> np.ndarray:
    """Three rows of seven numbers."""
    return np.random.default_rng(5).integers(-20, 20, (3, 7)) / 8


def test_the_compiled_layer_is_the_loop(rows: np.ndarray) -> None:
    """Batch axes in front, gamma included, with epsilon large enough to be seen, and with none at all."""
    scale, layer = np.arange(1, 8) / 4, compile_layer(rms_norm())
    np.testing.assert_allclose(layer(rows, scale, epsilon=0.5), scale * normalised(rows, 0.5), rtol=1e-14)
    batch = np.stack([rows, 2 * rows])
    np.testing.assert_allclose(layer(batch, scale, epsilon=0.5)[1], scale * normalised(2 * rows, 0.5), rtol=1e-14)
    np.testing.assert_allclose(compile_layer(rms_norm(0))(rows, scale), scale * normalised(rows, 0), rtol=1e-14)


def test_symmetries_in_numpy(rows: np.ndarray) -> None:
    """A rotation passes, a scale is seen by epsilon alone, and layer normalisation is this of centred rows."""
    rotation, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(7, 7)))
    np.testing.assert_allclose(normalised(rows @ rotation, 0.5), normalised(rows, 0.5) @ rotation, atol=1e-14)
    np.testing.assert_allclose(normalised(3 * rows, 0), normalised(rows, 0), rtol=1e-14)
    square = (rows**2).mean(axis=1, keepdims=True)
    defect = np.sqrt((square + 0.5) / (square + 0.5 / 9))
    np.testing.assert_allclose(normalised(3 * rows, 0.5), defect * normalised(rows, 0.5), rtol=1e-14)
    centred = rows - rows.mean(axis=1, keepdims=True)
    layer_norm = centred / np.sqrt(rows.var(axis=1, keepdims=True) + 0.5)
    np.testing.assert_allclose(normalised(centred, 0.5), layer_norm, rtol=1e-13)


def test_the_jacobian_and_what_it_loses(rows: np.ndarray) -> None:
    """Central differences of NumPy against the formula; with eps = 0 the row itself is lost, and nothing else."""
    row = rows[1]
    for eps, lost in ((0.5, 0), (0.0, 1)):
        shifts = 1e-5 * np.eye(7)
        columns = [(normalised(row[None] + s, eps) - normalised(row[None] - s, eps))[0] / 2e-5 for s in shifts]
        differences, hat = np.stack(columns, axis=1), normalised(row[None], eps)[0]
        formula = (np.eye(7) - np.outer(hat, hat) / 7) / np.sqrt((row**2).mean() + eps)
        np.testing.assert_allclose(differences, formula, atol=1e-8)
        assert (np.linalg.svd(differences, compute_uv=False) < 1e-8).sum() == lost
