r"""Sinusoidal positional encoding."""

from sympy import Expr, Integer, Lambda, cos, sin

from derivations.language.expression import Tabulated
from derivations.language.functions import Interleave, named
from derivations.language.layer import Equations, Layer
from derivations.symbols import d_model, i, n, pos, scalar

__all__ = ["positional_encoding"]


def positional_encoding(positions: Expr = n, width: Expr = d_model) -> Layer:
    """Return the sinusoidal positional encoding.

    Definition   PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))
    Shapes       angle (n, d_model/2), PE (n, d_model)
    Assumes      d_model even; pos = 0, ..., n-1; i = 0, ..., d_model/2 - 1 numbers the pairs
    Source       Vaswani et al. (2017), section 3.5
    """
    x = scalar("x")
    let = Equations()
    angle = let("angle")(Tabulated(Lambda((pos, i), pos / Integer(10000) ** (2 * i / width)), positions, width / 2))
    PE = let("PE")(Interleave(named("sin", sin(x), x)(angle), named("cos", cos(x), x)(angle)))
    return Layer("positional_encoding", (), (), let, PE)
