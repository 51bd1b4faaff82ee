"""Determinants and inverses of the matrices along the last two axes, with a known small number of rows.

Definition   det A = sum over columns j of (-1)^j A_0j det of A without row 0 and column j
             inverse of A: the entry (i, j) is (-1)^(i + j) det of A without row j and column i, over det A
Source       Laplace (1772)
"""

from __future__ import annotations

from functools import reduce

from numeric.lifting.operations import UNARY, add, divide, finite, matmul, multiply, negate, real
from numeric.lifting.places.joining import stack
from numeric.lifting.places.slices import item
from numeric.lifting.refusals import refuse
from numeric.lifting.tensor import Tensor

__all__ = ["determinant", "inverse", "log_determinant", "solved"]

_LARGEST = 4  # a determinant of more rows is computed by elimination, which is no one formula
_Rows = list[list[Tensor]]


def determinant(array: Tensor) -> Tensor:
    """Return the determinants of the matrices along the last two axes."""
    return _determinant(_entries(array))


def inverse(array: Tensor) -> Tensor:
    """Return the inverses of the matrices along the last two axes. A matrix with determinant 0 has no inverse."""
    rows = _entries(array)
    whole = _determinant(rows)
    if len(rows) == 1:
        return stack([stack([divide(1, whole)], -1)], -2)
    places = range(len(rows))
    return stack([stack([divide(_cofactor(rows, j, i), whole) for j in places], -1) for i in places], -2)


def log_determinant(array: Tensor) -> tuple[Tensor, Tensor]:
    """Return the signs of the determinants, and the logarithms of their absolute values."""
    found = determinant(array)
    return UNARY["sign"](found), UNARY["log"](UNARY["absolute"](found))


def solved(array: Tensor, right: Tensor) -> Tensor:
    """Return the solutions of linear equations, computed as the inverse matrices times the right-hand sides."""
    if right.ndim not in (1, array.ndim):
        raise refuse("linear equations with several right-hand sides whose axes are not those of the matrices")
    return matmul(inverse(array), right)


def _entries(array: Tensor) -> _Rows:
    finite("a determinant", array)
    count, columns = array.shape[-2:] if array.ndim >= 2 else (0, 1)
    if not (isinstance(count, int) and isinstance(columns, int) and 0 < count <= _LARGEST):
        raise refuse(f"a determinant of more than {_LARGEST} rows, or of a symbolic number of them")
    if count != columns:
        raise ValueError(f"a determinant of {count} rows and {columns} columns")
    array = real(array)
    return [[item(array, (..., i, j)) for j in range(count)] for i in range(count)]


def _determinant(rows: _Rows) -> Tensor:
    first, *_ = rows
    if len(rows) == 1:
        return first[0]
    return reduce(add, (multiply(entry, _cofactor(rows, 0, j)) for j, entry in enumerate(first)))


def _cofactor(rows: _Rows, i: int, j: int) -> Tensor:
    """Return (-1)^(i + j) times the determinant without row i and column j."""
    left = [[entry for at, entry in enumerate(row) if at != j] for number, row in enumerate(rows) if number != i]
    minor = _determinant(left)
    return negate(minor) if (i + j) % 2 else minor
