r"""The recurrent layer, one position at a time, for comparison with attention.

Definition   h_t = tanh(x_t W + h_{t-1} U + b)
Result       dh_t/dh_{t-1} = U^T with row l scaled by 1 - h_{t,l}^2; 2 d (d_in + d) FLOPs in products for each position
Shapes       x_t (d_in,), h_t (d,), W (d_in, d), U (d, d), b (d,)
Source       Elman (1990); Goodfellow, Bengio and Courville (2016), equations 10.8 and 10.9
"""

from sympy import Derivative, Symbol, tanh

from derivations.language.arrays.expression import array
from derivations.language.arrays.functions import named
from derivations.language.counting.costs import Count
from derivations.language.layers.catalogued import catalogued
from derivations.language.layers.layer import Equations, Layer
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import d, d_in, j, k, l

__all__ = ["recurrent_step"]

GOODFELLOW = "Goodfellow, Bengio and Courville (2016), equations 10.8 and 10.9"
x, before = array("x", d_in), array("h_0", d)
W, U, b = array("W", d_in, d), array("U", d, d), array("b", d)
a, after = array("a", d), array("h_1", d)
_t = Symbol("x", real=True)


@catalogued
def recurrent_step() -> Layer:
    """Return one step of the recurrent layer: the state after a position, from that position and the previous state.

    Definition   a = x W + h_0 U + b, h_1 = tanh(a)
    Shapes       x (d_in,), h_0 (d,), W (d_in, d), U (d, d), b (d,), h_1 (d,)
    Source       Goodfellow, Bengio and Courville (2016), equations 10.8 and 10.9
    """
    let = Equations()
    activation = let("a")(x @ W + before @ U + b)
    let("h_1")(named("tanh", tanh(_t), _t)(activation))
    return Layer("recurrent_step", (x, before), (W, U, b), let, after)


@result
def definition() -> Derivation:
    """The state after a position depends only on that position and on the previous state."""
    return derivation(
        "Definition of the recurrent layer",
        claim(after[l], step("definition", tanh((x @ W)[l] + (before @ U)[l] + b[l]))),
        about=recurrent_step(),
        ranges={l: d},
        source=GOODFELLOW,
    )


@result
def jacobian() -> Derivation:
    """The derivative of a state with respect to the previous one. Over t - s steps, t - s such matrices multiply."""
    return derivation(
        "Jacobian of a recurrent step by the state before it",
        claim(
            Derivative(after[l], before[k]),
            # tanh' = 1 - tanh^2
            step("chain rule", (1 - tanh(a[l]) ** 2) * U[k, l]),
            step("definition", (1 - after[l] ** 2) * U[k, l]),
        ),
        claim(Derivative(after[l], x[j]), step("chain rule", (1 - after[l] ** 2) * W[j, l])),
        about=recurrent_step(),
        ranges={l: d, k: d, j: d_in},
        source=GOODFELLOW,
    )


@result
def parameters() -> Derivation:
    """All positions share the same weights."""
    return derivation(
        "Parameters of the recurrent layer",
        claim(Count("parameters", recurrent_step()), step("count", d_in * d + d**2 + d)),
    )
