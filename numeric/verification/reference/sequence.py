r"""Layers that relate positions without attention: convolution, a recurrent step, rotary and learned positions.

Definition   convolution     Y_il = sum_{t<w} sum_k X_{i+t,k} W_{t d_in + k, l} + b_l
             in groups       Y_t,ko = sum_{u<w} sum_i X_{t-w+1+u, k d + i} K_k,(u d + i),o + b_ko; with normed weights
                             K_k,(u d + i),o = gamma_u W_k,(u d + i),o / sqrt(sum of the squares of position u)
             recurrent step  h_1 = tanh(x W + h_0 U + b)
             rotary          the pair (a, b) number i of row p becomes (a cos - b sin, a sin + b cos) of the angle
                             p 10000^(-2i/d_k); pairs are columns 2i, 2i + 1, or i, d_k/2 + i when `halves`
             learned         Z = X + P
             class token     Z = [c; X]
             audio stem      two convolutions over X with a row of zeros on either side, each followed by GELU, the
                             second at every other position
             relative bias   B_t,ij = table[bucket(j - i), t]
Source       Goodfellow, Bengio and Courville (2016), equations 9.6, 10.8 and 10.9; Baevski et al. (2020), section 2;
             Salimans and Kingma (2016), equation 2; Su et al. (2021), equation 34;
             Gehring et al. (2017), section 3.1; Dosovitskiy et al. (2021), section 3.1; Radford et al. (2023), section
             2.2; Raffel et al. (2020), section 2.1
"""

from collections.abc import Callable
from typing import Any

from mpmath import mp

from numeric.verification.reference.position_wise import linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, Vector, at_fifty_digits, read

__all__ = [
    "audio_stem",
    "class_token",
    "convolution",
    "grouped_convolution",
    "learned_positions",
    "patch_embedding",
    "recurrent_step",
    "relative_position_bias",
    "rotary_embedding",
]


@loops_of("convolution")
@at_fifty_digits
def convolution(X: Array, W: Array, b: Array) -> Matrix:
    """Return the convolution of rows with a kernel whose slices are stacked by rows.

    Shapes       X (n, d_in), W (w d_in, d_out), b (d_out,) -> Y (n - w + 1, d_out)
    Raises       ValueError where shapes disagree
    """
    X, W, b = read("convolution", X=(X, "n d_in"), W=(W, "rows d_out"), b=(b, "d_out"))
    d_in = len(X[0])
    w = len(W) // d_in
    return [
        [sum(X[i + t][k] * W[t * d_in + k][l] for t in range(w) for k in range(d_in)) + b[l] for l in range(len(b))]
        for i in range(len(X) - w + 1)
    ]


@loops_of("grouped_convolution", "weight_normed_convolution")
@at_fifty_digits
def grouped_convolution(X: Array, W: Array, b: Array, gamma: Array | None = None) -> Matrix:
    """Return the convolution of each group of columns with its kernel, normalised at each position if gamma is given.

    Shapes       X (n, g*d), W (g, w*d, d), b (g*d,), gamma (w,) -> Y (n, g*d)
    Raises       ValueError where shapes disagree
    """
    W, X, b, gamma = read("grouped_convolution", W=(W, "g rows d"), X=(X, "n g*d"), b=(b, "g*d"), gamma=(gamma, "w"))
    d = len(W[0][0])
    w = len(W[0]) // d
    factors = [mp.one] * w
    if gamma is not None:
        lengths = [
            mp.sqrt(sum(x**2 for kernel in W for row in kernel[u * d : (u + 1) * d] for x in row)) for u in range(w)
        ]
        factors = [gain / length for gain, length in zip(gamma, lengths, strict=True)]
    Y = []
    for t in range(len(X)):
        places = [(t - w + 1 + u, u) for u in range(w) if t - w + 1 + u >= 0]
        row = list(b)
        for k, kernel in enumerate(W):
            for at, u in places:
                for i in range(d):
                    for o in range(d):
                        row[k * d + o] += factors[u] * kernel[u * d + i][o] * X[at][k * d + i]
        Y.append(row)
    return Y


@loops_of("recurrent_step")
@at_fifty_digits
def recurrent_step(x: Array, h_0: Array, W: Array, U: Array, b: Array) -> Vector:
    """Return the state of a recurrent network after one step.

    Shapes       x (d_in,), h_0 (d,), W (d_in, d), U (d, d), b (d,) -> h_1 (d,)
    Raises       ValueError where shapes disagree
    """
    x, h_0, W, U, b = read("recurrent_step", x=(x, "d_in"), h_0=(h_0, "d"), W=(W, "d_in d"), U=(U, "d d"), b=(b, "d"))
    return [
        mp.tanh(sum(x[k] * W[k][j] for k in range(len(x))) + sum(h_0[k] * U[k][j] for k in range(len(b))) + b[j])
        for j in range(len(b))
    ]


