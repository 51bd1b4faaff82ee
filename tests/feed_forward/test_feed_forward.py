"""The results about the feed-forward network are proved; broken ones are not, and NumPy agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, Eq, Gt, KroneckerDelta, Max, Min

from derivations.feed_forward.feed_forward import (
    W_1,
    W_2,
    G,
    H,
    X,
    Y,
    act,
    b_1,
    b_2,
    column_form,
    column_form_512,
    definition,
    hidden,
    is_convolution,
    key_value_memory,
    key_value_memory_without_biases,
    permutation_equivariance,
    position_wise,
    positions_do_not_interact,
    u,
    units,
    with_gelu,
    with_relu,
    without_activation_is_affine,
)
from derivations.language.arrays.expression import array
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_ff, d_model, i, index, k, n
from tests.broken import broken_steps, is_refused, with_step

p = index("p")
x = array("x", d_model)
on = Iverson(Gt(H[i, u], 0))
NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.feed_forward.feed_forward")
DEFINITIONS = {f"feed_forward.{name}" for name in ("definition", "with_relu", "with_gelu")}


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all sizes that it leaves open."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name in DEFINITIONS else "proved")


@broken_steps(
    [
        ("no second bias", definition, 2, 0, G @ W_2),
        ("no activation", definition, 1, 0, H),
        ("the minimum instead of the maximum", with_relu, 0, 0, Min(0, H[i, u])),
        ("ReLU without the bias", with_relu, 0, 1, Max(0, hidden(u) - b_1[u])),
        ("one hidden unit too few", with_relu, 1, 0, units(G[i, u] * W_2[u, k]) - G[i, 0] * W_2[0, k] + b_2[k]),
        ("GELU without the distribution", with_gelu, 0, 0, H[i, u]),
        ("another row of H", position_wise, 0, 2, act(H[0]) @ W_2 + b_2),
        ("the activation of the output", position_wise, 0, 3, act(act(X[i] @ W_1 + b_1) @ W_2 + b_2)),
        ("no first bias", position_wise, 0, 3, act(X[i] @ W_1) @ W_2 + b_2),
        ("positions that interact", positions_do_not_interact, 0, 1, 1 - KroneckerDelta(i, p)),
        ("the row where it was", permutation_equivariance, 0, 1, Y[i]),
        ("the weights in the wrong order", column_form, 0, 1, W_2.T @ act(W_1.T @ x) + b_2),
        ("the condition of the transpose", column_form, 1, 0, Eq(d_ff, n)),
        ("W_1 (512, 2048) on a column of width 512", column_form_512, 0, 0, Eq(512, 512, evaluate=False)),
        ("a convolution without its bias", is_convolution, 0, 0, X @ W_1),
        ("the second kernel without the activation", is_convolution, 2, 0, H @ W_2 + b_2),
        ("a value weighed by its key", key_value_memory, 0, 0, units(G[i, u] * W_1[k, u]) + b_2[k]),
        (
            "a match without the bias",
            key_value_memory,
            0,
            1,
            units(act.formula(hidden(u) - b_1[u]) * W_2[u, k]) + b_2[k],
        ),
        ("a match with a bias", key_value_memory_without_biases, 0, 1, units(act.formula(hidden(u)) * W_2[u, k])),
        ("no W_2 after b_1", without_activation_is_affine, 0, 1, X @ W_1 @ W_2 + b_2),
        ("a rank one lower", without_activation_is_affine, 1, 0, d_ff - 1),
        ("a rank at most n", without_activation_is_affine, 2, 0, n),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_permutations_need_a_bijection() -> None:
    """Without the statement that sigma is a bijection its values are not known to be positions."""
    assert judge(replace(permutation_equivariance(), bijections=())).level == "unknown"


def network(inputs: np.ndarray, first: np.ndarray, one: np.ndarray, second: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The network with ReLU, in NumPy."""
    return np.maximum(0, inputs @ first + one) @ second + two


@pytest.fixture
def weights() -> dict[str, np.ndarray]:
    """Inputs and weights at prime sizes (3 positions, 5 features, 7 hidden units), quarters of integers."""
    rng = np.random.default_rng(11)
    shapes = {"X": (3, 5), "W_1": (5, 7), "b_1": (7,), "W_2": (7, 5), "b_2": (5,)}
    return {name: rng.integers(-15, 15, shape) / 4 + 0.125 for name, shape in shapes.items()}


def test_the_memory_sum_is_the_network(weights: dict[str, np.ndarray]) -> None:
    """Keys, matches and values, one hidden unit at a time, in NumPy."""
    total = np.zeros((3, 5)) + weights["b_2"]
    for unit in range(7):
        match = weights["X"] @ weights["W_1"][:, unit] + weights["b_1"][unit]
        total += np.outer(np.maximum(0, match), weights["W_2"][unit])
    np.testing.assert_allclose(total, network(*weights.values()), atol=1e-12)


def test_without_activation_the_rank_is_bounded(weights: dict[str, np.ndarray]) -> None:
    """Two hidden units: the product of the matrices has rank 2, not 5."""
    product = weights["W_1"][:, :2] @ weights["W_2"][:2]
    assert np.linalg.matrix_rank(product) == 2
