r"""Dropout, with its mask as an input.

Definition   Y = X o D / (1 - rate), with D the mask of kept entries
Result       Y_ik = D_ik X_ik / (1 - rate)
Shapes       X and D (n, d_model), Y (n, d_model)
Assumes      0 < rate < 1
Source       Srivastava et al. (2014)
"""

from sympy import Lt

from derivations.language.derivation import Assumption, Derivation, claim, derivation, result, step
from derivations.language.expression import array, mask_array
from derivations.language.functions import Hadamard
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_model, i, k, n, scalar

__all__ = ["dropout", "rate"]

rate = scalar("rate", positive=True)
X, Y, D = array("X", n, d_model), array("Y", n, d_model), mask_array("D", n, d_model)


def dropout() -> Layer:
    """Return inverted dropout.

    Definition   Y = X o D / (1 - rate), with D the mask of kept entries
    Shapes       X and D (n, d_model), Y (n, d_model)
    Assumes      0 < rate < 1
    Source       Srivastava et al. (2014)
    """
    let = Equations()
    let("Y")(Hadamard(X, D) / (1 - rate))
    return Layer("dropout", (X, D), (), let, Y)


@result
def definition() -> Derivation:
    """What is kept grows by 1 / (1 - rate), what is dropped becomes 0."""
    return derivation(
        "Definition of dropout, entry by entry",
        claim(Y, step("definition", Hadamard(X, D) / (1 - rate))),
        claim(Y[i, k], step("definition", D[i, k] * X[i, k] / (1 - rate))),
        about=dropout(),
        ranges={i: n, k: d_model},
        assuming=[Assumption(Lt(rate, 1))],
        source="Srivastava et al. (2014), section 10",
    )
