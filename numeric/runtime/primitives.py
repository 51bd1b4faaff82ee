"""The array functions that compiled layers call, which NumPy lacks and which no elementwise formula expresses.

Compiled source carries the text of each one that it uses, so that it runs without this package: they stand alone but
for NumPy and one another. Rows are last axes; every axis before the matrix axes is a batch axis.
"""

from typing import Any

import numpy as np

__all__ = [
    "add_entries",
    "add_rows",
    "add_weights",
    "add_windows",
    "backward_through",
    "choose",
    "column_sums",
    "concatenate_columns",
    "concatenate_heads",
    "corrected_recurrence",
    "forward_through",
    "interleave",
    "like",
    "look_up",
    "masked_row_exponentials",
    "masked_row_max",
    "masked_row_softmax",
    "merge_axes",
    "normalised",
    "pick",
    "place_axis",
    "place_block",
    "place_rows",
    "product_over_batch",
    "recurrence",
    "relative_buckets",
    "routed_outer",
    "routed_outer_over_batch",
    "routed_product",
    "row_exponentials",
    "row_log_sum_exp",
    "row_softmax",
    "scatter_rows",
    "signed_buckets",
    "split_axis",
    "split_heads",
    "stack_rows",
    "stretch",
    "sum_batch",
    "take_rows",
    "top_k",
    "top_k_mask",
    "windows",
]


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


def row_exponentials(x: Any, base: float) -> Any:
    """Return the powers base^(x_ij - r_i), where r_i is the largest entry of the row. An entry -inf gives 0."""
    largest = x.max(axis=-1, keepdims=True, initial=np.finfo(x.dtype).min)
    with np.errstate(over="ignore"):  # a difference too large for the number type is -inf, and its power 0
        if base == np.e:
            return np.exp(x - largest)
        return np.exp2(x - largest) if base == 2 else np.power(base, x - largest)


def masked_row_exponentials(x: Any, visible: Any, base: float) -> Any:
    """Return the powers of the visible entries of every row, and 0 at the others."""
    return row_exponentials(np.where(visible, x, -np.inf), base)


def normalised(rows: Any, sums: Any) -> Any:
    """Return every row divided by its sum. A row with the sum 0 consists of zeros and stays unchanged."""
    return rows / np.where(sums == 0, 1, sums)[..., None]


def row_log_sum_exp(x: Any) -> Any:
    """Return log sum_j exp(x_j) of every row; the largest entry is subtracted first, and exp cannot overflow."""
    largest = x.max(axis=-1, keepdims=True)
    return (largest + np.log(np.exp(x - largest).sum(axis=-1, keepdims=True)))[..., 0]


def recurrence(decays: Any, added: Any, rank: int, of_states: int, backwards: bool) -> Any:
    """Return the states H_t = exp(decays_t) H_{t-1} + added_t; backwards H_t = exp(decays_{t+1}) H_{t+1} + added_t.

    The last `rank` axes of the decays and the last `of_states` of `added` are those of one text, positions first.
    """
    factors = np.moveaxis(np.exp(decays), -rank, 0)
    factors = factors.reshape(*factors.shape, *[1] * (of_states - rank))
    steps = np.moveaxis(added, -of_states, 0)
    if not len(steps):
        return added
    states = [steps[-1] if backwards else steps[0]]
    for t in range(1, len(steps)):
        decay, more = (factors[-t], steps[-1 - t]) if backwards else (factors[t], steps[t])
        states.append(decay * states[-1] + more)
    return np.moveaxis(np.stack(np.broadcast_arrays(*states[::-1] if backwards else states)), 0, -of_states)


