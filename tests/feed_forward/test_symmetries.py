"""The symmetries of the feed-forward network are proved; false ones are not, and NumPy agrees with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sympy import Basic, exp

from derivations.feed_forward.feed_forward import W_1, W_2, X, Y, act, b_1, b_2, feed_forward
from derivations.feed_forward.symmetries import (
    c,
    copied_units,
    hidden_permutation,
    network,
    positive_homogeneity,
    relu_scale_symmetry,
    sign_symmetry,
    tensor_parallel,
)
from derivations.language.arrays.arrangements import SumOver
from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import gelu, relu
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_ff, d_model, h, i, k, l, scalar
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

t, alpha = scalar("t"), scalar("alpha", positive=True)
first, bias, second = array("W_1", h, d_model, d_ff), array("b_1", h, d_ff), array("W_2", h, d_ff, d_model)
NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.feed_forward.symmetries")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all sizes and weights."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        ("no second bias", hidden_permutation, 0, 0, act(X @ W_1 + b_1) @ W_2),
        ("ReLU that keeps a factor out", relu_scale_symmetry, 0, 0, relu.formula(t)),
        ("a network that grows", relu_scale_symmetry, 1, 0, alpha * Y),
        ("all outputs with the bias once more", relu_scale_symmetry, 2, 0, Y + b_2),
        ("a network that changes its sign", sign_symmetry, 0, 0, -Y),
        ("a network that loses its sign", sign_symmetry, 0, 0, Y + 2 * b_2),
        ("a square of the factor", positive_homogeneity, 0, 0, alpha**2 * Y),
        ("copies that add up", copied_units, 0, 0, 2 * Y),
        ("a bias for every block", tensor_parallel, 0, 0, SumOver(act(X @ first[i] + bias[i]) @ second[i] + b_2, i, h)),
        ("the first block alone", tensor_parallel, 0, 0, act(X @ first[0] + bias[0]) @ second[0] + b_2),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def broken(right: Derivation, lhs: Basic, claim: int = 0) -> Derivation:
    """The derivation of one claim alone, with another left-hand side."""
    return replace(right, claims=(replace(right.claims[claim], lhs=lhs),))


def test_symmetries_of_other_networks_are_refused() -> None:
    """GELU has no scale symmetry and no sign symmetry, ReLU none of sign; weights out must move with the units."""
    gelu_network = replace(relu_scale_symmetry(), definitions=feed_forward(gelu).equations)
    scaled = {"W_1": 2 * W_1, "b_1": 2 * b_1, "W_2": W_2 / 2}
    assert is_refused(judge(broken(gelu_network, feed_forward(gelu).result(X, **scaled), 1)).claims[0][0])
    signs = {"W_1": -W_1, "b_1": -b_1, "W_2": -W_2}
    assert is_refused(judge(broken(relu_scale_symmetry(), feed_forward().result(X, **signs), 1)).claims[0][0])
    unmoved = network(relu, exp(c[0]) * W_1[l, 0], b_1[0], W_2[0, k])
    assert is_refused(judge(broken(relu_scale_symmetry(), unmoved, 1)).claims[0][0])


def test_a_bias_has_a_scale_of_its_own() -> None:
    """Scaled weights with the bias left as it was are another network, and so is a scaled input with biases."""
    half = feed_forward().result(X, W_1=alpha * W_1, W_2=W_2 / alpha)
    assert is_refused(judge(broken(relu_scale_symmetry(), half, 1)).claims[0][0])
    with_biases = replace(positive_homogeneity(), definitions=feed_forward().equations)
    assert is_refused(judge(broken(with_biases, feed_forward().result(alpha * X))).claims[0][0])


def test_a_factor_of_any_sign_is_no_symmetry() -> None:
    """With a factor that may be negative ReLU lets nothing through."""
    a = scalar("a")
    assert is_refused(with_step(broken(relu_scale_symmetry(), relu.formula(a * t)), 0, 0, a * relu.formula(t)))


def test_permutations_need_a_bijection() -> None:
    """Without the statement that sigma is a bijection a unit may be counted twice."""
    assert judge(replace(hidden_permutation(), bijections=())).level == "unknown"


def test_numpy_agrees() -> None:
    """Permuted, scaled, copied and split networks at prime sizes, against the compiled network."""
    rng = np.random.default_rng(13)
    inputs, W, one, V, two = (rng.normal(size=size) for size in ((3, 5), (5, 7), (7,), (7, 5), (5,)))
    run = compile_layer(feed_forward())
    right = run(inputs, W, one, V, two)
    order, factor = rng.permutation(7), np.exp(rng.normal(size=7))
    copies = np.tile(W, 2), np.tile(one, 2), np.tile(V.T / 2, 2).T
    np.testing.assert_allclose(run(inputs, W[:, order], one[order], V[order], two), right, rtol=1e-10)
    np.testing.assert_allclose(run(inputs, W * factor, one * factor, V / factor[:, None], two), right, rtol=1e-10)
    np.testing.assert_allclose(run(inputs, *copies, two), right, rtol=1e-10)
    parts = [run(inputs, W[:, cut], one[cut], V[cut], 0 * two) for cut in (slice(0, 3), slice(3, 7))]
    np.testing.assert_allclose(sum(parts) + two, right, rtol=1e-10)
    plain = compile_layer(feed_forward(biases=False))
    np.testing.assert_allclose(plain(3 * inputs, W, V), 3 * plain(inputs, W, V), rtol=1e-12)
    assert np.abs(plain(-3 * inputs, W, V) + 3 * plain(inputs, W, V)).max() > 1
