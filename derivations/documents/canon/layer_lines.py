r"""The equations of the catalogue's layers as they are printed, `S = \frac{Q K^\top}{\sqrt{d_k}}`, read as formulas.

Definition   a line is the left side, the right side, and the layer or the result that it belongs to
Result       `lines_of(left)` are the lines with a left side; none of them is typed here
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf

from derivations.catalogue import LAYERS
from derivations.documents.budget import budget_of
from derivations.documents.canon.forms import result
from derivations.documents.formulas import read_formula
from derivations.documents.syntax import Node
from derivations.language.printing.latex import latex_of

__all__ = ["Line", "lines_of"]

WITH_EQUATIONS = ("softmax.hot_limit",)  # results that begin with equations of their own


@dataclass(frozen=True)
class Line:
    """An equation, and where it stands."""

    left: Node
    right: Node
    title: str


def lines_of(left: Node) -> tuple[Line, ...]:
    """Return the equations that have a left side."""
    return _lines().get(left, ())


@cache
def _lines() -> Mapping[Node, tuple[Line, ...]]:
    found: dict[Node, tuple[Line, ...]] = {}
    with budget_of(inf, inf):  # of its own: reading the catalogue is no work of a formula
        for title, text in _printed():
            for chain in read_formula(text, "latex").statements:
                if chain.relations == ("=",):
                    left, right = chain.sides
                    found[left] = (*found.get(left, ()), Line(left, right, title))
    return found


def _printed() -> Iterator[tuple[str, str]]:
    """Yield what has equations, and these in LaTeX."""
    for make in LAYERS.values():
        layer = make()
        yield layer.name, layer.latex()
    for name in WITH_EQUATIONS:
        for equation in result(name).definitions:
            yield name, f"{latex_of(equation.target)} = {latex_of(equation.value)}"
