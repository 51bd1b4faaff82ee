"""Products of few rows with a matrix, some columns at a time where BLAS is faster at small products.

Definition   rows (m, k) times a matrix (k, n); in panels, one product for each `width` columns of the matrix
Result       `rows_times` writes the product: in panels where m k width is at most `SMALL` but m k n is not, and where
             panels were measured to be faster; on several threads where there is enough to multiply
Source       OpenBLAS, kernel/x86_64/sgemm_small_kernel_permit_skylakex.c: kernels that copy nothing, up to 100^3
             multiplications
"""

from functools import lru_cache, partial
from typing import Any

import numpy as np

from numeric.runtime.blas_threads import may_use_threads
from numeric.runtime.measured import seconds_of
from numeric.runtime.tiles import default_threads, each_one

__all__ = ["few_rows_text", "rows_times"]

SMALL = 100**3  # multiplications of a product that BLAS takes as a small one
WIDTHS = (256, 128, 64)  # of panels: the widest that is small is taken; narrower ones read memory in small pieces
MOST_ROWS = 16  # rows in panels: the usual products of BLAS are as fast at more
ENOUGH = 1 << 25  # multiplications from which on threads divide the panels

TRIAL = (4, 768, 768)  # rows, their length and the columns of the product by which panels are measured
GAIN = 0.75  # of the time of BLAS that panels may take there; where they gain less, they gain nothing at other shapes


def rows_times(rows: Any, matrix: Any, out: Any) -> Any:
    """Write the product of rows with a matrix."""
    if 1 < len(rows) <= MOST_ROWS:
        width = SMALL // (rows.size or SMALL)
        if WIDTHS[-1] <= width < matrix.shape[1] and _is_fit(matrix) and panels_over_product() <= GAIN:
            return _in_panels(rows, matrix, out, next(each for each in WIDTHS if each <= width))
    return np.matmul(rows, matrix, out=out)


def few_rows_text() -> str:
    """Return whether few rows are multiplied in panels on this computer, and why; an empty text if they are not."""
    ratio = panels_over_product()
    if ratio > GAIN:
        return ""
    return (
        f"few_rows: up to {MOST_ROWS} rows are multiplied by a matrix in panels of its columns, which takes "
        f"{ratio:.2f} times as long here as in one product ({' x '.join(map(str, TRIAL))})"
    )


def _is_fit(matrix: Any) -> bool:
    # in double precision the usual products are as fast
    return type(matrix) is np.ndarray and matrix.dtype == np.float32 and matrix.itemsize in matrix.strides


def _in_panels(rows: Any, matrix: Any, out: Any, width: int) -> Any:
    columns, is_turned = matrix.shape[1], matrix.strides[1] != matrix.itemsize
    # small products are fast with rows that lie one after another: those of X^T beside those of W^T
    multiply = partial(_multiply_turned, rows.T.copy()) if is_turned else partial(_multiply, rows)
    threads = default_threads() if matrix.size * len(rows) >= ENOUGH and may_use_threads() else 1
    share = -(-columns // (threads * width)) * width  # of the columns, in whole panels

    def act(part: slice) -> None:
        multiply(matrix[:, part], out[:, part], width)

    if threads == 1:
        act(slice(0, columns))
    else:
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
    """Write a product as the transpose of W^T X^T, whose panels are rows of W^T."""
    whole, turned = matrix.shape[1] // width * width, matrix.T
    product = np.empty((len(turned), turned_rows.shape[1]), out.dtype)
    panels, products = (x[:whole].reshape(-1, width, x.shape[1]) for x in (turned, product))
    np.matmul(panels, turned_rows, out=products)
    if whole < len(turned):
        np.matmul(turned[whole:], turned_rows, out=product[whole:])
    np.copyto(out, product.T)


@lru_cache(maxsize=1)
def panels_over_product() -> float:
    """Return the time of a product of few rows in panels divided by that of BLAS on all its threads."""
    count, length, columns = TRIAL
    rows, matrix = np.ones((count, length), np.float32), np.ones((length, columns), np.float32)
    out = np.empty((count, columns), np.float32)
    in_panels = partial(_multiply, rows, matrix, out, WIDTHS[1])
    return seconds_of(in_panels) / seconds_of(partial(np.matmul, rows, matrix, out=out))
