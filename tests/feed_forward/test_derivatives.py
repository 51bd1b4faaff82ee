"""The derivatives of the feed-forward network are proved; broken ones are not, and NumPy and mpmath agree with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from mpmath import erf, mpf, pi, sqrt, tanh
from sympy import Basic, Gt, Integer, KroneckerDelta, Lt, Rational

from derivations.activations.gelu import gelu_slope, normal_distribution
from derivations.feed_forward.derivatives import (
    affine_on_a_pattern,
    gelu_derivative,
    gelu_tanh_error,
    hessian,
    jacobian,
    patterns_are_convex,
    t,
)
from derivations.feed_forward.feed_forward import W_1, W_2, G, H, X, b_1, b_2, u, units
from derivations.language.arrays.expression import mask_array
from derivations.language.arrays.functions import Hadamard
from derivations.language.arrays.scalars import Iverson
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_ff, d_model, i, index, k, l, n
from tests.broken import broken_steps, is_refused, with_step
from tests.numbers import value

p = index("p")
on = Iverson(Gt(H[i, u], 0))
s = mask_array("s", d_ff)
NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.feed_forward.derivatives")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all sizes that it leaves open."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


@broken_steps(
    [
        (
            "units that are off",
            jacobian,
            0,
            1,
            units(Iverson(Lt(H[i, u], 0)) * W_1[l, u] * W_2[u, k]) * KroneckerDelta(i, p),
        ),
        ("all units on", jacobian, 0, 3, KroneckerDelta(i, p) * units(W_1[l, u] * W_2[u, k])),
        ("no position", jacobian, 0, 3, units(W_1[l, u] * on * W_2[u, k])),
        ("curvature in every piece", hessian, 0, 0, 1),
        ("the pattern without the pre-activation", affine_on_a_pattern, 0, 0, s[u]),
        ("the units that are off", affine_on_a_pattern, 0, 0, (1 - s[u]) * H[i, u]),
        ("the bias of all units", affine_on_a_pattern, 1, 2, X[i] @ W_1 @ W_2 + (b_1 @ W_2 + b_2)),
        ("all units on", affine_on_a_pattern, 1, 0, (X[i] @ W_1 + b_1) @ W_2 + b_2),
        ("no second bias", affine_on_a_pattern, 1, 0, Hadamard(X[i] @ W_1 + b_1, s) @ W_2),
        ("only the first of two inputs", patterns_are_convex, 0, 0, H[i, u]),
        ("a mixture above 1", patterns_are_convex, 0, 1, 1),
        ("GELU' without the density", gelu_derivative, 0, 1, normal_distribution(t)),
        ("rows that see each other", gelu_derivative, 1, 2, units(W_1[l, u] * gelu_slope(H[i, u]) * W_2[u, k])),
        (
            "the slope of ReLU",
            gelu_derivative,
            1,
            2,
            KroneckerDelta(i, p) * units(W_1[l, u] * on * W_2[u, k]),
        ),
        (
            "GELU in the place of its slope",
            gelu_derivative,
            1,
            2,
            KroneckerDelta(i, p) * units(W_1[l, u] * G[i, u] * W_2[u, k]),
        ),
        ("an error that is too small", gelu_tanh_error, 0, 0, Rational(473, 10**6)),
        ("an error that is not reached", gelu_tanh_error, 1, 0, Rational(474, 10**6)),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


@pytest.mark.slow
def test_kinks_are_left_out() -> None:
    """Without the assumption that no unit is at its kink neither derivative is decided."""
    for right in (jacobian(), hessian()):
        assert judge(replace(right, assumptions=())).level == "unknown"


def test_a_pattern_must_be_that_of_the_input() -> None:
    """For a mask of which nothing is known the affine map is refused; so is a unit that is on at one end alone."""
    assert is_refused(judge(replace(affine_on_a_pattern(), assumptions=())).claims[1][0])
    right = patterns_are_convex()
    assert is_refused(judge(replace(right, assumptions=right.assumptions[1:])).claims[0][1])


def test_the_error_needs_both_tails() -> None:
    """Cut at 2, or without one of the two forms, the supremum is not enclosed."""
    right = gelu_tanh_error()
    _, far, over, under = right.claims[0].steps[0].certificate
    for certificate in ((Integer(2), far, over, under), (Integer(6), far, over), (Integer(6), far, over, over)):
        assert is_refused(with_step(right, 0, 0, certificate=certificate))


def test_the_largest_error_lies_where_it_is_claimed_to_be() -> None:
    """On a grid of mpmath, with the tanh form as the paper writes it."""

    def error(at: mpf) -> mpf:
        exact = at / 2 * (1 + erf(at / sqrt(2)))
        return abs(exact - at / 2 * (1 + tanh(sqrt(2 / pi) * (at + mpf("0.044715") * at**3))))

    grid = [mpf(step) / 100 for step in range(1, 800)]
    worst = max(grid, key=error)
    assert abs(worst - mpf("2.7")) < mpf("0.02")
    assert gelu_tanh_error().claims[1].rhs <= Rational(str(error(worst))) <= gelu_tanh_error().claims[0].rhs


def network(inputs: np.ndarray, first: np.ndarray, one: np.ndarray, second: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The network with ReLU, in NumPy."""
    return np.maximum(0, inputs @ first + one) @ second + two


@pytest.fixture
def weights() -> dict[str, np.ndarray]:
    """Inputs and weights at prime sizes (3 positions, 5 features, 7 hidden units), quarters of integers."""
    rng = np.random.default_rng(11)
    shapes = {"X": (3, 5), "W_1": (5, 7), "b_1": (7,), "W_2": (7, 5), "b_2": (5,)}
    return {name: rng.integers(-15, 15, shape) / 4 + 0.125 for name, shape in shapes.items()}


def test_the_jacobian_is_the_limit_of_differences(weights: dict[str, np.ndarray]) -> None:
    """The derived Jacobian against central differences of NumPy, off the kinks of ReLU."""
    sizes = {n: 3, d_model: 5, d_ff: 7}
    pre = weights["X"] @ weights["W_1"] + weights["b_1"]
    assert np.abs(pre).min() > 0.01
    for row, feature, other, source in ((0, 1, 0, 2), (2, 4, 2, 0), (1, 3, 2, 3)):
        moved = np.zeros((3, 5))
        moved[other, source] = 1e-6
        plus, minus = (network(weights["X"] + s * moved, *list(weights.values())[1:]) for s in (1, -1))
        numbers = {**sizes, i: row, k: feature, p: other, l: source}
        derived = value(jacobian().rhs, numbers, {**weights, "H": pre})
        assert float(derived) == pytest.approx((plus - minus)[row, feature] / 2e-6, abs=1e-6)


def test_the_affine_map_of_a_pattern_is_the_network_nearby(weights: dict[str, np.ndarray]) -> None:
    """The map through the units that are on agrees with the network as long as the pattern does, and not beyond."""
    X, W_1, b_1, W_2, b_2 = weights.values()
    pattern = (X[0] @ W_1 + b_1) > 0
    matrix, offset = (W_1 * pattern) @ W_2, (b_1 * pattern) @ W_2 + b_2
    near, far = X[0] + 1e-3, -X[0]
    assert ((near @ W_1 + b_1 > 0) == pattern).all()
    assert ((far @ W_1 + b_1 > 0) != pattern).any()
    np.testing.assert_allclose(network(near, W_1, b_1, W_2, b_2), near @ matrix + offset, rtol=1e-12)
    assert np.abs(network(far, W_1, b_1, W_2, b_2) - (far @ matrix + offset)).max() > 1
