"""Convolution: broken statements are refused, and sliding a kernel in loops agrees with the product of windows."""

from collections.abc import Callable

import numpy as np
import pytest
from sympy import Basic, Expr, KroneckerDelta, Sum

from derivations.language.arrays.expression import array
from derivations.language.judge.proof import judge
from derivations.language.results.derivation import RESULTS, Derivation
from derivations.linear.convolution import (
    K,
    W,
    X,
    b,
    convolution,
    convolution_layer,
    jacobian,
    kernel_one,
    parameters,
    product_of_windows,
    receptive_field,
    receptive_field_of_two,
    t,
    translation_equivariance,
    width,
)
from derivations.symbols import d_in, d_out, i, index, k, l, n
from numeric import compile_layer
from tests.broken import broken_steps, is_refused, of_topic, with_step


@pytest.mark.parametrize("name", of_topic("convolution"))
def test_every_result_is_proved(name: str) -> None:
    evidence = judge(RESULTS[name]())
    assert not evidence.failures
    assert evidence.level == "proved"


s = index("s")
HERE = convolution(X, K, b)
BETWEEN, SECOND, c = array("H", n - width + 1, d_out), array("L", width, d_out, d_out), array("c", d_out)


def slices(place: Expr, slice_of: Expr) -> Expr:
    """The slice of the kernel at position s, when the slice number t lies at the given place."""
    return Sum(KroneckerDelta(place, s) * K[slice_of, k, l], (t, 0, width - 1))


WRONG = [
    ("the bias dropped", kernel_one, 0, 0, X @ W),
    ("the row after", kernel_one, 1, 0, X[i + 1] @ W + b),
    ("the bias twice", product_of_windows, 0, 0, HERE + b),
    ("the kernel read backwards", jacobian, 0, 0, slices(i + t, width - 1 - t)),
    ("a window that starts after i", jacobian, 0, 0, slices(i + t + 1, t)),
    ("another filter", receptive_field, 0, 0, HERE.entry(i, 0)),
    ("the output at position 0", receptive_field_of_two, 0, 0, convolution(BETWEEN, SECOND, c).entry(0, l)),
    ("no move", translation_equivariance, 0, 0, convolution(array("X", n + 1, d_in), K, b).entry(i, l)),
    ("the bias not counted", parameters, 0, 0, width * d_in * d_out),
]


@broken_steps(WRONG)
def test_a_broken_step_is_refused(result: Callable[[], Derivation], claim: int, step: int, wrong: Basic) -> None:
    assert is_refused(with_step(result(), claim, step, wrong))


def slid(sequence: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The convolution in loops, from its definition."""
    span, channels, filters = kernel.shape
    output = np.zeros((len(sequence) - span + 1, filters))
    for row in range(len(output)):
        for column in range(filters):
            output[row, column] = bias[column] + sum(
                sequence[row + at, channel] * kernel[at, channel, column]
                for at in range(span)
                for channel in range(channels)
            )
    return output


RANDOM = np.random.default_rng(41)
SEQUENCE, KERNEL, BIAS = RANDOM.normal(size=(11, 2)), RANDOM.normal(size=(3, 2, 5)), RANDOM.normal(size=5)


def test_the_layer_is_the_kernel_slid_along() -> None:
    both = np.array([SEQUENCE, SEQUENCE[::-1]])
    output = compile_layer(convolution_layer())(both, W=KERNEL.reshape(6, 5), b=BIAS, w=3)
    for rows, of_rows in zip(both, output, strict=True):
        np.testing.assert_allclose(of_rows, slid(rows, KERNEL, BIAS), rtol=1e-12)


def test_two_convolutions_see_five_positions() -> None:
    second = RANDOM.normal(size=(3, 5, 5))

    def twice(sequence: np.ndarray) -> np.ndarray:
        return slid(slid(sequence, KERNEL, BIAS), second, BIAS)

    here = twice(SEQUENCE)
    for place in range(11):
        moved = SEQUENCE.copy()
        moved[place] += 1
        changed = np.abs(twice(moved) - here).max(axis=1) > 1e-9
        assert changed.tolist() == [row <= place < row + 5 for row in range(7)]
