r"""Vectors that are repeated as rows or columns: arrays that may be printed as the vector alone.

Definition   an array is rows of a vector b if it is 1 b^T, or a sum, an entrywise product or a function of such arrays:
             f(1 b^T) = 1 f(b)^T; the same with columns, v 1^T
Result       the vector, which papers write alone beside an array of the whole shape, as b in X W + b; or None
"""

from __future__ import annotations

from sympy import Basic

from derivations.language.arrays.expression import Array, ColumnBroadcast, Plus, RowBroadcast, Scaled, Transpose
from derivations.language.arrays.functions import Elementwise, Hadamard, MaskConjunction

__all__ = ["every_column", "every_row", "gathered"]

_ENTRYWISE = (Plus, Hadamard, MaskConjunction, Elementwise)


def every_row(expr: Basic) -> Array | None:
    """Return the vector that every row of an array equals, or None if its form shows no such vector."""
    return _repeated(expr, RowBroadcast, ColumnBroadcast)


def every_column(expr: Basic) -> Array | None:
    """Return the vector that every column of an array equals, or None if its form shows no such vector."""
    return _repeated(expr, ColumnBroadcast, RowBroadcast)


def _repeated(expr: Basic, broadcast: type[Array], transposed: type[Array]) -> Array | None:
    if isinstance(expr, broadcast):
        return expr.args[0]
    if isinstance(expr, Transpose):
        return _repeated(expr.args[0], transposed, broadcast)
    if not isinstance(expr, (*_ENTRYWISE, Scaled)):
        return None
    parts = {part: _repeated(part, broadcast, transposed) for part in expr.args if _is_wide(part)}
    if not parts or None in parts.values():
        return None
    return expr.func(*(parts.get(part, part) for part in expr.args))


def _is_wide(part: Basic) -> bool:
    return isinstance(part, Array) and bool(part.shape)


def gathered(expr: Array) -> Array:
    """Return an array as one broadcast if it is an entrywise combination of broadcasts: 1 a^T + 1 b^T = 1 (a + b)^T."""
    if not isinstance(expr, (*_ENTRYWISE, Scaled, Transpose)):
        return expr
    if (vector := every_row(expr)) is not None:
        return RowBroadcast(vector, expr.shape[0])
    # a number stands in front of columns, but not in front of the 1 of rows: 2 v 1^T, and 1 (2 b)^T
    if not isinstance(expr, Scaled) and (vector := every_column(expr)) is not None:
        return ColumnBroadcast(vector, expr.shape[1])
    return expr
