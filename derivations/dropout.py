r"""Dropout, with its mask as an input."""

from derivations.language.expression import array, mask_array
from derivations.language.functions import Hadamard
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_model, n, scalar

__all__ = ["dropout", "rate"]

rate = scalar("rate", positive=True)


def dropout() -> Layer:
    """Return inverted dropout.

    Definition   Y = X o D / (1 - rate), with D the mask of kept entries
    Shapes       X and D (n, d_model), Y (n, d_model)
    Assumes      0 < rate < 1
    Source       Srivastava et al. (2014)
    """
    X, D = array("X", n, d_model), mask_array("D", n, d_model)
    let = Equations()
    Y = let("Y")(Hadamard(X, D) / (1 - rate))
    return Layer("dropout", (X, D), (), let, Y)
