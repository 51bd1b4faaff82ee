"""What decoding with a cache is made of: caches, equations that change, and links of equations that run together.

A cache holds an array at the earlier positions of a text; a link is a layer at its next positions, or one of its parts
that is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from derivations.language.arrays.expression import Variable
from derivations.language.layers.layer import Equation, Layer

__all__ = ["Cache", "Change", "Link"]


@dataclass(frozen=True)
class Cache:
    """An array at the earlier positions, the same at the new ones, and both together."""

    past: Variable
    new: Variable
    whole: Variable


@dataclass(frozen=True)
class Change:
    """An equation of the layer, what it is at the next positions, and the variables that are 0 right of the diagonal.

    `whole` is what each variable of the old equation is called at all positions.
    """

    old: Equation
    new: Equation
    whole: tuple[tuple[Variable, Variable], ...]
    back: frozenset[Variable]


@dataclass(frozen=True)
class Link:
    """Equations at the new positions; or the layer of a repetition at them, its weights filed under `path`.

    The layer takes what is called `reads` in the surrounding layer, then the earlier positions of the caches; it puts
    out what is called `writes` there, then the new positions of the caches.
    """

    layer: Layer
    reads: tuple[Variable, ...]
    writes: tuple[Variable, ...]
    caches: tuple[Cache, ...]
    changes: tuple[Change, ...]
    path: str = ""
    count: Expr | None = None
