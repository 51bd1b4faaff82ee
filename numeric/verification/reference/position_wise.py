r"""Layers that act on each row separately: linear, feed-forward, layer norm, dropout; and batch normalisation.

Definition   linear        Y_ij = sum_c X_ic W_cj + b_j
             feed-forward  FFN(x) = act(x W_1 + b_1) W_2 + b_2
             layer norm    y_j = gamma_j (x_j - mean) / sqrt(variance + eps) + beta_j
             batch norm    the same along the columns: mean and variance of a feature over all rows
Assumes      the variance divides by d; eps is the number given, by default the float64 1e-5
Source       Vaswani et al. (2017), equation 2; Ba et al. (2016), equations 3 and 4; Hendrycks & Gimpel (2016);
             Ioffe & Szegedy (2015), algorithm 1

>>> from numeric.verification.reference import linear
>>> linear([[1, 2, 3]], W=[[1, 0], [0, 1], [10, 10]], b=[0.5, 0.25])
[[mpf('31.5'), mpf('32.25')]]
"""

from collections.abc import Callable, Mapping
from typing import Any

from mpmath import mp

from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read, read_mask

__all__ = [
    "ACTIVATIONS",
    "augmented_residual",
    "batch_norm",
    "batch_norm_inference",
    "compressed_rms_norm",
    "dropout",
    "feed_forward",
    "gated_feed_forward",
    "layer_norm",
    "linear",
    "low_rank_adaptation",
    "rms_norm",
    "scale_norm",
    "sparse_gated_feed_forward",
]


def relu(x: Any) -> Any:
    """Return max(0, x)."""
    return x if x > 0 else mp.zero


def gelu(x: Any) -> Any:
    """Return x Phi(x), with the normal distribution function as erfc(-x / sqrt(2)) / 2: no cancellation for x < 0."""
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {"relu": relu, "gelu": gelu}


@loops_of("linear")
@at_fifty_digits
def linear(X: Array, W: Array, b: Array | None = None) -> Matrix:
    """Return the affine image of every row.

    Definition   Y_ij = sum_c X_ic W_cj + b_j
    Shapes       X (n, d_in), W (d_in, d_out), b (d_out,) -> Y (n, d_out)
    Assumes      an omitted bias is zero
    Raises       ValueError on shapes that disagree and on numbers that are not finite
    """
    X, W, b = read("linear", X=(X, "n d_in"), W=(W, "d_in d_out"), b=(b, "d_out"))
    n, d_in, d_out = len(X), len(W), len(W[0])
    b = b or [mp.zero] * d_out
    return [[sum(X[i][c] * W[c][j] for c in range(d_in)) + b[j] for j in range(d_out)] for i in range(n)]


