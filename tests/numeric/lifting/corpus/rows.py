"""The rows of the corpus: a public function, the layer that it should be, and the outcome that is expected.

Definition   a row names a function that was written elsewhere, how it is made, the layer, and an outcome:
             proved (with the readings that the proof rests on), equal up to a literal, different (with the name of the
             difference), or not followed (with the cause)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import Abs, Expr, Integer, Lambda, Max, Min, Rational, Symbol, exp, log, sqrt, tanh

from derivations.activations.gelu import gelu_sigmoid, gelu_tanh
from derivations.activations.sigmoid import sigmoid, silu, softplus
from derivations.attention.multi_head import multi_head_attention
from derivations.feed_forward.feed_forward import feed_forward
from derivations.language.arrays.arrangements import PlacedBlock, Tabulated, column_block
from derivations.language.arrays.expression import Array, ColumnBroadcast, array, mask_array, token_array
from derivations.language.arrays.functions import (
    Elementwise,
    Hadamard,
    Lookup,
    Named,
    RowLogSumExp,
    gelu,
    named,
    relu,
    row_softmax,
    square,
)
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equations, Layer, part
from derivations.normalisation.layer_norm import layer_norm
from derivations.normalisation.rms_norm import rms_norm
from derivations.symbols import d, d_in, d_k, d_model, d_v, m, n, size

__all__ = ["Row", "elementwise", "log_softmax", "log_sum_exp", "norm_of_one_plus"]

t = Symbol("t", real=True)
p = size("p")  # half the width


@dataclass(frozen=True)
class Row:
    """A public function and what is expected of it."""

    name: str
    made: Callable[[], Any]
    target: Callable[[], Layer]
    outcome: str = "proved"  # proved, equal up to a literal, different, not followed
    because: str = ""  # the difference, or the cause: words that the verdict contains
    readings: tuple[str, ...] = ()  # words that the readings of the proof contain
    given: Mapping[str, Any] = field(default_factory=dict)  # shapes and constants of single parameters


def elementwise(formula: Expr | Named, name: str = "activation") -> Layer:
    """Return the layer that applies a formula in `t` to every entry of a matrix."""
    x, y = array("x", n, d), array("y", n, d)
    function = formula if isinstance(formula, Named) else named(name, formula, t)
    let = Equations()
    let("y")(Elementwise(function, x))
    return Layer(function.name, (x,), (), let, y)


def softmax_of_rows() -> Layer:
    """Return softmax of each row."""
    x, y = array("x", n, d), array("y", n, d)
    let = Equations()
    let("y")(row_softmax(x))
    return Layer("softmax_of_rows", (x,), (), let, y)


def log_sum_exp() -> Layer:
    """Return the logarithm of the sum of the exponentials of each row."""
    x, y = array("x", n, d), array("y", n)
    let = Equations()
    let("y")(RowLogSumExp(x))
    return Layer("log_sum_exp", (x,), (), let, y)


def log_softmax() -> Layer:
    """Return the logarithm of the softmax of each row."""
    x, y = array("x", n, d), array("y", n, d)
    let = Equations()
    let("y")(x - ColumnBroadcast(RowLogSumExp(x), d))
    return Layer("log_softmax", (x,), (), let, y)


def norm_of_one_plus(eps: Expr | int) -> Layer:
    """Return root mean square normalisation with the weights 1 + w."""
    plain = rms_norm(eps)
    let = Equations()
    X, w, Y = array("X", n, d), array("w", d), array("Y", n, d)
    ones = Tabulated(Lambda((Symbol("k", integer=True),), Integer(1)), d)
    let("Y")(part("norm", plain)(X, gamma=w + ones))
    return Layer("rms_norm_of_one_plus", (X,), (w,), let, Y)


def mean_squared_error() -> Layer:
    """Return the squared differences of two matrices, entry by entry."""
    x, y, z = array("x", n, d), array("y", n, d), array("z", n, d)
    let = Equations()
    let("z")(square(x - y))
    return Layer("squared_error", (x, y), (), let, z)


def masked_by_addition() -> Layer:
    """Return attention to whose scores an array is added."""
    Q, K, V, B = array("Q", n, d_k), array("K", m, d_k), array("V", m, d_v), array("B", n, m)
    let = Equations()
    S = let("S")(Q @ K.T / sqrt(d_k) + B)
    A = let("A")(row_softmax(S))
    Y = let("Y")(A @ V)
    return Layer("attention_with_added_scores", (Q, K, V, B), (), let, Y)


def rotated() -> Layer:
    """Return the rotation of the halves of each row, with given cosines and sines: x C + (-x_2, x_1) S."""
    return rotary_by(array("C", n, Blocks(Integer(2), p)), array("S", n, Blocks(Integer(2), p)))


def rotary_by(C: Array, S: Array) -> Layer:
    """Return the rotation of the halves of each row with given cosines and sines."""
    X, Y = array("X", n, Blocks(Integer(2), p)), array("Y", n, Blocks(Integer(2), p))
    let = Equations()
    turned = let("T")(PlacedBlock(-column_block(X, 1), 0, 2) + PlacedBlock(column_block(X, 0), 1, 2))
    let("Y")(Hadamard(X, C) + Hadamard(turned, S))
    return Layer("rotation_of_halves", (X, C, S), (), let, Y)


def residual_norm() -> Layer:
    """Return the output of a block of BERT: layer norm of a linear map plus the input of the block."""
    H, X, Y = array("H", n, d_in), array("X", n, d), array("Y", n, d)
    W, b, gamma, beta = array("W", d_in, d), array("b", d), array("gamma", d), array("beta", d)
    let = Equations()
    Z = let("Z")(H @ W + b + X)
    let("Y")(part("norm", layer_norm())(Z, gamma=gamma, beta=beta))
    return Layer("residual_norm", (H, X), (W, b, gamma, beta), let, Y)


def dense(activation: Named) -> Layer:
    """Return a linear map with an activation."""
    X, Y, W, b = array("X", n, d_in), array("Y", n, d), array("W", d_in, d), array("b", d)
    let = Equations()
    let("Y")(activation(X @ W + b))
    return Layer("dense", (X,), (W, b), let, Y)


def unprojected_attention() -> Layer:
    """Return multi-head attention with biases and without its last projection."""
    whole = multi_head_attention(biases=True).until("Z")
    used = [v for v in whole.parameters if v.name not in ("W_O", "b_O")]
    return Layer("attention_of_heads", whole.inputs, used, whole.equations, whole.output)


def looked_up() -> Layer:
    """Return the rows of a table that numbers choose, without a factor."""
    tokens, E, Y = token_array("tokens", n), array("E", size("vocab"), d_model), array("Y", n, d_model)
    let = Equations()
    let("Y")(Lookup(E, tokens))
    return Layer("look_up", (tokens,), (E,), let, Y)


def causal_heads() -> Layer:
    """Return causal multi-head attention of one array: with the heads in merged weights, as code stores them."""
    whole = multi_head_attention(masked=True)
    return Layer("causal_heads", whole.inputs, whole.parameters, whole.equations, whole.output)


def pre_norm_block(activation: Named) -> Layer:
    """Return a block of GPT-2: causal attention and a feed-forward network, each behind a norm, with residuals."""
    X, M, Y = array("X", n, d_model), mask_array("M", n, n), array("Y", n, d_model)
    let = Equations()
    first = let("N_1")(part("norm_1", layer_norm())(X))
    attended = let("A")(part("attention", multi_head_attention(masked=True, biases=True))(first, first, first, M))
    U = let("U")(X + attended)
    second = let("N_2")(part("norm_2", layer_norm())(U))
    let("Y")(U + part("network", feed_forward(activation))(second))
    return Layer("pre_norm_block", (X, M), (), let, Y)


LAYER = {
    "gelu": lambda: elementwise(gelu),
    "gelu_tanh": lambda: elementwise(gelu_tanh),
    "gelu_sigmoid": lambda: elementwise(gelu_sigmoid),
    "silu": lambda: elementwise(silu),
    "relu": lambda: elementwise(relu),
    "sigmoid": lambda: elementwise(sigmoid),
    "softplus": lambda: elementwise(softplus),
    "tanh": lambda: elementwise(tanh(t), "hyperbolic_tangent"),
    "mish": lambda: elementwise(t * tanh(log(1 + exp(t))), "mish"),
    "relu_squared": lambda: elementwise(Max(0, t) ** 2, "relu_squared"),
    "relu6": lambda: elementwise(Min(6, Max(0, t)), "relu6"),
    "hard_swish": lambda: elementwise(t * Min(6, Max(0, t + 3)) / 6, "hard_swish"),
    "leaky_relu": lambda: elementwise(Max(0, t) + Rational(1, 100) * Min(0, t), "leaky_relu"),
    "elu": lambda: elementwise(Max(0, t) + Min(0, exp(t) - 1), "elu"),
    "softsign": lambda: elementwise(t / (1 + Abs(t)), "softsign"),
    "log_sigmoid": lambda: elementwise(-log(1 + exp(-t)), "log_sigmoid"),
    "softmax": softmax_of_rows,
    "log_softmax": log_softmax,
    "log_sum_exp": log_sum_exp,
}
