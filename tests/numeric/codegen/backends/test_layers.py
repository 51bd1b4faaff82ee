"""Every layer in JAX and PyTorch gives what it gives in NumPy: called, compiled, mapped over a batch, in both types."""

from importlib import import_module

import numpy as np
import pytest

from derivations.catalogue import layers
from numeric import compile_layer
from numeric.codegen.backends.arguments import mapped
from numeric.verification.agreement.cases import SIZES, case, subjects
from numeric.verification.agreement.rounding import rounding_bound, roundings
from numeric.verification.conformance.frameworks import FRAMEWORKS
from tests.numeric.whole import as_a_whole

pytestmark = pytest.mark.peers
BACKENDS = ("jax", "torch")
TYPES = ("float32", "float64")


@pytest.fixture(params=BACKENDS)
def backend(request):
    pytest.importorskip(request.param)
    return request.param


def arrays_of(framework, values):
    return mapped(values, lambda value: framework.to(value) if isinstance(value, np.ndarray) else value)


def precisely(value):
    """An array of real numbers in float64, where the rounding of NumPy is not in the way."""
    return value.astype(float) if getattr(value, "dtype", np.dtype(int)).kind == "f" else value


def off(actual, expected, dtype):
    """How far an output is from the one expected, in units in the last place of the largest entry of a row."""
    assert actual.shape == expected.shape
    largest = np.max(np.abs(expected), axis=-1, keepdims=True, initial=0) if expected.ndim else np.abs(expected)
    return np.max(np.abs(actual.astype(float) - expected) / np.spacing(largest.astype(dtype)), initial=0)


def bound(it):
    """What rounding explains, fixed before anything is measured: the framework's, and NumPy's in float64."""
    return 2 * rounding_bound(roundings(it.layer, it.sizes))


def as_used(backend, function, over_a_batch):
    """A function as a user of the library has it: compiled as a whole by JAX, mapped over the items of a batch."""
    return as_a_whole(backend, import_module(backend).vmap(function) if over_a_batch else function)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", subjects())
def test_every_layer_agrees_with_numpy(backend, name, dtype):
    """In float32 called on a batch, in float64 mapped over its items; in JAX inside jit both times."""
    framework, it = FRAMEWORKS[backend], case(name, SIZES[0], dtype)
    expected = compile_layer(it.layer)(**mapped(it.arguments, precisely))
    over_a_batch = bool(it.layer.inputs) and dtype == "float64"
    with framework.precision(dtype):
        compiled = compile_layer(it.layer, backend)
        inputs, weights = arrays_of(framework, it.inputs), arrays_of(framework, it.weights)
        run = as_used(backend, lambda inputs, weights: compiled(**inputs, **weights, **it.given), False)
        if over_a_batch:
            run = as_used(backend, lambda inputs: compiled(**inputs, **weights, **it.given), True)
        actual = framework.back(run(inputs) if over_a_batch else run(inputs, weights))
    assert off(actual, expected, dtype) < bound(it)
    assert actual.dtype == dtype or not (it.layer.inputs or it.layer.parameters)


def test_a_layer_that_is_another_is_seen_to_differ(backend):
    """The comparison says no: softmax against its own logarithm's sum, and a shape that differs."""
    framework, it = FRAMEWORKS[backend], case("softmax", SIZES[0], "float64")
    with framework.precision("float64"):
        twice = compile_layer(it.layer, backend)(**arrays_of(framework, {"x": 2 * it.inputs["x"]}))
    assert off(framework.back(twice), compile_layer(it.layer)(**it.arguments), "float64") > 1e6 * bound(it)
    with pytest.raises(AssertionError):
        off(np.zeros(3), np.zeros(2), "float64")


def test_all_layers_of_the_catalogue_are_compared():
    assert layers().keys() <= subjects().keys()