def corrected_recurrence(
    decays: Any, added: Any, written: Any, read: Any, of_factors: int, rank: int, of_states: int, backwards: bool
) -> Any:
    """Return the states H_t = exp(decays_t) H_{t-1} + written_t (read_t^T H_{t-1}) + added_t; backwards from t + 1.

    The last `of_factors` axes of `written` and `read` are those of one text, positions first.
    """
    factors = np.moveaxis(np.exp(decays), -rank, 0)
    factors = factors.reshape(*factors.shape, *[1] * (of_states - rank))
    columns, rows, behind = np.moveaxis(written, -of_factors, 0), np.moveaxis(read, -of_factors, 0), "jklmnop"
    behind = behind[: of_states - of_factors]
    columns = columns.reshape(*columns.shape, *[1] * len(behind))
    steps = np.moveaxis(added, -of_states, 0)
    if not len(steps):
        return added
    states = [steps[-1] if backwards else steps[0]]
    for t in range(1, len(steps)):
        at, more = (-t, steps[-1 - t]) if backwards else (t, steps[t])
        said = np.einsum(f"...i,...i{behind}->...{behind}", rows[at], states[-1])
        said = said[(..., None, *[slice(None)] * len(behind))]
        states.append(factors[at] * states[-1] + columns[at] * said + more)
    return np.moveaxis(np.stack(np.broadcast_arrays(*states[::-1] if backwards else states)), 0, -of_states)


def pick(matrix: Any, tokens: Any) -> Any:
    """Return one entry of every row, at the index given by the token of the row."""
    batch = np.broadcast_shapes(matrix.shape[:-1], tokens.shape)
    matrix, tokens = np.broadcast_to(matrix, (*batch, matrix.shape[-1])), np.broadcast_to(tokens, batch)
    return np.take_along_axis(matrix, tokens[..., None], axis=-1)[..., 0]


def look_up(table: Any, tokens: Any) -> Any:
    """Return the rows of a table at the given tokens. Each item of a batch has its own table."""
    batch = np.broadcast_shapes(table.shape[:-2], tokens.shape[:-1])
    tables = np.broadcast_to(table, (*batch, *table.shape[-2:]))
    numbers = np.broadcast_to(tokens, (*batch, tokens.shape[-1]))
    return np.take_along_axis(tables, numbers[..., None], -2)


def add_rows(rows: Any, tokens: Any, size: int) -> Any:
    """Return a table of `size` rows for each item of a batch: row v is the sum of the rows i with tokens[i] = v."""
    batch = np.broadcast_shapes(rows.shape[:-2], tokens.shape[:-1])
    items = np.broadcast_to(rows, (*batch, *rows.shape[-2:])).reshape(-1, *rows.shape[-2:])
    tables = np.zeros((len(items), size, rows.shape[-1]), rows.dtype)
    numbers = np.broadcast_to(tokens, (*batch, tokens.shape[-1])).reshape(-1, tokens.shape[-1])
    for table, item, named in zip(tables, items, numbers, strict=True):
        np.add.at(table, named, item)
    return tables.reshape(*batch, size, rows.shape[-1])


def scatter_rows(rows: Any, tokens: Any, size: int) -> Any:
    """Return a table of `size` rows for a whole batch: row v is the sum of the rows i with tokens[i] = v."""
    tokens = np.broadcast_to(tokens, rows.shape[:-1])
    table = np.zeros((size, rows.shape[-1]), rows.dtype)
    np.add.at(table, tokens.reshape(-1), rows.reshape(-1, rows.shape[-1]))
    return table


def top_k(scores: Any, k: int) -> Any:
    """Return the indices of the k largest entries of every row, equal ones in their order: (n, m) becomes (k, n)."""
    if k > scores.shape[-1]:
        raise ValueError(f"the {k} largest entries of a row are asked for, and a row has {scores.shape[-1]}")
    return np.argsort(-scores, axis=-1, kind="stable")[..., :k].swapaxes(-1, -2)


def top_k_mask(scores: Any, visible: Any, k: int) -> Any:
    """Return the mask of the k largest visible entries of every row. Of equal entries the first wins."""
    order = np.argsort(-np.where(visible, scores, -np.inf), axis=-1, kind="stable")
    ranks = np.argsort(order, axis=-1)  # the inverse of a permutation
    return (ranks < k) & visible


