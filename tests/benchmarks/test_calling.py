"""The NumPy calls that a layer makes: all of them, in their order, on its own arrays."""

import numpy as np

from derivations.transformer.encoder import encoder, encoder_layer
from docs.performance_tables import calling
from numeric.optimize.prepare import prepare
from numeric.runtime import tiles
from tests.benchmarks.calling import BY_HAND, OURS, THE_CALLS, TINY, numpy_calls
from tests.benchmarks.encoder_peers import random_input, random_weights


def test_the_calls_alone_compute_what_the_layer_computes() -> None:
    layer, X = prepare(encoder_layer(biases=True), random_weights(TINY)), random_input(TINY)
    expected, calls = layer(X), numpy_calls(layer, X)
    *_, last = [call() for call in calls]
    assert np.array_equal(last.reshape(expected.shape), expected)
    without = [call for call in calls if call.func is not np.divide]
    *_, other = [call() for call in without]
    assert not np.allclose(other.reshape(expected.shape), expected)


def test_every_layer_of_a_stack_adds_its_calls_and_numpy_is_itself_again() -> None:
    X = random_input(TINY)
    counts = []
    for depth in (1, 2, 3):
        layer = prepare(encoder(biases=True), {"layers": [random_weights(TINY, seed) for seed in range(depth)]})
        counts.append(len(numpy_calls(layer, X)))
        assert layer.code.function.__globals__["np"] is np
        assert vars(tiles)["np"] is np
    assert counts == [counts[0], 2 * counts[0], 3 * counts[0]]


def test_the_overhead_is_the_difference_within_each_round() -> None:
    seconds = {OURS: [60e-6, 90e-6, 61e-6], THE_CALLS: [45e-6, 76e-6, 45e-6], BY_HAND: [50e-6] * 3}
    table = calling([{"place": "in a stack", "caches": "hot", "seconds": seconds}])
    assert (
        "| in a stack, hot | 61.0 (60.5 - 75.5) | 45.0 (45.0 - 60.5) | 50.0 (50.0 - 50.0) | 15.0 (14.5 - 15.5) |"
        in table
    )


def test_what_is_not_measured_is_said() -> None:
    assert "Not measured yet" in calling([])
