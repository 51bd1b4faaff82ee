"""Known functions, as data: those that are taken entry by entry, and the words for softmax.

Definition   a function by entry takes a number to a number; nothing is evaluated, so that nothing is cancelled
Source       the functions are those of the catalogue
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sympy import Abs, Expr, Function, Heaviside, cos, erf, exp, log, sin, sqrt, tan, tanh

from derivations.activations.sigmoid import sigmoid, silu, softplus
from derivations.language.arrays.functions import relu

__all__ = ["BY_ENTRY", "SIGMA", "SIGMOID_WORDS", "SOFTMAX"]


BY_ENTRY: Mapping[str, Callable[[Expr], Expr]] = {
    "exp": lambda x: exp(x, evaluate=False),
    "log": lambda x: log(x, evaluate=False),
    "ln": lambda x: log(x, evaluate=False),
    "sqrt": lambda x: sqrt(x, evaluate=False),
    "sin": lambda x: sin(x, evaluate=False),
    "cos": lambda x: cos(x, evaluate=False),
    "tan": tan,
    "tanh": lambda x: tanh(x, evaluate=False),
    "sinh": lambda x: (exp(x) - exp(-x)) / 2,
    "cosh": lambda x: (exp(x) + exp(-x)) / 2,
    "sigmoid": sigmoid.formula,
    "relu": relu.formula,
    "abs": Abs,
    "erf": erf,
    "silu": silu.formula,
    "swish": silu.formula,
    "softplus": softplus.formula,
    "step": Heaviside,
    "activation": Function("activation", real=True),  # any function by entry
    "act": Function("activation", real=True),
    "nonlinearity": Function("activation", real=True),
}
SOFTMAX = frozenset({"softmax"})
SIGMA = frozenset({"σ", "sigma"})  # the sigmoid where the document speaks of it, else any function by entry
SIGMOID_WORDS = ("sigmoid", "logistic", "シグモイド", "ロジスティック", "逻辑斯", "邏輯斯")
