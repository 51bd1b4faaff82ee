"""Layers that correct their state by its error for a key (the delta rule), one position after the other.

Definition   gated delta rule   S = exp(L) S; S = S + eta k (v - S^T k)^T; y = S^T q / sqrt(k_D)
             Gated DeltaNet     keys and queries of unit length, one decay for a head: L = -exp(A) softplus(x W_T + b)
             Kimi               one decay for every row of the state: L = -exp(A) softplus(x W_F W_T + b)
Source       Yang, Kautz and Hatamizadeh (2025), section 3; Kimi Team (2025), section 3
"""

from collections.abc import Sequence
from typing import Any

from mpmath import mp

from numeric.verification.reference.position_wise import linear, rms_norm
from numeric.verification.reference.recurrences import causal_convolution
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, Vector, at_fifty_digits, read

__all__ = ["gated_delta_net", "gated_delta_rule", "kimi_delta_attention"]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _softplus(x: Any) -> Any:
    return mp.log(1 + mp.exp(x))


def _read_of_state(Q: Matrix, K: Matrix, V: Matrix, L: Matrix, eta: Vector) -> Matrix:
    """Return the output of one head. L has one decay for each position, or one for each row of the state."""
    S = [[mp.zero] * len(V[0]) for _ in K[0]]
    found: Matrix = []
    for query, key, value, decays, share in zip(Q, K, V, L, eta, strict=True):
        S = [[mp.exp(decays[i % len(decays)]) * s for s in row] for i, row in enumerate(S)]
        for j, wanted in enumerate(value):
            missing = share * (wanted - sum(row[j] * k for row, k in zip(S, key, strict=True)))
            for row, k in zip(S, key, strict=True):
                row[j] += k * missing
        sums = (sum(row[j] * x for row, x in zip(S, query, strict=True)) for j in range(len(value)))
        found.append([x / mp.sqrt(len(key)) for x in sums])
    return found


def _column(X: Any, *places: int) -> Any:
    """Return the entries at fixed indices along the axes after the first, for all positions."""
    for place in places:
        X = [each[place] for each in X]
    return X


@at_fifty_digits
def gated_delta_rule(Q: Array, K: Array, V: Array, L: Array, eta: Array) -> Any:
    """Return the output of every head: the query times its state, which the delta rule corrects.

    Shapes       Q and K (n, g, k), V (n, g, r, v), L and eta (n, g, r) -> Y (n, g, r, v)
    Raises       ValueError where shapes disagree
    """
    Q, K, V, L, eta = read(
        "gated_delta_rule", Q=(Q, "n g k"), K=(K, "n g k"), V=(V, "n g r v"), L=(L, "n g r"), eta=(eta, "n g r")
    )
    heads = [
        [
            _read_of_state(
                _column(Q, e), _column(K, e), _column(V, e, f), [[x] for x in _column(L, e, f)], _column(eta, e, f)
            )
            for f in range(len(V[0][0]))
        ]
        for e in range(len(Q[0]))
    ]
    return [[[head[t] for head in group] for group in heads] for t in range(len(Q))]


def _of_groups(X: Matrix, W: Any) -> Matrix:
    """Return the products with the matrix of every group, side by side."""
    parts = [linear(X, each, [mp.zero] * len(each[0])) for each in W]
    return [[x for part in parts for x in part[t]] for t in range(len(X))]


def _convolved(X: Matrix, W: Any, kernel: Array) -> Matrix:
    rows = _of_groups(X, W)
    return [[x * _sigmoid(x) for x in row] for row in causal_convolution(rows, kernel, [mp.zero] * len(rows[0]))]


def _of_unit_length(rows: Matrix, width: int) -> Matrix:
    found: Matrix = []
    for row in rows:
        parts = [row[start : start + width] for start in range(0, len(row), width)]
        roots = [mp.sqrt(sum(x * x for x in part) + mp.mpf(1) / 10**6) for part in parts]
        found.append([x / root for part, root in zip(parts, roots, strict=True) for x in part])
    return found


def _parts(rows: Matrix, width: int) -> Any:
    return [[row[start : start + width] for start in range(0, len(row), width)] for row in rows]


def _gated(heads: Sequence[Matrix], gates: Matrix, gamma: Any) -> Matrix:
    """Return the RMS norms of the outputs of the heads, side by side, times the gates."""
    normed = [rms_norm(head, gamma, mp.mpf(1) / 10**6) for head in heads]
    together = [[x for head in normed for x in head[t]] for t in range(len(gates))]
    return [[x * g for x, g in zip(*both, strict=True)] for both in zip(together, gates, strict=True)]


