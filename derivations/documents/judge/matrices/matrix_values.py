"""Matrices of floats and numbers: added, multiplied and compared.

Definition   a value is a matrix, the tuple of its rows, or a number
Raises       NoValue, for what is not added or multiplied
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, mul
from typing import TypeAlias

from derivations.documents.judge.matrices.matrix_functions import SIZE, Matrix, NoValue

__all__ = [
    "IDENTITY", "Value", "added", "are_alike", "entries_of", "multiplied_by_entries", "resized", "scaled", "size_of",
    "times", "transposed",
]  # fmt: skip

CLOSE = 1e-8
Value: TypeAlias = float | Matrix
IDENTITY: Matrix = tuple(tuple(float(row == column) for column in range(SIZE)) for row in range(SIZE))


def are_alike(first: Value | None, second: Value | None, *, close: float = CLOSE) -> bool:
    """Say whether two values are the same; what has no value is like nothing."""
    if first is None or second is None or isinstance(first, tuple) is not isinstance(second, tuple):
        return False
    if size_of(first) != size_of(second):
        return False
    pairs = list(zip(entries_of(first), entries_of(second), strict=True))
    scale = max(1e-6, *(max(abs(a), abs(b)) for a, b in pairs))
    return all(abs(a - b) <= close * scale for a, b in pairs)


def size_of(value: Value) -> tuple[int, ...]:
    """Return how many rows and columns a matrix has; nothing for a number."""
    return (len(value), len(value[0])) if isinstance(value, tuple) else ()


def entries_of(value: Value) -> tuple[float, ...]:
    """Return the entries, row by row."""
    return tuple(entry for row in value for entry in row) if isinstance(value, tuple) else (value,)


def resized(like: Value, entries: Sequence[float]) -> Value:
    """Return the value of the size of another one that has these entries, row by row."""
    if not isinstance(like, tuple):
        return entries[0]
    columns = len(like[0])
    return tuple(tuple(entries[first : first + columns]) for first in range(0, len(entries), columns))


def added(first: Value, second: Value) -> Value:
    """Return a sum; a row is added to every row, a column to every column."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return _entrywise(first, second, add)
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


def transposed(value: Value) -> Value:
    """Return the transpose, which a number is itself."""
    return tuple(zip(*value, strict=True)) if isinstance(value, tuple) else value


def multiplied_by_entries(first: Value, second: Value) -> Value:
    """Return the product entry by entry; a row multiplies every row, a column every column."""
    if not isinstance(first, tuple) or not isinstance(second, tuple):
        raise NoValue
    return _entrywise(first, second, mul)


def _entrywise(first: Matrix, second: Matrix, of: Callable[[float, float], float]) -> Matrix:
    rows, columns = max(len(first), len(second)), max(len(first[0]), len(second[0]))
    if (rows, columns) not in (size_of(first), size_of(second)):
        raise NoValue  # a row and a column
    first, second = (_repeated(each, rows, columns) for each in (first, second))
    return tuple(tuple(map(of, row, other)) for row, other in zip(first, second, strict=True))


def _repeated(matrix: Matrix, rows: int, columns: int) -> Matrix:
    """Return a matrix with its one row in every row, or its one column in every column."""
    matrix = matrix * rows if len(matrix) == 1 else matrix
    return tuple(row * columns for row in matrix) if len(matrix[0]) == 1 else matrix
