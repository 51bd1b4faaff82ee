"""Matrices of floats and numbers: added, multiplied and compared.

Definition   a value is a matrix, the tuple of its rows, or a number
Raises       NoValue, for what is not added or multiplied
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add, mul
from typing import TypeAlias

from derivations.documents.judge.matrices.matrix_functions import SIZE, Matrix, NoValue

__all__ = ["IDENTITY", "Value", "added", "are_alike", "entries_of", "multiplied_by_entries", "scaled", "times"]

CLOSE = 1e-8
Value: TypeAlias = float | Matrix
IDENTITY: Matrix = tuple(tuple(float(row == column) for column in range(SIZE)) for row in range(SIZE))


def are_alike(first: Value | None, second: Value | None) -> bool:
    """Say whether two values are the same; what has no value is like nothing."""
    if first is None or second is None or isinstance(first, tuple) is not isinstance(second, tuple):
        return False
    if _size(first) != _size(second):
        return False
    pairs = list(zip(entries_of(first), entries_of(second), strict=True))
    scale = max(1e-6, *(max(abs(a), abs(b)) for a, b in pairs))
    return all(abs(a - b) <= CLOSE * scale for a, b in pairs)


def _size(value: Value) -> tuple[int, ...]:
    return (len(value), len(value[0])) if isinstance(value, tuple) else ()


def entries_of(value: Value) -> tuple[float, ...]:
    """Return the entries, row by row."""
    return tuple(entry for row in value for entry in row) if isinstance(value, tuple) else (value,)


def added(first: Value, second: Value) -> Value:
    """Return a sum; a row is added to every row."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        rows = max(len(first), len(second))  # a row is added to every row
        whole, other = (each * rows if len(each) == 1 else each for each in (first, second))
        return _entrywise(whole, other, add)
    if isinstance(first, tuple) or isinstance(second, tuple):
        raise NoValue
    return first + second


def scaled(number: float, value: Value) -> Value:
    """Return a number times a value."""
    return (
        tuple(tuple(number * entry for entry in row) for row in value) if isinstance(value, tuple) else number * value
    )


def times(first: Value, second: Value) -> Value:
    """Return the product of two values, in this order."""
    if not isinstance(first, tuple):
        return scaled(first, second)
    if not isinstance(second, tuple):
        return scaled(second, first)
    if len(first[0]) != len(second):
        raise NoValue
    columns = list(zip(*second, strict=True))
    return tuple(tuple(sum(map(mul, row, column)) for column in columns) for row in first)


def multiplied_by_entries(first: Value, second: Value) -> Value:
    """Return the product entry by entry."""
    if not isinstance(first, tuple) or not isinstance(second, tuple):
        raise NoValue
    return _entrywise(first, second, mul)


def _entrywise(first: Matrix, second: Matrix, of: Callable[[float, float], float]) -> Matrix:
    return tuple(tuple(map(of, row, other)) for row, other in zip(first, second, strict=True))
