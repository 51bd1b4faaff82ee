"""Known functions, as data: those applied entry by entry, and the names of softmax.

Definition   a function by entry takes a number to a number; nothing is evaluated, so that nothing is cancelled
Source       the functions are those of the catalogue
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sympy import Abs, Expr, Function, Heaviside, Integer, cos, erf, exp, log, sin, sqrt, tan, tanh

from derivations.activations.sigmoid import sigmoid, silu, softplus
from derivations.documents.syntax import Call, Name, Number
from derivations.language.arrays.functions import gelu, relu

__all__ = [
    "BY_ENTRY",
    "EXPECTATION",
    "EXPECTED",
    "GATES",
    "MADE_OF_THE_SIGMOID",
    "SIGMA",
    "SIGMOID_WORDS",
    "SOFTMAX",
    "STATISTICS",
    "base_of",
    "is_known",
    "word_of",
]


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
    "gelu": gelu.formula,
    "silu": silu.formula,
    "swish": silu.formula,
    "softplus": softplus.formula,
    "step": Heaviside,
    **{word: Function(word, real=True) for word in ("round", "floor", "ceil", "sign")},  # of which nothing is used
    "activation": Function("activation", real=True),  # any function by entry
    "act": Function("activation", real=True),
    "nonlinearity": Function("activation", real=True),
}
EXPECTATION = Function("expectation", real=True)  # of a number, whatever it is taken over
EXPECTED = "e"  # the word of an expectation that is written as a function
SOFTMAX = frozenset({"softmax"})
SIGMA = frozenset({"σ", "sigma"})  # the sigmoid where the document speaks of it, else any function by entry
_OF_ONE = frozenset({*BY_ENTRY, *SIGMA, *SOFTMAX, "tr", "trace", "diag"})
_OF_TWO = frozenset({"max", "min", "inner"})
STATISTICS = frozenset({"var", "variance", "cov", "std", "mean", "rms"})  # of arrays: they are no letters
MADE_OF_THE_SIGMOID = frozenset({"silu", "swish", "gelu", "swiglu", "sigmoid", "logistic"})
GATES = SIGMA | {"relu", "gelu", "silu", "swish", "sigmoid", "tanh", "activation", "act"}
SIGMOID_WORDS = ("sigmoid", "logistic", "シグモイド", "ロジスティック", "逻辑斯", "邏輯斯")


def word_of(name: Name) -> str:
    """Return the letters and digits of a function's name, in lower case. LN becomes "layernorm"."""
    if name.base == "LN":
        return "layernorm"
    return "".join(letter for letter in name.base.lower() if letter.isalnum())


def base_of(function: Name) -> Integer | None:
    """Return the base of a logarithm with an integer subscript greater than 1, or None."""
    match function:
        case Name(base="log", subscripts=(Number(value=value),), superscripts=()) if value > 1 and value == int(value):
            return Integer(int(value))
    return None


def is_known(call: Call) -> bool:
    """Return whether a call is one of a known function, with the right number of arguments."""
    word, count = word_of(call.function), len(call.arguments)
    if base_of(call.function) is not None:
        return count == 1
    if call.function.primes or ((call.function.subscripts or call.function.superscripts) and word not in SOFTMAX):
        return False
    return word in _OF_TWO if count == 2 else count == 1 and word in (*_OF_ONE, EXPECTED)
