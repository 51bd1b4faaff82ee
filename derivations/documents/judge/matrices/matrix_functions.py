"""Functions of small matrices of numbers: inverse, determinant, trace, softmax, norm and sum of each row; rotations.

Raises       NoValue where a matrix is not square, or has another size than what is known here
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import mul
from typing import TypeAlias

__all__ = [
    "SIZE", "STEP", "Matrix", "NoValue", "determinant", "diagonal", "inverse", "normalised", "rotation", "row_means",
    "row_sums", "slope", "softmax", "square", "trace",
]  # fmt: skip

STEP = 1e-5  # of differences, whose relative error is below 1e-8
SIZE = 3  # of two rows, matrices have identities that larger ones lack
Matrix: TypeAlias = tuple[tuple[float, ...], ...]


class NoValue(Exception):
    """What is no matrix and no number here."""


def inverse(matrix: Matrix) -> Matrix:
    """Return the inverse of a matrix of three rows, whose columns are the cross products of its rows."""
    first, second, third = square(matrix)
    columns = (_cross(second, third), _cross(third, first), _cross(first, second))
    scale = 1 / determinant(matrix)
    return tuple(tuple(scale * column[row] for column in columns) for row in range(SIZE))


def _cross(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def square(matrix: Matrix) -> Matrix:
    """Return a matrix if it is square; raises NoValue."""
    if len(matrix) != SIZE or len(matrix[0]) != SIZE:
        raise NoValue
    return matrix


def determinant(matrix: Matrix) -> float:
    """Return the determinant."""
    first, second, third = square(matrix)
    return sum(map(mul, first, _cross(second, third)))


def rotation(first: float, second: float, third: float) -> Matrix:
    """Return a rotation by its axis, as long as the tangent of half its angle: Cayley's (1 + S) (1 - S)^-1, S skew."""
    axis, length = (first, second, third), first**2 + second**2 + third**2
    skew = ((0.0, -third, second), (third, 0.0, -first), (-second, first, 0.0))
    places = range(SIZE)
    doubled = [[2 * (skew[row][column] + axis[row] * axis[column]) for column in places] for row in places]
    return tuple(
        tuple((doubled[row][column] + (1 - length) * (row == column)) / (1 + length) for column in places)
        for row in places
    )


def softmax(matrix: Matrix) -> Matrix:
    """Return the softmax of each row, or of the one column of a vector."""
    if len(matrix[0]) == 1 < len(matrix):
        return tuple(zip(*softmax(tuple(zip(*matrix, strict=True))), strict=True))
    powers = [[math.exp(entry) for entry in row] for row in matrix]
    return tuple(tuple(entry / sum(row) for entry in row) for row in powers)


def normalised(matrix: Matrix) -> Matrix:
    """Return a matrix of which every row has the mean 0 and the variance 1, as a norm with neither gain nor bias."""
    if len(matrix[0]) == 1 < len(matrix):  # a vector
        return tuple(zip(*normalised(tuple(zip(*matrix, strict=True))), strict=True))
    rows = []
    for row in matrix:
        mean = sum(row) / len(row)
        deviation = math.sqrt(sum((entry - mean) ** 2 for entry in row) / len(row))
        rows.append(tuple((entry - mean) / deviation for entry in row))
    return tuple(rows)


def row_sums(matrix: Matrix) -> Matrix:
    """Return the sum of each row, as a column."""
    return tuple((sum(row),) for row in matrix)


def row_means(matrix: Matrix) -> Matrix:
    """Return the mean of each row, as a column."""
    return tuple((sum(row) / len(row),) for row in matrix)


def diagonal(matrix: Matrix) -> Matrix:
    """Return the matrix that has a vector on its diagonal."""
    if 1 not in (len(matrix), len(matrix[0])):
        raise NoValue
    entries = [entry for row in matrix for entry in row]
    return tuple(tuple(entry * (row == column) for column in range(SIZE)) for row, entry in enumerate(entries))


def trace(matrix: Matrix) -> float:
    """Return the sum of the diagonal."""
    return sum(square(matrix)[place][place] for place in range(SIZE))


def slope(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return the derivative of a function of one number, by differences."""
    return lambda x: (function(x + STEP) - function(x - STEP)) / (2 * STEP)
