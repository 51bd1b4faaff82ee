r"""The affine map of every row, as a layer."""

from derivations.language.expression import array
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_in, d_out, n

__all__ = ["linear"]


def linear() -> Layer:
    """Return the affine map of every row.

    Definition   Y = X W + b, the vector b added to every row
    Shapes       X (n, d_in), W (d_in, d_out), b (d_out,), Y (n, d_out)
    """
    X, W, b = array("X", n, d_in), array("W", d_in, d_out), array("b", d_out)
    let = Equations()
    Y = let("Y")(X @ W + b)
    return Layer("linear", (X,), (W, b), let, Y)
