r"""From tokens to rows: the embedding and the sinusoidal positional encoding.

Definition   row i of the embedding is sqrt(d_model) E[tokens_i]
             a layer's own row of a token is gated, see `per_layer_embedding`
             PE[pos, 2i] = sin(pos / 10000^(2i/d_model)),   PE[pos, 2i+1] = cos(pos / 10000^(2i/d_model))
Assumes      tokens, pos and i count from 0; d_model is even
Source       Vaswani et al. (2017), sections 3.4 and 3.5; Gemma Team (2025), Gemma 3n, as in the released code

>>> from numeric.verification.reference import embedding
>>> embedding([1, 0], E=[[1, 2, 3, 4], [5, 6, 7, 8]])
[[mpf('10.0'), mpf('12.0'), mpf('14.0'), mpf('16.0')], [mpf('2.0'), mpf('4.0'), mpf('6.0'), mpf('8.0')]]
"""

from operator import index

from mpmath import mp

from numeric.verification.reference.position_wise import gelu, linear, rms_norm
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = ["embedding", "per_layer_embedding", "positional_encoding"]


@loops_of("embedding")
@at_fifty_digits
def embedding(tokens: Array, E: Array) -> Matrix:
    """Return the embedding row of every token, times sqrt(d_model).

    Definition   X_ij = sqrt(d_model) E[tokens_i, j]
    Shapes       tokens (n,) integers, E (vocab, d_model) -> X (n, d_model)
    Source       Vaswani et al. (2017), section 3.4
    Raises       ValueError where a token is not an integer from 0 to vocab - 1
    """
    (E,) = read("embedding", E=(E, "vocab d_model"))
    vocab, d_model = len(E), len(E[0])
    rows = []
    for i in range(len(tokens)):
        try:
            token = index(tokens[i])
        except TypeError:
            token = -1
        if not 0 <= token < vocab:
            raise ValueError(
                f"embedding: token {tokens[i]!r} at position {i} is not in a vocabulary of size {vocab}; "
                f"pass integers from 0 to {vocab - 1}."
            )
        rows.append([mp.sqrt(d_model) * E[token][j] for j in range(d_model)])
    return rows


@loops_of("per_layer_embedding")
@at_fifty_digits
def per_layer_embedding(
    Z: Array, X_0: Array, tokens: Array, gamma_E: Array, E_L: Array, W_C: Array, W_G: Array, W_U: Array
) -> Matrix:
    """Return the gated row of every token, mapped to the width of the rows of the layer.

    Definition   l = (gamma_E c / sqrt(mean(c^2) + eps) + sqrt(d_E) E_L[token]) / sqrt(2), c = x_0 W_C / sqrt(d_model);
                 y = (gelu(z W_G) * l) W_U
    Shapes       Z and X_0 (n, d_model), tokens (n,) integers, gamma_E (d_E,), E_L (vocab, d_E), W_C and W_G
                 (d_model, d_E), W_U (d_E, d_model) -> Y (n, d_model)
    Source       Gemma Team (2025), Gemma 3n, as in the released code
    Raises       ValueError where shapes disagree, or a token is not an integer from 0 to vocab - 1
    """
    Z, X_0, gamma_E = read("per_layer_embedding", Z=(Z, "n d_model"), X_0=(X_0, "n d_model"), gamma_E=(gamma_E, "d_E"))
    width = mp.sqrt(len(X_0[0]))
    context = rms_norm([[entry / width for entry in row] for row in linear(X_0, W_C)], gamma_E)
    rows = embedding(tokens, E_L)  # times sqrt(d_E), the width of this table
    gates = [[gelu(entry) for entry in row] for row in linear(Z, W_G)]
    narrow = [
        [gate * (c + e) / mp.sqrt(2) for gate, c, e in zip(*each, strict=True)]
        for each in zip(gates, context, rows, strict=True)
    ]
    return linear(narrow, W_U)


@loops_of("positional_encoding")
@at_fifty_digits
def positional_encoding(n: int, d_model: int) -> Matrix:
    """Return the sine and cosine of every position at geometrically spaced frequencies.

    Definition   PE[pos, 2i] = sin(pos / 10000^(2i/d_model)),   PE[pos, 2i+1] = cos(pos / 10000^(2i/d_model))
    Shapes       (n, d_model)
    Assumes      d_model even
    Source       Vaswani et al. (2017), section 3.5
    Raises       ValueError where n < 1, or d_model is not even and positive
    """
    if n < 1 or d_model < 2 or d_model % 2:
        raise ValueError(
            f"positional_encoding: n is {n} and d_model is {d_model}; pass n >= 1 and an even d_model >= 2."
        )
    PE = []
    for pos in range(n):
        row = []
        for i in range(d_model // 2):
            angle = pos / mp.power(10000, mp.mpf(2 * i) / d_model)
            row += [mp.sin(angle), mp.cos(angle)]
        PE.append(row)
    return PE
