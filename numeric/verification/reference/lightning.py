r"""Lightning attention, one position after the other.

Definition   H_a = exp(-2^(-8 (a + 1) / h)) H_a + k_a^T v_a; r_a = q_a H_a; output = (norm(r) o sigmoid(x W_Z)) W_O
Source       Qin et al. (2024), section 3; MiniMax (2025), section 2.2
"""

from typing import Any

from mpmath import mp

from numeric.verification.reference.position_wise import linear, rms_norm
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = ["decaying_heads", "lightning_attention"]


@loops_of("decaying_heads")
@at_fifty_digits
def decaying_heads(Q: Array, K: Array, V: Array) -> list[Matrix]:
    """Return the output of every head at every position: the query times its decaying state.

    Shapes       Q, K and V (h, n, d_k) -> R (n, h, d_k)
    Raises       ValueError where shapes disagree
    """
    Q, K, V = read("decaying_heads", Q=(Q, "h n d"), K=(K, "h n d"), V=(V, "h n d"))
    h, d = len(Q), len(Q[0][0])
    states = [[[mp.zero] * d for _ in range(d)] for _ in range(h)]
    R = []
    for t in range(len(Q[0])):
        rows: Matrix = []
        for a, H in enumerate(states):
            decay = mp.exp(-(mp.mpf(2) ** (mp.mpf(-8 * (a + 1)) / h)))
            for p in range(d):
                for q in range(d):
                    H[p][q] = decay * H[p][q] + K[a][t][p] * V[a][t][q]
            rows.append([sum(Q[a][t][p] * H[p][q] for p in range(d)) for q in range(d)])
        R.append(rows)
    return R


@loops_of("lightning_attention")
@at_fifty_digits
def lightning_attention(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_Z: Array, W_O: Array, G_norm: dict[str, Array]
) -> Matrix:
    """Return lightning attention.

    Shapes       X (n, d_model); weights as in the layer -> O (n, d_model)
    Raises       ValueError where shapes disagree
    """
    rows, *matrices = read(
        "lightning_attention",
        X=(X, "n d_model"),
        W_Q=(W_Q, "h d_model d_k"),
        W_K=(W_K, "h d_model d_k"),
        W_V=(W_V, "h d_model d_k"),
    )

    def of_heads(W: Any) -> list[Matrix]:
        zeros = [mp.zero] * len(W[0][0])
        return [[[x / (1 + mp.exp(-x)) for x in row] for row in linear(rows, each, zeros)] for each in W]

    R = decaying_heads(*map(of_heads, matrices))
    G = rms_norm([[x for head in heads for x in head] for heads in R], G_norm["gamma"], mp.mpf(1) / 10**6)
    Z = linear(rows, W_Z, [mp.zero] * len(G[0]))
    gated = [[g / (1 + mp.exp(-z)) for g, z in zip(*both, strict=True)] for both in zip(G, Z, strict=True)]
    return linear(gated, W_O, [mp.zero] * len(rows[0]))