def routed_product(rows: Any, matrices: Any, numbers: Any) -> Any:
    """Return every row times the matrix with its number, x_i W_{numbers_i}, as one product for each matrix."""
    batch = np.broadcast_shapes(rows.shape[:-1], numbers.shape)
    rows, numbers = np.broadcast_to(rows, (*batch, rows.shape[-1])), np.broadcast_to(numbers, batch)
    products = np.zeros((*batch, matrices.shape[-1]), np.result_type(rows, matrices))
    for number, matrix in enumerate(matrices):
        products[numbers == number] = rows[numbers == number] @ matrix
    return products


def routed_outer(left: Any, right: Any, numbers: Any, count: int) -> Any:
    """Return `count` matrices: number e is the sum of x_i^T y_i over the rows with that number."""
    return np.stack([(left * (numbers == number)[..., None]).mT @ right for number in range(count)], axis=-3)


def routed_outer_over_batch(left: Any, right: Any, numbers: Any, count: int) -> Any:
    """Return `count` matrices: number e is the sum of x_i^T y_i over all rows of a batch with that number."""
    batch = np.broadcast_shapes(left.shape[:-1], right.shape[:-1], numbers.shape)
    left, right = (np.broadcast_to(rows, (*batch, rows.shape[-1])) for rows in (left, right))
    numbers = np.broadcast_to(numbers, batch)
    return np.stack([left[numbers == number].T @ right[numbers == number] for number in range(count)])


def concatenate_heads(heads: Any) -> Any:
    """Return the matrices of all heads side by side: (h, n, d) becomes (n, h d)."""
    *batch, h, n, d = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, n, h * d)


def split_heads(wide: Any, h: int) -> Any:
    """Return the h blocks of columns of a matrix: (n, h d) becomes (h, n, d)."""
    *batch, n, width = wide.shape
    return wide.reshape(*batch, n, h, width // h).swapaxes(-3, -2)


def split_axis(x: Any, axis: int, size: int) -> Any:
    """Return an array with one axis split into two, the second of length `size`. `axis` is negative."""
    place = x.ndim + axis
    return x.reshape(*x.shape[:place], x.shape[place] // size, size, *x.shape[place + 1 :])


def merge_axes(x: Any, axis: int) -> Any:
    """Return an array with one axis merged with the axis after it. `axis` is negative."""
    place = x.ndim + axis
    return x.reshape(*x.shape[:place], x.shape[place] * x.shape[place + 1], *x.shape[place + 2 :])


def masked_row_max(x: Any, mask: Any) -> Any:
    """Return the largest visible entry of every row, or the least number of the type for a row without one."""
    return np.amax(np.where(mask, x, np.finfo(x.dtype).min), -1)


def place_axis(x: Any, axis: int, start: int, size: int, step: int) -> Any:
    """Return x at the indices start, start + step, ... of an axis of length `size`, and zeros elsewhere."""
    return place_rows(x.swapaxes(axis, -1)[..., None], start, size, step)[..., 0].swapaxes(axis, -1)


def place_block(columns: Any, block: int, count: int) -> Any:
    """Return a matrix of `count` blocks of columns: the given one as number `block`, zeros elsewhere."""
    *rows, d = columns.shape
    wide = np.zeros_like(columns, shape=(*rows, count * d))  # of its class, so that recorded products stay recorded
    wide[..., block * d : (block + 1) * d] = columns
    return wide


def interleave(even: Any, odd: Any) -> Any:
    """Return the columns of two matrices in turn: even_0, odd_0, even_1, odd_1, ..."""
    even, odd = np.broadcast_arrays(even, odd)
    *rows, pairs = even.shape
    return np.stack([even, odd], axis=-1).reshape(*rows, 2 * pairs)


def stretch(x: Any, *shape: int) -> Any:
    """Return x repeated along its axes of length 1, so that its last axes have the given shape."""
    return np.broadcast_to(x, (*x.shape[: max(x.ndim - len(shape), 0)], *shape))


def windows(rows: Any, width: int) -> Any:
    """Return the windows of `width` rows of a matrix, each as one row: (n, d) becomes (n - width + 1, width d)."""
    return np.concatenate([rows[..., t : rows.shape[-2] - width + 1 + t, :] for t in range(width)], axis=-1)


def add_windows(stretches: Any, n: int) -> Any:
    """Return n rows, each the sum of its copies in the given windows of rows. This is the adjoint of `windows`."""
    count, width = stretches.shape[-2], n - stretches.shape[-2] + 1
    d = stretches.shape[-1] // width
    rows = np.zeros((*stretches.shape[:-2], n, d), stretches.dtype)
    for t in range(width):
        rows[..., t : t + count, :] += stretches[..., t * d : (t + 1) * d]
    return rows


def take_rows(matrix: Any, start: int, count: int, step: int) -> Any:
    """Return the `count` rows start, start + step, ... of a matrix. All of them must exist."""
    last = start + step * (count - 1)
    if start < 0 or last >= matrix.shape[-2]:
        raise ValueError(f"rows {start} to {last} are needed of {matrix.shape[-2]} rows, which count from 0")
    return matrix[..., start : start + step * count : step, :]


def place_rows(body: Any, start: int, n: int, step: int) -> Any:
    """Return n rows: the given ones as the rows start, start + step, ..., zeros elsewhere."""
    last = start + step * (body.shape[-2] - 1)
    if start < 0 or last >= n:
        raise ValueError(f"rows {start} to {last} do not fit among {n} rows, which count from 0")
    rows = np.zeros((*body.shape[:-2], n, body.shape[-1]), body.dtype)
    rows[..., start : start + step * body.shape[-2] : step, :] = body
    return rows


def concatenate_columns(*parts: Any) -> Any:
    """Return the concatenated columns of matrices, or the concatenated entries of vectors."""
    rows = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*rows, part.shape[-1])) for part in parts], axis=-1)


