"""Elementary functions over intervals, rounded outwards: the only module that evaluates them.

`mpmath.iv` sometimes rounds the last bit of `exp` the wrong way (mpmath issue 1181), so that its interval misses the
true value. Here every end is computed with guard bits, moved outwards by far more than its error, and then rounded.

exp, log, tanh, erf, sqrt    increasing: the ends give the interval
cos, sin                     the ends, and 1 or -1 where the interval may hold an extremum k pi or k pi + pi/2
pi, fraction                 a constant, an exact fraction

Every function takes an interval of any mpmath context and returns one of the same context and precision. Sums,
products, quotients and integer powers of intervals round correctly in mpmath itself, and stay operators.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import iv
from mpmath.libmp import (
    fhalf,
    finf,
    fninf,
    fone,
    fzero,
    mpf_abs,
    mpf_add,
    mpf_cos_sin,
    mpf_erf,
    mpf_exp,
    mpf_log,
    mpf_lt,
    mpf_neg,
    mpf_pi,
    mpf_shift,
    mpf_sqrt,
    mpf_sub,
    mpf_tanh,
    mpi_div,
    mpi_sub,
    round_ceiling,
    round_floor,
    round_nearest,
    to_int,
)
from mpmath.libmp.libmpf import mpf_min_max

__all__ = ["cos", "erf", "exp", "fraction", "log", "pi", "sin", "sqrt", "tanh"]

_GUARD = 60  # bits with which an end is computed beyond those of the result
_MARGIN = 30  # an end is moved by 2^-30 units of the result, which are 2^30 units of the value that mpmath computed
End = Any  # a number of mpmath as a tuple: sign, mantissa, exponent, bits
Interval = Any


def fraction(value: Fraction, context: Any = iv) -> Interval:
    """Return an interval that holds an exact fraction."""
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def pi(context: Any = iv) -> Interval:
    """Return an interval that holds pi."""
    return context.make_mpf(_around(mpf_pi(context.prec + _GUARD, round_nearest), context.prec))


def exp(x: Interval) -> Interval:
    """Return an interval that contains the exponentials of all numbers in x."""
    return _increasing(mpf_exp, x, {fzero: fone, fninf: fzero, finf: finf})


def log(x: Interval) -> Interval:
    """Return an interval that contains the logarithms of all numbers in x; raises `ValueError` where x may be <= 0."""
    if not x > 0:
        raise ValueError(f"a logarithm over {x}, which is not positive")
    return _increasing(mpf_log, x, {fone: fzero, finf: finf})


def tanh(x: Interval) -> Interval:
    """Return an interval inside [-1, 1] that contains the hyperbolic tangents of all numbers in x."""
    return _within_one(_increasing(mpf_tanh, x, {fzero: fzero, fninf: mpf_neg(fone), finf: fone}))


def erf(x: Interval) -> Interval:
    """Return an interval inside [-1, 1] that contains the error function of all numbers in x."""
    return _within_one(_increasing(_erf, x, {fzero: fzero, fninf: mpf_neg(fone), finf: fone}))


def _erf(end: End, precision: int, rounding: str) -> End:
    """Return erf(end) to the given number of bits.

    The terms of mpmath's series grow like exp(x^2), so the series loses about x^2 / log(2) bits, which are added here.
    """
    sign, _, exponent, bits = end
    square = 4 ** max(0, exponent + bits) if exponent + bits < precision else 4**precision  # at least x^2
    if square > 4 * precision:  # |x| > sqrt(precision), so 1 - erf|x| < exp(-x^2) < 2^-precision
        return mpf_neg(fone) if sign else fone
    return mpf_erf(end, precision + 2 * square, rounding)


def sqrt(x: Interval) -> Interval:
    """Return an interval that contains the square roots of all numbers in x; raises `ValueError` where x may be < 0."""
    if not x >= 0:
        raise ValueError(f"a root over {x}, which may be negative")
    low, high = x._mpi_  # the root of an integer is exact, so mpmath rounds it correctly
    return x.ctx.make_mpf((mpf_sqrt(low, x.ctx.prec, round_floor), mpf_sqrt(high, x.ctx.prec, round_ceiling)))


def cos(x: Interval) -> Interval:
    """Return an interval inside [-1, 1] that contains the cosines of all numbers in x."""
    return _wave(x, 0, fzero)


def sin(x: Interval) -> Interval:
    """Return an interval inside [-1, 1] that contains the sines of all numbers in x.

    The extrema of sin are those of cos, shifted by pi / 2.
    """
    return _wave(x, 1, fhalf)


def _increasing(function: Callable[..., End], x: Interval, exact: dict[End, End]) -> Interval:
    """Return an interval that contains an increasing function on x; `exact` holds values that need no widening."""
    precision = x.ctx.prec
    ends = []
    for number, end in enumerate(x._mpi_):
        value = exact.get(end)
        if value is None:
            value = _around(function(end, precision + _GUARD, round_nearest), precision)[number]
        ends.append(value)
    return x.ctx.make_mpf(tuple(ends))


def _around(value: End, precision: int) -> tuple[End, End]:
    """Return ends of the given precision on both sides of the true value, from a computed approximation."""
    if value == fzero:
        raise ValueError("a value that is not 0 was computed as 0")
    # mpmath does not promise correct rounding, so the approximation is widened by far more than its error.
    margin = mpf_shift(mpf_abs(value), -precision - _MARGIN)
    return mpf_sub(value, margin, precision, round_floor), mpf_add(value, margin, precision, round_ceiling)


def _within_one(x: Interval) -> Interval:
    low, high = x._mpi_
    minus_one = mpf_neg(fone)
    return x.ctx.make_mpf((minus_one if mpf_lt(low, minus_one) else low, fone if mpf_lt(fone, high) else high))


def _wave(x: Interval, which: int, offset: End) -> Interval:
    """Return an interval that contains cos(t), or sin(t) if `which` is 1, for every t in x.

    The extrema are where t / pi - offset is an integer, the maxima where it is even.
    """
    low, high = x._mpi_
    precision, minus_one = x.ctx.prec, mpf_neg(fone)
    if low == fninf or high == finf:
        return x.ctx.make_mpf((minus_one, fone))
    # between neighbouring extrema cos is monotone, so only the ends and the extrema count
    values = [end for each in (low, high) for end in _wave_at(each, which, precision)]
    least, largest = mpf_min_max(values)
    if low != high:  # pi is irrational: a single dyadic number is a multiple of pi only if it is 0
        # The integer part of x / pi has about as many bits as that of x: they are added to the precision of pi.
        digits = precision + _GUARD + max(0, *(end[2] + end[3] for end in (low, high)))
        turns = mpi_sub(
            mpi_div((low, high), _around(mpf_pi(digits, round_nearest), digits - _GUARD), digits), (offset,) * 2
        )
        first, last = to_int(turns[0], round_ceiling), to_int(turns[1], round_floor)
        if last > first or (first == last and first % 2 == 0):
            largest = fone
        if last > first or (first == last and first % 2 == 1):
            least = minus_one
    return _within_one(x.ctx.make_mpf((least, largest)))


def _wave_at(end: End, which: int, precision: int) -> tuple[End, End]:
    if end == fzero:
        return ((fone, fone), (fzero, fzero))[which]
    return _around(mpf_cos_sin(end, precision + _GUARD, round_nearest, 0)[which], precision)
