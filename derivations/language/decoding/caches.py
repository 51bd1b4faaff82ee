"""The data classes of decoding with a cache: caches, changed equations, and links (groups of equations).

A cache holds an array at the earlier positions of a text. A link is a group of equations at the next positions, or a
repetition at the next positions.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Equation, Layer

__all__ = ["Cache", "Change", "Link"]


@dataclass(frozen=True)
class Cache:
    """One array at the earlier positions (`past`), at the new positions, and at all positions (`whole`)."""

    past: Variable
    new: Variable
    whole: Variable


@dataclass(frozen=True)
class Change:
    """An equation of the layer, its form at the next positions, and the variables that are 0 right of the diagonal.

    `whole` pairs each variable of the old equation with the variable for it at all positions.
    """

    old: Equation
    new: Equation
    whole: tuple[tuple[Variable, Variable], ...]
    back: frozenset[Variable]


@dataclass(frozen=True)
class Link:
    """A group of equations at the new positions, or a repetition there with weights named `path.number.name`.

    The layer takes the arrays that are called `reads` in the surrounding layer, then the earlier positions of the
    caches. It returns the arrays that are called `writes` there, then the new positions of the caches.
    """

    layer: Layer
    reads: tuple[Variable, ...]
    writes: tuple[Variable, ...]
    caches: tuple[Cache, ...]
    changes: tuple[Change, ...]
    path: str = ""
    count: Expr | None = None
