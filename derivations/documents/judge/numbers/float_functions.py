"""Functions and constants in floating point, for the quick evaluation that decides whether to look closer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

__all__ = ["CONSTANTS", "FUNCTIONS"]

FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "exp": math.exp, "log": math.log, "ln": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos,
    "tanh": math.tanh, "erf": math.erf, "relu": lambda x: max(x, 0.0), "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, "softplus": lambda x: math.log(1 + math.exp(x)),
    "silu": lambda x: x / (1 + math.exp(-x)), "swish": lambda x: x / (1 + math.exp(-x)),
}  # fmt: skip
CONSTANTS: Mapping[str, float] = {"e": math.e, "π": math.pi, "pi": math.pi}
