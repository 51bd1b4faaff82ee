"""Encoder and decoder: residual sub-layers with the norm after the sum, and their stacks.

Definition   a sub-layer is x -> LayerNorm(x + Sublayer(x)); an encoder layer has two (self-attention, feed-forward),
             a decoder layer three (masked self-attention, attention over the memory, feed-forward); in a pre-norm
             layer a sub-layer is x -> x + Sublayer(LayerNorm(x))
Shapes       the weights of a layer are dicts of dicts, those of a stack a list of such dicts
Assumes      no norm after the last layer, unless `final_norm` gives its gamma and beta
Source       Vaswani et al. (2017), section 3.1; Xiong et al. (2020), figure 1, for pre-norm layers
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from numeric.verification.reference import position_wise
from numeric.verification.reference.attention import attention_weights, multi_head_attention
from numeric.verification.reference.position_wise import dropout, layer_norm, linear
from numeric.verification.reference.registry import loops_of
from numeric.verification.reference.scalars import Array, Matrix, at_fifty_digits, read

__all__ = ["LayerWeights", "Weights", "add", "decoder", "decoder_layer", "encoder", "encoder_layer", "pre_norm_layer"]

Weights: TypeAlias = Mapping[str, Array]  # of one sub-layer, by parameter name
LayerWeights: TypeAlias = Mapping[str, Weights]  # of one encoder or decoder layer, by sub-layer name


@at_fifty_digits
def add(X: Array, Y: Array) -> Matrix:
    """Return the sum of two matrices, entry by entry (the residual connection).

    Shapes       X (n, d), Y (n, d) -> (n, d)
    Raises       ValueError where the shapes differ
    """
    X, Y = read("add", X=(X, "n d"), Y=(Y, "n d"))
    return [[X[i][j] + Y[i][j] for j in range(len(X[0]))] for i in range(len(X))]


@loops_of("encoder_layer")
def encoder_layer(
    X: Array,
    attention: Weights,
    attention_norm: Weights,
    feed_forward: Weights,
    feed_forward_norm: Weights,
    M: Array | None = None,
    *,
    activation: str = "relu",
    eps: float = 1e-5,
) -> Matrix:
    """Return one encoder layer of X.

    Definition   Y = LayerNorm(X + MultiHead(X, X, X)),   Z = LayerNorm(Y + FFN(Y))
    Shapes       X (n, d_model), M (n, n) -> Z (n, d_model)
    Source       Vaswani et al. (2017), section 3.1
    Raises       ValueError from a sub-layer, TypeError where a weight's name is missing or unknown
    """
    Y = layer_norm(add(X, multi_head_attention(X, X, X, **attention, M=M)), **attention_norm, eps=eps)
    F = position_wise.feed_forward(Y, **feed_forward, activation=activation)
    return layer_norm(add(Y, F), **feed_forward_norm, eps=eps)


@loops_of("pre_norm_layer", "pre_norm_layer_with_dropout")
def pre_norm_layer(
    X: Array,
    attention_norm: Weights,
    self_attention: Weights,
    feed_forward_norm: Weights,
    feed_forward: Weights,
    D_A: Array | None = None,
    D_Y: Array | None = None,
    D_Z: Array | None = None,
    *,
    rate: float = 0,
    activation: str = "gelu",
    eps: float = 1e-5,
) -> Matrix:
    """Return one layer of X with the norms before the sub-layers; `rate` is that of dropout, whose masks are given.

    Definition   Y = X + dropout(MultiHead(LayerNorm(X))),   Z = Y + dropout(FFN(LayerNorm(Y)))
    Shapes       X (n, d_model), D_A (h, n, n), D_Y and D_Z (n, d_model) -> Z (n, d_model)
    Assumes      an omitted mask keeps every entry, undivided
    Source       Xiong et al. (2020), figure 1; Korthikanti et al. (2022), figure 3, for the places of dropout
    Raises       ValueError from a sub-layer, TypeError where a weight's name is missing or unknown
    """
    L = layer_norm(X, **attention_norm, eps=eps)
    A = multi_head_attention(L, L, L, **self_attention) if D_A is None else _dropping(L, D_A, rate, **self_attention)
    Y = add(X, _dropped(A, D_Y, rate))
    F = position_wise.feed_forward(layer_norm(Y, **feed_forward_norm, eps=eps), **feed_forward, activation=activation)
    return add(Y, _dropped(F, D_Z, rate))


def _dropped(X: Array, D: Array | None, rate: float) -> Matrix:
    """Return X after dropout; X itself without a mask."""
    return list(X) if D is None else dropout(X, D, rate)


@at_fifty_digits
def _dropping(
    X: Array, D: Array, rate: float, W_Q: Array, W_K: Array, W_V: Array, W_O: Array,
    b_Q: Array, b_K: Array, b_V: Array, b_O: Array,
) -> Matrix:  # fmt: skip
    """Return multi-head attention of X to itself, where D_i drops weights of head i."""
    heads = []
    for i in range(len(W_Q)):
        A = attention_weights(linear(X, W_Q[i], b_Q[i]), linear(X, W_K[i], b_K[i]))
        heads.append(linear(_dropped(A, D[i], rate), linear(X, W_V[i], b_V[i])))
    return linear([[entry for head in heads for entry in head[r]] for r in range(len(X))], W_O, b_O)


@loops_of("decoder_layer")
def decoder_layer(
    X: Array,
    memory: Array,
    self_attention: Weights,
    self_attention_norm: Weights,
    cross_attention: Weights,
    cross_attention_norm: Weights,
    feed_forward: Weights,
    feed_forward_norm: Weights,
    M: Array | None = None,
    M_memory: Array | None = None,
    *,
    activation: str = "relu",
    eps: float = 1e-5,
) -> Matrix:
    """Return one decoder layer of X, which attends to itself and to the encoder's output.

    Definition   Y = LayerNorm(X + MultiHead(X, X, X)),   U = LayerNorm(Y + MultiHead(Y, memory, memory)),
                 Z = LayerNorm(U + FFN(U))
    Shapes       X (n, d_model), memory (m, d_model), M (n, n), M_memory (n, m) -> Z (n, d_model)
    Assumes      M is the whole mask of the self-attention: pass `causal_mask(n)` to hide later positions
    Source       Vaswani et al. (2017), sections 3.1 and 3.2.3
    Raises       ValueError from a sub-layer, TypeError where a weight's name is missing or unknown
    """
    Y = layer_norm(add(X, multi_head_attention(X, X, X, **self_attention, M=M)), **self_attention_norm, eps=eps)
    C = multi_head_attention(Y, memory, memory, **cross_attention, M=M_memory)
    U = layer_norm(add(Y, C), **cross_attention_norm, eps=eps)
    F = position_wise.feed_forward(U, **feed_forward, activation=activation)
    return layer_norm(add(U, F), **feed_forward_norm, eps=eps)


@loops_of("encoder")
def encoder(
    X: Array,
    layers: Sequence[LayerWeights],
    final_norm: Weights | None = None,
    M: Array | None = None,
    *,
    activation: str = "relu",
    eps: float = 1e-5,
) -> Matrix:
    """Return X after every encoder layer in turn, and after the final norm where one is given.

    Definition   X_0 = X,   X_l = EncoderLayer_l(X_{l-1}), l = 1, ..., N
    Shapes       X (n, d_model), M (n, n) -> (n, d_model)
    Source       Vaswani et al. (2017), section 3.1
    Raises       ValueError from a layer, TypeError where a weight's name is missing or unknown
    """
    for layer in layers:
        X = encoder_layer(X, **layer, M=M, activation=activation, eps=eps)
    return X if final_norm is None else layer_norm(X, **final_norm, eps=eps)


@loops_of("decoder")
def decoder(
    X: Array,
    memory: Array,
    layers: Sequence[LayerWeights],
    final_norm: Weights | None = None,
    M: Array | None = None,
    M_memory: Array | None = None,
    *,
    activation: str = "relu",
    eps: float = 1e-5,
) -> Matrix:
    """Return X after every decoder layer in turn, and after the final norm where one is given.

    Definition   X_0 = X,   X_l = DecoderLayer_l(X_{l-1}, memory), l = 1, ..., N
    Shapes       X (n, d_model), memory (m, d_model), M (n, n), M_memory (n, m) -> (n, d_model)
    Source       Vaswani et al. (2017), section 3.1
    Raises       ValueError from a layer, TypeError where a weight's name is missing or unknown
    """
    for layer in layers:
        X = decoder_layer(X, memory, **layer, M=M, M_memory=M_memory, activation=activation, eps=eps)
    return X if final_norm is None else layer_norm(X, **final_norm, eps=eps)
