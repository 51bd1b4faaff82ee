"""Training step of one encoder layer, float32: forward and derived gradient against PyTorch's forward and backward."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from derivations.transformer.encoder import encoder_layer
from numeric.optimize.prepare import prepare_gradient
from tests.benchmarks.encoder_frameworks import away_from_kinks, jax_training_step, torch_training_step
from tests.benchmarks.encoder_peers import SHAPES, EncoderShape, random_input, random_weights
from tests.benchmarks.race import race
from tests.benchmarks.timing import Contestant
from tests.benchmarks.verdicts import OURS, SHOWN

__all__ = ["measured"]


def measured(rounds: int, shapes: Sequence[EncoderShape] = SHAPES[:3]) -> list[dict[str, Any]]:
    """Return the race at every shape; all gradients are compared with PyTorch's in float64.

    Raises       Disagreement where a contestant's gradients differ by more than rounding
    """
    return [_at(shape, rounds) for shape in shapes]


def _at(shape: EncoderShape, rounds: int) -> dict[str, Any]:
    X, dZ = random_input(shape), random_input(shape, seed=3)
    weights = away_from_kinks(random_weights(shape), X)
    step = prepare_gradient(encoder_layer(biases=True), weights)
    contestants = [
        Contestant("torch eager", torch_training_step(weights, X, dZ)),
        Contestant("jax.jit", jax_training_step(weights, X, dZ), SHOWN),
        Contestant("ours", lambda: step(X, dZ)[1:], OURS),
    ]
    exact = torch_training_step(weights, X.astype(np.float64), dZ.astype(np.float64))()
    return race(str(shape), contestants, rounds, expected=exact())
