r"""The root-mean-square norm of the columns of each group, and rows of unit length within each group.

Definition   y_t,ex = gamma_ex g_t,ex / sqrt(sum_x g_t,ex^2 / d + eps) for group e and its column x, d columns each;
             of unit length without the division by d; gamma may be the same for all groups, or missing
Shapes       G and Y (n, groups d), gamma (groups d,) or (d,)
Source       Zhang and Sennrich (2019); Dao and Gu (2024), section 7.2; Yang, Kautz and Hatamizadeh (2025), unit length
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

from sympy import Expr, Integer, KroneckerDelta, Mul, Rational, expand, sqrt

from derivations.language.arrays.contraction import contraction, indices_of, operand_of
from derivations.language.arrays.expression import Array, RowBroadcast, array
from derivations.language.arrays.functions import Hadamard, named, square
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import index, n, scalar

__all__ = ["grouped_norm", "row_major_place", "side_by_side", "unit_length"]

t, e, x, c = (index(letter) for letter in "texc")
_u = scalar("u")


def row_major_place(indices: Sequence[Expr], sizes: Sequence[Expr]) -> Expr:
    """Return the index of a column when several axes are flattened, with the last axis varying fastest."""
    both = zip(indices, sizes, strict=True)
    return expand(reduce(lambda place, axis: place * axis[1] + axis[0], both, Integer(0)))


def side_by_side(parts: Array) -> Array:
    """Return an array with all axes after the rows flattened into columns, with the last axis varying fastest.

    Shapes       parts (n, groups, ..., d), result (n, groups ... d)
    """
    first, *axes = indices_of(parts.shape)
    sizes = parts.shape[1:]
    read = operand_of(parts, (first, *axes))
    sums, shape = list(zip(axes, sizes, strict=True)), (parts.shape[0], Mul(*sizes))
    return contraction((first, c), shape, sums, KroneckerDelta(c, row_major_place(axes, sizes)), read)


def grouped_norm(
    groups: Expr, width: Expr, eps: Rational, *, scale: Literal["none", "each", "shared"] = "each"
) -> Layer:
    """Return the RMS norm of the columns of each group, without column factors, or with separate or shared ones.

    Definition   that of the module
    Shapes       G and Y (n, groups width), gamma (groups width,) or (width,)
    Source       Dao and Gu (2024), section 7.2; Zhang and Sennrich (2019) for the norm
    """
    return _scaled("norm_of_groups", groups, width, eps, 1 / width, scale)


def unit_length(groups: Expr, width: Expr, eps: Rational) -> Layer:
    """Return rows in which the columns of each group have length 1, up to eps.

    Definition   y_t,ex = g_t,ex / sqrt(sum_x g_t,ex^2 + eps)
    Shapes       G and Y (n, groups width)
    Source       Yang, Kautz and Hatamizadeh (2025), section 3.4
    """
    return _scaled("unit_length", groups, width, eps, Integer(1), "none")


def _scaled(name: str, groups: Expr, width: Expr, eps: Rational, share: Expr, scale: str) -> Layer:
    columns, at = groups * width, e * width + x
    G, gamma = array("G", n, columns), array("gamma", columns if scale == "each" else width)
    by_group = (n, groups, width)
    let = Equations()
    inverse = operand_of(let("F")(part("roots", _inverse_roots(groups, width, eps, share))(G)), (t, e))
    scaled = let("N")(contraction((t, e, x), by_group, (), 1, operand_of(G, (t, at)), inverse))
    if scale == "shared":
        read = operand_of(scaled, (t, e, x)), operand_of(gamma, (x,))
        scaled = let("G_scaled")(contraction((t, e, x), by_group, (), 1, *read))
    Y = let("J")(side_by_side(scaled))
    if scale == "each":
        Y = let("Y")(Hadamard(Y, RowBroadcast(gamma, n)))
    return Layer(name, (G,), () if scale == "none" else (gamma,), let, Y)


def _inverse_roots(groups: Expr, width: Expr, eps: Rational, share: Expr) -> Layer:
    """Return 1 / sqrt(share * (sum of squares of the group) + eps), for every row and group."""
    G = array("G", n, groups * width)
    let = Equations()
    squares = operand_of(let("Q")(square(G)), (t, e * width + x))
    mean = let("M")(contraction((t, e), (n, groups), [(x, width)], share, squares))
    return Layer("inverse_roots", (G,), (), let, let("F")(named("inverse_root", 1 / sqrt(_u + eps), _u)(mean)))
