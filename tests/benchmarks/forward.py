"""Forward pass of one encoder layer, float32: ours against textbook NumPy, NumPy tuned by hand, PyTorch and JAX."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from derivations.transformer.encoder import encoder_layer
from numeric.optimize.prepare import prepare
from tests.benchmarks.encoder_frameworks import jax_forward, torch_forward
from tests.benchmarks.encoder_peers import (
    SHAPES,
    EncoderShape,
    products,
    random_input,
    random_weights,
    textbook,
    tuned,
)
from tests.benchmarks.race import race
from tests.benchmarks.timing import Contestant
from tests.benchmarks.verdicts import OURS, SHOWN

__all__ = ["measured"]


def measured(rounds: int, shapes: Sequence[EncoderShape] = SHAPES) -> list[dict[str, Any]]:
    """Return the race at every shape; results are compared with the textbook's in float64.

    Raises       Disagreement where a contestant's result differs by more than rounding
    """
    return [_at(shape, rounds) for shape in shapes]


def _at(shape: EncoderShape, rounds: int) -> dict[str, Any]:
    weights, X = random_weights(shape), random_input(shape)
    ours, by_textbook, by_hand = prepare(encoder_layer(biases=True), weights), textbook(weights), tuned(weights)
    contestants = [
        Contestant("products alone", products(shape), SHOWN),
        Contestant("textbook NumPy", lambda: by_textbook(X)),
        Contestant("NumPy tuned by hand", lambda: by_hand(X)),
        Contestant("torch eager", torch_forward(weights, X, fast=False)),
        Contestant("torch eager, fast path", torch_forward(weights, X, fast=True)),
        Contestant("jax.jit", jax_forward(weights, X)),
        Contestant("ours", lambda: ours(X), OURS),
    ]
    return race(str(shape), contestants, rounds, expected=textbook(weights, np.float64)(X.astype(np.float64)))
