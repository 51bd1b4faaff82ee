r"""Softmax and its Jacobian."""

from derivations.language.expression import array
from derivations.language.functions import row_softmax
from derivations.language.layer import Equations, Layer
from derivations.symbols import n

__all__ = ["softmax"]


def softmax() -> Layer:
    """Return softmax as a layer.

    Definition   y_i = exp(x_i) / sum_{j=1}^{n} exp(x_j)
    Shapes       x (n,), y (n,)
    Source       Bridle (1990)
    """
    x = array("x", n)
    let = Equations()
    y = let("y")(row_softmax(x))
    return Layer("softmax", (x,), (), let, y)
