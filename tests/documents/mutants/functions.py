"""What the words of functions mean, written from their definitions: of numbers with 50 digits, of arrays in floats.

Definition   a word that is not in the table is a function of which nothing is known: a smooth one of its own
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import mpmath
import numpy as np

__all__ = ["DIGITS", "ENTRYWISE", "WHOLE", "Differ", "Value", "attention", "softmax", "unknown_function"]

Value: TypeAlias = Any  # a number of mpmath, or an array
DIGITS = 50


class Differ(Exception):
    """Shapes that do not fit."""


def _gelu(x: Any) -> Any:
    return x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


_NUMBERS: Mapping[str, Callable[[Any], Any]] = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "ln": mpmath.log,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "sqrt": mpmath.sqrt,
    "erf": mpmath.erf,
    "abs": abs,
    "relu": lambda x: x if x > 0 else mpmath.mpf(0),
    "gelu": _gelu,
    "sigmoid": _sigmoid,
    "σ": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "swish": lambda x: x * _sigmoid(x),
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
}


def entrywise(function: Callable[[Any], Any]) -> Callable[[Value], Value]:
    """Return a function of numbers as one of numbers and of arrays."""
    return lambda x: np.vectorize(lambda each: float(function(each)))(x) if isinstance(x, np.ndarray) else function(x)


def softmax(x: Value) -> Value:
    """Exponentials over their sum, along the last axis; of one number it is 1."""
    if not isinstance(x, np.ndarray):
        return mpmath.mpf(1)
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(q: Value, k: Value, v: Value) -> Value:
    """Scaled dot-product attention."""
    if not all(isinstance(each, np.ndarray) for each in (q, k, v)) or q.shape[-1] != k.shape[-1]:
        raise Differ
    if k.ndim != 2 or v.ndim != 2 or k.shape[0] != v.shape[0]:
        raise Differ
    return softmax(q @ k.T / math.sqrt(q.shape[-1])) @ v


def _normalised(x: Value) -> Value:
    if not isinstance(x, np.ndarray):
        raise Differ
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


def unknown_function(word: str) -> Callable[..., Value]:
    """Return a smooth function that no other word has."""
    digest = hashlib.sha256(word.encode()).digest()
    first, second = 0.5 + digest[0] / 256, digest[1] / 256

    def function(*arguments: Value) -> Value:
        total: Value = 0
        for position, each in enumerate(arguments):
            made = np.sin((first + position) * np.asarray(each, dtype=float) + second)
            total = made if position == 0 else total + (0.1 + position) * made.mean()
        return total if isinstance(total, np.ndarray) and total.shape else mpmath.mpf(float(total))

    return function


ENTRYWISE = {word: entrywise(function) for word, function in _NUMBERS.items()}
WHOLE: Mapping[str, Callable[..., Value]] = {
    "softmax": softmax,
    "attention": attention,
    "layernorm": _normalised,
    "ln_": _normalised,
}
