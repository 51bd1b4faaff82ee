r"""Functions of arrays of numbers, by the names that documents use: softmax, layers of normalisation, trace, ReLU.

Definition   a function looks along the rows of its array, at the whole of it, or at one entry after another
Result       `applied(function, array)`: what the function makes of it; `bounded("max", 0, array)`: max(0, x)
Raises       NoNumber, for a function that is not known
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from derivations.documents.judge.numbers.intervals import NoNumber, Value, extreme
from derivations.documents.judge.numbers.number_arrays import (
    NumberArray,
    determinant,
    each_entry,
    mean,
    normalised,
    scaled_to_root_mean_square,
    softmax_of_rows,
    standard_deviation,
    total,
    trace,
    transposed,
)
from derivations.documents.judge.numbers.number_functions import function_of_numbers
from derivations.documents.scope.functions import folded
from derivations.documents.syntax import Name

__all__ = ["NORMALISING", "applied", "bounded"]

NORMALISING = frozenset({"layernorm", "layernormalization", "layernormalisation", "ln", "rmsnorm"})
BY_ENTRY = frozenset({"exp", "ln", "sqrt", "tanh", "sigmoid", "relu", "abs", "sin", "cos"})


def applied(function: Name, array: NumberArray, *, columns: bool = False, fewer: int = 0) -> Value | NumberArray:
    """Return a function of an array: the softmax along `columns`, a standard deviation with the divisor n - `fewer`."""
    word = folded(function)
    if word == "softmax":
        across = columns and array.axes == 2
        return transposed(softmax_of_rows(transposed(array))) if across else softmax_of_rows(array)
    if word in _OF_ARRAYS:
        return _OF_ARRAYS[word](array)
    if word == "std" and array.is_vector:
        return standard_deviation(array.entries, fewer)
    if word in NORMALISING and function.base != "ln":  # which is a logarithm
        return scaled_to_root_mean_square(array) if word == "rmsnorm" else normalised(array, fewer=fewer)
    if word not in BY_ENTRY:
        raise NoNumber
    return each_entry(lambda entry: function_of_numbers(function, [entry], 0), array)


def bounded(word: str, bound: Value, array: NumberArray) -> NumberArray:
    """Return the larger ("max") or the smaller ("min") of a number and every entry of an array."""
    return each_entry(lambda entry: extreme(word, [bound, entry]), array)


def _of_vector(of: Callable[[Any], Value]) -> Callable[[NumberArray], Value]:
    def apply(array: NumberArray) -> Value:
        if not array.is_vector:
            raise NoNumber
        return of(array.entries)

    return apply


_OF_ARRAYS: Mapping[str, Callable[[NumberArray], Value]] = {
    "tr": trace, "trace": trace, "det": determinant,
    "mean": _of_vector(mean), "avg": _of_vector(mean), "sum": _of_vector(total),
    "max": _of_vector(lambda entries: extreme("max", list(entries))),
    "min": _of_vector(lambda entries: extreme("min", list(entries))),
}  # fmt: skip
