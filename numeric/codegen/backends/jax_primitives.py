"""Array functions written for JAX, which replace those whose NumPy source JAX cannot trace.

They are read as texts, whose `jax` and `jnp` are imported where they run: this module loads without JAX.
"""

from typing import Any

__all__ = ["place_rows", "row_softmax", "scatter_rows"]

jax: Any = None
jnp: Any = None


def row_softmax(x: Any) -> Any:
    """Return the softmax of every row, exp(x_i) / sum_j exp(x_j); an entry -inf has weight 0.

    The largest entry is subtracted first: that changes nothing (softmax.shift_invariance) and exp cannot overflow.
    A row of -inf alone gives zeros.
    """
    hidden = (x == -jnp.inf).all(axis=-1, keepdims=True)
    # the inner `where` keeps NaN out of the row: the gradient of an unchosen NaN is NaN as well
    return jnp.where(hidden, 0, jax.nn.softmax(jnp.where(hidden, 0, x), axis=-1))


def scatter_rows(rows: Any, tokens: Any, size: int) -> Any:
    """Return a table of `size` rows: row v is the sum of all rows i of the batch with tokens[i] = v."""
    tokens = jnp.broadcast_to(tokens, rows.shape[:-1])
    table = jnp.zeros((size, rows.shape[-1]), rows.dtype)
    return table.at[tokens.reshape(-1)].add(rows.reshape(-1, rows.shape[-1]))


def place_rows(body: Any, start: int, n: int, step: int) -> Any:
    """Return n rows: the given rows at the indices start, start + step, ..., and zeros elsewhere."""
    last = start + step * (body.shape[-2] - 1)
    if start < 0 or last >= n:
        raise ValueError(f"rows {start} to {last} do not fit among {n} rows, which count from 0")
    rows = jnp.zeros((*body.shape[:-2], n, body.shape[-1]), body.dtype)
    return rows.at[..., start : last + 1 : step, :].set(body)
