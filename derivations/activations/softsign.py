r"""Softsign: the input divided by 1 plus its absolute value, and the slope.

Definition   softsign(x) = x / (1 + |x|)
Result       softsign'(x) = 1/(1 + |x|)^2 = (1 - |softsign(x)|)^2 off 0; |softsign(x)| < 1
Shapes       scalars: an activation is applied entry by entry
Assumes      x real
Source       Glorot and Bengio (2010)
"""

from sympy import Abs, Derivative, Ne

from derivations.language.arrays.functions import named
from derivations.language.results.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.symbols import scalar

__all__ = ["softsign"]

TOPIC = "activation"

GLOROT = "Glorot and Bengio (2010)"
t = scalar("t")

softsign = named("softsign", t / (1 + Abs(t)), t)

s = softsign.formula(t)


@result
def softsign_derivative() -> Derivation:
    """The slope falls like 1/t^2, where that of tanh falls exponentially."""
    return derivation(
        "Derivative of softsign: $1/(1 + |t|)^2 = (1 - |s|)^2$, $s = softsign(t)$",
        claim(
            Derivative(s, t),
            step("quotient rule", (1 + Abs(t) - t * Derivative(Abs(t), t)) / (1 + Abs(t)) ** 2),
            step("derivative", 1 / (1 + Abs(t)) ** 2),
            step("common denominator", (1 - Abs(s)) ** 2),
        ),
        assuming=[Assumption(Ne(t, 0), text="off the kink")],
        source=GLOROT,
    )


@result
def softsign_bounds() -> Derivation:
    """The values lie between -1 and 1, and come near them slowly."""
    return derivation(
        "Softsign lies between -1 and 1: $1 - |softsign(t)| = 1/(1 + |t|)$",
        claim(1 - Abs(s), step("common denominator", 1 / (1 + Abs(t)))),
        claim(Abs(s), step("bound", 1, "<", 1 / (1 + Abs(t)))),
        source=GLOROT,
    )
