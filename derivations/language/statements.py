"""Statements about arrays that are not equalities of entries: rank and conformability."""

from typing import Any

from sympy import Eq, Expr
from sympy.logic.boolalg import Boolean
from sympy.printing.str import StrPrinter

from derivations.language.expression import Array
from derivations.language.shapes import total

__all__ = ["Conformable", "Rank"]


class Rank(Expr):
    """The rank of a matrix, as a term."""

    is_commutative = True

    def __new__(cls, matrix: Array) -> "Rank":
        """Build the term for a matrix."""
        return super().__new__(cls, matrix)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"rank({self.args[0]})"


class Conformable(Boolean):
    """The statement that a product of two matrices can be formed."""

    def __new__(cls, left: Array, right: Array) -> "Conformable":
        """Build the statement for two arrays."""
        return super().__new__(cls, left, right)

    @property
    def condition(self) -> Any:
        """The condition on the sizes: the inner ones are equal."""
        left, right = self.args
        return Eq(total(left.shape[-1]), total(right.shape[0]), evaluate=False)

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.args[0]} @ {self.args[1]} conforms"
