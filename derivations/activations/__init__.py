"""Activations: ReLU, GELU and its approximations, the sigmoid and the activations built from it."""

from derivations.activations.activation import applied
from derivations.activations.gelu import (
    gelu_sigmoid,
    gelu_slope,
    gelu_tanh,
    normal_density,
    normal_distribution,
    tanh_argument,
)
from derivations.activations.sigmoid import sigmoid, silu, softplus, swish

__all__ = [
    "applied",
    "gelu_sigmoid",
    "gelu_slope",
    "gelu_tanh",
    "normal_density",
    "normal_distribution",
    "sigmoid",
    "silu",
    "softplus",
    "swish",
    "tanh_argument",
]
