"""Array functions written for ONNX, where NumPy's source cannot be traced or an operator does the same.

They are read as texts, whose `np` is `numeric.codegen.onnx_graph.arrays`.
"""

from typing import Any

__all__ = [
    "choose",
    "corrected_recurrence",
    "masked_row_softmax",
    "place_block",
    "place_rows",
    "recurrence",
    "relative_buckets",
    "routed_product",
    "row_exponentials",
    "row_softmax",
    "scatter_rows",
    "signed_buckets",
    "take_rows",
    "top_k",
    "top_k_mask",
]

np: Any = None
scan: Any = None


def row_softmax(x: Any) -> Any:
    """Return the softmax of every row; an entry -inf has weight 0, and a row of -inf alone gives zeros.

    A product has no entry -inf, unless it overflows: then the operator `Softmax` is enough.
    """
    if not x.hides:
        return np.softmax(x)
    # not by the largest entry: OpenVINO's maximum of a row of -inf is the least finite number
    shown = (x > -np.inf).astype(x.dtype).sum(axis=-1, keepdims=True)
    return np.where(shown == 0, 0, np.softmax(x))


def masked_row_softmax(x: Any, visible: Any) -> Any:
    """Return the softmax of every row over its visible entries; a row without any gives zeros."""
    if x.hides:
        return row_softmax(np.where(visible, x, -np.inf))
    # hidden scores are the least number rather than -inf, which would make NaN of a row without a visible key
    return np.where(visible, np.softmax(np.where(visible, x, np.finfo(x.dtype).min)), 0)


def row_exponentials(x: Any, base: Any) -> Any:
    """Return the powers base^(x_ij - r_i), where r_i is the largest entry of row i; an entry -inf gives 0."""
    lower = x - np.maximum(x.max(axis=-1, keepdims=True), np.finfo(x.dtype).min)
    return np.exp(lower) if base == np.e else base**lower


def top_k(scores: Any, k: Any) -> Any:
    """Return the indices of the k largest entries of every row; ties go to the earlier entry: (n, m) becomes (k, n)."""
    return np.largest_places(scores, k).swapaxes(-1, -2)


def top_k_mask(scores: Any, visible: Any, k: Any) -> Any:
    """Return the mask of the k largest visible entries of every row; ties go to the earlier entry."""
    count = scores.shape[-1]
    order = np.largest_places(np.where(visible, scores, np.finfo(scores.dtype).min), count)
    ranks = np.largest_places(-order.astype(scores.dtype), count)  # the inverse of a permutation
    return (ranks < k) & visible


def routed_product(rows: Any, matrices: Any, numbers: Any) -> Any:
    """Return x_i W_{numbers_i} for every row x_i: the row times the matrix with its number."""
    return (rows[..., None, :] @ matrices[numbers])[..., 0, :]


def recurrence(decays: Any, added: Any, rank: Any, of_states: Any, backwards: Any) -> Any:
    """Return the states of a recurrence as sums over all positions (recurrence.parallel_form): no loop over them.

    Definition   sum_s exp(G_t - G_s) added_s over s <= t, or over s >= t with the sign turned, G being sums of decays
    """
    past = np.tri(decays.shape[-rank]).astype(decays.dtype)
    logs = np.moveaxis(decays, -rank, -1)
    sums = (past @ logs[..., None])[..., 0]
    gaps = sums[..., :, None] - sums[..., None, :]
    seen = past.mT > 0 if backwards else past > 0
    weights = np.where(seen, np.exp(np.where(seen, -gaps if backwards else gaps, 0)), 0)
    for _ in range(of_states - rank):
        weights = weights[..., None, :, :]
    steps = np.moveaxis(added, -of_states, -1)
    return np.moveaxis((weights @ steps[..., None])[..., 0], -1, -of_states)


