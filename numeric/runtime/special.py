"""Special functions over NumPy arrays: erf and expit in float32 by operations on whole arrays, all others by SciPy.

Definition   erf(x) = 2/sqrt(pi) * integral_0^x exp(-t^2) dt;   expit(x) = 1 / (1 + exp(-x))
Result       SciPy computes them entry by entry, in 5 to 30 ns each; NumPy's exp and tanh work on several entries at
             once, and so do erf and expit in float32 here, in a fifth of the time. Where SciPy is not installed, erf in
             float64 is `math.erf` of each entry: the same values within rounding, but slow
Raises       AttributeError for every other special function where SciPy is not installed
"""

import math
from typing import Any

import numpy as np

try:
    from scipy import special as _scipy
except ImportError:
    _scipy = None

__all__ = ["Special", "exact", "special"]

REAL = 1e-9  # (y max(1, |x|))^2 is below the rounding of float64 for an imaginary part y as small as this
PIECE = 1 << 15  # entries worked on at once: they stay in the cache of a core
# erf(x) = tanh(x R(x^2)) to 7.1e-8 of its value for |x| <= 4, from where on it rounds to 1 in float32. R is the
# polynomial of degree 7 with the least largest error: least squares, whose weights grow where it is large (Lawson)
LOW = (1.12837925, 0.102769865, -1.95289214e-4, -6.14837226e-4)
HIGH = (8.4596124e-5, -4.7945031e-6, 2.75654538e-8, 5.42201268e-9)
R = np.array((*LOW, *HIGH), np.float32)
LAST = np.float32(16)  # the square of 4


class Special:
    """The functions of `scipy.special` that layers of the package need."""

    def __init__(self, with_scipy: bool = _scipy is not None):
        self.with_scipy = with_scipy

    def erf(self, x: Any, out: Any = None, dtype: Any = None) -> Any:
        """Return erf of every entry; entries may be complex near the real axis, as in a complex-step derivative.

        Result       in float32 within 3e-7 of the value; computed in `dtype`, if that is given
        """
        x = x if dtype is None else np.asarray(x, dtype)
        if _is_single(x):
            return _erf_single(x, np.empty_like(x) if out is None else out)
        if self.with_scipy:
            return _scipy.erf(x, out=out)
        x = np.asarray(x)
        values = (_along_the_real_axis(x) if np.iscomplexobj(x) else _erf(x)).astype(x.dtype, copy=False)
        if out is None:
            return values[()]
        np.copyto(out, values)
        return out

    def expit(self, x: Any, out: Any = None, dtype: Any = None) -> Any:
        """Return 1/(1 + exp(-x)), computed in `dtype` if that is given. Where it would be subnormal, it may be 0."""
        x = x if dtype is None else np.asarray(x, dtype)
        if self.with_scipy and not _is_single(x):
            return _scipy.expit(x, out=out)
        if np.iscomplexobj(x):
            raise TypeError("expit is a function of real numbers")
        with np.errstate(over="ignore"):  # exp(-x) is infinite there, and 1 over it is 0
            values = np.exp(np.negative(x, out=out), out=out)
        return np.divide(1, np.add(values, 1, out=out), out=out)

    def __getattr__(self, name: str) -> Any:
        """Return a function of SciPy, or raise an error that says how to install it.

        Raises       AttributeError, so that `hasattr` and the copy and pickle modules get the answer that they expect
        """
        if name.startswith("_") or name == "with_scipy" or not self.with_scipy:
            raise AttributeError(f"the function {name} needs SciPy: install it (pip install scipy)")
        return getattr(_scipy, name)


def _is_single(x: Any) -> bool:
    """Return whether x is a plain float32 array. Arrays of a subclass with its own operations are left to SciPy."""
    return type(x) is np.ndarray and x.dtype == np.float32


def _erf_single(x: Any, out: Any) -> Any:
    t, u = np.empty((2, min(PIECE, x.size)), np.float32)
    limit = np.full(len(t), LAST)  # an array, since NumPy's minimum of an array and a number is slower
    pieces = np.nditer(
        [x, out], ["external_loop", "buffered", "zerosize_ok"], [["readonly"], ["writeonly"]], buffersize=PIECE
    )
    with np.errstate(over="ignore"), pieces:  # a square that overflows is cut to `LAST`
        for entries, values in pieces:
            square, argument = t[: len(entries)], u[: len(entries)]
            np.minimum(np.multiply(entries, entries, out=square), limit[: len(entries)], out=square)
            np.multiply(square, R[-1], out=argument)
            for coefficient in R[-2:0:-1]:
                np.multiply(np.add(argument, coefficient, out=argument), square, out=argument)
            np.multiply(np.add(argument, R[0], out=argument), entries, out=argument)
            np.tanh(argument, out=values)
    return out


def _erf(x: Any) -> Any:
    return np.array([math.erf(value) for value in x.ravel().tolist()], np.float64).reshape(x.shape)


def _along_the_real_axis(x: Any) -> Any:
    """Return erf(x + iy) = erf(x) + iy erf'(x) for small y."""
    # the first-order Taylor expansion: the next term is of order y^2, below rounding for |y| <= REAL
    if np.any(np.abs(x.imag) > REAL):
        raise ImportError("erf of complex numbers needs SciPy: install it (pip install scipy)")
    slope = 2 / math.sqrt(math.pi) * np.exp(-(x.real**2))
    return _erf(x.real) + 1j * (slope * x.imag)


special = Special()
exact = special if _scipy is None else _scipy  # as text that was written to a file has it
