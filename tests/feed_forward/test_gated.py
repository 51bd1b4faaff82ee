"""The results about gated networks are proved; broken ones are not, and NumPy loops agree with the layers."""

import math
from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from sympy import Basic, KroneckerDelta

from derivations.activations.sigmoid import sigmoid, silu
from derivations.feed_forward.feed_forward import feed_forward
from derivations.feed_forward.gated import (
    GATES,
    SHAZEER,
    G,
    P,
    U,
    W_down,
    W_gate,
    W_up,
    X,
    Y,
    act,
    bilinear_is_quadratic,
    gated_feed_forward,
    gated_hidden_permutation,
    gated_position_wise,
    gated_scale_symmetry,
    gated_variants,
    reglu_of_equal_weights,
    swiglu,
    swiglu_jacobian,
    swiglu_parameter_match,
    swiglu_parameters,
    u,
    units,
)
from derivations.language.arrays.functions import Hadamard, relu, square
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import batch, d_ff, d_model, i, index, k, l, n, scalar
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

p, a = index("p"), scalar("a")
s = sigmoid.formula(P[i, u])
NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.feed_forward.gated")


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    """Each result of the module holds for all sizes that it leaves open."""
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == ("definition" if name == "feed_forward.gated_variants" else "proved")


@broken_steps(
    [
        ("the gate on the other projection", swiglu, 0, 0, Hadamard(X @ W_gate, silu(X @ W_up)) @ W_down),
        ("the gate without its factor", swiglu, 3, 0, s * U[i, u]),
        ("the activation after the product", swiglu, 3, 0, silu.formula(P[i, u] * U[i, u])),
        ("no second projection", swiglu, 4, 1, units(P[i, u] * s * W_down[u, k])),
        ("GEGLU in the place of ReGLU", gated_variants, 2, 0, gated_feed_forward(GATES["GEGLU"]).result(X)[i, k]),
        ("SwiGLU in the place of GLU", gated_variants, 0, 0, gated_feed_forward(silu).result(X)[i, k]),
        ("another row", gated_position_wise, 0, 1, Hadamard(act(X[0] @ W_gate), X[i] @ W_up) @ W_down),
        ("rows that see each other", swiglu_jacobian, 0, 2, units((s * W_up[l, u]) * W_down[u, k])),
        (
            "the way through the gate alone",
            swiglu_jacobian,
            0,
            2,
            KroneckerDelta(i, p) * units((s + P[i, u] * s * (1 - s)) * U[i, u] * W_gate[l, u] * W_down[u, k]),
        ),
        (
            "the way through the gate lost",
            swiglu_jacobian,
            0,
            2,
            KroneckerDelta(i, p) * units(P[i, u] * s * W_up[l, u]),
        ),
        ("the gate and the rest exchanged", gated_hidden_permutation, 0, 0, Hadamard(P, act(U)) @ W_down),
        ("a factor in one place", gated_scale_symmetry, 0, 0, 2 * Y),
        ("a quadratic form in one row of weights", bilinear_is_quadratic, 0, 1, units(P[i, u] * W_down[u, k])),
        ("linear in spite of two factors", bilinear_is_quadratic, 1, 0, a * Y),
        ("the square before ReLU", reglu_of_equal_weights, 0, 0, relu(square(X @ W_gate)) @ W_down),
        ("ReLU without the square", reglu_of_equal_weights, 0, 1, relu(X @ W_gate) @ W_down),
        ("two matrices counted", swiglu_parameters, 0, 0, 2 * d_model * d_ff),
        ("multiply-adds as FLOPs", swiglu_parameters, 1, 0, 3 * batch * n * d_model * d_ff),
        ("the width of the network with two matrices", swiglu_parameter_match, 0, 0, 12 * d_model**2),
        ("as wide as two matrices", swiglu_parameter_match, 0, 1, 3 * d_model * 4 * d_model),
        ("a third matrix for two", swiglu_parameter_match, 1, 0, 12 * d_model**2),
        ("half of the FLOPs", swiglu_parameter_match, 2, 0, 8 * n * d_model**2),
    ]
)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    """The judge says no to the step that is broken."""
    assert is_refused(with_step(result(), claim, step, wrong))


def test_a_factor_of_0_cannot_be_divided_out() -> None:
    """The scale symmetry needs factors other than 0, the permutation a bijection."""
    assert judge(replace(gated_scale_symmetry(), assumptions=())).level == "unknown"
    assert judge(replace(gated_hidden_permutation(), bijections=())).level == "unknown"


def test_the_gate_itself_has_no_scale_symmetry() -> None:
    """SiLU does not let a factor through: moved from W_gate to W_down it changes the network."""
    moved = gated_feed_forward().result(X, W_gate=2 * W_gate, W_down=W_down / 2)
    right = swiglu()
    broken = replace(right, claims=(replace(right.claims[0], lhs=moved, steps=right.claims[0].steps[:1]),))
    assert is_refused(judge(broken).claims[0][0])


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "GLU": lambda x: 1 / (1 + math.exp(-x)),
    "bilinear": lambda x: x,
    "ReGLU": lambda x: max(x, 0.0),
    "GEGLU": lambda x: x * NormalDist().cdf(x),
    "SwiGLU": lambda x: x / (1 + math.exp(-x)),
}


@pytest.mark.parametrize("gate", sorted(GATES))
def test_the_compiled_layer_is_the_loop(gate: str) -> None:
    """At prime sizes, with a batch axis, against the sums written out with activations of the standard library."""
    rng = np.random.default_rng(7)
    shapes = {"X": (2, 3, 5), "W_gate": (5, 7), "W_up": (5, 7), "W_down": (7, 5)}
    data = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    expected = np.zeros((2, 3, 5))
    for e, row, unit in np.ndindex(2, 3, 7):
        decides, passes = (
            sum(data["X"][e, row, c] * data[name][c, unit] for c in range(5)) for name in ("W_gate", "W_up")
        )
        for out in range(5):
            expected[e, row, out] += ACTIVATIONS[gate](float(decides)) * passes * data["W_down"][unit, out]
    result = compile_layer(gated_feed_forward(GATES[gate]))(*data.values())
    np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-12)


def test_the_counts_are_those_of_arrays() -> None:
    """Parameters by allocation: d_model = 3 gives 8 hidden units where the network with two matrices has 12."""
    gated = gated_feed_forward().at(d_model=3, d_ff=8)
    plain = feed_forward(biases=False).at(d_model=3, d_ff=12)
    sizes = [sum(math.prod(map(int, v.shape)) for v in layer.parameters) for layer in (gated, plain)]
    assert sizes == [72, 72]
    assert swiglu_parameter_match().claims[1].rhs.subs(d_model, 3) == 72


def test_the_gates_are_those_of_the_paper() -> None:
    assert SHAZEER.startswith("Shazeer (2020)")
    assert sorted(GATES) == ["GEGLU", "GLU", "ReGLU", "SwiGLU", "bilinear"]
    assert G.shape == (n, d_ff)
