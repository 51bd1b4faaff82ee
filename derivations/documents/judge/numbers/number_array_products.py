"""Sums, products and powers in which arrays of numbers and numbers stand side by side.

Definition   an operator between factors is "" side by side, "dot", "times", "at" or "odot"
Result       `negated`, `plus`, `times`, `power_of`: an array or a number
Assumes      of two lists the dot product is meant where there is a dot, or where one of them was transposed
Raises       NoNumber, where nothing says what is meant: a number added to an array, two lists side by side
"""

from __future__ import annotations

from fractions import Fraction

from derivations.documents.judge.numbers.intervals import NoNumber, Value, added, multiplied, power
from derivations.documents.judge.numbers.number_arrays import (
    NumberArray,
    combined,
    dot_product,
    each_entry,
    inverse,
    matrix_product,
)

__all__ = ["Result", "are_lists", "negated", "plus", "power_of", "times", "times_list"]

HIGHEST_POWER = 16

Result = Value | NumberArray


def negated(value: Result) -> Result:
    """Return minus a value."""
    return each_entry(_minus, value) if isinstance(value, NumberArray) else -value


def _minus(value: Value) -> Value:
    return -value


def plus(first: Result, second: Result) -> Result:
    """Return a sum of two arrays, or of two numbers."""
    if isinstance(first, NumberArray) and isinstance(second, NumberArray):
        return combined(added, first, second)
    if isinstance(first, NumberArray) or isinstance(second, NumberArray):
        raise NoNumber
    return added(first, second)


def are_lists(*values: Result) -> bool:
    """Say whether all values are lists, which have no rows and columns."""
    return all(isinstance(each, NumberArray) and each.axes == 1 for each in values)


def times_list(first: Result, second: Result, operator: str, *, one_turned: bool) -> Result:
    """Return the product of two lists, of which one was transposed or none."""
    if not isinstance(first, NumberArray) or not isinstance(second, NumberArray):
        raise NoNumber
    if operator == "odot":
        return combined(multiplied, first, second)
    if not one_turned and operator != "dot":
        raise NoNumber
    return dot_product(first.entries, second.entries)


def times(first: Result, second: Result, operator: str) -> Result:
    """Return a product, in which one factor may be a number."""
    if isinstance(first, NumberArray) and isinstance(second, NumberArray):
        if operator == "odot":
            return combined(multiplied, first, second)
        if operator not in ("", "at", "dot", "times"):
            raise NoNumber
        if operator == "dot" and first.shape == second.shape and first.is_vector and len(first.entries) > 1:
            return dot_product(first.entries, second.entries)
        return matrix_product(first, second)
    if isinstance(first, NumberArray):
        return _scaled(first, second)
    return _scaled(second, first) if isinstance(second, NumberArray) else multiplied(first, second)


def _scaled(array: NumberArray, factor: Value) -> NumberArray:
    return each_entry(lambda entry: multiplied(factor, entry), array)


def power_of(base: Result, exponent: Value) -> Result:
    """Return a power of a number, or of a square matrix; -1 is the inverse."""
    if not isinstance(base, NumberArray):
        return power(base, exponent)
    if exponent == -1:
        return inverse(base)
    whole = isinstance(exponent, Fraction) and exponent.denominator == 1 and 1 <= exponent <= HIGHEST_POWER
    if not whole or base.axes == 1:
        raise NoNumber
    result = base
    for _ in range(int(exponent) - 1):
        result = matrix_product(result, base)
    return result
