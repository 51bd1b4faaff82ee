r"""Layers that carry a state from position to position, one position after the other.

Definition   linear recurrence   H_t = exp(L_t) H_{t-1} + B_t, column by column
             causal convolution  Y_tc = sum_{u<w} X_{t-w+1+u,c} K_uc + b_c, rows before the first being zeros
             selective states    H_cs = exp(-Delta_c exp(A_cs)) H_cs + Delta_c B_s V_c; Y_c = sum_s H_cs C_s + D_c V_c
             head states         the same for every column of a head, with one decay for the head and B, C of its group
             gated recurrence    H = a H + sqrt(1 - a^2) I V with a = exp(-8 R softplus(A)), at first H = I V
Source       Martin and Cundy (2018), section 2; Gu and Dao (2023), algorithm 2; Dao and Gu (2024), section 7.1;
             De et al. (2024), section 2.4; Liquid AI (2025) for the short convolution
"""

from collections.abc import Sequence
from typing import Any

from mpmath import mp

from numeric.verification.reference.position_wise import linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = [
    "causal_convolution",
    "gated_recurrence",
    "head_states",
    "linear_recurrence",
    "selective_state_space",
    "selective_states",
    "short_convolution",
    "state_space_heads",
]


def _silu(x: Any) -> Any:
    return x / (1 + mp.exp(-x))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _softplus(x: Any) -> Any:
    return mp.log(1 + mp.exp(x))


def _mapped(function: Any, rows: Matrix) -> Matrix:
    return [[function(x) for x in row] for row in rows]


