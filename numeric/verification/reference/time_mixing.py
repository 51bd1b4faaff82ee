r"""The layers of RWKV, one position after the other.

Definition   y = (a + e^(u + k) v) / (b + e^(u + k)); after it a = e^(-e^c) a + e^k v and b = e^(-e^c) b + e^k
Source       Peng et al. (2023), section 3.1
"""

from typing import Any

from mpmath import mp

from numeric.verification.reference.position_wise import linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = ["channel_mixing", "time_mixing"]


def _product(rows: Matrix, mu: list[Any], W: Matrix) -> Matrix:
    """Return the product of a matrix with rows, each mixed with the row before it."""
    before = [[mp.zero] * len(mu), *rows[:-1]]
    mixed = [
        [m * x + (1 - m) * b for m, x, b in zip(mu, *both, strict=True)] for both in zip(rows, before, strict=True)
    ]
    return linear(mixed, W, [mp.zero] * len(W[0]))


def _gates(rows: Matrix) -> Matrix:
    return [[1 / (1 + mp.exp(-x)) for x in row] for row in rows]


@at_fifty_digits
def time_mixing(
    X: Array, mu_R: Array, W_R: Array, mu_K: Array, W_K: Array, mu_V: Array, W_V: Array, c: Array, u: Array, W_O: Array
) -> Matrix:
    """Return the RWKV time mixing of rows: a gated, decaying average of the values up to each position.

    Shapes       X (n, d_model); weights as in the layer -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    X, mu_R, mu_K, mu_V, W_R, W_K, W_V, c, u, W_O = read(
        "time_mixing",
        X=(X, "n d_model"),
        mu_R=(mu_R, "d_model"),
        mu_K=(mu_K, "d_model"),
        mu_V=(mu_V, "d_model"),
        W_R=(W_R, "d_model d"),
        W_K=(W_K, "d_model d"),
        W_V=(W_V, "d_model d"),
        c=(c, "d"),
        u=(u, "d"),
        W_O=(W_O, "d d_model"),
    )
    gates, keys, values = _gates(_product(X, mu_R, W_R)), _product(X, mu_K, W_K), _product(X, mu_V, W_V)
    a, b = [mp.zero] * len(c), [mp.zero] * len(c)
    rows: Matrix = []
    for gate, key, value in zip(gates, keys, values, strict=True):
        row = []
        for j, (r, k, v) in enumerate(zip(gate, key, value, strict=True)):
            own = mp.exp(u[j] + k)
            row.append(r * (a[j] + own * v) / (b[j] + own))
            kept = mp.exp(-mp.exp(c[j]))
            a[j], b[j] = kept * a[j] + mp.exp(k) * v, kept * b[j] + mp.exp(k)
        rows.append(row)
    return linear(rows, W_O, [mp.zero] * len(X[0]))


@loops_of("channel_mixing")
@at_fifty_digits
def channel_mixing(X: Array, mu_R: Array, W_R: Array, mu_K: Array, W_K: Array, W_V: Array) -> Matrix:
    """Return the RWKV channel mixing of rows: a gated feed-forward network with squared ReLU.

    Shapes       X (n, d_model); weights as in the layer -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    X, mu_R, mu_K, W_R, W_K, W_V = read(
        "channel_mixing",
        X=(X, "n d_model"),
        mu_R=(mu_R, "d_model"),
        mu_K=(mu_K, "d_model"),
        W_R=(W_R, "d_model d_model"),
        W_K=(W_K, "d_model d_ff"),
        W_V=(W_V, "d_ff d_model"),
    )
    inner = [[max(mp.zero, x) ** 2 for x in row] for row in _product(X, mu_K, W_K)]
    outer = linear(inner, W_V, [mp.zero] * len(X[0]))
    gates = _gates(_product(X, mu_R, W_R))
    return [[g * y for g, y in zip(*both, strict=True)] for both in zip(gates, outer, strict=True)]
