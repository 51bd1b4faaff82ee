"""Tests of one's own: a function implements the layer, its gradient is right, a formula is proved."""

import math

import numpy as np
import pytest
from sympy import KroneckerDelta, Sum
from tempered import A, S, slope, squareplus_slope, tempered_attention

from derivations.language import array, prove_gradient
from derivations.symbols import i, j, k, l, m, n
from derivations.testing import assert_equal, assert_implements


def attend(Q, K, V, w):
    """The layer as somebody writes it in NumPy."""
    z = Q @ w
    beta = (z + np.sqrt(z**2 + 4)) / 2
    scores = beta[..., None] * (Q @ K.mT / math.sqrt(Q.shape[-1]))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ V


def steepness(x):
    """The slope of squareplus."""
    return (1 + x / math.sqrt(x**2 + 4)) / 2


def test_the_function_is_the_layer():
    """Values, batches, number types, large inputs."""
    assert_implements(attend, tempered_attention())


def test_the_gradient_is_proved():
    """For all sizes."""
    assert prove_gradient(tempered_attention()).evidence.level == "proved"


def test_the_slope_is_the_jacobian_of_softmax_times_the_scores(derivation):
    """A result of the catalogue, by the fixture of the pytest plugin."""
    y, jacobian = array("y", n), derivation("softmax.jacobian")  # y_i (delta_ik - y_k)
    row = {y[i]: A[i, j], y[k]: A[i, l], KroneckerDelta(i, k): KroneckerDelta(j, l)}
    assert_equal(slope(), Sum(jacobian.rhs.xreplace(row) * S[i, l], (l, 0, m - 1)))


def test_the_code_that_is_printed_is_the_formula():
    """latexify-py prints the function, and what it prints is read back."""
    latexify = pytest.importorskip("latexify")
    assert_equal(latexify.function(steepness), squareplus_slope())
