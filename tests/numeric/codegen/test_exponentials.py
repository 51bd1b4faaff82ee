"""Logarithms of sums and ratios of exponentials, compiled: no overflow, and no loss of accuracy, at any number.

What is exact comes from SymPy at 50 digits, which evaluates the formula as it was written.
"""

from functools import cache

import numpy as np
import pytest
from sympy import Expr, Float, Max, Symbol, cosh, exp, log, sinh, tanh

from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named
from derivations.language.differentiation.reverse import gradient
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, n
from numeric import compile_layer, prepare, source
from numeric.codegen.exponentials import Expit, LogAddExp, without_overflow
from numeric.optimize.prepare import prepare_gradient

x = Symbol("x", real=True)
FORMULAS = {
    "softplus": log(1 + exp(x)),
    "of_minus": log(1 + exp(-x)),
    "sharp_softplus": log(1 + exp(3 * x)) / 3,
    "mish": x * tanh(log(1 + exp(x))),
    "log_sigmoid": -log(1 / (1 + exp(-x))),
    "sigmoid": exp(x) / (1 + exp(x)),
    "bump": exp(x) / (1 + exp(x)) ** 2,
    "squared_sigmoid": 1 / (1 + exp(-x)) ** 2,
    "ratio_of_sums": (exp(x) - exp(-x)) / (exp(x) + exp(-x)),
    "log_cosh": log(cosh(x)),
    "slope_of_log_cosh": sinh(x) / cosh(x),
    "of_three": log(1 + 2 * exp(x) + exp(-x)),
    "share_of_three": exp(x) / (1 + 2 * exp(x) + exp(-x)),
}
POINTS = (-1000.0, -104.0, -89.5, -17.0, -1.5, 0.0, 0.25, 3.0, 16.5, 37.0, 89.5, 104.0, 1000.0)
EPSILON = {np.float32: 2.0**-23, np.float64: 2.0**-52}


@cache
def layer(name: str) -> Layer:
    """Return the layer that applies a formula to every entry."""
    X, let = array("X", n, d), Equations()
    Y = let("Y")(named(name, FORMULAS[name], x)(X))
    return Layer(name, (X,), (), let, Y)


@cache
def exact(formula: Expr) -> np.ndarray:
    """Return the values of a formula at the points."""
    return np.array([[float(formula.subs(x, Float(point, 700)).evalf(30, maxn=4000)) for point in POINTS]])


def far(found, formula, dtype) -> float:
    """Return the largest error, in units of the number type, beside the larger of the value and 1."""
    found = np.asarray(found)
    assert found.dtype == dtype
    assert np.isfinite(found).all()
    return float((np.abs(found - exact(formula)) / np.maximum(np.abs(exact(formula)), 1)).max() / EPSILON[dtype])


def standalone(layer: Layer, backend: str):
    """Return the function of the printed source, which imports what it needs."""
    module: dict = {}
    exec(source(layer, backend), module)  # noqa: S102  # our own text
    return module[layer.name]


@pytest.mark.parametrize("dtype", EPSILON)
@pytest.mark.parametrize("name", FORMULAS)
def test_values_and_slopes_are_finite_and_right(name, dtype):
    X = np.array([POINTS], dtype)
    one, slope = layer(name), FORMULAS[name].diff(x)
    for forward in (compile_layer(one), standalone(one, "numpy"), prepare(one, {})):
        assert far(forward(X), FORMULAS[name], dtype) < 8
    for backward in (compile_layer(gradient(one)), standalone(gradient(one), "numpy")):
        # mish has x times its slope, whose error grows with x where tanh is near 1
        assert far(backward(X, np.ones_like(X)), slope, dtype) < 8
    assert far(prepare_gradient(one, {})(X, np.ones_like(X))[1], slope, dtype) < 8


@pytest.mark.peers
@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize("name", FORMULAS)
def test_other_libraries_too(name, backend):
    library = pytest.importorskip(backend)
    given = (library.numpy.asarray if backend == "jax" else library.tensor)(np.array([POINTS], np.float32))
    one, slope = layer(name), FORMULAS[name].diff(x)
    for forward in (compile_layer(one, backend=backend), standalone(one, backend)):
        assert far(forward(given), FORMULAS[name], np.float32) < 16
    for backward in (compile_layer(gradient(one), backend=backend), standalone(gradient(one), backend)):
        assert far(backward(given, 0 * given + 1), slope, np.float32) < 16


def test_the_naive_form_fails_this_test():
    """The check is checked: what was printed before is infinite from 89 on, and its slope is no number."""
    with np.errstate(all="ignore"):
        X = np.array([POINTS], np.float32)
        naive, slope = np.log(np.exp(X) + 1), np.exp(X) / (np.exp(X) + 1)
    assert np.isinf(naive).any()
    assert np.isnan(slope).any()
    with pytest.raises(AssertionError):
        far(naive, FORMULAS["softplus"], np.float32)


@pytest.mark.parametrize(
    ("formula", "stable"),
    [
        (log(1 + exp(x)), LogAddExp(0, x)),
        (log(3 + 2 * exp(x)), LogAddExp(log(3), x + log(2))),
        (exp(x) / (1 + exp(x)), Expit(x)),
        (x * exp(2 * x) / (1 + exp(x)) ** 3, x * Expit(x) ** 2 * Expit(-x)),
        (exp(x**2) / (1 + exp(x)), exp(x**2 - LogAddExp(0, x))),
        (exp(x) / (1 + 2 * exp(x) + exp(-x)), Expit(x + log(2) - LogAddExp(0, -x)) / 2),
        (exp(x**2) / (1 + exp(x)) / (1 + exp(x**3)), exp(x**2 - LogAddExp(0, x) - LogAddExp(0, x**3))),
        (sinh(x) ** 2 / cosh(x) ** 3, tanh(x) ** 2 / cosh(x)),
    ],
)
def test_the_form_that_is_printed(formula, stable):
    assert without_overflow(formula, [x]) == stable


a = Symbol("a", positive=True)


@pytest.mark.parametrize(
    "formula",
    [
        log(1 + x**2),
        log(x + exp(x)),  # of a sum that may be negative
        log(1 - exp(x)),
        log(1 + exp(a)) * x,  # a scalar is a number of Python
        1 / (exp(x) + exp(2 * x) + exp(3 * x)),
        exp(x) / (2 + x),
        exp(x) * Max(0, x),
        x * (1 + exp(-x)) ** 2,
    ],
)
def test_anything_else_stays_as_it_is_written(formula):
    assert without_overflow(formula, [x]) is formula
