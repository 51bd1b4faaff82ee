"""Where the mean of what is centred is subtracted once more, where not, and what that does to rounding."""

from collections import Counter

import numpy as np
import pytest

from derivations.language import gradient
from derivations.language.arrays.expression import Array, ColumnBroadcast, RowBroadcast, array
from derivations.language.arrays.functions import RowMean
from derivations.language.layers.layer import Equations, Layer
from derivations.normalisation.batch_norm import batch_norm
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d, h, i, n
from derivations.transformer.encoder import encoder
from numeric import prepare
from numeric.codegen.compile import compile_layer
from numeric.optimize import PASSES, optimize
from numeric.optimize.draft import Draft
from tests.numeric.optimize.layers import made, model, refused

X, Z = array("X", n, d), array("Z", n, d)
ONCE = Counter(second_centring=1)


def difference(mean: Array, of: Array = X) -> Layer:
    """A layer that subtracts some mean."""
    let = Equations()
    return Layer("difference", (X, Z), (), let, let("Y")(of - mean))


@pytest.mark.parametrize("layer", [layer_norm(), batch_norm(), layer_norm(0)], ids=str)
def test_norms_with_a_mean_are_centred_once_more(layer: Layer) -> None:
    found = optimize(layer)
    assert made(found) == ONCE
    assert [rewrite.evidence for rewrite in found.rewrites] == ["proved"]
    names = [equation.variable.name for equation in found.layer.equations]
    assert names == ["mu", "X_c_once", "X_c_mean", "X_c", "sigma2", "X_hat", "Y"]
    assert found.layer.equation("X_c_mean").value.shape == layer.equation("mu").value.shape
    assert found.packing.equations == ()


def test_means_without_a_name_and_in_families_are_found() -> None:
    assert made(optimize(difference(ColumnBroadcast(RowMean(X), d)))) == ONCE
    assert made(optimize(difference(RowBroadcast(RowMean(X.T), n)))) == ONCE
    H = array("H", h, n, d)
    let = Equations()
    mu = let("mu", over=(i, h))(RowMean(H[i]))
    Y = let("Y", over=(i, h))(H[i] - ColumnBroadcast(mu[i], d))
    found = optimize(Layer("heads", (H,), (), let, Y))
    assert made(found) == ONCE
    assert [equation.over for equation in found.layer.equations] == [(i, h)] * 4


def test_stacks_and_gradients_are_centred_once_more() -> None:
    assert made(optimize(encoder()))["second_centring"] == 2  # in the layer that is repeated
    assert made(optimize(gradient(layer_norm())))["second_centring"] == 1
    assert made(optimize(model("gpt2")))["second_centring"] == 3


@pytest.mark.parametrize("layer", [layer_norm(), batch_norm()], ids=str)
def test_its_own_result_is_left_as_it_is(layer: Layer) -> None:
    once = optimize(layer).layer
    assert optimize(once).layer == once
    assert not PASSES["second_centring"](Draft(once))


@pytest.mark.parametrize(
    "layer",
    [
        rms_norm(),
        difference(ColumnBroadcast(RowMean(Z), d)),  # the mean of something else
        difference(Z),
        difference(ColumnBroadcast(RowMean(X), d), of=2 * X),
    ],
    ids=str,
)
def test_nothing_else_is_changed(layer: Layer) -> None:
    assert made(optimize(layer)) == Counter()
    assert refused(optimize(layer)) == []


def test_rows_and_columns_are_centred_one_after_the_other() -> None:
    let = Equations()
    R = let("R")(X - ColumnBroadcast(RowMean(X), d))
    Y = let("Y")(R - RowBroadcast(RowMean(R.T), n))
    found = optimize(Layer("both", (X,), (), let, Y))
    assert made(found) == Counter(second_centring=2)
    assert optimize(found.layer).layer == found.layer


def normed(layer: Layer, X: np.ndarray, **options: object) -> np.ndarray:
    """A norm with gains of 1 and no shift."""
    width = X.shape[-1]
    weights = {"gamma": np.ones(width, X.dtype), "beta": np.zeros(width, X.dtype)}
    result: np.ndarray = prepare(layer, weights, **options)(X)  # type: ignore[arg-type]
    return result


@pytest.mark.parametrize("layer", [layer_norm(), batch_norm()], ids=str)
def test_equal_entries_leave_nothing(layer: Layer) -> None:
    entries = np.random.default_rng(5).standard_normal((769, 1), np.float32)  # some of whose means are not exact
    rows = np.repeat(entries, 769, axis=1)
    X = rows.T.copy() if layer == batch_norm() else rows
    assert abs(normed(layer, X)).max() < 1e-9
    assert abs(normed(layer, X, without=("second_centring",))).max() > 1e-6


@pytest.mark.parametrize("layer", [layer_norm(), batch_norm()], ids=str)
def test_a_mean_that_is_large_beside_the_deviation_is_right_to_the_last_place(layer: Layer) -> None:
    X = (0.1 * np.random.default_rng(3).standard_normal((509, 509)) + 1e4).astype(np.float32)
    weights = {"gamma": np.ones(509), "beta": np.zeros(509)}
    exact = compile_layer(layer)(X.astype(np.float64), **weights)

    def error(**options: object) -> float:
        return float(abs(normed(layer, X, **options) - exact).max())

    assert error() < 2e-6
    assert error(without=("second_centring",)) > 1e-4
