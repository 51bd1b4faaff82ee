"""Random entries of letters that are matrices, and rows of functions of which nothing is known.

Definition   an entry depends on the name of its letter and on its place alone. A function of which nothing is known
             makes a row of one row of every argument, whatever their order
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from derivations.documents.judge.algebra.sampled import drawn
from derivations.documents.judge.matrices.matrix_functions import SIZE

__all__ = ["random_entry", "row_of_function"]


def random_entry(key: str, row: int, column: int) -> float:
    """Return the entry of a letter at a place, of size up to one."""
    return (drawn((key, row), column) % 20_011 - 10_005) / 10_000


def row_of_function(function: str, rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return the row that a function of which nothing is known makes of one row of every argument, in any order."""
    weights = [[random_entry(function, at, column) for at in range(1, len(rows[0]) + 1)] for column in range(SIZE)]
    return tuple(sum(math.sin(sum(map(mul, each, row)) + 1) for row in rows) for each in weights)
