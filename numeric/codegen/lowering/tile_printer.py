"""The layer printer for tiled code: some variables get other texts, and sums over rows and batches become products."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from sympy import Expr, Lambda, Symbol

from derivations.language.arrays.expression import Array, Transpose, Variable
from derivations.language.arrays.shapes import total
from derivations.language.layers.layer import Equation
from numeric.codegen.printer import NumPyLayerPrinter
from numeric.codegen.syntax import expression_tree, tidied

__all__ = ["TilePrinter"]


class TilePrinter(NumPyLayerPrinter):
    """A layer printer that takes other texts for some variables, and writes sums over rows of a matrix as products."""

    of_gradient = False

    def _print_RowSum(self, node: Array) -> str:
        return self._sum_of_columns(node.args[0]) or super()._print_RowSum(node)

    def _print_RowMean(self, node: Array) -> str:
        sums = self._sum_of_columns(node.args[0])
        return f"({sums} / {self.size(total(node.args[0].shape[-1]))})" if sums else super()._print_RowMean(node)

    def _cast_like(self, text: str, array: str) -> str:
        """Cast constants to the number type of the layer: in a tile the name of an input means only a part of it."""
        return self._cast(text, "dtype")

    def _sum_of_columns(self, array: Array) -> str:
        """Return the text of the sum over the rows of X if the array is X^T, else an empty text."""
        if not isinstance(array, Transpose) or array.kind != "real" or not self._is_batched(array):
            return ""
        return f"column_sums({self._exact(array.args[0])})"

    @property
    def batched(self) -> set[Variable]:
        """The variables that depend on an input."""
        return self._batched

    def in_family(
        self, node: Array, over: Symbol | None, arrays: Mapping[Variable, str] | None = None, *, exact: bool = False
    ) -> str:
        """Return the text of an expression for all members of a family at once; `exact` gives it the full shape."""
        with self._with(_family=over, _names={**self._names, **(arrays or {})}):
            self._taken = set(self._reserved)
            return tidied(self._exact(node) if arrays or exact else self._print(node))

    def whole_equation(self, equation: Equation, arrays: Mapping[Variable, str], *, summed: bool) -> str:
        """Return the right-hand side of an equation over whole arrays; `summed` adds up all items of a batch."""
        with self._with(_names={**self._names, **arrays}, _target=self._names[equation.variable]):
            text = self.summed_over_batch(equation) if summed else self.doprint(equation)
            return ast.unparse(_OnThreads().visit(expression_tree(text))) if self.of_gradient else text

    def size(self, size: Expr) -> str:
        """Return the text of a size, an integer."""
        return self._scalar.whole(size)

    def scalar(self, expr: Expr) -> str:
        """Return the text of a scalar."""
        return f"({self._scalar._print(expr)})"

    def formula(self, formula: Lambda, texts: list[str]) -> str:
        """Return the text of a formula of entries."""
        self._taken = set(self._reserved) | set(texts)
        return self._formula(formula, texts, dtype="dtype")

    @property
    def dtype_of(self) -> str | None:
        """The text of an array that has the number type of the layer."""
        return self._dtype_of


class _OnThreads(ast.NodeTransformer):
    """Replaces the large products of a backward pass by calls that divide them among threads."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "product_over_batch":
            return _called("product_of_rows", *node.args)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _called("product_of_heads", node.left, node.right) if isinstance(node.op, ast.MatMult) else node


def _called(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [*arguments, ast.Name("threads", ast.Load())], [])
