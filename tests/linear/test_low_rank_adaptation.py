"""The results about low-rank adaptation are proved; broken ones are not, and NumPy loops agree with the layer."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta

from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.linear import linear
from derivations.linear.low_rank_adaptation import (
    A,
    B,
    W,
    X,
    Z,
    alpha,
    b,
    definition,
    low_rank_adaptation,
    merges,
    parameters,
    r,
    starts_unchanged,
)
from derivations.symbols import d_in, d_out, i, index, j, k, l
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step

p = index("p")


@pytest.mark.parametrize("name", of_topic("low_rank_adaptation"))
def test_every_result_is_proved(name: str) -> None:
    """Each result of the topic holds for all sizes."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "low_rank_adaptation.definition" else "proved")


@broken_steps(
    [
        ("without the scale", definition, 0, 0, X @ W + b + X @ A @ B),
        ("without the bias", merges, 0, 0, X @ W + alpha / r * (X @ A @ B)),
        ("merged without the scale", merges, 0, 2, linear().result(X, W=W + A @ B)),
        ("merged with the inverse scale", merges, 0, 2, linear().result(X, W=W + r / alpha * (A @ B))),
        ("a rank one lower", merges, 1, 0, r - 1),
        ("unchanged up to the bias", starts_unchanged, 0, 0, X @ W),
        ("no scale in the gradient of A", starts_unchanged, 1, 0, X[i, k] * B[p, j]),
        ("a gradient of A at the start", starts_unchanged, 1, 1, 1),
        ("no scale in the gradient of B", starts_unchanged, 2, 1, Z[i, p] * KroneckerDelta(j, l)),
        ("all outputs in the gradient of B", starts_unchanged, 2, 1, alpha / r * Z[i, p]),
        ("the product of the widths", parameters, 0, 1, r * d_in * d_out),
        ("one matrix counted", parameters, 0, 0, r * d_in),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_the_compiled_layer_is_the_loop() -> None:
    """At prime sizes, against the sums written out, and against one matrix of rank 2."""
    rng = np.random.default_rng(3)
    shapes = {"X": (2, 3, 5), "W": (5, 7), "b": (7,), "A": (5, 2), "B": (2, 7)}
    data = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    result = compile_layer(low_rank_adaptation())(*data.values(), alpha=3.0)
    expected = np.zeros((2, 3, 7))
    for e, row, out in np.ndindex(2, 3, 7):
        x = data["X"][e, row]
        change = sum(x[c] * data["A"][c, s] * data["B"][s, out] for c in range(5) for s in range(2))
        expected[e, row, out] = data["b"][out] + sum(x[c] * data["W"][c, out] for c in range(5)) + 3.0 / 2 * change
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    merged = data["W"] + 1.5 * data["A"] @ data["B"]
    np.testing.assert_allclose(result, data["X"] @ merged + data["b"], rtol=1e-12)
    assert np.linalg.matrix_rank(merged - data["W"]) == 2