@loops_of("gated_delta_net")
@at_fifty_digits
def gated_delta_net(
    X: Array, W_Q: Array, K_Q: Array, W_K: Array, K_K: Array, W_V: Array, K_V: Array, W_B: Array, W_T: Array,
    b_Delta: Array, A: Array, W_Z: Array, G_norm: dict[str, Array], W_O: Array,
) -> Matrix:  # fmt: skip
    """Return Gated DeltaNet.

    Shapes       X (n, d_model); weights as in the layer -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    rows, W_Q, W_K, W_V, W_B, W_T, W_Z, b_Delta, A, gamma = read(
        "gated_delta_net",
        X=(X, "n d_model"),
        **{name: (W, f"g d_model {name}") for name, W in {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}.items()},
        **{name: (W, f"g d_model {name}") for name, W in {"W_B": W_B, "W_T": W_T, "W_Z": W_Z}.items()},
        **{name: (w, "heads") for name, w in {"b_Delta": b_Delta, "A": A}.items()},
        gamma=(G_norm["gamma"], "v"),
    )
    Q, K, V = (_convolved(rows, W, kernel) for W, kernel in ((W_Q, K_Q), (W_K, K_K), (W_V, K_V)))
    k, r, v = len(W_Q[0][0]), len(W_B[0][0]), len(gamma)
    eta = [[_sigmoid(x) for x in row] for row in _of_groups(rows, W_B)]
    L = [
        [-mp.exp(a) * _softplus(x + b) for x, b, a in zip(row, b_Delta, A, strict=True)]
        for row in _of_groups(rows, W_T)
    ]
    queries, keys, values = (_parts(*each) for each in ((_of_unit_length(Q, k), k), (_of_unit_length(K, k), k), (V, v)))
    heads = [
        _read_of_state(
            *(_column(queries, head // r), _column(keys, head // r), _column(values, head)),
            *([[row[head]] for row in L], _column(eta, head)),
        )
        for head in range(len(A))
    ]
    gates = [[z * _sigmoid(z) for z in row] for row in _of_groups(rows, W_Z)]
    return linear(_gated(heads, gates, gamma), W_O, [mp.zero] * len(rows[0]))


@loops_of("kimi_delta_attention")
@at_fifty_digits
def kimi_delta_attention(
    X: Array, W_Q: Array, K_Q: Array, W_K: Array, K_K: Array, W_V: Array, K_V: Array, W_B: Array, W_F: Array,
    W_T: Array, b_Delta: Array, A: Array, W_U: Array, W_Z: Array, G_norm: dict[str, Array], W_O: Array,
) -> Matrix:  # fmt: skip
    """Return Kimi Delta Attention.

    Shapes       X (n, d_model); weights as in the layer -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    rows, W_Q, W_K, W_V, A, gamma = read(
        "kimi_delta_attention",
        X=(X, "n d_model"),
        **{name: (W, f"g d_model {name}") for name, W in {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}.items()},
        A=(A, "g"),
        gamma=(G_norm["gamma"], "v"),
    )
    Q, K, V = (_convolved(rows, W, kernel) for W, kernel in ((W_Q, K_Q), (W_K, K_K), (W_V, K_V)))
    k, v = len(W_Q[0][0]), len(gamma)
    eta = [[_sigmoid(x) for x in row] for row in linear(rows, W_B, [mp.zero] * len(A))]
    steps = linear(linear(rows, W_F, [mp.zero] * k), W_T, b_Delta)
    L = [[-mp.exp(A[c // k]) * _softplus(x) for c, x in enumerate(row)] for row in steps]
    each = ((_of_unit_length(Q, k), k), (_of_unit_length(K, k), k), (V, v), (L, k))
    queries, keys, values, decays = (_parts(*some) for some in each)
    heads = [
        _read_of_state(*(_column(some, e) for some in (queries, keys, values, decays, eta))) for e in range(len(A))
    ]
    inner = linear(rows, W_U, [mp.zero] * k)
    gates = [[_sigmoid(z) for z in row] for row in linear(inner, W_Z, [mp.zero] * (v * len(A)))]
    return linear(_gated(heads, gates, gamma), W_O, [mp.zero] * len(rows[0]))
