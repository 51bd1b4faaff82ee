"""The pullback of an applied layer: from the gradient of its output to the gradient of one of its inputs."""

from __future__ import annotations

from typing import Any

from sympy import Expr
from sympy.core.symbol import Str
from sympy.printing.str import StrPrinter

from derivations.language.arrays.expression import Array, Shape, Variable, require
from derivations.language.arrays.shapes import same_size, shape_text
from derivations.language.layers.layer import Apply

__all__ = ["Pullback"]


class Pullback(Array):
    """The gradient of <g, Y> with respect to one input or bound parameter of an applied layer with output Y.

    Definition   sum over all indices p of g_p dY_p/dx, an array of the shape of x
    """

    def __new__(cls, applied: Apply, cotangent: Array, name: str | Str) -> Pullback:
        """Build the pullback of `cotangent` through an applied layer to its input or parameter called `name`."""
        return super().__new__(cls, applied, cotangent, name if isinstance(name, Str) else Str(name))

    @property
    def applied(self) -> Apply:
        """The applied layer."""
        return self.args[0]

    @property
    def cotangent(self) -> Array:
        """The gradient with respect to the output, with the shape of the output."""
        return self.args[1]

    @property
    def name(self) -> str:
        """The name of the input or parameter."""
        return self.args[2].name

    @property
    def variable(self) -> Variable:
        """The input or parameter of the layer."""
        layer = self.applied.layer
        found = [v for v in (*layer.inputs, *layer.parameters) if v.name == self.name and v.kind == "real"]
        require(bool(found), lambda: f"layer {layer.name} has no real input or parameter called {self.name}")
        return found[0]

    def _infer(self) -> Shape:
        wanted, given = self.applied.shape, self.cotangent.shape
        require(
            len(wanted) == len(given) and all(map(same_size, wanted, given)),
            lambda: f"pullback through {self.applied}: {shape_text(wanted)} is needed, not {shape_text(given)}",
        )
        return self.variable.shape

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"pullback({self.applied}, {self.cotangent}, {self.name})"

    def _entry(self, *places: Any) -> Expr:
        raise NotImplementedError(f"an entry of {self}: it stands for the gradient of {self.applied.layer.name}")
