"""Special functions over NumPy arrays: SciPy's if it is installed, else Python's own `math`.

Definition   erf(x) = 2/sqrt(pi) * integral_0^x exp(-t^2) dt;   expit(x) = 1 / (1 + exp(-x))
Result       without SciPy erf is computed entry by entry, by `math.erf`: the same values within rounding, but slowly
Raises       AttributeError for every other special function where SciPy is not installed
"""

import math
from typing import Any

import numpy as np

__all__ = ["WithoutSciPy", "special"]

REAL = 1e-9  # (y max(1, |x|))^2 is below the rounding of float64 for an imaginary part y as small as this


class WithoutSciPy:
    """The functions of `scipy.special` that layers of the package need."""

    @staticmethod
    def erf(x: Any, out: Any = None) -> Any:
        """Return erf of every entry; entries may be complex near the real axis, as in a complex-step derivative."""
        x = np.asarray(x)
        values = (_along_the_real_axis(x) if np.iscomplexobj(x) else _erf(x)).astype(x.dtype, copy=False)
        if out is None:
            return values[()]
        np.copyto(out, values)
        return out

    @staticmethod
    def expit(x: Any, out: Any = None) -> Any:
        """Return 1/(1 + exp(-x)) as exp(min(x, 0)) / (1 + exp(-|x|)): neither exponential can overflow."""
        if np.iscomplexobj(x):
            raise TypeError("expit is a function of real numbers")
        return np.divide(np.exp(np.minimum(x, 0)), 1 + np.exp(-np.abs(x)), out=out)

    def __getattr__(self, name: str) -> Any:
        """Raise an error that says how to install SciPy.

        Raises       AttributeError, so that `hasattr` and the copy and pickle modules get the answer that they expect
        """
        raise AttributeError(f"the function {name} needs SciPy: install it (pip install scipy)")


def _erf(x: Any) -> Any:
    return np.array([math.erf(value) for value in x.ravel().tolist()], np.float64).reshape(x.shape)


def _along_the_real_axis(x: Any) -> Any:
    """Return erf(x + iy) = erf(x) + iy erf'(x) for small y."""
    # the first-order Taylor expansion: the next term is of order y^2, below rounding for |y| <= REAL
    if np.any(np.abs(x.imag) > REAL):
        raise ImportError("erf of complex numbers needs SciPy: install it (pip install scipy)")
    slope = 2 / math.sqrt(math.pi) * np.exp(-(x.real**2))
    return _erf(x.real) + 1j * (slope * x.imag)


try:
    from scipy import special
except ImportError:
    special = WithoutSciPy()