@loops_of("feed_forward_gelu", activation="gelu")
@loops_of("feed_forward")
@at_fifty_digits
def feed_forward(X: Array, W_1: Array, b_1: Array, W_2: Array, b_2: Array, activation: str = "relu") -> Matrix:
    """Return the position-wise feed-forward network of every row.

    Definition   FFN(x) = act(x W_1 + b_1) W_2 + b_2;   relu(x) = max(0, x), gelu(x) = x Phi(x), exact
    Shapes       X (n, d_model), W_1 (d_model, d_ff), b_1 (d_ff,), W_2 (d_ff, d_model), b_2 (d_model,) -> (n, d_model)
    Source       Vaswani et al. (2017), equation 2; Hendrycks & Gimpel (2016), section 2
    Raises       ValueError on an unknown activation, shapes that disagree and numbers that are not finite
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"feed_forward: the activation {activation!r} is unknown; choose one of {list(ACTIVATIONS)}.")
    act = ACTIVATIONS[activation]
    X, W_1, b_1, W_2, b_2 = read(
        "feed_forward",
        X=(X, "n d_model"),
        W_1=(W_1, "d_model d_ff"), b_1=(b_1, "d_ff"),
        W_2=(W_2, "d_ff d_model"), b_2=(b_2, "d_model"),
    )  # fmt: skip
    hidden = [[act(u) for u in row] for row in linear(X, W_1, b_1)]
    return linear(hidden, W_2, b_2)


@loops_of("layer_norm")
@at_fifty_digits
def layer_norm(X: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Matrix:
    """Return every row minus its mean, divided by its standard deviation, then scaled and shifted.

    Definition   mean = sum_j x_j / d,   variance = sum_j (x_j - mean)^2 / d,
                 y_j = gamma_j (x_j - mean) / sqrt(variance + eps) + beta_j
    Shapes       X (n, d), gamma (d,), beta (d,) -> (n, d)
    Assumes      variance + eps > 0
    Source       Ba et al. (2016), equations 3 and 4; eps under the root as in algorithm 1 of Ioffe & Szegedy (2015)
    Raises       ValueError where variance + eps is not positive, shapes disagree, or a number is not finite
    """
    X, gamma, beta, [eps] = read("layer_norm", X=(X, "n d"), gamma=(gamma, "d"), beta=(beta, "d"), eps=([eps], "1"))
    d = len(gamma)
    Y = []
    for x in X:
        mean = sum(x[j] for j in range(d)) / d
        variance = sum((x[j] - mean) ** 2 for j in range(d)) / d
        if variance + eps <= 0:
            raise ValueError(
                f"layer_norm: a row of length {d} has variance {mp.nstr(variance)} and eps is {mp.nstr(eps)}; "
                "pass an eps that makes their sum positive."
            )
        Y.append([gamma[j] * (x[j] - mean) / mp.sqrt(variance + eps) + beta[j] for j in range(d)])
    return Y


@loops_of("batch_norm")
@at_fifty_digits
def batch_norm(X: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Matrix:
    """Return every column minus its mean, divided by its standard deviation, then scaled and shifted.

    Definition   mean_j = sum_i x_ij / n,   variance_j = sum_i (x_ij - mean_j)^2 / n,
                 y_ij = gamma_j (x_ij - mean_j) / sqrt(variance_j + eps) + beta_j
    Shapes       X (n, d), gamma (d,), beta (d,) -> (n, d)
    Assumes      eps > 0; the rows are the whole batch
    Source       Ioffe & Szegedy (2015), algorithm 1
    Raises       ValueError where shapes disagree, or a number is not finite
    """
    X, gamma, beta, [eps] = read("batch_norm", X=(X, "n d"), gamma=(gamma, "d"), beta=(beta, "d"), eps=([eps], "1"))
    n, d = len(X), len(gamma)
    Y: Matrix = [[] for _ in range(n)]
    for j in range(d):
        mean = sum(X[i][j] for i in range(n)) / n
        variance = sum((X[i][j] - mean) ** 2 for i in range(n)) / n
        for i in range(n):
            Y[i].append(gamma[j] * (X[i][j] - mean) / mp.sqrt(variance + eps) + beta[j])
    return Y


@loops_of("batch_norm_inference")
@at_fifty_digits
def batch_norm_inference(X: Array, gamma: Array, beta: Array, m: Array, v: Array, eps: float = 1e-5) -> Matrix:
    """Return batch normalisation with given means and variances of the columns.

    Definition   y_ij = gamma_j (x_ij - m_j) / sqrt(v_j + eps) + beta_j
    Shapes       X (n, d), gamma, beta, m and v (d,) -> (n, d)
    Assumes      v + eps > 0
    Source       Ioffe & Szegedy (2015), algorithm 2
    Raises       ValueError where shapes disagree, or a number is not finite
    """
    X, gamma, beta, m, v, [eps] = read(
        "batch_norm_inference",
        X=(X, "n d"), gamma=(gamma, "d"), beta=(beta, "d"), m=(m, "d"), v=(v, "d"), eps=([eps], "1"),
    )  # fmt: skip
    d = len(gamma)
    return [[gamma[j] * (x[j] - m[j]) / mp.sqrt(v[j] + eps) + beta[j] for j in range(d)] for x in X]


@loops_of("rms_norm")
@at_fifty_digits
def rms_norm(X: Array, gamma: Array, eps: float = 1e-5) -> Matrix:
    """Return every row divided by the root of its mean square, then scaled.

    Definition   y_j = gamma_j x_j / sqrt(sum_k x_k^2 / d + eps)
    Shapes       X (n, d), gamma (d,) -> (n, d)
    Assumes      eps > 0
    Source       Zhang & Sennrich (2019), equation 4, with eps under the root
    Raises       ValueError where shapes disagree, or a number is not finite
    """
    X, gamma, [eps] = read("rms_norm", X=(X, "n d"), gamma=(gamma, "d"), eps=([eps], "1"))
    d = len(gamma)
    return [[gamma[j] * x[j] / mp.sqrt(sum(x[k] ** 2 for k in range(d)) / d + eps) for j in range(d)] for x in X]


@loops_of("compressed_rms_norm")
@at_fifty_digits
def compressed_rms_norm(X: Array, gamma: Array, eps: float = 1e-5) -> Matrix:
    """Append to each row the entry that makes its sum 0. Return the first d entries of the scaled RMS norm.

    Definition   y_j = gamma_j x_j / sqrt(sum_k x_k^2 / (d + 1) + eps), k = 1, ..., d + 1, x_{d+1} = -sum_{k <= d} x_k
    Shapes       X (n, d), gamma (d,) -> (n, d)
    Assumes      eps > 0
    Source       Jiang, Gu, Zhu & Pan (2023), section 3.2
    Raises       ValueError where shapes disagree, or a number is not finite
    """
    X, gamma, [eps] = read("compressed_rms_norm", X=(X, "n d"), gamma=(gamma, "d"), eps=([eps], "1"))
    whole = [[*x, -sum(x)] for x in X]
    return [
        [g * u / mp.sqrt(sum(v**2 for v in x) / len(x) + eps) for g, u in zip(gamma, x[:-1], strict=True)]
        for x in whole
    ]


@loops_of("scale_norm")
@at_fifty_digits
def scale_norm(X: Array, g: float, eps: float = 1e-5) -> Matrix:
    """Return every row divided by its length, or by eps where it is shorter, then multiplied by g.

    Definition   y_j = g x_j / max(sqrt(sum_k x_k^2), eps)
    Shapes       X (n, d), g () -> (n, d)
    Assumes      eps > 0
    Source       Nguyen & Salazar (2019), section 2.2
    Raises       ValueError where shapes disagree, or a number is not finite
    """
    X, [g], [eps] = read("scale_norm", X=(X, "n d"), g=([g], "1"), eps=([eps], "1"))
    d = len(X[0])
    lengths = [mp.sqrt(sum(x[k] ** 2 for k in range(d))) for x in X]
    return [
        [g * x[j] / (length if length > eps else eps) for j in range(d)] for x, length in zip(X, lengths, strict=True)
    ]


@loops_of("gated_feed_forward", "gated_feed_forward_with_biases")
@at_fifty_digits
def gated_feed_forward(
    X: Array,
    W_gate: Array,
    W_up: Array,
    W_down: Array,
    b_gate: Array | None = None,
    b_up: Array | None = None,
    b_down: Array | None = None,
) -> Matrix:
    """Return the gated feed-forward network of every row, with SiLU in the gate (SwiGLU).

    Definition   (silu(x W_gate + b_gate) o (x W_up + b_up)) W_down + b_down, silu(p) = p / (1 + exp(-p))
    Shapes       X (n, d_model), W_gate and W_up (d_model, d_ff), W_down (d_ff, d_model), b_gate and b_up (d_ff,),
                 b_down (d_model,) -> (n, d_model)
    Assumes      an omitted bias is zero
    Source       Shazeer (2020), section 2
    Raises       ValueError where shapes disagree
    """
    pairs = zip(linear(X, W_gate, b_gate), linear(X, W_up, b_up), strict=True)
    return linear([[p / (1 + mp.exp(-p)) * u for p, u in zip(*rows, strict=True)] for rows in pairs], W_down, b_down)


@at_fifty_digits
def sparse_gated_feed_forward(X: Array, W_gate: Array, W_up: Array, W_down: Array, tau: float) -> Matrix:
    """Return the gated network with GELU whose gate is closed up to tau standard deviations above the mean of its row.

    Definition   (gelu(max(0, p - mean(p) - tau sqrt(mean((p - mean(p))^2)))) o (x W_up)) W_down, p = x W_gate
    Shapes       X (n, d_model), W_gate and W_up (d_model, d_ff), W_down (d_ff, d_model) -> (n, d_model)
    Source       Gemma Team (2025), Gemma 3n, as in the released code
    Raises       ValueError where shapes disagree
    """
    [tau] = read("sparse_gated_feed_forward", tau=(tau, ""))
    opened = []
    for row in linear(X, W_gate):
        mean = sum(row) / len(row)
        deviation = mp.sqrt(sum((p - mean) ** 2 for p in row) / len(row))
        opened.append([gelu(relu(p - mean - tau * deviation)) for p in row])
    pairs = zip(opened, linear(X, W_up), strict=True)
    return linear([[g * u for g, u in zip(*rows, strict=True)] for rows in pairs], W_down)


@loops_of("augmented_residual")
@at_fifty_digits
def augmented_residual(X: Array, W_left: Array, W_right: Array, branch_norm: Mapping[str, Array]) -> Matrix:
    """Return the rows plus the RMS norm of a linear map of them with low rank.

    Definition   x + RMSNorm(x W_left W_right)
    Shapes       X (n, d_model), W_left (d_model, r_A), W_right (r_A, d_model) -> (n, d_model)
    Source       Menghani et al. (2024), section 2
    Raises       ValueError where shapes disagree
    """
    (X,) = read("augmented_residual", X=(X, "n d_model"))
    branch = rms_norm(linear(linear(X, W_left), W_right), **branch_norm)
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(X, branch, strict=True)]


@loops_of("low_rank_adaptation")
@at_fifty_digits
def low_rank_adaptation(X: Array, W: Array, b: Array, A: Array, B: Array, alpha: float) -> Matrix:
    """Return the affine image of every row, with alpha / r times the product of two thin matrices added to W.

    Definition   Y_ij = sum_c X_ic (W_cj + alpha / r sum_k A_ck B_kj) + b_j
    Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), A (d_in, r), B (r, d_out) -> Y (n, d_out)
    Source       Hu et al. (2021), section 4.1
    Raises       ValueError where shapes disagree
    """
    W, A, B, [alpha] = read(
        "low_rank_adaptation", W=(W, "d_in d_out"), A=(A, "d_in r"), B=(B, "r d_out"), alpha=([alpha], "1")
    )
    r = len(B)
    change = [[alpha / r * sum(A[c][k] * B[k][j] for k in range(r)) for j in range(len(W[0]))] for c in range(len(W))]
    adapted = [[w + change[c][j] for j, w in enumerate(row)] for c, row in enumerate(W)]
    return linear(X, adapted, b)


@loops_of("dropout")
@at_fifty_digits
def dropout(X: Array, D: Array, rate: float) -> Matrix:
    """Return every entry that the mask keeps, divided by the share of entries that are kept on average.

    Definition   Y_ij = X_ij D_ij / (1 - rate)
    Shapes       X (n, d), D (n, d) -> Y (n, d)
    Assumes      0 <= rate < 1
    Source       Srivastava et al. (2014), with the division at training time
    Raises       ValueError where the shapes differ
    """
    X, [rate] = read("dropout", X=(X, "n d"), rate=([rate], "1"))
    kept = read_mask("dropout", D, len(X), len(X[0]))
    return [
        [x / (1 - rate) if k else mp.zero for x, k in zip(*rows, strict=True)] for rows in zip(X, kept, strict=True)
    ]
