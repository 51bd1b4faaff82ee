r"""Streams of rows, of which a layer computes one: prediction, correction, and the maps around the layers.

Definition   router      r = tanh(RMSNorm(z) W_R / d_model)
             predicted   x'_s = x_s + sum_t c_st x_t, c_st = sum_q r_q W_P[s, q, t]
             corrected   x'_s = x_s + (1 + sum_q r_q W_K[s, q]) (z - x_0)
             new         x_0 = z, x_s = z W_s times sqrt(mean(z^2) / max(mean((z W_s)^2), 10^-5))
             joined      z = mean over s of x_0 and of x_s W_s, sized in the same way
Shapes       streams of a row side by side, X (n, S d_model); Z (n, d_model), R (n, S)
Source       Baykal et al. (2023), section 3; Gemma Team (2025), Gemma 3n, as in the released code
"""

from collections.abc import Mapping

from mpmath import mp

from numeric.verification.reference.position_wise import linear, rms_norm
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = ["corrected_streams", "joined_streams", "new_streams", "predicted_streams", "stream_router"]


@loops_of("stream_router")
@at_fifty_digits
def stream_router(Z: Array, W_R: Array, router_norm: Mapping[str, Array]) -> Matrix:
    """Return S numbers between -1 and 1 for each row.

    Shapes       Z (n, d_model), W_R (d_model, S) -> R (n, S)
    """
    (Z,) = read("stream_router", Z=(Z, "n d_model"))
    return [[mp.tanh(entry / len(Z[0])) for entry in row] for row in linear(rms_norm(Z, **router_norm), W_R)]


@loops_of("predicted_streams")
@at_fifty_digits
def predicted_streams(X: Array, R: Array, W_P: Array) -> Matrix:
    """Return every stream plus a mixture of all of them.

    Shapes       X (n, S*d_model), R (n, S), W_P (S, S, S) -> (n, S*d_model)
    """
    R, W_P, X = read("predicted_streams", R=(R, "n S"), W_P=(W_P, "S S S"), X=(X, "n columns"))
    predicted = []
    for row, routed in zip(X, R, strict=True):
        streams, columns = _apart(row, len(routed)), []
        for own, maps in zip(streams, W_P, strict=True):
            mixing = [sum(r * maps[q][t] for q, r in enumerate(routed)) for t in range(len(routed))]
            columns += [x + sum(c * streams[t][j] for t, c in enumerate(mixing)) for j, x in enumerate(own)]
        predicted.append(columns)
    return predicted


@loops_of("corrected_streams")
@at_fifty_digits
def corrected_streams(X: Array, Z: Array, R: Array, W_K: Array) -> Matrix:
    """Return every stream plus its share of the difference between Z and the first stream.

    Shapes       X (n, S*d_model), Z (n, d_model), R (n, S), W_K (S, S) -> (n, S*d_model)
    """
    R, W_K, Z, X = read("corrected_streams", R=(R, "n S"), W_K=(W_K, "S S"), Z=(Z, "n d_model"), X=(X, "n columns"))
    corrected = []
    for row, z, routed in zip(X, Z, R, strict=True):
        streams, columns = _apart(row, len(routed)), []
        for own, map_ in zip(streams, W_K, strict=True):
            share = 1 + sum(r * w for r, w in zip(routed, map_, strict=True))
            columns += [x + share * (z[j] - streams[0][j]) for j, x in enumerate(own)]
        corrected.append(columns)
    return corrected


@at_fifty_digits
def new_streams(Z: Array, W: Array) -> Matrix:
    """Return the rows and linear maps of them, rescaled to the mean square of the rows, side by side.

    Shapes       Z (n, d_model), W (S - 1, d_model, d_model) -> (n, S*d_model)
    """
    (Z,) = read("new_streams", Z=(Z, "n d_model"))
    mapped = [linear(Z, each) for each in W]
    return [z + [x for rows in mapped for x in _sized(rows[p], z)] for p, z in enumerate(Z)]


@at_fifty_digits
def joined_streams(X: Array, W: Array) -> Matrix:
    """Return the mean of the first stream and of linear maps of the others, rescaled to its mean square.

    Shapes       X (n, S*d_model), W (S - 1, d_model, d_model) -> (n, d_model)
    """
    (X,) = read("joined_streams", X=(X, "n columns"))
    joined = []
    for row in X:
        first, *others = _apart(row, len(W) + 1)
        rows = [first, *(_sized(linear([x], each)[0], first) for x, each in zip(others, W, strict=True))]
        joined.append([sum(column) / len(rows) for column in zip(*rows, strict=True)])
    return joined


def _apart(row: Array, count: int) -> list[Array]:
    """Return the streams of one row."""
    width = len(row) // count
    return [row[s * width : (s + 1) * width] for s in range(count)]


def _sized(row: Array, like: Array) -> Array:
    """Return a row rescaled to the mean square of another row."""
    own, wanted = (sum(x * x for x in each) / len(each) for each in (row, like))
    return [x * mp.sqrt(wanted) / mp.sqrt(max(own, mp.mpf(1) / 10**5)) for x in row]
