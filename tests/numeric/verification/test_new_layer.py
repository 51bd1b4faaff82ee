"""A layer that enters the catalogue in two places: a norm with one number as its weight, and its loops.

Everything that runs over the catalogue takes it in: weights, gradients, the comparison with the loops, conformance.
"""

import numpy as np
import pytest
from mpmath import mp

from derivations.catalogue import layer, layers
from derivations.language.arrays.expression import ColumnBroadcast, array
from derivations.language.arrays.functions import Hadamard, RowMean, square
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers import catalogued as entering
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.normalisation.layer_norm import standardise
from derivations.symbols import d, epsilon, n, scalar, size
from numeric import compile_layer, initialise
from numeric.runtime.checks import InputError
from numeric.verification.agreement import cases
from numeric.verification.agreement.against_reference import agreement
from numeric.verification.agreement.cases import DTYPES, SIZES, at_sizes, case
from numeric.verification.agreement.gradients import gradient_check
from numeric.verification.conformance import conformance
from numeric.verification.reference import registry
from numeric.verification.reference.registry import loops_of


def norm(X, g, epsilon=1e-5):
    """Return g X / sqrt(mean of squares + epsilon)."""
    return g * X / np.sqrt((X * X).mean(axis=-1, keepdims=True) + epsilon)


@pytest.fixture(autouse=True)
def entered(monkeypatch):
    """Enter the layer and its loops for the time of a test."""
    monkeypatch.setattr(entering, "LAYERS", {"softmax": entering.LAYERS["softmax"]})
    monkeypatch.setattr("derivations.catalogue.ENTERED", entering.LAYERS)
    monkeypatch.setattr(registry, "LOOPS", dict(registry.LOOPS))
    monkeypatch.setattr("numeric.verification.agreement.loops.LOOPS", registry.LOOPS)
    monkeypatch.setattr(cases, "_variants", dict)
    monkeypatch.setattr(cases, "subjects", cases.subjects.__wrapped__)

    @catalogued
    def scalar_norm() -> Layer:
        X, g, ms, Y = array("X", n, d), array("g"), array("ms", n), array("Y", n, d)
        let = Equations()
        let("ms")(RowMean(square(X)))
        let("Y")(Hadamard(g, standardise(epsilon)(X, ColumnBroadcast(ms, d))))
        return Layer("scalar_norm", (X,), (g,), let, Y)

    @loops_of("scalar_norm")
    def loops(X, g, eps=1e-5):
        with mp.workdps(50):
            rows = [[mp.mpf(float(x)) for x in row] for row in X]
            return [[mp.mpf(float(g)) * x / mp.sqrt(mp.fsum(y * y for y in r) / len(r) + eps) for x in r] for r in rows]


def test_it_is_in_the_catalogue():
    assert list(layers()) == ["softmax", "scalar_norm"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_agrees_with_its_loops(dtype):
    assert agreement(case("scalar_norm", SIZES[0], dtype)).passed
    assert not agreement(case("scalar_norm", SIZES[0], dtype), lambda X, g: norm(X, g) + 1e-3).passed


def test_its_weight_is_one_number_and_starts_at_1():
    for subject in (layer("scalar_norm"), gradient(layer("scalar_norm"))):
        weights = initialise(subject, {"d": 3})
        assert weights["g"].shape == ()
        assert weights["g"] == 1


def test_its_gradient_is_that_of_differences():
    assert gradient_check(case("scalar_norm", SIZES[0], DTYPES[1])).passed


def test_a_number_of_numpy_is_an_array_without_axes():
    X = np.arange(6.0).reshape(2, 3)
    function = compile_layer(layer("scalar_norm"))
    assert (function(X, np.float64(2)) == function(X, np.array(2.0))).all()
    with pytest.raises(
        InputError, match=r"g must be a NumPy array of float32 or float64, not float; np.array\(2.0\) is one"
    ):
        function(X, 2.0)
    with pytest.raises(InputError, match=r"X has shape \(\)"):
        function(np.float64(2), np.float64(2))


def test_a_function_conforms_or_is_shown_its_smallest_failure():
    assert conformance(norm, layer("scalar_norm")).failure is None
    found = str(conformance(lambda X, g, epsilon=1e-5: norm(X, g + 0.1, epsilon), layer("scalar_norm")))
    assert "d = 1, n = 1" in found
    assert "g = 0." in found


def test_a_size_and_a_scalar_that_no_table_has_get_numbers():
    width, factor = size("width"), scalar("factor", positive=True)
    x = array("x", width)
    let = Equations()
    Y = let("Y")(factor * x)
    catalogued("scaled")(lambda: Layer("scaled", (x,), (), let, Y))
    loops_of("scaled")(lambda x, factor: [mp.mpf(factor) * mp.mpf(float(each)) for each in x])
    found = case("scaled", SIZES[0], DTYPES[1])
    assert found.given == {"factor": 0.75}
    assert at_sizes(layer("scaled"), SIZES[0]) == {"width": 29}
    assert agreement(found).passed
