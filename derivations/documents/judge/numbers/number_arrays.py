r"""Arrays of numbers: lists and matrices whose entries are exact fractions, or intervals that hold them.

Definition   a list has one row and `axes` 1, a matrix as many rows as it has and `axes` 2
Result       the operations: sums and products entry by entry, matrix products, transposes, softmax of rows, norms,
             traces, determinants, statistics
Assumes      a list is a row beside a matrix to its right, a column beside one to its left; of two lists that stand
             side by side nobody knows which product is meant
Raises       NoNumber, for what does not fit
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from derivations.documents.budget import spend
from derivations.documents.judge.numbers.intervals import (
    NoNumber,
    Value,
    added,
    divided,
    exponential,
    multiplied,
    power,
)  # fmt: skip

__all__ = [
    "NumberArray", "combined", "determinant", "dot_product", "each_entry", "euclidean_norm", "inverse",
    "matrix_product", "mean", "normalised", "scaled_to_root_mean_square", "softmax_of_rows", "standard_deviation",
    "total", "trace", "transposed",
]  # fmt: skip

MOST_ENTRIES = 1_000
LARGEST_DETERMINANT = 5  # rows
Row = tuple[Value, ...]


@dataclass(frozen=True)
class NumberArray:
    """A list or a matrix of numbers."""

    rows: tuple[Row, ...]
    axes: int

    def __post_init__(self) -> None:
        """Refuse rows of several lengths, and what is too large."""
        lengths = {len(row) for row in self.rows}
        if len(lengths) != 1 or 0 in lengths or len(self.rows) * max(lengths) > MOST_ENTRIES:
            raise NoNumber

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns; a list has one row."""
        return len(self.rows), len(self.rows[0])

    @property
    def entries(self) -> Row:
        """All entries, row by row."""
        return tuple(entry for row in self.rows for entry in row)

    @property
    def is_vector(self) -> bool:
        """Whether it is a list, a row or a column."""
        return 1 in self.shape


def combined(of: Callable[[Value, Value], Value], first: NumberArray, second: NumberArray) -> NumberArray:
    """Return an operation entry by entry of two arrays of one shape."""
    if first.shape != second.shape or first.axes != second.axes:
        raise NoNumber
    pairs = zip(first.rows, second.rows, strict=True)
    return NumberArray(tuple(tuple(map(of, *rows)) for rows in pairs), first.axes)


def each_entry(of: Callable[[Value], Value], array: NumberArray) -> NumberArray:
    """Return a function entry by entry."""
    return NumberArray(tuple(tuple(map(of, row)) for row in array.rows), array.axes)


def transposed(array: NumberArray) -> NumberArray:
    """Return the transpose of a matrix; that of a list is what its neighbour makes of it."""
    if array.axes == 1:
        raise NoNumber
    return NumberArray(tuple(zip(*array.rows, strict=True)), 2)


def matrix_product(first: NumberArray, second: NumberArray) -> NumberArray:
    """Return a matrix product, in which one of the two may be a list."""
    if first.axes == second.axes == 1:
        raise NoNumber
    columns = tuple(zip(*second.rows, strict=True)) if second.axes == 2 else second.rows
    spend(len(first.rows) * len(columns) * len(columns[0]))
    rows = tuple(tuple(dot_product(row, column) for column in columns) for row in first.rows)
    if second.axes == 1:
        rows = (tuple(row[0] for row in rows),)
    return NumberArray(rows, min(first.axes, second.axes))


def dot_product(first: Sequence[Value], second: Sequence[Value]) -> Value:
    """Return the sum of the products of entries."""
    if len(first) != len(second):
        raise NoNumber
    return total([multiplied(a, b) for a, b in zip(first, second, strict=True)])


def total(values: Sequence[Value]) -> Value:
    """Return a sum."""
    result: Value = Fraction(0)
    for value in values:
        result = added(result, value)
    return result


def mean(values: Sequence[Value]) -> Value:
    """Return an average."""
    return divided(total(values), Fraction(len(values)))


def euclidean_norm(values: Sequence[Value]) -> Value:
    """Return the root of the sum of squares."""
    return power(dot_product(values, values), Fraction(1, 2))


def softmax_of_rows(array: NumberArray) -> NumberArray:
    """Return the softmax of every row."""
    rows = []
    for row in array.rows:
        powers = [exponential(entry) for entry in row]
        whole = total(powers)
        rows.append(tuple(divided(each, whole) for each in powers))
    return NumberArray(tuple(rows), array.axes)


def normalised(array: NumberArray, *, fewer: int = 0) -> NumberArray:
    """Return every row less its mean, over its standard deviation with the divisor n - `fewer`."""
    rows = []
    for row in array.rows:
        centre, deviation = mean(row), standard_deviation(row, fewer)
        rows.append(tuple(divided(added(entry, -centre), deviation) for entry in row))
    return NumberArray(tuple(rows), array.axes)


def standard_deviation(values: Sequence[Value], fewer: int = 0) -> Value:
    """Return the root of the sum of squares of what is above the mean, over n - `fewer`."""
    centre = mean(values)
    centred = [added(each, -centre) for each in values]
    return power(divided(dot_product(centred, centred), Fraction(len(values) - fewer)), Fraction(1, 2))


def scaled_to_root_mean_square(array: NumberArray) -> NumberArray:
    """Return every row over the root of the mean of its squares."""
    rows = []
    for row in array.rows:
        root = power(divided(dot_product(row, row), Fraction(len(row))), Fraction(1, 2))
        rows.append(tuple(divided(entry, root) for entry in row))
    return NumberArray(tuple(rows), array.axes)


def _square(array: NumberArray) -> None:
    if array.axes == 1 or array.shape[0] != array.shape[1]:
        raise NoNumber


def trace(array: NumberArray) -> Value:
    """Return the sum of the diagonal of a square matrix."""
    _square(array)
    return total([row[place] for place, row in enumerate(array.rows)])


def determinant(array: NumberArray) -> Value:
    """Return the determinant of a small square matrix, by its first row."""
    _square(array)
    if len(array.rows) > LARGEST_DETERMINANT:
        raise NoNumber
    return _determinant(array.rows)


def inverse(array: NumberArray) -> NumberArray:
    """Return the inverse of a small square matrix: its cofactors, transposed, over its determinant."""
    whole = determinant(array)
    size = range(len(array.rows))

    def cofactor(row: int, column: int) -> Value:
        minor = [(*each[:column], *each[column + 1 :]) for at, each in enumerate(array.rows) if at != row]
        return multiplied((-1) ** (row + column) * Fraction(1), _determinant(minor) if minor else Fraction(1))

    return NumberArray(tuple(tuple(divided(cofactor(b, a), whole) for b in size) for a in size), 2)


def _determinant(rows: Sequence[Row]) -> Value:
    spend(len(rows))
    if len(rows) == 1:
        return rows[0][0]
    terms = []
    for place, entry in enumerate(rows[0]):
        minor = [(*row[:place], *row[place + 1 :]) for row in rows[1:]]
        terms.append(multiplied((-1) ** place * entry, _determinant(minor)))
    return total(terms)
