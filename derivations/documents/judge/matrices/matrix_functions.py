"""Functions of small matrices of numbers: inverse, determinant, trace, softmax and norm of each row; rotations.

Raises       NoValue where a matrix is not square, or has another size than what is known here
"""

from __future__ import annotations

import math
from operator import mul
from typing import TypeAlias

__all__ = [
    "SIZE", "Matrix", "NoValue", "determinant", "inverse", "normalised", "rotation", "softmax", "square", "trace",
]  # fmt: skip

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
    """Return the softmax of each row."""
    powers = [[math.exp(entry) for entry in row] for row in matrix]
    return tuple(tuple(entry / sum(row) for entry in row) for row in powers)


def normalised(matrix: Matrix) -> Matrix:
    """Return a matrix of which every row has the mean 0 and the variance 1, as a norm with neither gain nor bias."""
    rows = []
    for row in matrix:
        mean = sum(row) / len(row)
        deviation = math.sqrt(sum((entry - mean) ** 2 for entry in row) / len(row))
        rows.append(tuple((entry - mean) / deviation for entry in row))
    return tuple(rows)


def trace(matrix: Matrix) -> float:
    """Return the sum of the diagonal."""
    return sum(square(matrix)[place][place] for place in range(SIZE))