@loops_of("rotary_embedding_halves", halves=True)
@loops_of("rotary_embedding")
@at_fifty_digits
def rotary_embedding(X: Array, halves: bool = False) -> Matrix:
    """Return every pair of columns rotated by an angle proportional to the position.

    Shapes       X (n, d_k) -> Y (n, d_k)
    Raises       ValueError where d_k is odd
    """
    (X,) = read("rotary_embedding", X=(X, "n d_k"))
    return _turned("rotary_embedding", X, lambda row, pair: row, halves)


@loops_of("rotary_embedding_axes")
@at_fifty_digits
def rotary_embedding_axes(X: Array, p_0: Array, p_1: Array, w_1: int) -> Matrix:
    """Return pairs of columns rotated by frequency times position. The first w_1 pairs use p_0, the others p_1.

    Shapes       X (n, d_k), p_0 and p_1 (n,) -> Y (n, d_k)
    Raises       ValueError where d_k is odd
    """
    X, p_0, p_1 = read("rotary_embedding_axes", X=(X, "n d_k"), p_0=(p_0, "n"), p_1=(p_1, "n"))
    return _turned("rotary_embedding_axes", X, lambda row, pair: (p_0 if pair < w_1 else p_1)[row], halves=True)


def _turned(name: str, X: Matrix, position: Callable[[int, int], Any], halves: bool) -> Matrix:
    """Return every pair of columns rotated by its frequency times `position(row, pair)`."""
    d_k = len(X[0])
    if d_k % 2:
        raise ValueError(f"{name}: d_k is {d_k}; pass rows of even length.")
    Y = [[mp.zero] * d_k for _ in X]
    for p, row in enumerate(X):
        for i in range(d_k // 2):
            first, second = (i, d_k // 2 + i) if halves else (2 * i, 2 * i + 1)
            angle = position(p, i) / mp.power(10000, mp.mpf(2 * i) / d_k)
            Y[p][first] = row[first] * mp.cos(angle) - row[second] * mp.sin(angle)
            Y[p][second] = row[first] * mp.sin(angle) + row[second] * mp.cos(angle)
    return Y


@loops_of("learned_positions")
@at_fifty_digits
def learned_positions(X: Array, P: Array) -> Matrix:
    """Return every row with the row of a table added.

    Shapes       X (n, d_model), P (n, d_model) -> Z (n, d_model)
    Raises       ValueError where shapes disagree
    """
    X, P = read("learned_positions", X=(X, "n d_model"), P=(P, "n d_model"))
    return [[x + p for x, p in zip(*rows, strict=True)] for rows in zip(X, P, strict=True)]


@loops_of("class_token")
@at_fifty_digits
def class_token(X: Array, c: Array) -> Matrix:
    """Return rows with one more row above them.

    Shapes       X (n, d_model), c (1, d_model) -> Z (n + 1, d_model)
    Raises       ValueError where shapes disagree
    """
    X, c = read("class_token", X=(X, "n d_model"), c=(c, "1 d_model"))
    return [*c, *X]


@loops_of("patch_embedding")
def patch_embedding(U: Array, W: Array, b: Array) -> Matrix:
    """Return the affine image of every row of pixels.

    Shapes       U (n, pixels), W (pixels, d_model), b (d_model,) -> X (n, d_model)
    """
    return linear(U, W, b)


@loops_of("audio_stem")
@at_fifty_digits
def audio_stem(X: Array, conv_1: dict[str, Array], conv_2: dict[str, Array]) -> Matrix:
    """Return one row for every two frames of a spectrum, computed by two convolutions with GELU.

    Shapes       X (frames, mel), conv_1 W (3 mel, d_model), conv_2 W (3 d_model, d_model), b (d_model,)
                 -> Y (frames/2, d_model)
    Raises       ValueError where shapes disagree
    """
    rows: Matrix
    (rows,) = read("audio_stem", X=(X, "frames mel"))
    for stride, weights in ((1, conv_1), (2, conv_2)):
        nothing = [[mp.zero] * len(rows[0])]
        every = convolution([*nothing, *rows, *nothing], **weights)
        rows = [[x * (1 + mp.erf(x / mp.sqrt(2))) / 2 for x in row] for row in every[::stride]]
    return rows


@loops_of("relative_position_bias_looking_back", bidirectional=False)
@loops_of("relative_position_bias")
@at_fifty_digits
def relative_position_bias(table: Array, n: int, m: int, bidirectional: bool = True, max_distance: int = 128) -> Any:
    """Return the bias of every head for n queries and m keys.

    Shapes       table (buckets, h) -> B (h, n, m)
    Raises       ValueError where shapes disagree
    """
    (table,) = read("relative_position_bias", table=(table, "buckets h"))
    half = len(table) // 2
    count = half if bidirectional else len(table)
    own = count // 2

    def bucket(distance: int) -> int:
        later = half if bidirectional and distance > 0 else 0
        far = abs(distance) if bidirectional else max(0, -distance)
        if far < own:
            return later + far
        place = mp.log(mp.mpf(far) / own) / mp.log(mp.mpf(max_distance) / own) * (count - own)
        return later + min(count - 1, own + int(mp.floor(place + mp.mpf(10) ** -40)))  # whole despite rounding

    return [[[table[bucket(j - i)][t] for j in range(m)] for i in range(n)] for t in range(len(table[0]))]
