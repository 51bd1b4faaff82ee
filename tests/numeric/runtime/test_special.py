"""Special functions, with SciPy and without, are those of SciPy and of mpmath; a layer with erf runs without it."""

import pickle
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp
from scipy import special as of_scipy

from numeric.runtime.special import PIECE, Special, special

POINTS = np.concatenate([np.linspace(-7, 7, 1009), [-1000, -745.1, -40, -1e-9, 0, 1e-300, 40, 745.1, 1000]])
BOTH = (special, Special(with_scipy=False))
PROGRAM = """
import sys
sys.modules["scipy"] = None  # as where it is not installed
import numpy as np
from derivations.feed_forward import feed_forward
from derivations.language.arrays.functions import gelu
from numeric import compile_layer, initialise, prepare
layer = feed_forward(gelu)
weights = initialise(layer, {"d_model": 5, "d_ff": 7}, seed=3)
X = np.linspace(-3, 3, 55, dtype=np.float32).reshape(11, 5)
print(repr(float(compile_layer(layer)(X, **weights).sum())), repr(float(prepare(layer, weights)(X).sum())))
"""


@pytest.mark.parametrize("ours", BOTH, ids=["with SciPy", "without"])
@pytest.mark.parametrize("name", ["erf", "expit"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_values_are_those_of_scipy(name: str, dtype: type, ours: Special) -> None:
    x = POINTS.astype(dtype)
    found, expected = getattr(ours, name)(x), getattr(of_scipy, name)(x)
    assert found.dtype == expected.dtype == dtype
    assert (np.abs(found - expected) <= 4 * np.spacing(np.abs(expected))).all()


@pytest.mark.parametrize("name", ["erf", "expit"])
def test_extreme_numbers_give_no_warning(name: str) -> None:
    x = np.array([-np.inf, -3e38, -1e-45, -0.0, 0.0, 1e-45, 3e38, np.inf, np.nan], np.float32)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        found = getattr(special, name)(x)
    expected = getattr(of_scipy, name)(x)
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(np.signbit(found[:-1]), np.signbit(expected[:-1]))


def test_erf_in_single_precision_is_within_two_units_of_its_last_place() -> None:
    x = np.concatenate([np.linspace(-5, 5, 300_001), np.geomspace(1e-38, 1, 100_001)]).astype(np.float32)
    exact = of_scipy.erf(x.astype(np.float64))
    assert np.abs(special.erf(x) - exact).max(initial=0, where=x != 0) <= 2 * 2.0**-23
    assert (np.abs(special.erf(x) - exact) <= 4 * 2.0**-24 * np.abs(exact)).all()


@pytest.mark.parametrize("name", ["erf", "expit"])
@pytest.mark.parametrize("ours", BOTH, ids=["with SciPy", "without"])
def test_the_type_that_is_computed_in_may_be_given(ours: Special, name: str) -> None:
    x = np.linspace(-3, 3, 7, dtype=np.float32)
    found = getattr(ours, name)(x, dtype=np.float64)
    assert found.dtype == np.float64
    assert np.allclose(found, getattr(of_scipy, name)(x.astype(np.float64)), rtol=1e-14, atol=0)


@pytest.mark.parametrize("shape", [(), (0, 3), (3, 5), (2, PIECE + 7), (3, 40, 1000)])
def test_any_shape_and_any_layout_is_worked_on_in_pieces(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    for given in (x, x.T, x[..., ::2] if shape else x, np.broadcast_to(x, (2, *shape))):
        wanted = np.full_like(given, np.nan)
        found = special.erf(given, out=wanted)
        assert np.shape(found) == given.shape
        assert np.allclose(found, of_scipy.erf(given.astype(np.float64)), rtol=3e-7, atol=0)
        assert np.array_equal(wanted, found)


@pytest.mark.parametrize(("name", "exact"), [("erf", mp.erf), ("expit", lambda x: 1 / (1 + mp.exp(-x)))])
def test_the_values_are_those_of_mpmath(name: str, exact: object) -> None:
    found = getattr(Special(with_scipy=False), name)(POINTS)
    with mp.workdps(50):
        errors = [abs(mp.mpf(y) - exact(mp.mpf(x))) for x, y in zip(POINTS.tolist(), found.tolist(), strict=True)]
    assert all(error <= 4 * unit for error, unit in zip(errors, np.spacing(np.abs(found)).tolist(), strict=True))


@pytest.mark.parametrize("name", ["erf", "expit"])
def test_values_are_written_where_they_are_wanted(name: str) -> None:
    x = np.linspace(-3, 3, 11).astype(np.float32).astype(np.float64)
    expected = getattr(of_scipy, name)(x)
    for ours in BOTH:
        for dtype, within in ((np.float64, 1e-15), (np.float32, 4e-7)):
            given = x.astype(dtype)
            assert getattr(ours, name)(given, out=given) is given
            assert np.allclose(given, expected, rtol=within, atol=0)


def test_a_complex_step_gives_the_slope_of_erf() -> None:
    x = np.linspace(-3, 3, 11)
    found = Special(with_scipy=False).erf(x + 1e-200j)
    assert np.allclose(found.imag / 1e-200, of_scipy.erf(x + 1e-200j).imag / 1e-200, rtol=1e-14, atol=0)
    with pytest.raises(ImportError, match="erf of complex numbers needs SciPy: install it"):
        Special(with_scipy=False).erf(x + 1e-3j)
    with pytest.raises(TypeError, match="expit is a function of real numbers"):
        Special(with_scipy=False).expit(x + 1e-200j)


def test_another_function_says_what_to_install() -> None:
    with pytest.raises(AttributeError, match=r"the function gamma needs SciPy: install it \(pip install scipy\)"):
        Special(with_scipy=False).gamma(2.0)


def test_what_is_asked_of_any_object_is_answered() -> None:
    one = Special(with_scipy=False)
    assert not hasattr(one, "gamma")
    assert not hasattr(one, "__array__")
    assert isinstance(deepcopy(one), Special)
    assert not pickle.loads(pickle.dumps(one)).with_scipy


def test_scipy_is_used_where_it_is_installed() -> None:
    assert special.gamma is of_scipy.gamma


def test_a_layer_with_erf_runs_without_scipy(repository: Path) -> None:
    without = PROGRAM.replace('sys.modules["scipy"] = None', "")
    runs = [
        subprocess.run([sys.executable, "-c", each], capture_output=True, encoding="utf-8", cwd=repository, check=True)
        for each in (PROGRAM, without)
    ]
    (one, prepared), (with_scipy, _) = (map(float, ran.stdout.split()) for ran in runs)
    assert one == pytest.approx(with_scipy, rel=1e-6)
    assert prepared == pytest.approx(with_scipy, rel=1e-6)
