"""The results about cross-entropy are proved; broken ones are not; the layers are what the definition says."""

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from sympy import Basic, log

from derivations.language.arrays.expression import array
from derivations.language.arrays.shapes import ShapeError
from derivations.language.judge.proof import judge
from derivations.language.layers.layer import Layer
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.softmax.cross_entropy import (
    cross_entropy,
    cross_entropy_gradient,
    cross_entropy_least,
    cross_entropy_mean_gradient,
    entropy_gradient,
    t,
)
from derivations.softmax.softmax import total, x, y
from derivations.symbols import i, j, k, n, vocab
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, with_step

NAMES = sorted(name for name, build in RESULTS.items() if build.__module__ == "derivations.softmax.cross_entropy")
P, T = array("P", n, vocab), array("T", n, vocab)


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


WRONG = [
    ("a loss without its logarithm", cross_entropy_gradient, 0, 0, -total(t[j] * x[j])),
    ("the wrong sign", cross_entropy_gradient, 1, 1, t[k] - y[k]),
    ("targets that do not count", cross_entropy_gradient, 1, 1, y[k]),
    ("targets that scale", cross_entropy_gradient, 1, 1, t[k] * (y[k] - 1)),
    ("a mean that is a sum", cross_entropy_mean_gradient, 0, 1, P[i, k] - T[i, k]),
    ("a mean over the vocabulary", cross_entropy_mean_gradient, 0, 1, (P[i, k] - T[i, k]) / vocab),
    ("an entropy that rises", entropy_gradient, 0, 1, y[k] * (log(y[k]) - total(y[j] * log(y[j])))),
    ("an entropy without its mean", entropy_gradient, 0, 1, -y[k] * log(y[k])),
    ("a bound by 1 more than the entropy", cross_entropy_least, 0, 0, 1 - total(t[j] * log(t[j]))),
    ("a bound by the entropy of the prediction", cross_entropy_least, 0, 0, -total(y[j] * log(y[j]))),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def test_targets_must_add_up_to_1() -> None:
    """With weights that add up to s the gradient is s y - t."""
    assert is_refused(judge(replace(cross_entropy_gradient(), assumptions=())).claims[1][1])
    assert is_refused(judge(replace(cross_entropy_mean_gradient(), assumptions=())).claims[0][1])


# --- the layers -----------------------------------------------------------------------------------------------------


def logits(rows: int, columns: int) -> np.ndarray:
    source = Random(rows * columns)
    return np.array([[source.uniform(-4, 4) for _ in range(columns)] for _ in range(rows)])


def plain_losses(rows: np.ndarray) -> list[list[float]]:
    """Minus log softmax of every entry, by loops."""
    return [[math.log(sum(math.exp(value) for value in row)) - one for one in row] for row in rows.tolist()]


def test_the_compiled_losses_are_the_plain_loops() -> None:
    X, chosen = logits(5, 7), [0, 6, 2, 2, 5]
    losses = plain_losses(X)
    hard = sum(losses[row][token] for row, token in enumerate(chosen)) / 5
    assert float(compile_layer(cross_entropy())(X, np.array(chosen))) == pytest.approx(hard, rel=1e-13)
    targets = np.abs(logits(7, 5)).T
    targets /= targets.sum(axis=1, keepdims=True)
    soft = sum(targets[row, token] * losses[row][token] for row in range(5) for token in range(7)) / 5
    assert float(compile_layer(cross_entropy(soft=True))(X, targets)) == pytest.approx(soft, rel=1e-13)


def test_large_logits_overflow_nothing() -> None:
    X = np.array([[1000.0, 0.0, -1000.0], [-1000.0, -1001.0, -1002.0]])
    found = float(compile_layer(cross_entropy())(X, np.array([0, 1])))
    rest = 1 + math.log(1 + math.exp(-1) + math.exp(-2))
    assert found == pytest.approx(rest / 2, rel=1e-12)


@pytest.mark.parametrize("layer", [cross_entropy(), cross_entropy(soft=True)], ids=str)
def test_the_loss_is_a_scalar(layer: Layer) -> None:
    assert layer.output.shape == ()
    assert layer.shapes["X"] == (n, vocab)


def test_targets_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError):
        cross_entropy(soft=True).result(array("X", n, vocab), array("T", vocab, n))