def stack_rows(above: Any, below: Any) -> Any:
    """Return the rows of one matrix above those of another."""
    batch = np.broadcast_shapes(above.shape[:-2], below.shape[:-2])
    return np.concatenate([np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (above, below)], axis=-2)


def choose(table: Any, numbers: Any) -> Any:
    """Return a matrix for each column of a table, with the entries of the column at a matrix of row numbers."""
    size, h = table.shape[-2:]
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < size:
        raise ValueError(f"rows {numbers.min()} to {numbers.max()} are named of {size} rows, which count from 0")
    if table.ndim == 2:
        return np.moveaxis(table[numbers], -1, -3)
    batch, matrix = np.broadcast_shapes(table.shape[:-2], numbers.shape[:-2]), numbers.shape[-2:]
    columns = np.broadcast_to(table.mT, (*batch, h, size))
    places = np.broadcast_to(numbers, (*batch, *matrix)).reshape(*batch, 1, -1)
    return np.take_along_axis(columns, places, axis=-1).reshape(*batch, h, *matrix)


def add_entries(matrices: Any, numbers: Any, size: int) -> Any:
    """Return a table with a column for each matrix. Row k sums the entries at the places where `numbers` is k."""
    h, n, m = matrices.shape[-3:]
    rows = np.moveaxis(matrices, -3, -1).reshape(-1, n * m, h)
    places = np.broadcast_to(numbers, (*matrices.shape[:-3], n, m)).reshape(-1, n * m)
    tables = np.zeros((len(rows), size, h), matrices.dtype)
    for table, item, named in zip(tables, rows, places, strict=True):
        np.add.at(table, named, item)
    return tables.reshape(*matrices.shape[:-3], size, h)


def relative_buckets(n: int, m: int, buckets: int, max_distance: int, both: bool) -> Any:
    """Return the number of the bucket of every distance from one of n queries to one of m keys.

    Distances below half of the buckets have one each; then they grow by powers, and the last goes on without end. In
    both directions, later keys have the second half of the buckets. The first distance of each is found in integers.
    """
    count = buckets // 2 if both else buckets
    own = count // 2
    rest, first = count - own, list(range(own + 1))
    if own < 1 or max_distance <= own:
        raise ValueError(f"{buckets} buckets up to distance {max_distance} leave none for the distances between")
    for k in range(1, rest):
        far = first[-1]
        while far**rest * own**k < max_distance**k * own**rest:
            far += 1
        first.append(far)
    distance = np.arange(m)[None, :] - np.arange(n)[:, None]
    back = np.searchsorted(first, abs(distance) if both else np.maximum(-distance, 0), side="right") - 1
    return back + count * (distance > 0) if both else back


