"""Special functions without SciPy are those of SciPy, and of mpmath; a layer with erf runs without it."""

import pickle
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp
from scipy import special as of_scipy

from numeric.runtime.special import WithoutSciPy, special

POINTS = np.concatenate([np.linspace(-7, 7, 1009), [-1000, -745.1, -40, -1e-9, 0, 1e-300, 40, 745.1, 1000]])
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


@pytest.mark.parametrize("name", ["erf", "expit"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_values_are_those_of_scipy(name: str, dtype: type) -> None:
    x = POINTS.astype(dtype)
    found, expected = getattr(WithoutSciPy(), name)(x), getattr(of_scipy, name)(x)
    assert found.dtype == expected.dtype == dtype
    assert (np.abs(found - expected) <= 4 * np.spacing(np.abs(expected))).all()


@pytest.mark.parametrize(("name", "exact"), [("erf", mp.erf), ("expit", lambda x: 1 / (1 + mp.exp(-x)))])
def test_the_values_are_those_of_mpmath(name: str, exact: object) -> None:
    found = getattr(WithoutSciPy(), name)(POINTS)
    with mp.workdps(50):
        errors = [abs(mp.mpf(y) - exact(mp.mpf(x))) for x, y in zip(POINTS.tolist(), found.tolist(), strict=True)]
    assert all(error <= 4 * unit for error, unit in zip(errors, np.spacing(np.abs(found)).tolist(), strict=True))


@pytest.mark.parametrize("name", ["erf", "expit"])
def test_values_are_written_where_they_are_wanted(name: str) -> None:
    x = np.linspace(-3, 3, 11)
    expected = getattr(of_scipy, name)(x)
    assert getattr(WithoutSciPy(), name)(x, out=x) is x
    assert np.allclose(x, expected, rtol=1e-15, atol=0)


def test_a_complex_step_gives_the_slope_of_erf() -> None:
    x = np.linspace(-3, 3, 11)
    found = WithoutSciPy().erf(x + 1e-200j)
    assert np.allclose(found.imag / 1e-200, of_scipy.erf(x + 1e-200j).imag / 1e-200, rtol=1e-14, atol=0)
    with pytest.raises(ImportError, match="erf of complex numbers needs SciPy: install it"):
        WithoutSciPy().erf(x + 1e-3j)
    with pytest.raises(TypeError, match="expit is a function of real numbers"):
        WithoutSciPy().expit(x + 1e-200j)


def test_another_function_says_what_to_install() -> None:
    with pytest.raises(AttributeError, match=r"the function gamma needs SciPy: install it \(pip install scipy\)"):
        WithoutSciPy().gamma(2.0)


def test_what_is_asked_of_any_object_is_answered() -> None:
    one = WithoutSciPy()
    assert not hasattr(one, "gamma")
    assert not hasattr(one, "__array__")
    assert isinstance(deepcopy(one), WithoutSciPy)
    assert isinstance(pickle.loads(pickle.dumps(one)), WithoutSciPy)


def test_scipy_is_used_where_it_is_installed() -> None:
    assert special is of_scipy


def test_a_layer_with_erf_runs_without_scipy(repository: Path) -> None:
    without = PROGRAM.replace('sys.modules["scipy"] = None', "")
    runs = [
        subprocess.run([sys.executable, "-c", each], capture_output=True, encoding="utf-8", cwd=repository, check=True)
        for each in (PROGRAM, without)
    ]
    (one, prepared), (with_scipy, _) = (map(float, ran.stdout.split()) for ran in runs)
    assert one == pytest.approx(with_scipy, rel=1e-6)
    assert prepared == pytest.approx(with_scipy, rel=1e-6)
