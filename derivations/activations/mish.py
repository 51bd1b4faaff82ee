r"""Mish: the input times the tanh of its softplus, and the slope.

Definition   mish(x) = x tanh(softplus(x)), softplus(x) = log(1 + exp(x))
Result       mish' = w + x s (1 - w^2), w = tanh(softplus(x)), s = sigmoid(x); w = ((1 + e^x)^2 - 1)/((1 + e^x)^2 + 1)
Shapes       scalars: an activation is applied entry by entry
Assumes      x real
Source       Misra (2020)
"""

from sympy import Derivative, Integer, exp, tanh

from derivations.activations.sigmoid import sigmoid, softplus
from derivations.language.arrays.functions import named
from derivations.language.results.derivation import Derivation, claim, derivation, result, step
from derivations.symbols import scalar

__all__ = ["mish"]

TOPIC = "activation"

MISRA = "Misra (2020), section 3"
t = scalar("t")

mish = named("mish", t * tanh(softplus.formula(t)), t)

s, w = sigmoid.formula(t), tanh(softplus.formula(t))


@result
def mish_gate() -> Derivation:
    """The gate is a quotient of polynomials in exp(t), which needs one exponential."""
    square = (1 + exp(t)) ** 2
    return derivation(
        "The gate of Mish: $tanh(softplus(t)) = (q - 1)/(q + 1)$ with $q = (1 + exp(t))^2$",
        claim(w, step("algebra", (square - 1) / (square + 1))),
        claim(w, step("bound", 0, ">", (square - 1) / (square + 1))),
        claim(w, step("bound", 1, "<", Integer(2) / (square + 1))),
        source=MISRA,
    )


@result
def mish_derivative() -> Derivation:
    """The slope by the product rule: the slope of tanh is 1 minus its square, and that of softplus is the sigmoid."""
    return derivation(
        "Derivative of Mish: $w + t s (1 - w^2)$, $w = tanh(softplus(t))$, $s = sigmoid(t)$",
        claim(
            Derivative(mish.formula(t), t),
            step("product rule", w + t * Derivative(w, t)),
            step("chain rule", w + t * (1 - w**2) * Derivative(softplus.formula(t), t)),
            step("derivative", w + t * s * (1 - w**2)),
        ),
        source=MISRA,
    )
