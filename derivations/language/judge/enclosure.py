"""Enclosures of the values and slopes of a real function over intervals, by interval arithmetic of mpmath.

Over a short interval the mean value form f(m) + f'(I) (I - m) is far tighter than f(I). Both hold every value of f, and
so does their intersection.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import sympy
from mpmath import iv
from sympy import Basic, Expr, Symbol

from derivations.language.judge import intervals
from derivations.language.judge.evaluate import NotEvaluable, Sample, evaluate

__all__ = ["Jet", "enclose", "interval", "number", "tight"]


class Jet(NamedTuple):
    """Enclosures of the value and of the slope of a function over an interval."""

    value: Any
    slope: Any


def interval(low: Fraction, high: Fraction) -> Any:
    """Return the interval from one fraction to another, rounded outwards."""
    return iv.mpf([intervals.fraction(low).a, intervals.fraction(high).b])


@lru_cache(maxsize=1 << 10)
def number(expression: Expr) -> Any:
    """Return an interval that holds a constant; raises `NotEvaluable` if the expression is not a constant."""
    return evaluate(expression, Sample({}, closed=True))


def enclose(f: Expr, variable: Symbol, over: Any) -> Jet:
    """Return enclosures of a function and of its slope over an interval, which may reach to infinity.

    Raises `NotEvaluable` for a function that the table does not list, or that is not defined everywhere there.
    """
    if f == variable:
        return Jet(over, iv.mpf(1))
    if not f.has(variable):
        return Jet(number(f), iv.mpf(0))
    rule = _RULES.get(type(f))
    if rule is None:
        raise NotEvaluable(f"no enclosure of {f} is known")
    return rule(f, *(enclose(part, variable, over) for part in f.args))


def tight(f: Expr, variable: Symbol, low: Fraction, high: Fraction) -> tuple[Any, Any]:
    """Return f(I) intersected with the mean value form of f over a bounded interval I, and f at its middle."""
    over, middle = interval(low, high), (low + high) / 2
    point = interval(middle, middle)
    plain, at_middle = enclose(f, variable, over), enclose(f, variable, point).value
    # f(x) = f(m) + f'(s) (x - m) for an s between m and x
    centred = at_middle + plain.slope * (over - point)
    # plain enclosures take x - x over [0, 1] as [-1, 1]; the slope 0 gives the value 0
    return iv.mpf([max(plain.value.a, centred.a), min(plain.value.b, centred.b)]), at_middle


def _sum(f: Basic, first: Jet, *others: Jet) -> Jet:
    value, slope = first
    for part in others:
        value, slope = value + part.value, slope + part.slope
    return Jet(value, slope)


def _product(f: Basic, first: Jet, *others: Jet) -> Jet:
    value, slope = first
    for part in others:
        value, slope = value * part.value, slope * part.value + value * part.slope
    return Jet(value, slope)


def _power(f: Any, base: Jet, exponent: Jet) -> Jet:
    if f.exp.is_Integer and f.exp > 0:
        return Jet(base.value ** int(f.exp), int(f.exp) * base.value ** int(f.exp - 1) * base.slope)
    if f.exp.is_Integer and 0 not in base.value:
        return Jet(1 / base.value ** int(-f.exp), int(f.exp) / base.value ** int(1 - f.exp) * base.slope)
    if not (f.exp.is_Rational and base.value > 0):
        raise NotEvaluable(f"{f} is not proved to be defined")
    value = intervals.exp(exponent.value * intervals.log(base.value))
    return Jet(value, exponent.value * value / base.value * base.slope)  # (b^e)' = e b^e / b * b' for a constant e


def _logarithm(f: Basic, of: Jet) -> Jet:
    if not of.value > 0:
        raise NotEvaluable(f"{f} is not proved to be defined")
    return Jet(intervals.log(of.value), of.slope / of.value)


def _exponential(f: Basic, of: Jet) -> Jet:
    value = intervals.exp(of.value)
    return Jet(value, value * of.slope)


def _hyperbolic_tangent(f: Basic, of: Jet) -> Jet:
    value = intervals.tanh(of.value)
    return Jet(value, (1 - value**2) * of.slope)


def _absolute(f: Basic, of: Jet) -> Jet:
    """Return the enclosures of |f|. Over a kink the enclosure of the slope contains the slopes of both sides."""
    sign = iv.mpf(1) if of.value > 0 else iv.mpf(-1) if of.value < 0 else iv.mpf([-1, 1])
    return Jet(abs(of.value), sign * of.slope)


def _error_function(f: Basic, of: Jet) -> Jet:
    return Jet(intervals.erf(of.value), 2 / intervals.sqrt(intervals.pi()) * intervals.exp(-(of.value**2)) * of.slope)


_RULES: dict[type, Callable[..., Jet]] = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.exp: _exponential,
    sympy.log: _logarithm,
    sympy.Abs: _absolute,
    sympy.tanh: _hyperbolic_tangent,
    sympy.erf: _error_function,
    sympy.sin: lambda f, of: Jet(intervals.sin(of.value), intervals.cos(of.value) * of.slope),
    sympy.cos: lambda f, of: Jet(intervals.cos(of.value), -intervals.sin(of.value) * of.slope),
}
