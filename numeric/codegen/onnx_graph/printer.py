"""Equations as source that is traced: each right-hand side is computed under the name of its equation.

Result       the passes are those of every backend; `np` and `math` are modules of this room, whose functions add nodes
             to a graph
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sympy import Basic, Expr, Symbol, fraction

from derivations.language.arrays.expression import Variable
from derivations.language.arrays.shapes import Axis, total
from derivations.language.differentiation.tape import Pulled
from derivations.language.layers.layer import Apply, Equation, Layer, Repeat
from numeric.codegen.backends import functional
from numeric.codegen.backends.backend import Backend, Texts, TextsOf
from numeric.codegen.backends.libraries import NUMPY, traceable
from numeric.codegen.formula_printer import CompileError, ScalarPrinter
from numeric.codegen.onnx_graph import primitives
from numeric.codegen.printer import Call, NumPyLayerPrinter

__all__ = ["ONNX", "OnnxLayerPrinter"]

ROOM = "numeric.codegen.onnx_graph"


class ExactScalarPrinter(ScalarPrinter):
    """Prints sizes so that a quotient stays exact: the length d/2 of an axis implies that d is even."""

    def whole(self, expr: Expr) -> str:
        """Return the text of an integer expression of sizes; a quotient becomes a call of `exact`."""
        numerator, denominator = fraction(expr)
        return (
            super().whole(expr) if denominator == 1 else f"exact({self._print(numerator)}, {self._print(denominator)})"
        )


class OnnxLayerPrinter(NumPyLayerPrinter):
    """Prints the right-hand sides of one layer's equations for tracing."""

    def __init__(
        self,
        layer: Layer,
        names: Mapping[Basic, str],
        call: Callable[[Apply | Pulled], Call],
        taken: Iterable[str],
        saved: Iterable[Variable] = (),
    ) -> None:
        super().__init__(layer, names, call, taken, saved)
        self._scalar = ExactScalarPrinter(names)

    def doprint(self, expr: Basic | str, assign_to: None = None) -> str:
        """Return the text of an equation as a call that names its value; print anything else as usual.

        Raises       CompileError where the equation has no text, with its name
        """
        if not isinstance(expr, Equation):
            return super().doprint(expr, assign_to)
        try:
            return self._step(expr, super().doprint(expr, assign_to))
        except CompileError as error:
            raise CompileError(f"the equation for {expr.variable.name} has no form in ONNX: {error}") from error

    def _step(self, equation: Equation, text: str) -> str:
        return f"equation({equation.variable.name!r}, lambda: {text})"

    def summed_over_batch(self, equation: Equation) -> str:
        """Return the text of the gradient for a weight as a call that names its value."""
        return self._step(equation, super().summed_over_batch(equation))

    def forward_call(self, equation: Equation) -> str:
        """Return the call of a forward pass, with the name of the part before the names of its equations."""
        return self._within(equation.value, super().forward_call(equation))

    def backward_call(self, node: Pulled, over: Symbol | None) -> str:
        """Return the call of a backward pass, with the name of the part before the names of its equations."""
        return f"within({node.part + '.backward'!r}, False, lambda: {super().backward_call(node, over)})"

    def _within(self, node: Apply, call: str) -> str:
        return f"within({node.name!r}, {isinstance(node, Repeat)}, lambda: {call})"

    def _called(self, node: Apply, arguments: list[str], weights: list[str]) -> str:
        return self._within(node, super()._called(node, arguments, weights))

    def _repeated(self, member: str, count: Axis, rank: int) -> str:
        return f"np.repeated({member}, {self._scalar.whole(total(count))}, {rank})"


def _names(module: str, names: dict[str, str]) -> dict[str, str]:
    return {name: f"from {ROOM}.{module} import {source}" for name, source in names.items()}


ONNX = Backend(
    "ONNX",
    "arrays of an ONNX graph",
    "onnx",
    OnnxLayerPrinter,
    (
        {
            "reduce": f"from {ROOM}.stack import reduce",
            "scan": f"from {ROOM}.stack import scan",
            "math": f"import {ROOM}.numbers as math",
            "np": f"import {ROOM}.arrays as np",
            "special": f"import {ROOM}.arrays as special",
        },
        _names(
            "numbers",
            {"exact": "exact", "float": "real", "int": "whole", "max": "largest", "min": "least", "range": "bounded"},
        ),
        _names("steps", {"equation": "equation", "within": "within"}),
    ),
    Texts(lambda: traceable({**NUMPY, **TextsOf(functional), **TextsOf(primitives)})),
)
