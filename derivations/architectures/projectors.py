"""Projectors from the rows of a vision tower to rows among the token rows.

Definition   V = S W + b, or V = f(S W_1 + b_1) W_2 + b_2; where w neighbouring rows become one, S is first J, row i of
             which is the rows w i, ..., w i + w - 1 of S side by side, or their mean; rows are first put in the order
             of cells of a picture, where those of a cell become one; of rows after several layers those of one patch
             stand side by side
Shapes       S (k w, d_in), J (k, w d_in) or (k, d_in), V (k, d_model)
Assumes      w divides the number of rows; patches stand row after row where there are cells
Source       Liu et al. (2024), LLaVA-1.5, section 3.3; Wang et al. (2024), Qwen2-VL, section 2.1; Gemma Team (2025),
             Gemma 3, section 2.1
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sympy import Expr, Integer, Lambda

from derivations.architectures.description import Cells, Projector
from derivations.architectures.patches import row_and_column
from derivations.architectures.projections import norm_layer
from derivations.language.arrays.arrangements import Numbers, SumOver, column_block
from derivations.language.arrays.expression import Array, RowBroadcast, Shape, array
from derivations.language.arrays.functions import Lookup
from derivations.language.arrays.rows import RowRange, Stacked
from derivations.language.arrays.selection import Windows
from derivations.language.arrays.shapes import Axis, total
from derivations.language.layers.layer import Equations, Layer, part
from derivations.symbols import d_model, index, pos

__all__ = ["projector_layer", "projectors_layer"]

o = index("o")


def projector_layer(projector: Projector, shape: Shape) -> Layer:
    """Return the projector that a description specifies, for rows of the given shape.

    Shapes       rows (k w, d_in), result (k, d_model)
    """
    S = array("S", *shape)
    let, weights = Equations(), []
    norm = None if projector.norm is None else part("norm", norm_layer(projector.norm))
    rows: Array = S
    if projector.beside > 1:
        count = total(shape[0]) / projector.beside
        blocks = (RowRange(S, number * count, count).T for number in range(projector.beside))
        rows = let("B")(reduce(Stacked, blocks).T)
    if projector.cells is not None:
        rows = let("C")(Lookup(rows, Numbers(Lambda((pos,), _of_cells(projector.cells)), shape[0])))
    normed = rows if norm is None or projector.norm_joined else let("U")(norm(rows))
    Z = normed if projector.joined == 1 else _joined(let, projector, normed)
    if norm is not None and projector.norm_joined:
        Z = let("U")(norm(Z))

    def affine(x: Array, suffix: str, width: Axis) -> Array:
        W, b = array(f"W{suffix}", x.shape[1], width), array(f"b{suffix}", width)
        weights.extend([W, b] if projector.biases else [W])
        return x @ W + RowBroadcast(b, x.shape[0]) if projector.biases else x @ W

    if projector.inner is None:
        V = let("V")(affine(Z, "", d_model))
    else:
        H = let("H")(projector.activation(affine(Z, "_1", projector.inner)))
        V = let("V")(affine(H, "_2", d_model))
    return Layer("projector", (S,), tuple(weights), let, V)


def _of_cells(cells: Cells) -> Expr:
    """Return the row-by-row number of the patch at position `pos` in the order of cells."""
    cell, inside = row_and_column(pos, cells.side**2)
    of_cell, of_patch = row_and_column(cell, cells.columns), row_and_column(inside, cells.side)
    row, column = (whole * cells.side + part for whole, part in zip(of_cell, of_patch, strict=True))
    return row * cells.columns * cells.side + column


def _joined(let: Equations, projector: Projector, rows: Array) -> Array:
    """Add the equations that join neighbouring rows side by side, or average them."""
    w = projector.joined
    J = let("J")(RowRange(Windows(rows, w), 0, total(rows.shape[0]) / w, w))
    return let("M")(SumOver(column_block(J, o), o, w) * (Integer(1) / w)) if projector.averaged else J


def projectors_layer(projectors: Sequence[Projector], shape: Shape) -> Layer:
    """Return several projectors as one layer, each for an equal share of the rows.

    Their results are stacked one below the other.
    """
    S = array("S", *shape)
    let, count = Equations(), total(shape[0]) / len(projectors)
    results: list[Array] = []
    for number, projector in enumerate(projectors):
        rows = let(f"S_{number}")(RowRange(S, number * count, count))
        results.append(let(f"V_{number}")(part(f"layer_{number}", projector_layer(projector, rows.shape))(rows)))
    return Layer("projectors", (S,), (), let, let("V")(reduce(Stacked, results)))
