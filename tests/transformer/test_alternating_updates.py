"""Streams and branches beside a layer: broken statements are refused; layers outside of the catalogue against loops."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sympy import Basic, Max

from derivations.feed_forward.sparse_gate import sparse_gate_costs, sparse_gate_scale, sparse_gated_feed_forward
from derivations.language.cross_check import cross_check
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.symbols import d_ff, d_model, n, scalar
from derivations.transformer.alternating_updates import (
    S,
    active_stream,
    corrected_streams,
    joined_streams,
    new_streams,
    predicted_streams,
    stream_costs,
)
from derivations.transformer.augmented_residual import low_rank_branch, r_A
from numeric import compile_layer
from numeric.verification import reference
from tests.broken import broken_steps, is_refused, with_step

OF_STREAMS = ["residual.active_stream", "residual.stream_costs", "residual.low_rank_branch"]
OF_GATES = ["feed_forward.sparse_gate_scale", "feed_forward.sparse_gate_costs"]
a, x, mu, tau = scalar("a", positive=True), scalar("x"), scalar("mu"), scalar("tau", positive=True)
sigma = scalar("sigma", positive=True)
WRONG = [
    ("the prediction", active_stream, 0, 0, 0),
    ("parameters of one map", stream_costs, 1, 0, S**2),
    ("products of one stream", stream_costs, 3, 0, 2 * n * S**2 + 2 * n * S * d_model),
    ("a full map", low_rank_branch, 1, 0, r_A * d_model + d_model),
    ("the same units as far", sparse_gate_scale, 0, 0, Max(0, x - mu - tau * sigma)),
    ("units below the mean", sparse_gate_scale, 0, 0, a * Max(0, mu - x - tau * sigma)),
    ("products that are skipped", sparse_gate_costs, 1, 0, 4 * n * d_model * d_ff),
]


@pytest.mark.parametrize("name", OF_STREAMS + OF_GATES)
def test_every_result_is_proved_and_the_cross_check_agrees(name: str) -> None:
    assert judge(RESULTS[name]()).level == "proved"
    assert cross_check(RESULTS[name]()).outcome in ("agrees", "not applicable")


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def drawn(*shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape) for shape in shapes]


OUTSIDE: dict[str, tuple[Layer, dict[str, Any]]] = {
    "new_streams": (new_streams(), dict(zip(("Z", "W"), drawn((5, 7), (2, 7, 7)), strict=True))),
    "joined_streams": (joined_streams(), dict(zip(("X", "W"), drawn((5, 21), (2, 7, 7)), strict=True))),
    "sparse_gated_feed_forward": (
        sparse_gated_feed_forward(),
        dict(zip(("X", "W_gate", "W_up", "W_down"), drawn((5, 7), (7, 11), (7, 11), (11, 7)), strict=True))
        | {"tau": 0.5},
    ),
}


def called(layer: Layer, arguments: dict[str, Any]) -> Any:
    """Return the value of the compiled layer; sizes that no shape tells are of three streams of 7 columns."""
    compiled = compile_layer(layer)
    return compiled(**arguments, **{size.name: {"S": 3, "d_model": 7}[size.name] for size in compiled.sizes})


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_layer_outside_of_the_catalogue_is_its_loops(name: str) -> None:
    layer, arguments = OUTSIDE[name]
    wanted = np.array(getattr(reference, name)(**arguments), float)
    np.testing.assert_allclose(called(layer, arguments), wanted, rtol=1e-13, atol=1e-13)


def test_without_maps_all_streams_move_as_the_active_one() -> None:
    """Predictions of nothing keep the streams, corrections of nothing add what the active one misses."""
    X, Z, R = drawn((5, 21), (5, 7), (5, 3))
    kept = compile_layer(predicted_streams())(X, R, W_P=np.zeros((3, 3, 3)), d_model=7)
    np.testing.assert_array_equal(kept, X)
    moved = compile_layer(corrected_streams())(X, Z, R, W_K=np.zeros((3, 3)))
    np.testing.assert_allclose(moved - X, np.tile(Z - X[:, :7], 3), atol=1e-14)
    np.testing.assert_allclose(moved[:, :7], Z, atol=1e-14)


def test_new_streams_are_as_large_as_the_rows() -> None:
    layer, arguments = OUTSIDE["new_streams"]
    streams = called(layer, arguments).reshape(5, 3, 7)
    sizes = (streams**2).mean(axis=-1)
    np.testing.assert_allclose(sizes, np.broadcast_to(sizes[:, :1], (5, 3)), rtol=1e-13)