def _times(one: Matrix, other: Matrix) -> Matrix:
    return [[x * y for x, y in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]


def _product(X: Matrix, W: Matrix) -> Matrix:
    return linear(X, W, [mp.zero] * len(W[0]))


@loops_of("linear_recurrence")
@at_fifty_digits
def linear_recurrence(L: Array, B: Array) -> Matrix:
    """Return the states of a linear recurrence.

    Shapes       L (n, d), B (n, d) -> H (n, d)
    Raises       ValueError where shapes disagree
    """
    L, B = read("linear_recurrence", L=(L, "n d"), B=(B, "n d"))
    H: Matrix = []
    for decays, more in zip(L, B, strict=True):
        before = H[-1] if H else [mp.zero] * len(more)
        H.append([mp.exp(a) * h + b for a, h, b in zip(decays, before, more, strict=True)])
    return H


@loops_of("causal_convolution")
@at_fifty_digits
def causal_convolution(X: Array, K: Array, b: Array) -> Matrix:
    """Return every column convolved with its column of the kernel.

    Shapes       X (n, d), K (w, d), b (d,) -> Y (n, d)
    Raises       ValueError where shapes disagree
    """
    X, K, b = read("causal_convolution", X=(X, "n d"), K=(K, "w d"), b=(b, "d"))
    w = len(K)
    Y = []
    for t in range(len(X)):
        places = [(t - w + 1 + u, u) for u in range(w) if t - w + 1 + u >= 0]
        Y.append([sum((X[at][c] * K[u][c] for at, u in places), b[c]) for c in range(len(b))])
    return Y


@loops_of("selective_states")
@at_fifty_digits
def selective_states(V: Array, Delta: Array, B: Array, C: Array, A: Array, D: Array) -> Matrix:
    """Return the outputs of a selective state space: the states times C, plus the inputs times D.

    Shapes       V and Delta (n, d), B and C (n, s), A (d, s), D (d,) -> Y (n, d)
    Raises       ValueError where shapes disagree
    """
    V, Delta, B, C, A, D = read(
        "selective_states",
        V=(V, "n d"),
        Delta=(Delta, "n d"),
        B=(B, "n s"),
        C=(C, "n s"),
        A=(A, "d s"),
        D=(D, "d"),
    )
    H = [[mp.zero] * len(row) for row in A]
    Y = []
    for v, delta, b, shown in zip(V, Delta, B, C, strict=True):
        for c, row in enumerate(A):
            for s, a in enumerate(row):
                H[c][s] = mp.exp(-delta[c] * mp.exp(a)) * H[c][s] + delta[c] * b[s] * v[c]
        Y.append([sum((h * x for h, x in zip(H[c], shown, strict=True)), D[c] * v[c]) for c in range(len(D))])
    return Y


@loops_of("selective_state_space")
@at_fifty_digits
def selective_state_space(
    X: Array, W_U: Array, W_Z: Array, K_V: Array, b_K_V: Array, W_P: Array, W_B: Array, W_C: Array, W_Delta: Array,
    b_Delta: Array, A: Array, D: Array, W_O: Array,
) -> Matrix:  # fmt: skip
    """Return the selective state space layer of rows.

    Shapes       X (n, d_model), W_U and W_Z (d_model, d), K_V (w, d), W_P (d, r), W_B and W_C (d, s), W_Delta (r, d),
                 A (d, s), b_K_V, b_Delta and D (d,), W_O (d, d_model) -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    (rows,) = read("selective_state_space", X=(X, "n d_model"))
    V = _mapped(_silu, causal_convolution(_product(rows, W_U), K_V, b_K_V))
    Delta = _mapped(_softplus, linear(_product(V, W_P), W_Delta, b_Delta))
    Y = selective_states(V, Delta, _product(V, W_B), _product(V, W_C), A, D)
    return _product(_times(Y, _mapped(_silu, _product(rows, W_Z))), W_O)


@at_fifty_digits
def head_states(
    V: Array, Delta: Array, B: Array, C: Array, A: Array, D: Array, d_S: int, r_S: int, d_state: int
) -> Matrix:
    """Return the outputs of a state space with heads: the states times C, plus the inputs times D.

    Shapes       V (n, heads d_S), Delta (n, heads), B and C (n, groups d_state), A and D (heads,) -> Y (n, heads d_S)
    Raises       ValueError where shapes disagree
    """
    V, Delta, B, C, A, D = read(
        "head_states",
        V=(V, "n columns"),
        Delta=(Delta, "n heads"),
        B=(B, "n states"),
        C=(C, "n states"),
        A=(A, "heads"),
        D=(D, "heads"),
    )
    H = [[mp.zero] * d_state for _ in V[0]]
    Y = []
    for v, delta, b, shown in zip(V, Delta, B, C, strict=True):
        row = []
        for c, x in enumerate(v):
            head = c // d_S
            group = head // r_S
            decay = mp.exp(-delta[head] * mp.exp(A[head]))
            for s in range(d_state):
                H[c][s] = decay * H[c][s] + delta[head] * x * b[group * d_state + s]
            row.append(sum((H[c][s] * shown[group * d_state + s] for s in range(d_state)), D[head] * x))
        Y.append(row)
    return Y


@loops_of("state_space_heads")
@at_fifty_digits
def state_space_heads(
    X: Array, W_Z: Array, W_U: Array, W_J: Array, W_K: Array, W_T: Array, K_V: Array, b_K_V: Array, K_B: Array,
    b_K_B: Array, K_C: Array, b_K_C: Array, b_Delta: Array, A: Array, D: Array, G_norm: dict[str, Array], W_O: Array,
    g_S: int, r_S: int, d_S: int, d_state: int,
) -> Matrix:  # fmt: skip
    """Return the state space layer with heads.

    Shapes       X (n, d_model); weights as in the layer -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    (rows,) = read("state_space_heads", X=(X, "n d_model"))
    V = _mapped(_silu, causal_convolution(_product(rows, W_U), K_V, b_K_V))
    B = _mapped(_silu, causal_convolution(_product(rows, W_J), K_B, b_K_B))
    C = _mapped(_silu, causal_convolution(_product(rows, W_K), K_C, b_K_C))
    Delta = _mapped(_softplus, linear(rows, W_T, b_Delta))
    Y = head_states(V, Delta, B, C, A, D, d_S, r_S, d_state)
    G = _times(Y, _mapped(_silu, _product(rows, W_Z)))
    return _product([_normed_by_group(row, G_norm["gamma"], r_S * d_S) for row in G], W_O)


def _normed_by_group(row: Sequence[Any], gamma: Any, width: int) -> list[Any]:
    (factors,) = read("norm of groups", gamma=(gamma, "columns"))
    found: list[Any] = []
    for start in range(0, len(row), width):
        group = row[start : start + width]
        root = mp.sqrt(sum(x * x for x in group) / width + mp.mpf(1) / 10**5)
        found += [x / root * factors[start + place] for place, x in enumerate(group)]
    return found


@loops_of("short_convolution")
@at_fifty_digits
def short_convolution(X: Array, W_B: Array, W_C: Array, W_V: Array, K_T: Array, W_O: Array) -> Matrix:
    """Return the gated short convolution of rows.

    Shapes       X (n, d_model), W_B, W_C, W_V and W_O (d_model, d_model), K_T (w, d_model) -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    (rows,) = read("short_convolution", X=(X, "n d_model"))
    gated = _times(_product(rows, W_B), _product(rows, W_V))
    conv = causal_convolution(gated, K_T, [mp.zero] * len(gated[0]))
    return _product(_times(_product(rows, W_C), conv), W_O)


@loops_of("gated_recurrence")
@at_fifty_digits
def gated_recurrence(
    X: Array, W_Z: Array, b_Z: Array, W_U: Array, b_U: Array, K_V: Array, b_K_V: Array, W_I: Array, b_I: Array,
    W_R: Array, b_R: Array, A: Array, W_O: Array, b_O: Array,
) -> Matrix:  # fmt: skip
    """Return the layer of a gated linear recurrence.

    Shapes       X (n, d_model), W_Z and W_U (d_model, d), K_V (w, d), W_I and W_R (h, d/h, d/h), A (d,), W_O
                 (d, d_model) -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    rows, inputs, decays, rates = read(
        "gated_recurrence", X=(X, "n d_model"), W_I=(W_I, "h p p"), W_R=(W_R, "h p p"), A=(A, "d")
    )
    V = causal_convolution(linear(rows, W_U, b_U), K_V, b_K_V)
    p = len(inputs[0])

    def by_head(W: Any, b: Any) -> Matrix:
        blocks = [linear([row[e * p : e * p + p] for row in V], W[e], b[e * p : e * p + p]) for e in range(len(W))]
        return [[_sigmoid(x) for block in blocks for x in block[t]] for t in range(len(V))]

    (b_I, b_R) = read("gated_recurrence", b_I=(b_I, "d"), b_R=(b_R, "d"))
    H: Matrix = []
    for v, i, r in zip(V, by_head(inputs, b_I), by_head(decays, b_R), strict=True):
        if not H:
            H.append([x * y for x, y in zip(v, i, strict=True)])
            continue
        a = [mp.exp(-8 * x * _softplus(rate)) for x, rate in zip(r, rates, strict=True)]
        H.append([x * h + mp.sqrt(1 - x * x) * y * z for x, h, y, z in zip(a, H[-1], i, v, strict=True)])

    def gelu(x: Any) -> Any:
        return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)))

    return linear(_times(H, _mapped(gelu, linear(rows, W_Z, b_Z))), W_O, b_O)