def corrected_recurrence(
    decays: Any, added: Any, written: Any, read: Any, of_factors: Any, rank: Any, of_states: Any, backwards: Any
) -> Any:
    """Return the states exp(decays_t) H_{t-1} + written_t (read_t^T H_{t-1}) + added_t, position by position."""
    factors = []
    for each, own in ((np.exp(decays), rank), (written, of_factors), (read, of_factors)):
        moved = np.moveaxis(each, -own, 0)
        if backwards:  # those of position t + 1; at the last position any will do, for they meet a zero
            moved = np.concatenate([moved[1:], moved[:1]])
        factors.append(moved.reshape(*moved.shape, *[1] * (of_states - own)))
    steps, along = np.moveaxis(added, -of_states, 0), of_factors - of_states - 1
    states = scan(
        lambda h, decay, w, r, more: decay * h + w * (r * h).sum(axis=along, keepdims=True) + more,
        0 * steps[0],
        [*factors, steps],
        backwards,
    )
    return np.moveaxis(states, 0, -of_states)


def take_rows(matrix: Any, start: Any, count: Any, step: Any) -> Any:
    """Return `count` rows of a matrix: start, start + step, ..."""
    return matrix[..., start : start + step * (count - 1) + 1 : step, :]


def place_rows(body: Any, start: Any, n: Any, step: Any) -> Any:
    """Return n rows: the given rows at the indices start, start + step, ..., and zeros elsewhere."""
    *batch, count, d = body.shape
    if step != 1:
        apart = np.pad(body[..., None, :], -2, 0, step - 1).reshape(*batch, count * step, d)
        count = step * (count - 1) + 1
        body = apart[..., 0:count, :]
    return np.pad(body, -2, start, n - start - count)


def place_block(columns: Any, block: Any, count: Any) -> Any:
    """Return a matrix of `count` blocks of columns: block number `block` is the given one, all others are zeros."""
    d = columns.shape[-1]
    return np.pad(columns, -1, block * d, (count - block - 1) * d)


def scatter_rows(rows: Any, tokens: Any, size: Any) -> Any:
    """Return a table of `size` rows: row v is the sum of all rows i of the batch with tokens[i] = v."""
    d = rows.shape[-1]
    tokens = np.broadcast_to(tokens, rows.shape[:-1])
    return np.add_at(np.zeros((size, d), rows.dtype), tokens.reshape(-1), rows.reshape(-1, d))


def choose(table: Any, numbers: Any) -> Any:
    """Return one matrix for each column c of a table: its entry (i, j) is table[numbers_ij, c]."""
    return np.moveaxis(table[numbers], -1, -3)


def relative_buckets(n: Any, m: Any, buckets: int, max_distance: int, both: bool) -> Any:
    """Return the bucket number of the distance from each of n queries to each of m keys.

    The first distance of each bucket is found in integers, as NumPy's function does; the number of a bucket is the
    number of first distances that are not larger.
    """
    count = buckets // 2 if both else buckets
    own = count // 2
    rest, first = count - own, list(range(own + 1))
    for k in range(1, rest):
        far = first[-1]
        while far**rest * own**k < max_distance**k * own**rest:
            far += 1
        first.append(far)
    distance = np.arange(m)[None, :] - np.arange(n)[:, None]
    far = abs(distance) if both else np.maximum(-distance, 0)
    back = (far[..., None] >= np.array([first], int)[0]).sum(axis=-1) - 1
    return back + count * (distance > 0) if both else back


def signed_buckets(n: Any, m: Any, buckets: int, max_distance: int) -> Any:
    """Return the table row for the distance from each of n queries to each of m keys; earlier keys get higher rows.

    The first distance of each bucket is found in integers, as NumPy's function does; the numbers of first distances
    passed are added ahead and subtracted after, where the last bucket has no row ahead.
    """
    own, longest = buckets // 2, max_distance - 1
    first = list(range(1, own + 1))
    for k in range(buckets - own):
        far = first[-1]
        while far ** (own - 1) * own**k <= longest**k * own ** (own - 1):
            far += 1
        first.append(far)
    distance = np.arange(n)[:, None] - np.arange(m)[None, :]
    ahead = (distance[..., None] >= np.array([first[:-1]], int)[0]).sum(axis=-1)
    behind = (-distance[..., None] >= np.array([first], int)[0]).sum(axis=-1)
    return buckets + ahead - behind
