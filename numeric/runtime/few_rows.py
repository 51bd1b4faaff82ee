"""Products of few rows with a matrix, some columns at a time where BLAS is faster at small products.

Definition   rows (m, k) times a matrix (k, n); in panels, one product for each `width` columns of the matrix
Result       `rows_times` writes the product: in panels where m k width is at most `SMALL` but m k n is not, and where
             panels were measured to be faster; on several threads where the matrix is large. Of a matrix that is stored
             as its transpose, the panels are rows, and the product is (W^T X^T)^T
Source       OpenBLAS, kernel/x86_64/sgemm_small_kernel_permit_skylakex.c: kernels that copy nothing, up to 100^3
             multiplications
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np

from numeric.runtime.blas_threads import may_use_threads
from numeric.runtime.measured import time_ratio
from numeric.runtime.tiles import default_threads, each_one

__all__ = ["few_rows_text", "rows_times"]

SMALL = 100**3  # multiplications of a product that BLAS takes as a small one
WIDTHS = (256, 128, 64, 32)  # of panels: the widest that is small is taken
LEAST_WIDTH = 64  # of panels that are columns: narrower ones read memory in small pieces
MOST_ROWS = 16  # of which panels are columns: the usual products of BLAS are as fast at more
MOST_TURNED = 64  # of which the transpose is computed where the matrix is stored as its transpose
LARGE = 1 << 21  # entries of a matrix that threads divide

TRIAL = (4, 768, 768)  # rows, their length and the columns of the product by which panels are measured
GAIN = 0.75  # of the time of BLAS that panels may take there; where they gain less, they gain nothing at other shapes


def rows_times(rows: Any, matrix: Any, out: Any) -> Any:
    """Write the product of rows with a matrix."""
    if 1 < len(rows) <= MOST_TURNED and _is_fit(matrix) and rows.size * matrix.shape[1] > SMALL and panels_are_faster():
        is_turned = matrix.strides[1] != matrix.itemsize
        width = next((width for width in WIDTHS if rows.size * width <= SMALL), 0)
        if is_turned or (width >= LEAST_WIDTH and len(rows) <= MOST_ROWS):
            # small products are fast with rows that lie one after another: those of X^T beside those of W^T
            multiply = partial(_multiply_turned, rows.T.copy()) if is_turned else partial(_multiply, rows)
            return _in_panels(multiply, matrix, out, width)
    return np.matmul(rows, matrix, out=out)


def _is_fit(matrix: Any) -> bool:
    # in double precision the usual products are as fast
    return type(matrix) is np.ndarray and matrix.dtype == np.float32 and matrix.itemsize in matrix.strides


def _in_panels(multiply: Any, matrix: Any, out: Any, width: int) -> Any:
    columns = matrix.shape[1]
    threads = default_threads() if width and matrix.size >= LARGE and may_use_threads() else 1
    if threads == 1:
        multiply(matrix, out, width)
        return out
    share = -(-columns // (threads * width)) * width  # of the columns, in whole panels

    def act(part: slice) -> None:
        multiply(matrix[:, part], out[:, part], width)

    each_one(act, [slice(first, first + share) for first in range(0, columns, share)], threads)
    return out


def _multiply(rows: Any, matrix: Any, out: Any, width: int) -> None:
    """Write a product panel by panel in one call, and what is left after whole panels."""
    whole = matrix.shape[1] // width * width
    panels, products = (x[:, :whole].reshape(len(x), -1, width).transpose(1, 0, 2) for x in (matrix, out))
    np.matmul(rows, panels, out=products)
    if whole < matrix.shape[1]:
        np.matmul(rows, matrix[:, whole:], out=out[:, whole:])


def _multiply_turned(turned_rows: Any, matrix: Any, out: Any, width: int) -> None:
    """Write a product as the transpose of W^T X^T, in panels of rows of W^T unless the width is 0."""
    turned = matrix.T
    product = np.empty((len(turned), turned_rows.shape[1]), out.dtype)
    whole = len(turned) // width * width if width else 0
    if whole:
        panels, products = (x[:whole].reshape(-1, width, x.shape[1]) for x in (turned, product))
        np.matmul(panels, turned_rows, out=products)
    if whole < len(turned):
        np.matmul(turned[whole:], turned_rows, out=product[whole:])
    np.copyto(out, product.T)


def panels_are_faster() -> bool:
    """Return whether products of few rows are clearly faster in panels on this computer."""
    return _panels_over_product() <= GAIN


def few_rows_text() -> str:
    """Return whether few rows are multiplied in panels on this computer, and why; an empty text if they are not."""
    if not panels_are_faster():
        return ""
    return (
        f"few_rows: up to {MOST_ROWS} rows are multiplied by a matrix in panels of its columns, which takes "
        f"{_panels_over_product():.2f} times as long here as in one product ({' x '.join(map(str, TRIAL))})"
    )


@lru_cache(maxsize=1)
def _panels_over_product() -> float:
    """Return the time of a product of few rows in panels divided by that of BLAS on all its threads."""
    count, length, columns = TRIAL
    rows, matrix = np.ones((count, length), np.float32), np.ones((length, columns), np.float32)
    out = np.empty((count, columns), np.float32)
    in_panels = partial(_multiply, rows, matrix, out, WIDTHS[1])
    return time_ratio(in_panels, partial(np.matmul, rows, matrix, out=out))
