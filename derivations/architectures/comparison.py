"""Scores of texts and images: the scaled cosine similarities of their pooled rows.

Definition   S = u v^T / (|u| |v|), the cosines of the angles between rows; the scores are exp(t) S, or exp(t) S + b
Shapes       u (n, d), v (m, d), t and b (), scores (n, m)
Assumes      no row is zero
Source       Radford et al. (2021), CLIP, section 2.3; Zhai et al. (2023), SigLIP, section 3.1
"""

from __future__ import annotations

from sympy import exp

from derivations.language.arrays.expression import Array, ColumnBroadcast, array
from derivations.language.arrays.functions import RowSum, named, square
from derivations.language.layers.layer import Equations, Layer
from derivations.normalisation.layer_norm import standardise
from derivations.symbols import d, m, n, scalar

__all__ = ["comparison_layer"]

s, t, b = scalar("s"), scalar("t"), scalar("b")


def comparison_layer(*, biased: bool = False) -> Layer:
    """Return the layer that scores the rows of a text against those of an image, with the bias b if `biased`.

    Shapes       u (n, d), v (m, d), t and b (), scores (n, m)
    """
    u, v = array("u", n, d), array("v", m, d)
    let, weights = Equations(), (array("t"), array("b"))

    def unit(name: str, rows: Array) -> Array:
        squares = let(f"squares_{name}")(RowSum(square(rows)))
        return let(f"unit_{name}")(standardise(0)(rows, ColumnBroadcast(squares, d)))

    S = let("S")(unit("u", u) @ unit("v", v).T)
    formula = named("scaled_shifted", exp(t) * s + b, s, t, b) if biased else named("scaled", exp(t) * s, s, t)
    given = weights if biased else weights[:1]
    return Layer("comparison", (u, v), given, let, let("scores")(formula(S, *given)))
