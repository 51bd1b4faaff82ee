"""Functions of arrays by what they do to shapes, under the names that documents use."""

from __future__ import annotations

from derivations.documents.syntax import Name

__all__ = ["ATTENTION", "BY_ENTRY", "CONCATENATION", "KEEPS_SHAPE", "OF_ROWS", "SOFTMAX", "folded"]

SOFTMAX = frozenset({"softmax", "softargmax"})
OF_ROWS = frozenset({"rowsum", "rowmean", "rowmax", "rowmin"})  # one number for each row
BY_ENTRY = frozenset({
    "relu", "gelu", "silu", "swish", "sigmoid", "tanh", "exp", "elu", "leakyrelu", "softplus", "mish", "act",
    "activation", "activationfunction", "sigma", "log", "sin", "cos", "abs", "sqrt",
})  # fmt: skip
KEEPS_SHAPE = SOFTMAX | BY_ENTRY | frozenset({
    "layernorm", "layernormalization", "ln", "rmsnorm", "batchnorm", "normalize", "normalise", "dropout", "sublayer",
    "ffn", "feedforward", "mlp", "positionwiseffn", "selfattention", "mask", "causalmask", "rope", "logsoftmax",
})  # fmt: skip
CONCATENATION = frozenset({"concat", "cat", "concatenate", "hstack"})
ATTENTION = frozenset({"attention", "attn", "scaleddotproductattention", "dotproductattention", "sdpa"})


def folded(function: Name) -> str:
    """Return the name of a function in one spelling: `torch.nn.functional.softmax`, `Softmax`, `soft_max` are one."""
    base = function.base.rpartition(".")[2]
    if len(base) == 1:
        return base
    return "".join(letter for letter in base.lower() if letter.isalnum())
