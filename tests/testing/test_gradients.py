"""The gradients that implementations are compared with: two ways to them that share no code, and one by hand."""

from dataclasses import replace

import numpy as np
import pytest

from derivations.catalogue import layers
from derivations.language import Equations, Layer, array
from derivations.language.arrays.columns import ColumnRange
from derivations.language.arrays.functions import square
from derivations.language.differentiation.adjoints import GradientError
from derivations.symbols import n, size
from numeric.verification.conformance import gradients
from numeric.verification.conformance.cases import Scope, cases
from numeric.verification.conformance.drawing import draw, leaves, mapped
from numeric.verification.conformance.gradients import by_complex_steps, derived, expected_gradients
from tests.tiers import few

DIFFERENTIABLE = [name for name, layer in layers().items() if layer.inputs]


def drawn(layer, dtype="float64", kind="ordinary"):
    layer = layers()[layer] if isinstance(layer, str) else layer
    plan = next(cases(layer, Scope(dtypes=(dtype,), hidden=False, seed=1))).plan
    case = draw(layer, replace(plan, batch=(2,), kind=kind, usual=kind == "ordinary"))
    return case, np.asarray(np.random.default_rng(2).standard_normal(case.expected.shape))


@pytest.mark.parametrize("name", few(DIFFERENTIABLE, fast=8))
def test_derived_gradients_are_those_of_complex_steps(name):
    case, cotangent = drawn(name)
    found = derived(case, cotangent)
    try:
        steps, error = by_complex_steps(case, cotangent), 1e-13
    except TypeError:  # SciPy's expit knows no complex numbers
        steps, error = central_differences(case, cotangent), 1e-8
    assert set(found) == set(steps)
    largest = max(np.abs(each).max() for each in found.values())
    for path, slope in steps.items():
        known = ~np.isnan(slope)
        assert known.any()
        np.testing.assert_allclose(found[path][known], slope[known], rtol=0, atol=error * largest)


def test_a_gradient_is_given_the_sizes_that_it_alone_asks_for():
    """The first r of r + s columns: their gradient has its place among all, and no array has s columns."""
    r, s = size("r"), size("s")
    X, let = array("X", n, r + s), Equations()
    case, cotangent = drawn(Layer("first_columns", (X,), (), let, let("Y")(square(ColumnRange(X, 0, r)))))
    (found,) = derived(case, cotangent).values()
    first = case.arguments["r"]
    np.testing.assert_allclose(found[..., :first], 2 * case.arguments["X"][..., :first] * cotangent)
    assert found.shape == case.arguments["X"].shape and not found[..., first:].any()


def central_differences(case, cotangent, step=2.0**-20, most=12):
    """Return the slopes at some entries of each array, drawn: each entry takes two runs of the layer."""
    generator = np.random.default_rng(3)

    def value(path, place, moved):
        def change(where, each):
            if where != path:
                return each
            copy = each.copy()
            copy[place] += moved
            return copy

        return (replace(case, arguments=mapped(dict(case.arguments), change)).expected * cotangent).sum()

    def slopes(path, each):
        found = np.full(each.shape, np.nan)
        for number in generator.permutation(each.size)[:most]:
            place = np.unravel_index(number, each.shape)
            found[place] = (value(path, place, step) - value(path, place, -step)) / (2 * step)
        return found

    return {path: slopes(path, each) for path, each in leaves(case.arguments).items() if each.dtype.kind == "f"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gradient_of_softmax_by_hand(dtype):
    """The gradient of sum G softmax(x) is y * (G - sum y G)."""
    case, G = drawn("softmax", dtype)
    y, unit = case.expected, np.finfo(dtype).eps
    value, bound = expected_gradients(case, G)["x"]
    np.testing.assert_allclose(value, y * (G - (y * G).sum(axis=-1, keepdims=True)), rtol=0, atol=1e-15)
    assert (bound > unit / 100).all() and (bound < 1000 * unit).all()


@pytest.mark.parametrize("name", ["softmax", "encoder_layer"])
def test_a_layer_without_a_derived_gradient_has_that_of_complex_steps(name, monkeypatch):
    case, cotangent = drawn(name)
    before = expected_gradients(case, cotangent)

    def none(layer):
        raise GradientError("no rule")

    monkeypatch.setattr(gradients, "gradient", none)
    after = expected_gradients(case, cotangent)
    assert set(after) == set(before)
    for path, (value, bound) in after.items():
        known = ~np.isnan(value)
        assert np.isfinite(bound).all()
        np.testing.assert_allclose(value[known], before[path][0][known], rtol=0, atol=1e-12)


def test_without_any_gradient_nothing_is_known(monkeypatch):
    """Neither a derived gradient nor complex steps: not a number, with which no gradient is found wrong."""
    case, cotangent = drawn("gated_feed_forward")
    monkeypatch.setattr(gradients, "derived", lambda *_: (_ for _ in ()).throw(GradientError("no rule")))
    assert all(np.isnan(value).all() for value, _ in expected_gradients(case, cotangent).values())


def test_extreme_cases_say_nothing_where_nothing_is_known():
    case, cotangent = drawn("encoder_layer", "float32", "extreme 1000")
    bounds = [np.broadcast_to(bound, value.shape) for value, bound in expected_gradients(case, cotangent).values()]
    assert not all(np.isfinite(bound).all() for bound in bounds)
