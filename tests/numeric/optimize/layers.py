"""The layers that the passes are tried on, and how often each pass was made there."""

from collections import Counter
from functools import lru_cache

from sympy import Symbol

from derivations.architectures.composition import build
from derivations.architectures.models import named_model
from derivations.language.arrays.arrangements import Concatenate
from derivations.language.arrays.expression import Array, Variable, array, mask_array
from derivations.language.arrays.functions import RowSoftmax, square
from derivations.language.arrays.shapes import Blocks
from derivations.language.layers.layer import Equations, Layer
from derivations.symbols import d, d_k, d_model, d_v, h, i, m, n
from numeric.optimize import Optimised

__all__ = ["attention", "chain", "made", "model", "refused"]

X, memory, M = array("X", n, d_model), array("memory", m, d_model), mask_array("M", n, n)


def made(optimised: Optimised) -> Counter[str]:
    """The number of rewritings of each pass, in all parts."""
    return Counter(rewrite.name for rewrite in optimised.every_rewrite() if rewrite.done)


def refused(optimised: Optimised) -> list[str]:
    """The passes that the judge refused."""
    return [rewrite.name for rewrite in optimised.every_rewrite() if not rewrite.done]


@lru_cache(maxsize=32)
def model(name: str) -> Layer:
    """A built-in model as one layer."""
    return build(named_model(name).architecture)


def attention(
    *, mask: Array | None = None, read_twice: str = "", value_bias: bool = True, change: str = "", cross: bool = False
) -> Layer:
    """Attention of h heads with biases, as one list of equations, with something that a pass must look out for.

    `read_twice`: the intermediate that is an output, too; `change`: "keys" adds something of its own to every key,
    "scores" squares the scores.
    """
    keys = memory if cross else X
    length = m if cross else n
    W_Q, W_K, W_V = (array(f"W_{x}", h, d_model, w) for x, w in (("Q", d_k), ("K", d_k), ("V", d_v)))
    b_Q, b_K, b_V = array("b_Q", h, d_k), array("b_K", h, d_k), array("b_V", h, d_v)
    W_O, b_O = array("W_O", Blocks(h, d_v), d_model), array("b_O", d_model)
    N = array("N", h, length, d_k)
    let = Equations()
    Q = let("Q", over=(i, h))(X @ W_Q[i] + b_Q[i])
    K = let("K", over=(i, h))(keys @ W_K[i] + b_K[i])
    V = let("V", over=(i, h))(keys @ W_V[i] + b_V[i] if value_bias else keys @ W_V[i])
    if change == "keys":
        K = let("K_n", over=(i, h))(K[i] + N[i])
    scores = Q[i] @ K[i].T / 3
    S = let("S", over=(i, h))(square(scores) if change == "scores" else scores)
    A = let("A", over=(i, h))(RowSoftmax(S[i], *([] if mask is None else [mask])))
    O = let("O", over=(i, h))(A[i] @ V[i])
    Z = let("Z")(Concatenate(O[i], i, h))
    Y = let("Y")(Z @ W_O + b_O)
    outputs = {"Q": Q, "K": K, "V": V, "S": S, "A": A, "O": O}
    masks = [] if mask is None else sorted(mask.atoms(Variable), key=str)
    inputs = (X, *([memory] if cross else []), *masks)
    inputs = (*inputs, *([N] if change == "keys" else []))
    weights = (W_Q, W_K, W_V, b_Q, b_K, *([b_V] if value_bias else []), W_O, b_O)
    return Layer("attention", inputs, weights, let, (Y, outputs[read_twice]) if read_twice else Y)


def chain(second: Symbol, *, bias: bool = True, read_twice: bool = False) -> Layer:
    """Two projections one after the other, of widths d_k and `second`."""
    X, A, B = array("X", n, d), array("A", d, d_k), array("B", d_k, second)
    a, b = array("a", d_k), array("b", second)
    let = Equations()
    P = let("P")(X @ A + a if bias else X @ A)
    Y = let("Y")(P @ B + b)
    return Layer("chain", (X,), (A, B, *([a] if bias else []), b), let, (Y, P) if read_twice else Y)
