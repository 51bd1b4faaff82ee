"""Floating-point functions that round the same on every machine, so that their results can be dictionary keys.

Result       the value with 100 bits, rounded once to a float; the C library's own functions differ in the last digit
             from machine to machine, and `sum` from one version of Python to the next: `math.fsum` is for sums
Raises       ValueError outside of the domain, OverflowError where no float is large enough
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath

__all__ = ["cos", "erf", "exp", "log", "power", "sin", "tan", "tanh"]

_CONTEXT = mpmath.mp.clone()
_CONTEXT.prec = 100


def _rounded(function: Callable[..., Any]) -> Callable[..., float]:
    @lru_cache(maxsize=65_536)
    def rounded(*numbers: float) -> float:
        if not all(map(math.isfinite, numbers)):
            raise ValueError("no finite number")
        value = function(*map(_CONTEXT.mpf, numbers))
        if isinstance(value, _CONTEXT.mpc):
            raise ValueError("no real number")
        found = float(value)
        if math.isinf(found):
            raise OverflowError("too large for a float")
        return found

    return rounded


exp, sin, cos, tan = (_rounded(each) for each in (_CONTEXT.exp, _CONTEXT.sin, _CONTEXT.cos, _CONTEXT.tan))
tanh, erf, power = (_rounded(each) for each in (_CONTEXT.tanh, _CONTEXT.erf, _CONTEXT.power))
_log = _rounded(_CONTEXT.log)


def log(number: float) -> float:
    """Return the natural logarithm of a positive number."""
    if number <= 0:
        raise ValueError("no positive number")
    return _log(number)
