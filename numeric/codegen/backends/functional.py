"""Array functions for libraries that trace: NumPy source that neither writes in place nor inspects values.

They are those of `numeric.runtime.primitives` that write in place, or whose shapes depend on values, in another form.
The text is NumPy's with the library's name in the place of `np`.
"""

from typing import Any

import numpy as np

from numeric.runtime.primitives import place_rows, routed_outer, scatter_rows, sum_batch

__all__ = [
    "add_entries",
    "add_rows",
    "add_windows",
    "choose",
    "place_block",
    "routed_outer_over_batch",
    "routed_product",
    "row_exponentials",
    "top_k",
    "top_k_mask",
]


def top_k(scores: Any, k: int) -> Any:
    """Return the indices of the k largest entries of every row; ties go to the earlier entry: (n, m) becomes (k, n)."""
    if k > scores.shape[-1]:
        raise ValueError(f"the {k} largest entries of a row are asked for, and a row has {scores.shape[-1]}")
    return np.argsort(-scores, axis=-1, stable=True)[..., :k].swapaxes(-1, -2)


def top_k_mask(scores: Any, visible: Any, k: int) -> Any:
    """Return the mask of the k largest visible entries of every row; ties go to the earlier entry."""
    order = np.argsort(-np.where(visible, scores, -np.inf), axis=-1, stable=True)
    ranks = np.argsort(order, axis=-1)  # the inverse of a permutation
    return (ranks < k) & visible


def routed_product(rows: Any, matrices: Any, numbers: Any) -> Any:
    """Return x_i W_{numbers_i} for every row x_i; all products are computed, and one is kept for each row."""
    # all E products, because a traced library cannot choose rows by values
    products = (np.where((numbers == e)[..., None], rows @ matrix, 0) for e, matrix in enumerate(matrices))
    return sum(products)


def routed_outer_over_batch(left: Any, right: Any, numbers: Any, count: int) -> Any:
    """Return `count` matrices: the e-th is the sum of x_i^T y_i over all rows i of the batch with numbers_i = e."""
    return sum_batch(routed_outer(left, right, numbers, count), 3)


def place_block(columns: Any, block: int, count: int) -> Any:
    """Return a matrix of `count` blocks of columns: block number `block` is the given one, all others are zeros."""
    zeros = np.zeros_like(columns)
    return np.concatenate([columns if number == block else zeros for number in range(count)], axis=-1)


def add_windows(stretches: Any, n: int) -> Any:
    """Return n rows, each the sum of its copies in all windows of rows: (n - width + 1, width d) becomes (n, d)."""
    width = n - stretches.shape[-2] + 1
    d = stretches.shape[-1] // width
    return sum(place_rows(stretches[..., t * d : (t + 1) * d], t, n, 1) for t in range(width))


def add_entries(matrices: Any, numbers: Any, size: int) -> Any:
    """Return a table of `size` rows, one column for each matrix: row v holds the sums of the entries with number v."""
    *batch, h, n, m = matrices.shape
    rows = np.moveaxis(matrices, -3, -1).reshape(-1, n * m, h)
    places = np.broadcast_to(numbers, (*batch, n, m)).reshape(-1, n * m)
    items = np.cumsum(np.ones_like(places[:, :1]), axis=0) - 1  # a table for each item of the batch, one below another
    return scatter_rows(rows, places + size * items, size * len(places)).reshape(*batch, size, h)


def add_rows(rows: Any, tokens: Any, size: int) -> Any:
    """Return a table of `size` rows for each item of a batch: row v is the sum of the rows i with tokens[i] = v."""
    batch = np.broadcast_shapes(rows.shape[:-2], tokens.shape[:-1])
    n, d = rows.shape[-2:]
    each = np.broadcast_to(rows, (*batch, n, d)).reshape(-1, n, d)
    places = np.broadcast_to(tokens, (*batch, n)).reshape(-1, n)
    items = np.cumsum(np.ones_like(places[:, :1]), axis=0) - 1  # a table for each item of the batch, one below another
    return scatter_rows(each, places + size * items, size * len(places)).reshape(*batch, size, d)


def choose(table: Any, numbers: Any) -> Any:
    """Return one matrix for each column c of a table: its entry (i, j) is table[numbers_ij, c]."""
    size, h = table.shape[-2:]
    if table.ndim == 2:
        return np.moveaxis(np.swapaxes(table, 0, 1)[:, numbers], 0, -3)
    batch, matrix = np.broadcast_shapes(table.shape[:-2], numbers.shape[:-2]), numbers.shape[-2:]
    columns = np.broadcast_to(table.mT, (*batch, h, size))
    places = np.broadcast_to(numbers, (*batch, *matrix)).reshape(*batch, 1, -1)
    places = np.broadcast_to(places, (*batch, h, places.shape[-1]))
    return np.take_along_axis(columns, places, -1).reshape(*batch, h, *matrix)


def row_exponentials(x: Any, base: Any = None) -> Any:
    """Return the powers base^(x_ij - r_i), where r_i is the largest entry of row i; an entry -inf gives 0."""
    largest = np.amax(x, -1)[..., None]
    lower = x - np.where(largest == -np.inf, 0, largest)
    if base is None:  # that is e
        return np.exp(lower)
    return np.exp2(lower) if base == 2 else base**lower
