"""The symbols of the package: every size, index and constant, declared once with its assumptions.

Sizes are integers >= 1, indices are integers that count from 0. A notation decides how a symbol is printed
(`derivations.language.printing.notation`).
"""

from sympy import Symbol

__all__ = [
    "N",
    "batch",
    "d",
    "d_ff",
    "d_in",
    "d_k",
    "d_model",
    "d_out",
    "d_v",
    "epsilon",
    "h",
    "i",
    "index",
    "j",
    "k",
    "l",
    "m",
    "n",
    "pos",
    "scalar",
    "size",
    "vocab",
]


def size(name: str) -> Symbol:
    """Return the size called `name`: an integer >= 1."""
    return Symbol(name, integer=True, positive=True)


def index(name: str) -> Symbol:
    """Return the index called `name`: an integer; each use states its range."""
    return Symbol(name, integer=True)


def scalar(name: str, *, positive: bool = False) -> Symbol:
    """Return the real scalar called `name`, declared positive if `positive` is true."""
    return Symbol(name, positive=True) if positive else Symbol(name, real=True)


n, m = size("n"), size("m")  # queries (or positions), keys
d, d_model, d_k, d_v, d_ff, d_in, d_out = map(size, ("d", "d_model", "d_k", "d_v", "d_ff", "d_in", "d_out"))
h, N, vocab, batch = map(size, ("h", "N", "vocab", "batch"))  # heads, layers, vocabulary, batch
i, j, k, l, pos = map(index, ("i", "j", "k", "l", "pos"))
epsilon = scalar("epsilon", positive=True)
