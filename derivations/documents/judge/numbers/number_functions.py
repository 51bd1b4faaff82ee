"""Functions of numbers: max, min, logarithms to a given base, and a table of others.

Raises       NoNumber, for what has no real number, or is not in the table
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from derivations.documents.judge.numbers.intervals import (
    IV,
    LARGEST_EXPONENT,
    NoNumber,
    Value,
    added,
    estimated_logarithm,
    exponential,
    extreme,
    interval,
    multiplied,
    power,
    sigmoid,
    tanh,
)
from derivations.documents.syntax import Name, Number
from derivations.language.judge import intervals as functions

__all__ = ["CONSTANTS", "function_of_numbers"]

CONSTANTS: Mapping[str, Callable[[], Value]] = {
    "e": lambda: functions.exp(IV.mpf(1)),
    "π": lambda: functions.pi(IV),
    "pi": lambda: functions.pi(IV),
}
_FUNCTIONS: Mapping[str, Callable[[Value], Value]] = {
    "exp": exponential,
    "sqrt": lambda x: power(x, Fraction(1, 2)),
    "sin": lambda x: Fraction(0) if x == 0 else functions.sin(interval(x)),
    "cos": lambda x: Fraction(1) if x == 0 else functions.cos(interval(x)),
    "tanh": tanh,
    "sigmoid": sigmoid,
    "silu": lambda x: multiplied(x, sigmoid(x)),
    "swish": lambda x: multiplied(x, sigmoid(x)),
    "softplus": lambda x: functions.log(interval(added(Fraction(1), exponential(x)))),
    "erf": lambda x: Fraction(0) if x == 0 else functions.erf(interval(x)),
    "abs": abs,
    "relu": lambda x: extreme("max", [Fraction(0), x]),
}
_LOGARITHMS: Mapping[str, int | None] = {
    "log": None, "ln": 0, "lg": 10, "log2": 2, "log10": 10, "log_2": None,
}  # fmt: skip


def function_of_numbers(function: Name, arguments: list[Value], base: int) -> Value:
    """Return the value of a function. `base` is the base of a logarithm that has none written (0 means e)."""
    name = function.base.lower()
    if function.primes or function.accent:
        raise NoNumber  # a derivative, or another function
    if name in ("max", "min") and arguments:
        return extreme(name, arguments)
    if len(arguments) != 1:
        raise NoNumber
    if name in _LOGARITHMS:
        return _logarithm(function, arguments[0], base)
    known = _FUNCTIONS.get(name)
    if known is None or function.subscripts or function.superscripts:
        raise NoNumber
    return known(arguments[0])


def _logarithm(function: Name, argument: Value, base: int) -> Value:
    """Return a logarithm to the base in its subscript, else to the base in its name, else to `base`."""
    named = _LOGARITHMS[function.base.lower()]
    base = base if named is None else named
    for lower in function.subscripts:
        if not isinstance(lower, Number) or lower.value.denominator != 1 or lower.value < 2:
            raise NoNumber
        base = int(lower.value)
    enclosed = interval(argument)
    if not enclosed > 0:
        raise NoNumber
    if not base:
        return Fraction(0) if argument == 1 else functions.log(enclosed)
    if isinstance(argument, Fraction) and 0 < base < 1 << 64:
        exponent = round(estimated_logarithm(argument) / math.log(base))
        if abs(exponent) <= LARGEST_EXPONENT and Fraction(base) ** exponent == argument:
            return Fraction(exponent)
    return functions.log(enclosed) / functions.log(IV.mpf(base))