def signed_buckets(n: int, m: int, buckets: int, max_distance: int) -> Any:
    """Return the row number in a table for every distance from one of n queries to one of m keys, earlier keys last.

    Distances up to half of the buckets have one each; then they grow by powers, and the last goes on without end. The
    first distance of each is found in integers.
    """
    own, longest = buckets // 2, max_distance - 1
    first = list(range(1, own + 1))
    if own < 2 or longest <= own:
        raise ValueError(f"{buckets} signed buckets up to distance {max_distance} leave none for the distances between")
    for k in range(buckets - own):
        far = first[-1]
        while far ** (own - 1) * own**k <= longest**k * own ** (own - 1):
            far += 1
        first.append(far)
    distance = np.arange(n)[:, None] - np.arange(m)[None, :]
    found = np.searchsorted(first, abs(distance), side="right")
    return np.minimum(buckets + np.sign(distance) * found, 2 * buckets - 1)


def sum_batch(gradient: Any, rank: int) -> Any:
    """Return the gradient with respect to a weight of the given rank, summed over all examples of a batch."""
    return gradient.reshape(-1, *gradient.shape[gradient.ndim - rank :]).sum(axis=0)


def column_sums(x: Any) -> Any:
    """Return the sum of every column, computed by products with ones for 32 rows at a time, recursively.

    NumPy adds rows one after another; so few steps, each with few terms, lose fewer digits and use BLAS.
    """
    rows, columns = x.shape[-2:]
    ones = np.ones(min(rows, 32), x.dtype)
    if rows <= 32:
        return np.matmul(ones, x)
    whole = rows - rows % 32
    blocks = x[..., :whole, :].reshape(*x.shape[:-2], whole // 32, 32, columns)
    sums = column_sums(np.matmul(ones, blocks))
    return sums + np.matmul(ones[: rows - whole], x[..., whole:, :]) if whole < rows else sums


def product_over_batch(x: Any, gradient: Any) -> Any:
    """Return the sum of x^T g over all examples of a batch, as one product of all their rows."""
    if x.shape[:-1] == gradient.shape[:-1]:
        x, gradient = x.reshape(-1, x.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
    product = x.mT @ gradient
    return product if product.ndim == 2 else sum_batch(product, 2)


def like(gradient: Any, x: Any) -> Any:
    """Return the gradient with respect to an input, summed over the batch axes along which the input was broadcast."""
    if gradient.shape == x.shape:
        return gradient
    gradient = np.broadcast_to(gradient, np.broadcast_shapes(gradient.shape, x.shape))  # one of 0 may have no batch
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - x.ndim)))
    return gradient.sum(axis=tuple(k for k, n in enumerate(x.shape) if n != gradient.shape[k]), keepdims=True)


def forward_through(layer: Any, x: Any, weights: Any, *given: Any, **named: Any) -> Any:
    """Return the output of a stack of layers, and what each of them keeps for the backward pass."""
    tapes = []
    for own in weights:
        x, tape = layer(x, *given, **own, **named)
        tapes.append(tape)
    return x, tapes


def backward_through(layer: Any, gradient: Any, tapes: Any, weights: Any, **named: Any) -> Any:
    """Return the gradients of a stack with respect to its input, the inputs of all layers, and each layer's weights."""
    shared: Any = []
    by_layer: Any = []
    for own, tape in zip(reversed(weights), reversed(tapes), strict=True):
        gradient, *given, of_weights = layer(gradient, tape, **own, **named)
        shared = [one + other for one, other in zip(shared, given, strict=True)] if by_layer else given
        by_layer.append(of_weights)
    return gradient, *shared, by_layer[::-1]


def add_weights(one: Any, other: Any) -> Any:
    """Return the sum of two nested gradients of the same weights."""
    if isinstance(one, dict):
        return {name: add_weights(one[name], other[name]) for name in one}
    return [add_weights(a, b) for a, b in zip(one, other, strict=True)] if isinstance(one, list) else one + other
