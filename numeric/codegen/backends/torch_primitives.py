"""Array functions written for PyTorch, which replace those whose NumPy source does not run on PyTorch.

They are read as texts, whose `torch` is imported where they run: this module loads without PyTorch.
"""

from typing import Any

__all__ = [
    "like",
    "look_up",
    "pick",
    "place_rows",
    "row_log_sum_exp",
    "row_softmax",
    "scatter_rows",
]

torch: Any = None


def row_softmax(x: Any) -> Any:
    """Return the softmax of every row, exp(x_i) / sum_j exp(x_j); an entry -inf has weight 0.

    The largest entry is subtracted first: that changes nothing (softmax.shift_invariance) and exp cannot overflow.
    A row of -inf alone gives zeros.
    """
    hidden = (x == -torch.inf).all(axis=-1, keepdims=True)
    # the inner `where` keeps NaN out of the row: the gradient of an unchosen NaN is NaN as well
    return torch.where(hidden, 0, torch.softmax(torch.where(hidden, 0, x), -1))


def row_log_sum_exp(x: Any) -> Any:
    """Return log sum_j exp(x_j) of every row; the largest entry is subtracted first, so that exp cannot overflow."""
    return torch.logsumexp(x, -1)


def pick(matrix: Any, tokens: Any) -> Any:
    """Return one entry of every row, at the index that the token of the row gives."""
    batch = torch.broadcast_shapes(matrix.shape[:-1], tokens.shape)
    matrix, tokens = torch.broadcast_to(matrix, (*batch, matrix.shape[-1])), torch.broadcast_to(tokens, batch)
    # PyTorch indexes with 64-bit integers only
    return torch.take_along_dim(matrix, tokens[..., None].long(), -1)[..., 0]


def look_up(table: Any, tokens: Any) -> Any:
    """Return the rows of a table at the indices given by tokens, where each item of a batch has its own table."""
    batch = torch.broadcast_shapes(table.shape[:-2], tokens.shape[:-1])
    tables = torch.broadcast_to(table, (*batch, *table.shape[-2:]))
    numbers = torch.broadcast_to(tokens, (*batch, tokens.shape[-1]))
    return torch.take_along_dim(tables, numbers[..., None].long(), -2)


def scatter_rows(rows: Any, tokens: Any, size: int) -> Any:
    """Return a table of `size` rows: row v is the sum of all rows i of the batch with tokens[i] = v."""
    tokens = torch.broadcast_to(tokens, rows.shape[:-1])
    table = torch.zeros((size, rows.shape[-1]), dtype=rows.dtype, device=rows.device)
    return table.index_add(0, tokens.reshape(-1), rows.reshape(-1, rows.shape[-1]))


def place_rows(body: Any, start: int, n: int, step: int) -> Any:
    """Return n rows: the given rows at the indices start, start + step, ..., and zeros elsewhere."""
    last = start + step * (body.shape[-2] - 1)
    if start < 0 or last >= n:
        raise ValueError(f"rows {start} to {last} do not fit among {n} rows, which count from 0")
    rows = torch.zeros((*body.shape[:-2], n, body.shape[-1]), dtype=body.dtype, device=body.device)
    return rows.slice_scatter(body, -2, start, last + 1, step)


def like(gradient: Any, x: Any) -> Any:
    """Return the gradient with respect to an input that was broadcast: summed to the shape of the input."""
    gradient = torch.broadcast_to(gradient, torch.broadcast_shapes(gradient.shape, x.shape))
    return gradient.sum_to_size(x.shape)
