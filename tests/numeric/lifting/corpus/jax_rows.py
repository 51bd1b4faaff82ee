"""Rows from JAX: `jax.nn`, `jax.scipy.special`."""

from __future__ import annotations

from typing import Any

import jax
from jax import nn
from sympy import Max, Min, Rational, erf, exp, sqrt

from derivations.attention.attention import scaled_dot_product_attention
from derivations.catalogue import layer
from derivations.language.layers.layer import Layer
from derivations.softmax.softmax import softmax
from derivations.symbols import d_k, d_v
from tests.numeric.lifting.corpus.jax_functions import causal_attention, glu_layer, standardized
from tests.numeric.lifting.corpus.rows import LAYER, Row, elementwise, looked_up, t

__all__ = ["SEEN"]


def of_equal_widths(target: Layer) -> Layer:
    """Return a layer whose values are as wide as its keys, which `jax.nn.dot_product_attention` demands."""
    return target.xreplace({d_v: d_k})


def attention(q: Any, k: Any, v: Any, **options: Any) -> Any:
    """Return `jax.nn.dot_product_attention` of one head; its second axis counts heads."""
    return nn.dot_product_attention(q[:, None, :], k[:, None, :], v[:, None, :], **options)[:, 0, :]


def attention_with_mask(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Return `jax.nn.dot_product_attention` of one head with a mask."""
    return attention(q, k, v, mask=mask[None])


def one_hot_rows(tokens: Any, E: Any) -> Any:
    """Return rows of a table by `jax.nn.one_hot`."""
    return nn.one_hot(tokens, E.shape[0]) @ E


LINEAR = Max(-1, Min(1, t))
FILLER = ("e+38 as minus infinity", "casts")

SEEN = (
    Row("jax.nn.relu", lambda: nn.relu, LAYER["relu"]),
    Row("jax.nn.relu6", lambda: nn.relu6, LAYER["relu6"]),
    Row("jax.nn.sigmoid", lambda: nn.sigmoid, LAYER["sigmoid"]),
    Row("jax.nn.silu", lambda: nn.silu, LAYER["silu"]),
    Row("jax.nn.swish", lambda: nn.swish, LAYER["silu"]),
    Row("jax.nn.softplus", lambda: nn.softplus, LAYER["softplus"]),
    Row("jax.nn.gelu", lambda: nn.gelu, LAYER["gelu_tanh"], readings=("sqrt(2/pi)",)),
    Row("jax.nn.gelu, exact", lambda: nn.gelu, LAYER["gelu"], readings=("1/sqrt(2)",), given={"approximate": False}),
    Row("jax.nn.gelu as the exact one", lambda: nn.gelu, LAYER["gelu"], "different", "tanh"),
    Row("jax.nn.log_sigmoid", lambda: nn.log_sigmoid, LAYER["log_sigmoid"]),
    Row("jax.nn.soft_sign", lambda: nn.soft_sign, LAYER["softsign"]),
    Row("jax.nn.tanh", lambda: nn.tanh, LAYER["tanh"]),
    Row("jax.nn.mish", lambda: nn.mish, LAYER["mish"]),
    Row("jax.nn.leaky_relu", lambda: nn.leaky_relu, LAYER["leaky_relu"]),
    Row("jax.nn.elu", lambda: nn.elu, LAYER["elu"]),
    Row("jax.nn.celu", lambda: nn.celu, LAYER["elu"]),
    Row("jax.nn.hard_swish", lambda: nn.hard_swish, LAYER["hard_swish"]),
    Row("jax.nn.hard_silu", lambda: nn.hard_silu, LAYER["hard_swish"]),
    Row("jax.nn.hard_sigmoid", lambda: nn.hard_sigmoid, lambda: elementwise(Min(6, Max(0, t + 3)) / 6, "hard_sigmoid")),
    Row("jax.nn.hard_tanh", lambda: nn.hard_tanh, lambda: elementwise(LINEAR, "hard_tanh")),
    Row("jax.nn.squareplus", lambda: nn.squareplus, lambda: elementwise((t + sqrt(t**2 + 4)) / 2, "squareplus")),
    Row("jax.nn.glu", lambda: nn.glu, glu_layer),
    Row("jax.nn.softmax", lambda: nn.softmax, LAYER["softmax"]),
    Row("jax.nn.softmax of a vector", lambda: nn.softmax, softmax),
    Row("jax.nn.softmax along columns", lambda: nn.softmax, LAYER["softmax"], "different", "axis", given={"axis": 0}),
    Row("jax.nn.log_softmax", lambda: nn.log_softmax, LAYER["log_softmax"]),
    Row("jax.nn.logsumexp", lambda: nn.logsumexp, LAYER["log_sum_exp"], given={"axis": -1}),
    Row("jax.nn.standardize", lambda: nn.standardize, standardized),
    Row("jax.nn.one_hot", lambda: one_hot_rows, looked_up),
    Row(
        "jax.nn.one_hot as the paper's embedding",
        lambda: one_hot_rows,
        lambda: layer("embedding"),
        "different",
        "scale sqrt(d_model)",
    ),
    Row("jax.nn.dot_product_attention", lambda: attention, lambda: of_equal_widths(scaled_dot_product_attention())),
    Row(
        "jax.nn.dot_product_attention, causal",
        lambda: attention,
        lambda: of_equal_widths(causal_attention()),
        readings=FILLER,
        given={"is_causal": True},
    ),
    Row(
        "jax.nn.dot_product_attention, masked",
        lambda: attention_with_mask,
        lambda: of_equal_widths(layer("masked_scaled_dot_product_attention")),
        readings=FILLER,
    ),
    Row(
        "jax.nn.dot_product_attention, not scaled",
        lambda: attention,
        lambda: of_equal_widths(scaled_dot_product_attention()),
        "different",
        "scale",
        given={"scale": 1.0},
    ),
    Row("jax.scipy.special.expit", lambda: jax.scipy.special.expit, LAYER["sigmoid"]),
    Row("jax.scipy.special.erf", lambda: jax.scipy.special.erf, lambda: elementwise(erf(t), "error_function")),
    Row("jax.scipy.special.logsumexp", lambda: jax.scipy.special.logsumexp, LAYER["log_sum_exp"], given={"axis": -1}),
    Row("jax.nn.selu", lambda: nn.selu, lambda: elementwise(selu(), "selu"), readings=()),
)


def selu() -> Any:
    """Return the scaled exponential linear unit, with the numbers that its paper rounds to double precision."""
    alpha, scale = Rational("1.6732632423543772"), Rational("1.0507009873554805")
    return scale * (Max(0, t) + alpha * Min(0, exp(t) - 1))
