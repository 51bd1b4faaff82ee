"""The array functions that compiled layers call: those which NumPy lacks and no formula of an entry can say.

Compiled source carries the text of each one that it uses, so that it runs without this package: they stand alone but
for NumPy and one another. Rows are last axes; every axis before the matrix axes is a batch axis.
"""

from typing import Any

import numpy as np

__all__ = ["concatenate_heads", "interleave", "masked_row_softmax", "row_softmax", "split_heads", "stretch"]


def row_softmax(x: Any) -> Any:
    """Return the softmax of every row, exp(x_i) / sum_j exp(x_j); an entry -inf has weight 0.

    The largest entry is subtracted first: that changes nothing (softmax.shift_invariance) and exp cannot overflow.
    A row of -inf alone gives zeros.
    """
    largest = x.max(axis=-1, keepdims=True, initial=np.finfo(x.dtype).min)
    with np.errstate(over="ignore"):  # a difference too large for the number type is -inf, and its weight 0
        weights = np.exp(x - largest)
    return weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1)  # the sum is >= 1, or the row has no key


def masked_row_softmax(x: Any, visible: Any) -> Any:
    """Return the softmax of every row over its visible entries; a row without any gives zeros."""
    return row_softmax(np.where(visible, x, -np.inf))


def concatenate_heads(heads: Any) -> Any:
    """Return the matrices of all heads side by side: (h, n, d) becomes (n, h d)."""
    *batch, h, n, d = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, n, h * d)


def split_heads(wide: Any, h: int) -> Any:
    """Return the h blocks of columns of a matrix: (n, h d) becomes (h, n, d)."""
    *batch, n, width = wide.shape
    return wide.reshape(*batch, n, h, width // h).swapaxes(-3, -2)


def interleave(even: Any, odd: Any) -> Any:
    """Return the columns of two matrices in turn: even_0, odd_0, even_1, odd_1, ..."""
    even, odd = np.broadcast_arrays(even, odd)
    *rows, pairs = even.shape
    return np.stack([even, odd], axis=-1).reshape(*rows, 2 * pairs)


def stretch(x: Any, *shape: int) -> Any:
    """Return x repeated along its axes of length 1, so that its last axes have the given shape."""
    return np.broadcast_to(x, (*x.shape[: -len(shape)], *shape))
